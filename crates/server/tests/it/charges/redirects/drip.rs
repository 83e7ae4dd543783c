//! Charges by Drip, a Pix in installments (`docs/interface/charges.md#drip`).

use regente_documents::{Mark, qr};
use serde_json::{Value, json};

use super::pages::leads_to;
use crate::charges::payers::{has_expired, pays_late, statuses_are_refused, statuses_are_set};
use crate::charges::pix::paid::agrees;
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::{PAID_AT, REFUSED_AT, address, described, drip_body, jose};
use crate::support::charges::{read, single_merchant};
use crate::support::payers::{decides, notifications_arrive, requests, stopped, void};
use crate::support::providers::sandbox;
use crate::support::read::{announced, newest, text};
use crate::support::sessions::{create, pay, session_body};
use crate::support::three_d_secure::visit;
use crate::support::time::MINUTE;

stories! {
    a_drip_is_answered_with_its_page,
    a_drip_of_a_session_has_what_its_page_shows,
    what_was_sent_is_echoed,
    what_is_missing_or_wrong_is_named,
    a_stored_customer_needs_an_address,
    a_payer_pays_at_the_page_and_is_refunded_at_once,
    a_payer_who_refuses_fails_it,
    it_fails_when_nobody_pays_in_time_and_a_late_payment_counts,
    every_status_is_set_at_the_simulator,
    no_provider_takes_it,
}

async fn awaiting(app: &TestApp) -> Value {
    app.post("/v1/charges", &drip_body(&single_merchant(app).await)).await.expect(201)
}

async fn a_drip_is_answered_with_its_page(app: TestApp) {
    let app = app.reachable().await;
    let body = drip_body(&single_merchant(&app).await);
    let first = app.post_with_key("/v1/charges", "a key", &body).await;
    let charge = first.expect(201);
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("pending"), &json!(150)), "{charge:#}");
    let page = text(&charge["paymentMethod"]["paymentUrl"]);
    assert!(page.starts_with(&format!("{ADDRESS}/sandbox/payments/")), "{page}");
    let mut expected = body["paymentMethod"].clone();
    expected["paymentUrl"] = json!(page);
    assert_eq!(charge["paymentMethod"], expected);
    assert_eq!(requests(&charge), [("pending", "success", 150)]);
    let copied = json!({
        "paymentUrl": page, "items": expected["items"], "browser": expected["browser"],
        "successRedirectUrl": PAID_AT, "cancelRedirectUrl": REFUSED_AT,
    });
    assert_eq!(newest(&charge)["drip"], copied);
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending"]);
    let again = app.post_with_key("/v1/charges", "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    let app = app.restart().await;
    assert_eq!(read(&app, &charge).await, charge);
    assert_eq!(app.books.effects().await.unwrap(), 0, "nothing was paid");
}

async fn a_drip_of_a_session_has_what_its_page_shows(app: TestApp) {
    let app = app.reachable().await;
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"] = json!([{ "paymentType": "drip", "successRedirectUrl": PAID_AT }]);
    let session = create(&app, &body).await;
    let mut payer = jose();
    payer["address"] = address();
    let paying = json!({ "paymentMethod": { "paymentType": "drip" }, "paymentSource": described(payer) });
    let charge = pay(&app, &session, &paying).await.expect(201);
    let method = &charge["paymentMethod"];
    assert_eq!(method["checkoutId"], newest(&charge)["transactionId"], "{charge:#}");
    assert_eq!(method["paymentQrCodeText"], method["paymentUrl"]);
    assert_eq!(method["upfrontPaymentAmount"], session["amount"]);
    let picture = text(&method["paymentQrCode"]).strip_prefix(ADDRESS).unwrap();
    let drawn = qr::picture(text(&method["paymentUrl"]), Mark::Sandbox).unwrap();
    assert_eq!(visit(&app, picture).await.bytes, drawn.png().unwrap(), "another picture");
    assert_eq!(read(&app, &charge).await["paymentMethod"], *method);
}

