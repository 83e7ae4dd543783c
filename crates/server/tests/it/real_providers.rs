//! Providers that move real money, behind the product: their own adapters call a server of ours that answers with bodies as
//! they send them. The adapters themselves are judged in `crates/providers/tests`.

mod account;
mod check;
mod done_elsewhere;
mod later;
mod paid_twice;
mod proofs;
mod revoked;
mod sequences;
mod subscriptions;
mod sweep;
mod with_bank;

use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use elsewhere::{Elsewhere, Said};
use serde_json::{Value, json};

use crate::support::agreement::{ledger_is_right, nothing_is_open};
use crate::support::app::{ADDRESS, Adapters, TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::canary::places::Log;
use crate::support::charges::read;
use crate::support::providers::{adyen, elsewhere, knows_the_merchant, pagarme, sandbox, stripe};
use crate::support::read::{announced, text};
use crate::support::sessions::{by_pix, create, history, pay, read as session_of, session_body};
use crate::support::three_d_secure::{hosted_body, requests, visit};

stories! {
    a_card_goes_from_a_refusal_to_an_authentication_elsewhere_and_a_pix_is_paid_by_notification,
    a_provider_that_cannot_be_reached_is_passed_over,
    what_is_not_answered_is_looked_up_and_never_sent_again,
    a_provider_that_refuses_the_credentials_is_told_of_once_a_minute,
    an_underpaid_pix_pays_no_session,
}

const DECLINED: &str = include_str!("../../../providers/tests/it/stripe/bodies/card_declined.json");
const SUCCEEDED: &str = include_str!("../../../providers/tests/it/stripe/bodies/payment_intent.json");
const REDIRECT: &str = include_str!("../../../providers/tests/it/adyen/recorded/redirect.json");
const RETURNED: &str = include_str!("../../../providers/tests/it/adyen/recorded/returned.json");
const ORDER: &str = include_str!("../../../providers/tests/it/pagarme_v5/bodies/order_pix.json");

fn body(recorded: &str) -> Value {
    serde_json::from_str(recorded).unwrap()
}

/// The deployment with the adapters, and their providers, which answer so.
async fn with_providers(
    app: TestApp,
    answer: impl Fn(&Said) -> Option<(u16, Value)> + Send + Sync + 'static,
) -> (TestApp, Elsewhere) {
    let elsewhere = Elsewhere::start(move |said| answer(said).or_else(|| knows_the_merchant(said))).await;
    let app = app.reachable().await.with_adapters(Adapters::Real(elsewhere.address)).await;
    (app, elsewhere)
}

async fn a_card_goes_from_a_refusal_to_an_authentication_elsewhere_and_a_pix_is_paid_by_notification(
    app: TestApp,
) {
    let (app, elsewhere) = with_providers(app, |said| match said.path.as_str() {
        "/stripe/v1/payment_intents" => Some((402, body(DECLINED))),
        "/adyen/payments" if said.json()["paymentMethod"]["type"] == "pix" => Some((422, not_offered())),
        "/adyen/payments" => Some((200, body(REDIRECT))),
        "/adyen/payments/details" => Some((200, returned(said))),
        "/pagarme_v5/orders" => (said.method == Method::POST).then(|| (200, ordered(&said.json()))),
        _ => None,
    })
    .await;
    let new = json!({ "mcc": "5812", "providers": [stripe(1), adyen(2), pagarme(3)] });
    let merchant = app.post("/v1/merchants", &new).await.expect(201);
    a_card_is_authenticated_elsewhere(&app, &elsewhere, text(&merchant["id"])).await;
    a_pix_is_paid(&app, &elsewhere, &merchant).await;
    nothing_is_open(&app).await;
}

/// The first provider refuses the card, the second one authenticates its holder.
async fn a_card_is_authenticated_elsewhere(app: &TestApp, elsewhere: &Elsewhere, merchant: &str) {
    let charge = app.post("/v1/charges", &hosted_body(merchant, APPROVED)).await.expect(201);
    assert_eq!(charge["status"], "pending", "{charge:#}");
    assert_eq!(requests(&charge), [("pending", "success"), ("authorization", "failed")]);
    let data = &charge["threeDSecure2"]["authData"];
    assert_eq!(data["providerType"], "ADYEN");
    assert_eq!(data["response"]["url"], body(REDIRECT)["action"]["url"]);
    // The provider sends the browser back to the address that it was given, with what proves the authentication.
    let sent = elsewhere.said("POST", "/adyen/payments").json();
    let back = text(&sent["returnUrl"]).strip_prefix(ADDRESS).unwrap().to_owned();
    assert_eq!(visit(app, &format!("{back}&redirectResult=X6XtfGC3%21Y")).await.status, 303);
    let details = elsewhere.said("POST", "/adyen/payments/details").json();
    assert_eq!(details["details"]["redirectResult"], "X6XtfGC3!Y");
    let done = read(app, &charge).await;
    assert_eq!((&done["status"], &done["responsibleProviderType"]), (&json!("authorized"), &json!("ADYEN")));
    assert_eq!(
        requests(&done),
        [("authorization", "success"), ("pending", "success"), ("authorization", "failed")]
    );
    let id = text(&charge["id"]);
    // Once, also where the second provider asks the cardholder.
    assert_eq!(announced(app, id).await, ["pending", "authorized"]);
    let told = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    println!("{}", text(&told["text"]));
    for provider in ["STRIPE", "ADYEN"] {
        assert!(text(&told["text"]).contains(provider), "{told:#}");
    }
    // Each was asked once, and the card number left for nobody else.
    let asked = |path: &str| elsewhere.all().iter().filter(|said| said.path == path).count();
    assert_eq!((asked("/stripe/v1/payment_intents"), asked("/adyen/payments")), (1, 1));
    assert!(!format!("{done}").contains(APPROVED.0));
}

/// The result of the authentication: it names the payment as it was sent.
fn returned(said: &Said) -> Value {
    let mut result = body(RETURNED);
    let payment = said.earlier.iter().find(|said| said.path == "/adyen/payments").unwrap().json();
    result["merchantReference"] = payment["reference"].clone();
    result
}

/// An account of the second provider that has no Pix.
fn not_offered() -> Value {
    json!({ "status": 422, "errorCode": "905", "message": "Payment details are not supported", "errorType": "configuration" })
}

/// The first provider has no Pix, the account at the second has none, the third issues the code.
async fn a_pix_is_paid(app: &TestApp, elsewhere: &Elsewhere, merchant: &Value) {
    let provider_id = text(&merchant["providers"][2]["id"]).to_owned();
    let address = format!("/providers/{provider_id}/notifications");
    assert_eq!(merchant["providers"][2]["notificationUrl"], format!("{ADDRESS}{address}"));
    let sent = pix_body(text(&merchant["id"]), described(jose()));
    let charge = app.post("/v1/charges", &sent).await.expect(201);
    assert_eq!(charge["status"], "pending", "{charge:#}");
    let code = text(&body(ORDER)["charges"][0]["last_transaction"]["qr_code"]).to_owned();
    assert_eq!(charge["paymentMethod"]["qrCodeData"], code.as_str(), "{charge:#}");
    let mut paid = ordered(&elsewhere.said("POST", "/pagarme_v5/orders").json());
    (paid["status"], paid["charges"][0]["status"]) = (json!("paid"), json!("paid"));
    paid["charges"][0]["paid_amount"] = paid["amount"].clone();
    paid["charges"][0]["last_transaction"]["status"] = json!("paid");
    let message = json!({
        "id": "hook_1", "type": "order.paid", "created_at": "2026-09-01T12:00:02Z", "data": paid,
    });
    assert_eq!(notify(app, &address, "regente:guessed", &message).await, 401);
    for _ in 0..2 {
        assert_eq!(notify(app, &address, "regente:a secret", &message).await, 200);
        app.run_jobs().await;
    }
    let done = read(app, &charge).await;
    assert_eq!(done["status"], "authorized", "{done:#}");
    assert_eq!(
        requests(&done),
        [("authorization", "success"), ("pending", "success"), ("authorization", "failed")]
    );
    assert_eq!(announced(app, text(&charge["id"])).await, ["pending", "authorized"]);
    let told = app.get(&format!("/v1/charges/{}/explanation", text(&charge["id"]))).await.expect(200);
    println!("{}", text(&told["text"]));
}

/// The order as the provider answers it: with the reference and the amount that were sent.
fn ordered(sent: &Value) -> Value {
    let mut order = body(ORDER);
    for place in ["", "/charges/0"] {
        let part = order.pointer_mut(place).unwrap();
        part["code"] = sent["code"].clone();
        part["amount"] = sent["items"][0]["amount"].clone();
    }
    order["charges"][0]["last_transaction"]["expires_at"] = json!("2026-12-01T12:00:00Z");
    order
}

async fn notify(app: &TestApp, address: &str, user: &str, message: &Value) -> u16 {
    let request = Request::builder()
        .method(Method::POST)
        .uri(address)
        .header("Content-Type", "application/json")
        .header("Authorization", format!("Basic {}", STANDARD.encode(user)));
    app.send(request.body(Body::from(message.to_string())).unwrap()).await.status.as_u16()
}

async fn an_underpaid_pix_pays_no_session(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |said| {
        let is_order = (said.method.as_str(), said.path.as_str()) == ("POST", "/pagarme_v5/orders");
        is_order.then(|| (200, ordered(&said.json())))
    })
    .await;
    let new = json!({ "mcc": "5812", "providers": [pagarme(1)] });
    let merchant = app.post("/v1/merchants", &new).await.expect(201);
    let address = format!("/providers/{}/notifications", text(&merchant["providers"][0]["id"]));
    let mut sold = session_body(text(&merchant["id"]));
    sold["amount"] = json!(1000);
    let session = create(&app, &sold).await;
    let charge = pay(&app, &session, &by_pix()).await.expect(201);
    let mut order = ordered(&elsewhere.said("POST", "/pagarme_v5/orders").json());
    order["charges"][0]["status"] = json!("underpaid");
    order["charges"][0]["paid_amount"] = json!(1);
    order["charges"][0]["last_transaction"]["status"] = json!("paid");
    let mut underpaid = order["charges"][0].clone();
    underpaid["order"] = json!({ "id": order["id"], "code": order["code"] });
    let message = json!({
        "id": "hook_1", "type": "charge.underpaid", "created_at": "2026-09-01T12:00:02Z", "data": underpaid,
    });
    assert_eq!(notify(&app, &address, "regente:a secret", &message).await, 200);
    app.run_jobs().await;
    let short = read(&app, &charge).await;
    assert_eq!((&short["amount"], &short["originalAmount"]), (&json!(1), &json!(1000)), "{short:#}");
    assert_eq!(session_of(&app, &session).await["status"], "created", "1 of 1000 does not pay it");
    assert_eq!(history(&app, &session).await[2], "created: paymentPending");
    let path = format!("/v1/charges/{}/capture", text(&charge["id"]));
    app.post(&path, &json!({})).await.expect(201);
    app.run_jobs().await;
    assert_eq!(session_of(&app, &session).await["status"], "paid");
    ledger_is_right(&app).await;
}

