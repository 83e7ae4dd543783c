//! Charges by NuPay (`docs/interface/charges.md#nupay`): created, paid, refused, canceled, refunded.

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::awaiting_nupay;
use crate::charges::payers::{statuses_are_refused, statuses_are_set};
use crate::charges::pix::paid::{HOUR, agrees};
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::{drip_body, nupay_body};
use crate::support::charges::{read, single_merchant};
use crate::support::payers::{PAYS, happens, nupay_page, requests, set, stopped, void};
use crate::support::providers::sandbox;
use crate::support::read::{announced, newest, text};
use crate::support::sessions::{create, session_body};
use crate::support::time::MINUTE;

stories! {
    a_nupay_is_answered_with_its_page,
    what_was_sent_is_echoed,
    addresses_are_kept_as_they_are_parsed,
    what_is_missing_or_wrong_is_named,
    a_payment_is_found_by_a_probe,
    a_payment_is_notified,
    a_payer_who_refuses_cancels_it,
    it_is_canceled_when_nobody_pays_in_time,
    what_is_paid_after_that_is_given_back,
    a_provider_that_withdraws_it_fails_it,
    a_refund_is_confirmed_later,
    a_refund_that_is_sent_again_says_the_same,
    every_status_is_set_at_the_simulator,
    no_provider_takes_it,
}

async fn a_nupay_is_answered_with_its_page(app: TestApp) {
    let app = app.reachable().await;
    let mut body = nupay_body(&single_merchant(&app).await);
    body["paymentMethod"] = json!({ "paymentType": "nupay" });
    let first = app.post_with_key("/v1/charges", "a key", &body).await;
    let charge = first.expect(201);
    let id = text(&charge["id"]);
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("pending"), &json!(150)), "{charge:#}");
    assert_eq!(charge["responsibleProviderType"], "SANDBOX");
    assert_eq!(charge["paymentSource"]["sourceType"], "customer");
    assert_eq!(charge["paymentMethod"], json!({ "paymentType": "nupay", "delayToAutoCancel": 30 }));
    assert_eq!(requests(&charge), [("pending", "success", 150)]);
    let request = newest(&charge);
    assert_eq!(request["nupay"]["expiresIn"], 30);
    let page = text(&request["nupay"]["paymentUrl"]);
    assert!(page.starts_with(&format!("{ADDRESS}/sandbox/payments/")), "{page}");
    assert!(request["transactionId"].is_string() && request.get("pix").is_none(), "{request:#}");
    assert_eq!(announced(&app, id).await, ["pending"], "announced once, with its page");
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge);
    let listed = app.get("/v1/charges?paymentType=nupay&status=pending").await.expect(200);
    assert_eq!((&listed["meta"]["totalItems"], &listed["items"][0]), (&json!(1), &charge));
    let again = app.post_with_key("/v1/charges", "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    let app = app.restart().await;
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge, "and it is still there");
    assert_eq!(app.books.effects().await.unwrap(), 0, "nothing was paid");
}

async fn what_was_sent_is_echoed(app: TestApp) {
    let mut body = nupay_body(&single_merchant(&app).await);
    let method = json!({
        "paymentType": "nupay", "delayToAutoCancel": 43_200, "orderUrl": "http://shop.example/o/1",
        "returnUrl": "https://shop.example/ok", "cancelUrl": "https://shop.example/no", "taxValue": 1,
        "recipients": [
            { "referenceId": "r1", "name": "Ana", "document": "97055503019", "amount": 100 },
        ],
    });
    body["paymentMethod"] = method.clone();
    body["capture"] = json!(false);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["paymentMethod"], method, "{charge:#}");
    assert_eq!((&charge["capture"], &charge["status"]), (&json!(false), &json!("pending")));
    assert_eq!(charge["fraudAnalysisMetadata"]["cart"], body["fraudAnalysis"]["cart"]);
    assert_eq!(read(&app, &charge).await, charge);
    assert!(!nupay_page(&charge).contains("/sandbox/payments/"), "the service does not know its own address");
}