async fn what_was_sent_is_echoed(app: TestApp) {
    let mut body = drip_body(&single_merchant(&app).await);
    body["paymentMethod"] = json!({
        "paymentType": "drip", "maxInstallments": 24, "totalInstallments": 3,
        "firstInstallmentsDate": "2026-04-30", "finePercentage": 2, "interestPercentage": 1.25,
        "cancellationFeePercentage": 0.5, "minutesToExpire": 43_200,
        "browser": { "ipAddress": "203.0.113.9" },
        "items": [{ "id": "2", "title": "Sock", "unitPrice": "75.5", "quantity": "2", "colour": "red" }],
    });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let mut shown = charge["paymentMethod"].clone();
    assert!(shown.as_object_mut().unwrap().shift_remove("paymentUrl").is_some());
    assert_eq!(shown, body["paymentMethod"], "{charge:#}");
    body["paymentMethod"] = json!({ "paymentType": "drip" });
    let bare = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(bare["paymentMethod"].as_object().unwrap().len(), 2, "{bare:#}");
    app.later(16 * MINUTE).await;
    assert_eq!(read(&app, &bare).await["status"], "failed", "a quarter of an hour when nobody says");
    assert_eq!(read(&app, &charge).await["status"], "pending");
}

async fn what_is_missing_or_wrong_is_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let address_of = "paymentSource.customer.address";
    let without = |name: &str| {
        let mut address = address();
        address.as_object_mut().unwrap().shift_remove(name);
        address
    };
    let mut cases = vec![
        (
            "/paymentSource/customer/address",
            Value::Null,
            format!("{address_of} should not be empty for this paymentType"),
        ),
        (
            "/paymentSource/customer/address",
            json!({}),
            format!("{address_of} should not be empty for this paymentType"),
        ),
        (
            "/paymentMethod/successRedirectUrl",
            json!("ftp://shop.example"),
            "paymentMethod.successRedirectUrl must be an http:// or https:// address".to_owned(),
        ),
        (
            "/paymentMethod/cancelRedirectUrl",
            json!("javascript:alert(1)"),
            "paymentMethod.cancelRedirectUrl must be an http:// or https:// address".to_owned(),
        ),
        (
            "/paymentMethod/items",
            json!([{ "quantity": "some" }]),
            "paymentMethod.items[0].quantity must be a number of 0 or more".to_owned(),
        ),
        ("/paymentMethod/browser", json!("Chromium"), "paymentMethod.browser must be an object".to_owned()),
        (
            "/paymentMethod/browser",
            json!({ "ipAddress": 1 }),
            "paymentMethod.browser.ipAddress must be a string".to_owned(),
        ),
        (
            "/paymentSource",
            json!({ "sourceType": "token" }),
            "paymentSource.sourceType must be one of the following values: customer".to_owned(),
        ),
    ];
    for name in ["street", "streetNumber", "zipCode", "state", "city", "district"] {
        let problem = format!("{address_of}.{name} should not be empty");
        cases.push(("/paymentSource/customer/address", without(name), problem));
    }
    for (member, below, above) in
        [("maxInstallments", 0, 25), ("totalInstallments", 0, 25), ("minutesToExpire", 0, 43_201)]
    {
        for (value, bound) in
            [(below, format!("less than {}", below + 1)), (above, format!("greater than {}", above - 1))]
        {
            let pointer: &'static str = format!("/paymentMethod/{member}").leak();
            cases.push((pointer, json!(value), format!("paymentMethod.{member} must not be {bound}")));
        }
    }
    for member in ["finePercentage", "interestPercentage", "cancellationFeePercentage"] {
        let pointer: &'static str = format!("/paymentMethod/{member}").leak();
        cases.push((pointer, json!(-0.01), format!("paymentMethod.{member} must not be less than 0")));
        cases.push((pointer, json!(100.01), format!("paymentMethod.{member} must not be greater than 100")));
    }
    for (pointer, value, problem) in cases {
        let mut body = drip_body(&merchant);
        for member in
            ["totalInstallments", "finePercentage", "interestPercentage", "cancellationFeePercentage"]
        {
            body["paymentMethod"][member] = Value::Null;
        }
        *body.pointer_mut(pointer).unwrap() = value;
        let details = app.post("/v1/charges", &body).await.details(400);
        assert!(details.contains(&problem), "{problem}: {details:?}");
    }
    assert_eq!(app.get("/v1/customers").await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_stored_customer_needs_an_address(app: TestApp) {
    let mut body = drip_body(&single_merchant(&app).await);
    let customer = app.post("/v1/customers", &jose()).await.expect(201);
    body["paymentSource"] = json!({ "sourceType": "customer", "customerId": customer["id"] });
    let refused = app.post("/v1/charges", &body).await;
    assert_eq!(refused.details(400), ["paymentSource.customerId: the customer has no address"]);
    assert_eq!(refused.json()["error"]["message"], "customer has no complete address");
    let path = format!("/v1/customers/{}", text(&customer["id"]));
    app.call(&app.client, axum::http::Method::PATCH, &path, &[], Some(&json!({ "address": address() })))
        .await
        .expect(200);
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["status"], "pending");
}

