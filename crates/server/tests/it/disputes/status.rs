//! `POST /v1/charges/{id}` for every method and target (`docs/interface/sandbox.md#status`): what happens, happens at the
//! simulator, whose books agree.

use serde_json::{Value, json};

use crate::support::agreement::agree;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, WRONG_CVV, charge_body};
use crate::support::client::Reply;
use crate::support::disputes::read;
use crate::support::providers::sandbox;
use crate::support::read::{announced, text};

stories! {
    every_method_and_every_target,
    a_reservation_gets_every_status,
    what_the_provider_refuses_is_set_by_hand,
    what_was_set_by_hand_is_charged_back_by_hand,
}

const TARGETS: [&str; 5] = ["authorized", "voided", "charged_back", "failed", "refund_pending"];

/// The payment methods, with the targets that they have.
const METHODS: [(&str, &[&str]); 3] = [
    ("credit", &["authorized", "voided", "charged_back", "failed"]),
    ("voucher", &["authorized", "voided", "charged_back", "failed"]),
    ("pix", &["authorized", "voided", "charged_back", "failed", "refund_pending"]),
];

async fn made(app: &TestApp, method: &str) -> Value {
    let merchant = app.merchant_with(json!([sandbox("One", 1)])).await;
    let body = match method {
        "pix" => pix_body(&merchant, described(jose())),
        card => {
            Charge::by_card(&merchant, APPROVED).with("paymentMethod", json!({ "paymentType": card })).body()
        }
    };
    app.post("/v1/charges", &body).await.expect(201)
}

async fn set(app: &TestApp, charge: &Value, status: &str) -> Reply {
    app.post(&format!("/v1/charges/{}", text(&charge["id"])), &json!({ "status": status })).await
}

/// The charge agrees with the books, unless a tester has set it by hand: then no provider knows of it.
async fn agrees_with_books(app: &TestApp, charge: &Value) {
    let mut charge = charge.clone();
    // The key of the instructions is that of the payment too.
    charge["transactionRequests"]
        .as_array_mut()
        .unwrap()
        .retain(|request| request["requestType"] != "pending");
    agree(&app.books, &charge).await;
}

async fn every_method_and_every_target(app: TestApp) {
    for (method, targets) in METHODS {
        for target in TARGETS {
            let charge = made(&app, method).await;
            let reply = set(&app, &charge, target).await;
            if !targets.contains(&target) {
                let details = reply.details(400);
                assert_eq!(
                    details,
                    ["status must be a status of the charge's payment type"],
                    "{method} {target}"
                );
                assert_eq!(read(&app, text(&charge["id"])).await, charge);
                continue;
            }
            let after = reply.expect(200);
            assert_eq!(after["status"], target, "{method}: {after:#}");
            assert_eq!(after["amount"], if target == "voided" { 0 } else { 150 }, "{method} {target}");
            assert_eq!(read(&app, text(&charge["id"])).await, after);
            if !["failed", "refund_pending"].contains(&target) {
                agrees_with_books(&app, &after).await;
            }
            let is_final = ["voided", "charged_back"].contains(&target);
            for next in targets.iter().filter(|_| is_final) {
                let refused = set(&app, &charge, next).await.expect(400);
                let message = format!("charge status cannot be set in status {target}");
                assert_eq!(refused["error"]["message"], json!(message), "{method} {next}");
            }
        }
    }
}

async fn a_reservation_gets_every_status(app: TestApp) {
    for (target, events) in [
        ("authorized", &["authorized"][..]),
        ("voided", &["authorized", "voided"]),
        ("charged_back", &["authorized", "charged_back"]),
        ("failed", &["failed"]),
    ] {
        let body = Charge::by_card(&app.merchant().await, APPROVED).reserved().body();
        let charge = app.post("/v1/charges", &body).await.expect(201);
        let after = set(&app, &charge, target).await.expect(200);
        assert_eq!(after["status"], target, "{after:#}");
        let told = announced(&app, text(&charge["id"])).await;
        assert_eq!(told[2..], *events, "{target}");
        if target != "failed" {
            agrees_with_books(&app, &after).await;
        }
    }
}

/// The simulator refuses captures and refunds of this amount.
async fn what_the_provider_refuses_is_set_by_hand(app: TestApp) {
    for (capture, target) in [(false, "authorized"), (true, "voided")] {
        let mut body = charge_body(&app.merchant().await, APPROVED);
        (body["amount"], body["capture"]) = (json!(991), json!(capture));
        let charge = app.post("/v1/charges", &body).await.expect(201);
        let after = set(&app, &charge, target).await.expect(200);
        assert_eq!(after["status"], target, "{after:#}");
        let kinds: Vec<&str> = after["transactionRequests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| text(&r["requestStatus"]))
            .collect();
        assert_eq!(kinds, ["success", "failed", "success"], "refused, and then set");
    }
}

async fn what_was_set_by_hand_is_charged_back_by_hand(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Alone", 1)])).await;
    let failed = app.post("/v1/charges", &charge_body(&merchant, WRONG_CVV)).await.expect(201);
    for status in ["authorized", "charged_back"] {
        let after = set(&app, &failed, status).await.expect(200);
        assert_eq!(after["status"], status);
        assert_eq!(after["transactionRequests"][0]["transactionId"], json!(null), "no provider knows of it");
    }
    let charge = made(&app, "credit").await;
    let back = set(&app, &charge, "charged_back").await.expect(200);
    assert!(back["transactionRequests"][0]["transactionId"].is_string());
    agrees_with_books(&app, &back).await;
}