async fn addresses_are_kept_as_they_are_parsed(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut nupay = nupay_body(&merchant);
    nupay["paymentMethod"] = json!({
        "paymentType": "nupay", "orderUrl": "https:\\\\shop.example\\o\r\n\\1", "returnUrl": " HTTPS://Shop.example ",
        "cancelUrl": "https://shop.example/no way",
    });
    let method = &app.post("/v1/charges", &nupay).await.expect(201)["paymentMethod"];
    assert_eq!(method["orderUrl"], "https://shop.example/o/1");
    assert_eq!(method["returnUrl"], "https://shop.example/");
    assert_eq!(method["cancelUrl"], "https://shop.example/no%20way");

    let mut drip = drip_body(&merchant);
    drip["paymentMethod"]["successRedirectUrl"] = json!("https://shop.example/\tok\r\n");
    drip["paymentMethod"]["cancelRedirectUrl"] = json!("https://shop.example\\no");
    let method = &app.post("/v1/charges", &drip).await.expect(201)["paymentMethod"];
    assert_eq!(method["successRedirectUrl"], "https://shop.example/ok");
    assert_eq!(method["cancelRedirectUrl"], "https://shop.example/no");

    let mut body = session_body(&merchant);
    body["paymentMethods"] = json!([nupay["paymentMethod"]]);
    let session = create(&app, &body).await;
    let terms = &session["paymentMethods"][0];
    assert_eq!(
        (&terms["orderUrl"], &terms["returnUrl"]),
        (&json!("https://shop.example/o/1"), &json!("https://shop.example/"))
    );
}

async fn what_is_missing_or_wrong_is_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let cart = "fraudAnalysis.cart.items should not be empty: a nupay shows them to the payer";
    let recipient = json!({ "referenceId": "r1", "name": "Ana", "document": "97055503019", "amount": 100 });
    let without = |name: &str| {
        let mut recipient = recipient.clone();
        recipient.as_object_mut().unwrap().shift_remove(name);
        json!([recipient])
    };
    let address = "must be an http:// or https:// address";
    let cases = [
        ("/fraudAnalysis", Value::Null, cart.to_owned()),
        ("/fraudAnalysis", json!({ "sla": 1 }), cart.to_owned()),
        ("/fraudAnalysis/cart/items", json!([]), cart.to_owned()),
        ("/fraudAnalysis/cart/items", json!({}), cart.to_owned()),
        ("/fraudAnalysis/cart/items", json!("shoe"), "fraudAnalysis.cart.items must be an object".to_owned()),
        (
            "/paymentMethod/delayToAutoCancel",
            json!(0),
            "paymentMethod.delayToAutoCancel must not be less than 1".to_owned(),
        ),
        (
            "/paymentMethod/delayToAutoCancel",
            json!(43_201),
            "paymentMethod.delayToAutoCancel must not be greater than 43200".to_owned(),
        ),
        (
            "/paymentMethod/delayToAutoCancel",
            json!("30"),
            "paymentMethod.delayToAutoCancel must be an integer number".to_owned(),
        ),
        ("/paymentMethod/orderUrl", json!("shop.example"), format!("paymentMethod.orderUrl {address}")),
        (
            "/paymentMethod/returnUrl",
            json!("javascript:alert(1)"),
            format!("paymentMethod.returnUrl {address}"),
        ),
        (
            "/paymentMethod/cancelUrl",
            json!("https://a:b@shop.example"),
            format!("paymentMethod.cancelUrl {address}"),
        ),
        ("/paymentMethod/taxValue", json!(-1), "paymentMethod.taxValue must not be less than 0".to_owned()),
        ("/paymentMethod/recipients", json!({}), "paymentMethod.recipients must be an array".to_owned()),
        (
            "/paymentMethod/recipients",
            without("referenceId"),
            "paymentMethod.recipients[0].referenceId should not be empty".to_owned(),
        ),
        (
            "/paymentMethod/recipients",
            without("name"),
            "paymentMethod.recipients[0].name should not be empty".to_owned(),
        ),
        (
            "/paymentMethod/recipients",
            without("document"),
            "paymentMethod.recipients[0].document should not be empty".to_owned(),
        ),
        (
            "/paymentMethod/recipients",
            without("amount"),
            "paymentMethod.recipients[0].amount should not be empty".to_owned(),
        ),
        (
            "/paymentSource",
            json!({ "sourceType": "card", "cardId": merchant }),
            "paymentSource.sourceType must be one of the following values: customer".to_owned(),
        ),
        ("/threeDSecure2", json!({}), "threeDSecure2 must be absent for this paymentType".to_owned()),
    ];
    for (pointer, value, problem) in cases {
        let mut body = nupay_body(&merchant);
        for member in ["orderUrl", "taxValue", "recipients"] {
            body["paymentMethod"][member] = Value::Null;
        }
        body["threeDSecure2"] = Value::Null;
        *body.pointer_mut(pointer).unwrap() = value;
        let details = app.post("/v1/charges", &body).await.details(400);
        assert!(details.contains(&problem), "{problem}: {details:?}");
    }
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
    assert_eq!(app.get("/v1/customers").await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_payment_is_found_by_a_probe(app: TestApp) {
    let charge = awaiting_nupay(&app).await;
    app.later(MINUTE).await;
    assert_eq!(read(&app, &charge).await, charge, "a payer who is away changes nothing");
    happens(&app, &charge, 0, PAYS).await;
    app.later(5 * MINUTE).await;
    let paid = read(&app, &charge).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(150)), "{paid:#}");
    assert_eq!(requests(&paid), [("authorization", "success", 150), ("pending", "success", 150)]);
    assert_eq!(newest(&paid)["nupay"], json!({ "installmentsNumber": 1, "paymentType": "debit" }));
    assert_eq!(paid["transactionRequests"][1], charge["transactionRequests"][0], "it stays what it was");
    assert_ne!(newest(&paid)["transactionId"], charge["transactionRequests"][0]["transactionId"]);
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized"]);
    agrees(&app, &paid).await;
}

