//! Providers that tell by notification what became of what they had only received, and of payments long after.

use std::time::Duration;

use aws_lc_rs::hmac;
use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regente::metrics::Endpoint;
use regente_store::transaction_requests;
use serde_json::{Value, json};

use super::with_bank::{provider, registered, settle, with_bank};
use super::{Elsewhere, RETURNED, Said, body, with_providers};
use crate::support::agreement::{ledger_is_right, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bank::books::Face;
use crate::support::bodies::payers::{described, jose};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::{capture, void};
use crate::support::metrics::metric;
use crate::support::providers::{adyen, stripe};
use crate::support::read::{announced, text};
use crate::support::three_d_secure::{hosted_body, requests};

stories! {
    a_capture_is_received_and_confirmed_later,
    a_capture_is_received_and_refused_later,
    an_item_whose_date_somebody_has_spoilt_is_refused,
    a_refund_is_received_and_confirmed_later,
    what_is_carried_out_after_a_refusal_is_told_to_the_operator,
    a_challenge_that_nobody_can_be_asked_about_expires,
    a_dispute_names_the_payment_by_the_providers_id_alone,
    a_charge_back_is_reversed_and_made_again,
    a_reversal_that_is_heard_after_the_second_charge_back_is_old,
    two_disputes_end_in_any_order,
    a_pix_that_is_told_as_paid_is_not_unknown,
}

const RECEIVED: &str = include_str!("../../../../providers/tests/it/adyen/recorded/received.json");
const REDIRECT: &str = include_str!("../../../../providers/tests/it/adyen/recorded/redirect.json");
const SUCCEEDED: &str = include_str!("../../../../providers/tests/it/stripe/bodies/payment_intent.json");
const DISPUTE: &str = include_str!("../../../../providers/tests/it/stripe/bodies/dispute.json");

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A provider that approves payments and receives what follows.
pub(super) fn receives(said: &Said) -> Option<(u16, Value)> {
    let path = said.path.as_str();
    let sent = said.json();
    let reference = || sent["reference"].clone();
    if path == "/adyen/payments" {
        let mut approved = body(RETURNED);
        (approved["merchantReference"], approved["amount"]) = (reference(), sent["amount"].clone());
        return Some((200, approved));
    }
    let is_follow_up = ["/captures", "/refunds", "/cancels"].iter().any(|end| path.ends_with(end));
    is_follow_up.then(|| {
        let mut received = body(RECEIVED);
        (received["reference"], received["amount"]) = (reference(), sent["amount"].clone());
        (201, received)
    })
}

pub(super) struct Shop {
    pub elsewhere: Elsewhere,
    pub merchant: String,
    pub address: String,
}

pub(super) async fn shop(app: TestApp, provider: Value) -> (TestApp, Shop) {
    let (app, elsewhere) = with_providers(app, receives).await;
    let new = json!({ "mcc": "5812", "providers": [provider] });
    let merchant = app.post("/v1/merchants", &new).await.expect(201);
    let address = format!("/providers/{}/notifications", text(&merchant["providers"][0]["id"]));
    let merchant = text(&merchant["id"]).to_owned();
    (app, Shop { elsewhere, merchant, address })
}

pub(super) async fn charged(app: &TestApp, shop: &Shop, captured: bool) -> String {
    let sent = Charge::by_card(&shop.merchant, APPROVED).with("capture", captured).body();
    text(&app.post("/v1/charges", &sent).await.expect(201)["id"]).to_owned()
}

/// The provider notifies the result of the newest request to an address that ends so.
pub(super) async fn tells(app: &TestApp, shop: &Shop, end: &str, code: &str, success: bool) {
    tells_of(app, shop, end, (code, "2026-03-23T16:00:00+01:00"), success).await;
}

/// The same about this time.
async fn tells_of(app: &TestApp, shop: &Shop, end: &str, (code, date): (&str, &str), success: bool) {
    let all = shop.elsewhere.all();
    let sent = all.iter().rfind(|said| said.path.ends_with(end)).expect("such a request").json();
    let psp = format!("psp {} {end} {success}", text(&sent["reference"]));
    tells_with(app, shop, end, (code, success), (&psp, date)).await;
}

/// The same with the id that the provider gives it.
pub(super) async fn tells_with(
    app: &TestApp,
    shop: &Shop,
    end: &str,
    (code, success): (&str, bool),
    (psp, date): (&str, &str),
) {
    let message = told(shop, end, (code, success), (psp, date));
    for _ in 0..2 {
        assert_eq!(send(app, shop, "unused", "", &message).await, 200);
        app.run_jobs().await;
    }
}

pub(super) fn told(
    shop: &Shop,
    end: &str,
    (code, success): (&str, bool),
    (psp, date): (&str, &str),
) -> Value {
    let all = shop.elsewhere.all();
    let sent = all.iter().rfind(|said| said.path.ends_with(end)).expect("such a request").json();
    let (reference, original) = (text(&sent["reference"]), "JLCMPCQ8HXSKGK82");
    let (value, currency) = (&sent["amount"]["value"], text(&sent["amount"]["currency"]));
    let signed = format!("{psp}:{original}:Shop:{reference}:{value}:{currency}:{code}:{success}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &[0x44; 32]);
    let signature = STANDARD.encode(hmac::sign(&key, signed.as_bytes()).as_ref());
    let item = json!({
        "eventCode": code, "success": success.to_string(), "pspReference": psp, "originalReference": original,
        "merchantAccountCode": "Shop", "merchantReference": reference, "eventDate": date,
        "amount": sent["amount"], "reason": "", "additionalData": { "hmacSignature": signature },
    });
    json!({ "live": "false", "notificationItems": [{ "NotificationRequestItem": item }] })
}

pub(super) async fn send(app: &TestApp, shop: &Shop, header: &str, value: &str, message: &Value) -> u16 {
    let request = Request::builder()
        .method(Method::POST)
        .uri(&shop.address)
        .header("Content-Type", "application/json")
        .header(header, value);
    app.send(request.body(Body::from(message.to_string())).unwrap()).await.status.as_u16()
}

pub(super) async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

pub(super) fn shown(charge: &Value) -> (&str, i64) {
    (text(&charge["status"]), charge["amount"].as_i64().unwrap())
}

async fn a_capture_is_received_and_confirmed_later(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    let received = capture(&app, &id, json!({ "amount": 100 })).await.expect(201);
    assert_eq!(shown(&received), ("capture_pending", 150), "{received:#}");
    assert_eq!(requests(&received)[0], ("capture", "processing"));
    // Asked again and again, the provider tells nothing, and what was received is not sent again.
    for _ in 0..4 {
        app.later(HOUR).await;
    }
    assert_eq!(shown(&read(&app, &id).await), ("capture_pending", 150));
    tells(&app, &shop, "/captures", "CAPTURE", true).await;
    let done = read(&app, &id).await;
    assert_eq!(shown(&done), ("authorized", 100), "{done:#}");
    assert_eq!(
        requests(&done),
        [("capture", "success"), ("capture", "processing"), ("pre_authorization", "success")]
    );
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "authorized"]);
    let captures = shop.elsewhere.all().iter().filter(|said| said.path.ends_with("/captures")).count();
    assert_eq!(captures, 1);
}