async fn a_provider_that_cannot_be_reached_is_passed_over(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |_| None).await;
    let merchant = app.merchant_with(json!([stripe(1), sandbox("Second", 2)])).await;
    elsewhere.stop().await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(
        (&charge["status"], &charge["responsibleProviderType"]),
        (&json!("authorized"), &json!("SANDBOX"))
    );
    assert_eq!(requests(&charge), [("authorization", "success"), ("authorization", "failed")]);
    let refused = &charge["transactionRequests"][1]["providerError"];
    assert_eq!(refused["networkDeniedReason"], "request_not_sent", "{charge:#}");
    let told = app.get(&format!("/v1/charges/{}/explanation", text(&charge["id"]))).await.expect(200);
    assert_eq!(told["steps"][0]["toldBy"], "not_sent", "{told:#}");
    let sentence = "it could not be reached, so nothing was sent to it. The next provider was asked.";
    assert!(text(&told["text"]).contains(sentence), "{told:#}");
    // There is nothing to look up.
    for _ in 0..48 {
        app.later(std::time::Duration::from_secs(3600)).await;
    }
    nothing_is_open(&app).await;
}

async fn a_provider_that_refuses_the_credentials_is_told_of_once_a_minute(app: TestApp) {
    let (app, _elsewhere) = with_providers(app, refuses_the_key).await;
    let merchant = app.merchant_with(json!([stripe(1), sandbox("Second", 2)])).await;
    let merchant = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    let provider_id = text(&merchant["providers"][0]["id"]).parse().unwrap();
    for _ in 0..3 {
        let charge = app.post("/v1/charges", &charge_body(text(&merchant["id"]), APPROVED)).await.expect(201);
        assert_eq!(charge["status"], "authorized", "{charge:#}");
        assert_eq!(charge["transactionRequests"][1]["providerError"]["declinedCode"], "invalid_merchant");
    }
    let refused = |now| app.app.refused_credentials.count(provider_id, now);
    assert_eq!(refused(app.clock.machine()), None, "the first one was logged");
    app.clock.advance_machine(std::time::Duration::from_secs(61));
    // The two that were not logged, the one above, and this one.
    assert_eq!(refused(app.clock.machine()), Some(4));
}