async fn a_payment_is_notified(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    let [paid] = app.wire.notices().try_into().expect("one notification");
    app.deliver(&paid).await.expect(200);
    app.deliver(&paid).await.expect(200);
    app.prepare().await;
    assert_eq!(app.worker.round().await.unwrap().resolved, 0, "nobody probes");
    let paid = read(&app, &charge).await;
    assert_eq!(paid["status"], "authorized", "{paid:#}");
    assert_eq!(newest(&paid)["nupay"]["paymentType"], "debit");
    assert_eq!(requests(&paid).len(), 2);
    agrees(&app, &paid).await;
}

async fn a_payer_who_refuses_cancels_it(app: TestApp) {
    let charge = awaiting_nupay(&app).await;
    happens(&app, &charge, 0, Staged::Refusal).await;
    happens(&app, &charge, 0, Staged::Refusal).await;
    app.later(5 * MINUTE).await;
    let canceled = read(&app, &charge).await;
    assert_eq!((&canceled["status"], &canceled["amount"]), (&json!("canceled"), &json!(0)), "{canceled:#}");
    assert_eq!(canceled["originalAmount"], 150);
    assert_eq!(requests(&canceled), [("authorization", "failed", 150), ("pending", "success", 150)]);
    let error = &newest(&canceled)["providerError"];
    assert_eq!((&error["declinedCode"], &error["retryable"]), (&json!("generic"), &json!(false)));
    assert_eq!(error["networkDeniedReason"], "sandbox refused by the payer");
    assert!(newest(&canceled).get("nupay").is_none(), "{canceled:#}");
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "canceled"]);
    assert_eq!(stopped(&app, &charge).await, "payer_refused");
    agrees(&app, &canceled).await;
    let refused = void(&app, &charge, json!({})).await.expect(400);
    assert_eq!(refused["error"]["message"], "charge cannot be voided in status canceled");
    let refused = set(&app, &charge, "authorized").await.expect(400);
    assert_eq!(refused["error"]["message"], "charge status cannot be set in status canceled");
}

async fn it_is_canceled_when_nobody_pays_in_time(app: TestApp) {
    let charge = awaiting_nupay(&app).await;
    app.later(199 * MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(2 * MINUTE).await;
    let canceled = read(&app, &charge).await;
    assert_eq!((&canceled["status"], &canceled["amount"]), (&json!("canceled"), &json!(0)), "{canceled:#}");
    assert_eq!(requests(&canceled)[0], ("authorization", "failed", 150));
    assert_eq!(newest(&canceled)["providerError"]["networkDeniedReason"], "expired");
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "canceled"]);
    assert_eq!(stopped(&app, &charge).await, "expired");
    agrees(&app, &canceled).await;
}

async fn what_is_paid_after_that_is_given_back(app: TestApp) {
    let charge = awaiting_nupay(&app).await;
    app.later(201 * MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "canceled");
    happens(&app, &charge, 0, PAYS).await;
    app.later(24 * HOUR).await;
    let late = read(&app, &charge).await;
    assert_eq!((&late["status"], &late["amount"]), (&json!("canceled"), &json!(0)), "{late:#}");
    assert_eq!(requests(&late)[..2], [("void", "processing", 150), ("authorization", "success", 150)]);
    happens(&app, &charge, 3, Staged::Refund).await;
    app.later(24 * HOUR).await;
    let given_back = read(&app, &charge).await;
    assert_eq!(requests(&given_back)[0], ("void", "success", 150));
    let key = text(&newest(&charge)["idempotencyKey"]).parse().unwrap();
    assert_eq!(app.books.holding(key).await.unwrap().unwrap().kept().minor_units(), 0);
    let events = announced(&app, text(&charge["id"])).await;
    assert_eq!(events, ["pending", "canceled", "probe_void"]);
}

