//! Charges by PicPay (`docs/interface/charges.md#picpay`).

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::charges::payers::{has_expired, pays_late, statuses_are_refused, statuses_are_set};
use crate::charges::pix::paid::agrees;
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::picpay_body;
use crate::support::charges::{read, single_merchant};
use crate::support::payers::{decides, notifications_arrive, requests, stopped, void};
use crate::support::read::{announced, newest, text};
use crate::support::three_d_secure::visit;
use crate::support::time::MINUTE;

stories! {
    a_picpay_is_answered_with_its_code,
    it_needs_a_payer,
    whoever_scans_the_code_pays_at_its_page_and_is_refunded_at_once,
    whoever_refuses_fails_it,
    it_fails_when_nobody_pays_in_time_and_a_late_payment_counts,
    every_status_is_set_at_the_simulator,
}

async fn awaiting(app: &TestApp) -> Value {
    app.post("/v1/charges", &picpay_body(&single_merchant(app).await)).await.expect(201)
}

async fn a_picpay_is_answered_with_its_code(app: TestApp) {
    let app = app.reachable().await;
    let body = picpay_body(&single_merchant(&app).await);
    let first = app.post_with_key("/v1/charges", "a key", &body).await;
    let charge = first.expect(201);
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("pending"), &json!(150)), "{charge:#}");
    let method = &charge["paymentMethod"];
    let created = Timestamp::parse(text(&charge["createdAt"])).unwrap().as_millis() / 1000;
    let expires_in = method["expiresIn"].as_i64().unwrap();
    assert!((created + 900..=created + 901).contains(&expires_in), "in seconds since 1970: {method:#}");
    let page = text(&method["qrCodeData"]);
    assert!(page.starts_with(&format!("{ADDRESS}/sandbox/payments/")), "{page}");
    let picture = visit(&app, text(&method["qrCodeImageUrl"]).strip_prefix(ADDRESS).unwrap()).await;
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, Some("image/png")));
    assert_eq!(method.as_object().unwrap().len(), 4, "{method:#}");
    let mut instructions = method.clone();
    instructions.as_object_mut().unwrap().shift_remove("paymentType");
    assert_eq!(newest(&charge)["picpay"], instructions);
    assert_eq!(requests(&charge), [("pending", "success", 150)]);
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending"]);
    let again = app.post_with_key("/v1/charges", "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    let app = app.restart().await;
    assert_eq!(read(&app, &charge).await, charge);
}

async fn it_needs_a_payer(app: TestApp) {
    let mut body = picpay_body(&single_merchant(&app).await);
    body["paymentSource"] = json!({ "sourceType": "customer" });
    assert_eq!(
        app.post("/v1/charges", &body).await.details(400),
        ["paymentSource.customerId should not be empty"]
    );
    body["paymentSource"] = json!({ "sourceType": "card", "cardId": body["merchantId"] });
    let refused = app.post("/v1/charges", &body).await.details(400);
    assert_eq!(refused, ["paymentSource.sourceType must be one of the following values: customer"]);
}

async fn whoever_scans_the_code_pays_at_its_page_and_is_refunded_at_once(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    let page = text(&charge["paymentMethod"]["qrCodeData"]);
    assert_eq!(visit(&app, page.strip_prefix(ADDRESS).unwrap()).await.status, 200);
    let done = decides(&app, page, "pay").await;
    assert!(String::from_utf8_lossy(&done.bytes).contains("Thank you."));
    notifications_arrive(&app).await;
    let paid = read(&app, &charge).await;
    assert_eq!(paid["status"], "authorized", "{paid:#}");
    assert_eq!(requests(&paid), [("authorization", "success", 150), ("pending", "success", 150)]);
    let part = void(&app, &charge, json!({ "amount": 50 })).await.expect(201);
    assert_eq!((&part["status"], &part["amount"]), (&json!("authorized"), &json!(100)), "{part:#}");
    let voided = void(&app, &charge, json!({})).await.expect(201);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)), "{voided:#}");
    agrees(&app, &voided).await;
}

async fn whoever_refuses_fails_it(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    decides(&app, text(&charge["paymentMethod"]["qrCodeData"]), "refuse").await;
    notifications_arrive(&app).await;
    let failed = read(&app, &charge).await;
    assert_eq!(failed["status"], "failed", "{failed:#}");
    assert_eq!(stopped(&app, &charge).await, "payer_refused");
    agrees(&app, &failed).await;
}

async fn it_fails_when_nobody_pays_in_time_and_a_late_payment_counts(app: TestApp) {
    let charge = awaiting(&app).await;
    app.later(14 * MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(2 * MINUTE).await;
    has_expired(&app, &charge).await;
    pays_late(&app, &charge).await;
}

async fn every_status_is_set_at_the_simulator(app: TestApp) {
    let statuses = [
        ("authorized", 150, ("authorization", "success", 150)),
        ("voided", 0, ("void", "success", 150)),
        ("charged_back", 150, ("charge_back", "success", 150)),
        ("failed", 150, ("authorization", "failed", 150)),
    ];
    statuses_are_set(&app, awaiting, &statuses).await;
    statuses_are_refused(&app, &awaiting(&app).await, &["refund_pending"]).await;
}