/// The date is not signed. The true notification comes afterwards, and is no repetition.
async fn an_item_whose_date_somebody_has_spoilt_is_refused(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    capture(&app, &id, json!({ "amount": 100 })).await.expect(201);
    for (date, status) in [("yesterday", 401), ("", 401), ("2026-03-23T16:00:00+01:00", 200)] {
        let message = told(&shop, "/captures", ("CAPTURE", true), ("psp 1", date));
        assert_eq!(send(&app, &shop, "unused", "", &message).await, status, "{date}");
        app.run_jobs().await;
        let amount = if status == 200 { ("authorized", 100) } else { ("capture_pending", 150) };
        assert_eq!(shown(&read(&app, &id).await), amount, "{date}");
    }
}

async fn a_capture_is_received_and_refused_later(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, false).await;
    capture(&app, &id, json!({})).await.expect(201);
    tells(&app, &shop, "/captures", "CAPTURE", false).await;
    let done = read(&app, &id).await;
    assert_eq!(shown(&done), ("pre_authorized", 150), "{done:#}");
    assert_eq!(requests(&done)[0], ("capture", "failed"));
    // It can be captured again.
    capture(&app, &id, json!({})).await.expect(201);
}

async fn a_refund_is_received_and_confirmed_later(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, true).await;
    let received = void(&app, &id, json!({ "amount": 50 })).await.expect(201);
    assert_eq!(shown(&received), ("refund_pending", 150), "{received:#}");
    tells(&app, &shop, "/refunds", "REFUND", true).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 100));
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "refund_pending", "voided"]);
}

async fn what_is_carried_out_after_a_refusal_is_told_to_the_operator(app: TestApp) {
    const CONTRADICTED: &str = "regente_follow_ups_contradicted_total";
    let (app, shop) = shop(app, adyen(1)).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let before = metric(endpoint.address(), CONTRADICTED).await;
    let id = charged(&app, &shop, false).await;
    shop.elsewhere.answers(|said| {
        let refused =
            json!({ "status": 422, "errorCode": "167", "message": "Original pspReference required" });
        said.path.ends_with("/captures").then_some((422, refused))
    });
    capture(&app, &id, json!({})).await.expect(201);
    let refused = read(&app, &id).await;
    assert_eq!(shown(&refused), ("pre_authorized", 150), "{refused:#}");
    tells(&app, &shop, "/captures", "CAPTURE", true).await;
    assert_eq!(read(&app, &id).await, refused, "nothing is guessed");
    assert!(metric(endpoint.address(), CONTRADICTED).await > before);
}