async fn a_provider_that_withdraws_it_fails_it(app: TestApp) {
    let charge = awaiting_nupay(&app).await;
    happens(&app, &charge, 0, Staged::Withdrawal).await;
    app.later(5 * MINUTE).await;
    let failed = read(&app, &charge).await;
    assert_eq!((&failed["status"], &failed["amount"]), (&json!("failed"), &json!(150)), "{failed:#}");
    let error = &newest(&failed)["providerError"];
    assert_eq!((&error["declinedCode"], &error["retryable"]), (&json!("generic"), &json!(true)));
    assert_eq!(stopped(&app, &charge).await, "still_payable");
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "failed"]);
    let mut body = nupay_body(&single_merchant(&app).await);
    body["currency"] = json!("USD");
    let refused = app.post("/v1/charges", &body).await.expect(400);
    assert_eq!(
        refused["error"]["message"], "no provider available for paymentType nupay",
        "no wallet has dollars"
    );
}

async fn paid(app: &TestApp) -> Value {
    let charge = awaiting_nupay(app).await;
    happens(app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    read(app, &charge).await
}

async fn a_refund_is_confirmed_later(app: TestApp) {
    let charge = paid(&app).await;
    let wrong = void(&app, &charge, json!({ "delayToCompose": 366 })).await.details(400);
    assert_eq!(wrong, ["delayToCompose must not be greater than 365"]);
    let pending = void(&app, &charge, json!({ "amount": 50, "delayToCompose": 5 })).await.expect(201);
    assert_eq!((&pending["status"], &pending["amount"]), (&json!("refund_pending"), &json!(150)));
    assert_eq!(requests(&pending)[0], ("void", "processing", 50));
    let refund = &newest(&pending)["nupay"]["refundId"];
    assert_eq!(refund, &newest(&pending)["transactionId"], "{pending:#}");
    assert_eq!(app.wire.delays(), [Some(5)], "the provider was told");
    happens(&app, &charge, 2, Staged::Refund).await;
    app.later(HOUR).await;
    let part = read(&app, &charge).await;
    assert_eq!((&part["status"], &part["amount"]), (&json!("authorized"), &json!(100)), "{part:#}");
    assert!(newest(&part)["nupay"]["refundId"].is_string());
    void(&app, &charge, json!({})).await.expect(201);
    assert_eq!(app.wire.delays(), [Some(5), None]);
    happens(&app, &charge, 4, Staged::Refund).await;
    app.later(HOUR).await;
    let voided = read(&app, &charge).await;
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    let events = ["pending", "authorized", "refund_pending", "voided", "refund_pending", "voided"];
    assert_eq!(announced(&app, text(&charge["id"])).await, events);
    agrees(&app, &voided).await;
}

async fn a_refund_that_is_sent_again_says_the_same(app: TestApp) {
    let mut body = nupay_body(&single_merchant(&app).await);
    let faults = json!([{ "when": { "operation": "void" }, "then": { "timeout": "before_effect" }, "sequence": [1, 2] }]);
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": faults } });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    happens(&app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    void(&app, &charge, json!({ "delayToCompose": 3 })).await.expect(201);
    let app = app.restart().await;
    app.later(HOUR).await;
    let delays = app.wire.delays();
    assert!(delays.len() >= 3, "sent again at once, and by the job after a restart: {delays:?}");
    assert!(delays.iter().all(|delay| *delay == Some(3)), "{delays:?}");
    let pending = read(&app, &charge).await;
    assert_eq!(requests(&pending)[0], ("void", "processing", 150), "{pending:#}");
}

async fn every_status_is_set_at_the_simulator(app: TestApp) {
    let statuses = [
        ("authorized", 150, ("authorization", "success", 150)),
        ("voided", 0, ("void", "success", 150)),
        ("charged_back", 150, ("charge_back", "success", 150)),
        ("failed", 150, ("authorization", "failed", 150)),
    ];
    statuses_are_set(&app, awaiting_nupay, &statuses).await;
    statuses_are_refused(&app, &awaiting_nupay(&app).await, &["refund_pending"]).await;
}

async fn no_provider_takes_it(app: TestApp) {
    let mut only_cards = sandbox("Cards", 1);
    only_cards["options"] = json!({ "type": "SANDBOX", "supports": { "paymentTypes": ["credit", "pix"] } });
    let merchant = app.merchant_with(json!([only_cards])).await;
    let refused = app.post("/v1/charges", &nupay_body(&merchant)).await.expect(400);
    assert_eq!(refused["error"]["message"], "no provider available for paymentType nupay");
}