/// The provider knows the key when it is registered, and no more when it is used.
fn refuses_the_key(said: &Said) -> Option<(u16, Value)> {
    let is_charge = said.path == "/stripe/v1/payment_intents";
    is_charge
        .then(|| (401, json!({ "error": { "type": "invalid_request_error", "message": "Invalid API Key" } })))
}

/// What the operator reads of both: the log of one thread is heard.
#[tokio::test]
async fn refused_credentials_and_a_missing_address_are_warnings() {
    let log = Log::listen();
    let elsewhere = Elsewhere::start(|said| refuses_the_key(said).or_else(|| knows_the_merchant(said))).await;
    let app = TestApp::sqlite().await.with_adapters(Adapters::Real(elsewhere.address)).await;
    let merchant = app.merchant_with(json!([stripe(1), sandbox("Second", 2)])).await;
    for _ in 0..2 {
        app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    }
    let session = create(&app, &session_body(&merchant)).await;
    assert_eq!(session.get("paymentLink"), None);
    let written = String::from_utf8(log.raw.bytes()).unwrap();
    for warning in ["refuses the credentials of a merchant", "was to have a payment link and has none"] {
        let lines: Vec<&str> = written.lines().filter(|line| line.contains(warning)).collect();
        assert_eq!(lines.len(), 1, "{warning}: {lines:#?}");
        assert!(lines[0].contains(r#""level":"WARN""#), "{}", lines[0]);
    }
    let told = text(&session["id"]);
    assert!(written.contains(told), "the session is named");
}

async fn what_is_not_answered_is_looked_up_and_never_sent_again(app: TestApp) {
    let (app, elsewhere) = with_providers(app, |said| match (said.method.as_str(), said.path.as_str()) {
        // It takes the money and breaks down.
        ("POST", "/stripe/v1/payment_intents") => Some((500, json!({}))),
        ("GET", "/stripe/v1/payment_intents" | "/stripe/v1/payment_intents/search") => Some((503, json!({}))),
        _ => None,
    })
    .await;
    let merchant = app.merchant_with(json!([stripe(1), sandbox("Second", 2)])).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(charge["status"], "pending", "{charge:#}");
    for _ in 0..6 {
        app.later(std::time::Duration::from_secs(60)).await;
    }
    let sent = elsewhere.all();
    let sent = sent.iter().filter(|said| said.method == "POST" && said.path.ends_with("/payment_intents"));
    assert_eq!(sent.count(), 1);
    let keys = elsewhere.said("POST", "/stripe/v1/payment_intents").headers;
    assert!(keys.contains_key("idempotency-key"));
    // It comes back, and has the money.
    elsewhere.answers(|said| {
        let is_read = said.method == "GET" && said.path.starts_with("/stripe/v1/payment_intents");
        is_read.then(|| (200, json!({ "object": "list", "has_more": false, "data": [found(said)] })))
    });
    for _ in 0..48 {
        app.later(std::time::Duration::from_secs(3600)).await;
    }
    let done = read(&app, &charge).await;
    assert_eq!(
        (&done["status"], &done["responsibleProviderType"]),
        (&json!("authorized"), &json!("STRIPE")),
        "{done:#}"
    );
}

/// The payment as the provider lists it: with the key and the object that were sent.
fn found(said: &Said) -> Value {
    let mut intent = body(SUCCEEDED);
    let sent = said.earlier.iter().find(|said| said.method == "POST").unwrap().form();
    for name in ["regente_key", "regente_object_id"] {
        intent["metadata"][name] = json!(sent[&format!("metadata[{name}]")]);
    }
    intent
}