async fn a_challenge_that_nobody_can_be_asked_about_expires(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    shop.elsewhere.answers(|said| (said.path == "/adyen/payments").then(|| (200, body(REDIRECT))));
    let charge = app.post("/v1/charges", &hosted_body(&shop.merchant, APPROVED)).await.expect(201);
    assert_eq!(charge["status"], "pending", "{charge:#}");
    for _ in 0..48 {
        app.later(HOUR).await;
    }
    let done = read(&app, text(&charge["id"])).await;
    assert_eq!(done["status"], "failed", "{done:#}");
}

/// A shop whose provider takes everything at once.
async fn takes_at_once(app: TestApp) -> (TestApp, Shop) {
    let (app, shop) = shop(app, stripe(1)).await;
    shop.elsewhere.answers(|said| {
        (said.path == "/stripe/v1/payment_intents").then(|| {
            let sent = said.form();
            let mut intent = body(SUCCEEDED);
            (intent["status"], intent["amount"]) = (json!("succeeded"), json!(150));
            intent["amount_received"] = json!(150);
            for name in ["regente_key", "regente_object_id"] {
                intent["metadata"][name] = json!(sent[&format!("metadata[{name}]")]);
            }
            (200, intent)
        })
    });
    (app, shop)
}

/// Two disputes of a part each: what each says of its end comes late, and out of order.
async fn two_disputes_end_in_any_order(app: TestApp) {
    let (app, shop) = takes_at_once(app).await;
    let id = charged(&app, &shop, true).await;
    let payment = read(&app, &id).await["transactionRequests"][0]["transactionId"].clone();
    let now = app.clock.deployment().as_millis() / 1000;
    let ends = [
        ("du_1", "created", "needs_response", 1),
        ("du_2", "created", "needs_response", 2),
        ("du_1", "closed", "lost", 5),
        ("du_2", "closed", "lost", 6),
        ("du_2", "closed", "won", 4),
        ("du_1", "closed", "won", 9),
        ("du_1", "closed", "lost", 5),
    ];
    let mut owed = Vec::new();
    for (place, (case, kind, status, after)) in ends.into_iter().enumerate() {
        let mut dispute = body(DISPUTE);
        (dispute["id"], dispute["payment_intent"]) = (json!(case), payment.clone());
        (dispute["amount"], dispute["status"]) = (json!(if case == "du_1" { 60 } else { 40 }), json!(status));
        let message = json!({
            "id": format!("evt_{place}"), "object": "event", "type": format!("charge.dispute.{kind}"),
            "created": now + after, "data": { "object": dispute },
        });
        assert_eq!(send(&app, &shop, "Stripe-Signature", &signed_at(now, &message), &message).await, 200);
        app.run_jobs().await;
        let balances = app.get("/v1/ledger/balances?purpose=provider_receivable").await.expect(200);
        owed.push(balances["items"][0]["balance"].as_i64().unwrap());
    }
    assert_eq!(owed, [150, 150, 90, 50, 50, 110, 110]);
    let charge = read(&app, &id).await;
    assert_eq!(shown(&charge), ("charged_back", 150), "{charge:#}");
    ledger_is_right(&app).await;
}

async fn a_dispute_names_the_payment_by_the_providers_id_alone(app: TestApp) {
    let (app, shop) = takes_at_once(app).await;
    let id = charged(&app, &shop, true).await;
    let paid = read(&app, &id).await;
    assert_eq!(shown(&paid), ("authorized", 150), "{paid:#}");
    let mut dispute = body(DISPUTE);
    dispute["payment_intent"] = paid["transactionRequests"][0]["transactionId"].clone();
    dispute["amount"] = json!(150);
    let now = app.clock.deployment().as_millis() / 1000;
    let message = json!({
        "id": "evt_1", "object": "event", "type": "charge.dispute.created", "created": now,
        "data": { "object": dispute },
    });
    assert_eq!(send(&app, &shop, "Stripe-Signature", &signed_at(now, &message), &message).await, 200);
    app.run_jobs().await;
    let disputed = read(&app, &id).await;
    assert_eq!(disputed["isDispute"], true, "{disputed:#}");
    assert_eq!(requests(&disputed)[0], ("dispute", "success"));
}

/// When each of these happens.
fn date_of(code: &str) -> &'static str {
    match code {
        "CHARGEBACK" => "2026-03-24T16:00:00+01:00",
        "CHARGEBACK_REVERSED" => "2026-04-02T09:30:00+02:00",
        "SECOND_CHARGEBACK" => "2026-04-21T11:00:00+02:00",
        _ => "2026-05-04T10:00:00+02:00",
    }
}