async fn a_payer_pays_at_the_page_and_is_refunded_at_once(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    let done = decides(&app, text(&charge["paymentMethod"]["paymentUrl"]), "pay").await;
    assert_eq!(leads_to(&done).as_deref(), Some(PAID_AT));
    notifications_arrive(&app).await;
    let paid = read(&app, &charge).await;
    assert_eq!(paid["status"], "authorized", "{paid:#}");
    assert!(newest(&paid).get("drip").is_none(), "{paid:#}");
    assert_eq!(paid["paymentMethod"], charge["paymentMethod"], "the page is still shown");
    let part = void(&app, &charge, json!({ "amount": 50 })).await.expect(201);
    assert_eq!((&part["status"], &part["amount"]), (&json!("authorized"), &json!(100)), "{part:#}");
    let voided = void(&app, &charge, json!({})).await.expect(201);
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)), "{voided:#}");
    assert_eq!(requests(&voided)[..2], [("void", "success", 100), ("void", "success", 50)]);
    let events = ["pending", "authorized", "voided", "voided"];
    assert_eq!(announced(&app, text(&charge["id"])).await, events);
    agrees(&app, &voided).await;
}

async fn a_payer_who_refuses_fails_it(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    let done = decides(&app, text(&charge["paymentMethod"]["paymentUrl"]), "refuse").await;
    assert_eq!(leads_to(&done).as_deref(), Some(REFUSED_AT));
    notifications_arrive(&app).await;
    let failed = read(&app, &charge).await;
    assert_eq!((&failed["status"], &failed["amount"]), (&json!("failed"), &json!(150)), "{failed:#}");
    assert_eq!(stopped(&app, &charge).await, "payer_refused");
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "failed"]);
    agrees(&app, &failed).await;
}

async fn it_fails_when_nobody_pays_in_time_and_a_late_payment_counts(app: TestApp) {
    let charge = awaiting(&app).await;
    app.later(9 * MINUTE).await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(2 * MINUTE).await;
    has_expired(&app, &charge).await;
    pays_late(&app, &charge).await;
}

async fn every_status_is_set_at_the_simulator(app: TestApp) {
    let statuses = [
        ("authorized", 150, ("authorization", "success", 150)),
        ("voided", 0, ("void", "success", 150)),
        ("failed", 150, ("authorization", "failed", 150)),
    ];
    statuses_are_set(&app, awaiting, &statuses).await;
    statuses_are_refused(&app, &awaiting(&app).await, &["charged_back", "refund_pending"]).await;
}

async fn no_provider_takes_it(app: TestApp) {
    let mut only_cards = sandbox("Cards", 1);
    only_cards["options"] = json!({ "type": "SANDBOX", "supports": { "paymentTypes": ["pix"] } });
    let merchant = app.merchant_with(json!([only_cards])).await;
    let refused = app.post("/v1/charges", &drip_body(&merchant)).await.expect(400);
    assert_eq!(refused["error"]["message"], "no provider available for paymentType drip");
}