/// The bank has the money in the end, whatever is heard last.
async fn a_reversal_that_is_heard_after_the_second_charge_back_is_old(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    for order in [[0, 2, 1], [2, 0, 1], [2, 1, 0]] {
        let id = charged(&app, &shop, true).await;
        for place in order {
            let code = ["CHARGEBACK", "CHARGEBACK_REVERSED", "SECOND_CHARGEBACK"][place];
            tells_of(&app, &shop, "/adyen/payments", (code, date_of(code)), true).await;
        }
        let charge = read(&app, &id).await;
        assert_eq!(charge["status"], "charged_back", "{order:?}: {charge:#}");
        assert_eq!(announced(&app, &id).await[2..], ["charged_back"], "{order:?}");
    }
    let balances = app.get("/v1/ledger/balances?purpose=provider_receivable").await.expect(200);
    assert_eq!(balances["items"][0]["balance"], 0, "{balances:#}");
    ledger_is_right(&app).await;
}

/// Without a defence the payment is charged back at once. Each notification comes twice, and again in the end.
async fn a_charge_back_is_reversed_and_made_again(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let id = charged(&app, &shop, true).await;
    let told = async |code: &str| {
        tells_of(&app, &shop, "/adyen/payments", (code, date_of(code)), true).await;
        let charge = read(&app, &id).await;
        let entries = app.get("/v1/ledger/entries?sort=asc").await.expect(200);
        let newest = entries["items"].as_array().unwrap().last().unwrap();
        let posted = (text(&newest["movement"]).to_owned(), newest["amount"].as_i64().unwrap());
        let (status, amount) = shown(&charge);
        (status.to_owned(), amount, posted, entries["meta"]["totalItems"].as_u64().unwrap())
    };
    let is = |status: &str, movement: &str, entries: u64| {
        (status.to_owned(), 150, (movement.to_owned(), 150), entries)
    };
    assert_eq!(told("CHARGEBACK").await, is("charged_back", "charge_back", 2));
    assert_eq!(told("CHARGEBACK_REVERSED").await, is("authorized", "charge_back_reversal", 3));
    assert_eq!(told("CHARGEBACK").await, is("authorized", "charge_back_reversal", 3));
    let charge = read(&app, &id).await;
    assert_eq!(charge["isDispute"], false, "{charge:#}");
    assert_eq!(
        requests(&charge)[..2],
        [("dispute_closed", "success"), ("charge_back", "success")],
        "{charge:#}"
    );
    assert_eq!(told("SECOND_CHARGEBACK").await, is("charged_back", "charge_back", 4));
    assert_eq!(told("PREARBITRATION_WON").await, is("authorized", "charge_back_reversal", 5));
    for code in ["CHARGEBACK", "CHARGEBACK_REVERSED", "SECOND_CHARGEBACK", "PREARBITRATION_WON"] {
        assert_eq!(told(code).await, is("authorized", "charge_back_reversal", 5), "{code} is known");
    }
    let events = ["charged_back", "dispute_closed", "charged_back", "dispute_closed"];
    assert_eq!(announced(&app, &id).await[2..], events);
    ledger_is_right(&app).await;
    // What is back can be refunded.
    let received = void(&app, &id, json!({ "amount": 50 })).await.expect(201);
    assert_eq!(shown(&received), ("refund_pending", 150), "{received:#}");
}

/// The signature of a message by the provider with the idempotency keys.
pub fn signed_at(seconds: i64, message: &Value) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"whsec_test");
    let signature = hex::encode(hmac::sign(&key, format!("{seconds}.{message}").as_bytes()).as_ref());
    format!("t={seconds},v1={signature}")
}

/// The provider cannot be asked whether the payer pays once more. That ends without a word to the operator: the payment is known.
async fn a_pix_that_is_told_as_paid_is_not_unknown(app: TestApp) {
    let (app, bank) = with_bank(app).await;
    let (merchant, post) = registered(&app, vec![provider(Face::Adyen, 1, 1)]).await;
    let sent = Charge::by_card(&merchant, APPROVED)
        .with("paymentMethod", json!({ "paymentType": "pix", "expiresIn": 900 }))
        .with("paymentSource", described(jose()))
        .body();
    let id = text(&app.post("/v1/charges", &sent).await.expect(201)["id"]).to_owned();
    assert!(bank.pay(&id, None));
    settle(&app, &bank, &post).await;
    assert_eq!(shown(&read(&app, &id).await), ("authorized", 150));
    while !transaction_requests::next_due(&app.app.store).await.unwrap().is_empty() {
        app.later(24 * HOUR).await;
    }
    nothing_is_open(&app).await;
}
