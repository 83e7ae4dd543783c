//! What stories about payers who follow instructions share: what a payer does, and what has become of the charge. Each
//! method tells its own story with it.

use std::time::Duration;

use regente_domain::money::Amount;
use regente_providers::staged::Staged;
use serde_json::{Value, json};
use uuid::Uuid;

use super::pix::paid::{HOUR, PAYS_AGAIN, agrees};
use crate::support::app::TestApp;
use crate::support::charges::read;
use crate::support::payers::{PAYS, agrees_with, happens, requests, set, stopped, stored};
use crate::support::read::{announced, newest, text};
use crate::support::time::MINUTE;

/// A charge that was paid and found to be.
pub(crate) async fn paid(app: &TestApp, body: &Value) -> Value {
    let charge = app.post("/v1/charges", body).await.expect(201);
    happens(app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    let paid = read(app, &charge).await;
    assert_eq!(paid["status"], "authorized");
    paid
}

/// What was asked for is paid, once: the charge as it is now.
pub(crate) async fn is_paid(app: &TestApp, charge: &Value) -> Value {
    let amount = asked_for(charge);
    let paid = read(app, charge).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(amount)), "{paid:#}");
    assert_eq!(requests(&paid), [("authorization", "success", amount), ("pending", "success", amount)]);
    assert_eq!(paid["paymentMethod"], charge["paymentMethod"], "the instructions are still shown");
    assert_eq!(announced(app, text(&charge["id"])).await, ["pending", "authorized"]);
    agrees(app, &paid).await;
    paid
}

/// The payer pays this amount, and the merchant has it.
pub(crate) async fn pays_another_amount(app: &TestApp, charge: &Value, amount: i64) {
    let asked = asked_for(charge);
    happens(app, charge, 0, Staged::Payment { amount: Amount::new(amount) }).await;
    app.later(HOUR).await;
    let paid = read(app, charge).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(amount)));
    assert_eq!(paid["originalAmount"], asked);
    assert_eq!(requests(&paid), [("authorization", "success", amount), ("pending", "success", asked)]);
}

/// Nobody has paid in time: the charge has failed.
pub(crate) async fn has_expired(app: &TestApp, charge: &Value) {
    let amount = asked_for(charge);
    let failed = read(app, charge).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(requests(&failed), [("authorization", "failed", amount), ("pending", "success", amount)]);
    let error = &newest(&failed)["providerError"];
    assert_eq!(
        (&error["declinedCode"], &error["retryable"], &error["networkDeniedReason"]),
        (&json!("generic"), &json!(true), &json!("expired"))
    );
    assert_eq!(stopped(app, charge).await, "expired");
    assert_eq!(announced(app, text(&charge["id"])).await, ["pending", "failed"]);
    agrees(app, &failed).await;
}

/// Somebody pays a charge that has expired, and it counts.
pub(crate) async fn pays_late(app: &TestApp, charge: &Value) {
    let amount = asked_for(charge);
    assert_eq!(read(app, charge).await["status"], "failed");
    happens(app, charge, 0, PAYS).await;
    app.later(48 * HOUR).await;
    let paid = read(app, charge).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(amount)), "{paid:#}");
    let all = [
        ("authorization", "success", amount),
        ("authorization", "failed", amount),
        ("pending", "success", amount),
    ];
    assert_eq!(requests(&paid), all);
    assert_eq!(announced(app, text(&charge["id"])).await, ["pending", "failed", "authorized"]);
    agrees(app, &paid).await;
}

/// The payer pays twice, and within this time the second payment is found and given back, by a request of this status:
/// the charge as it is then.
pub(crate) async fn pays_twice(app: &TestApp, charge: &Value, found_within: Duration, void: &str) -> Value {
    let amount = asked_for(charge);
    happens(app, charge, 0, PAYS).await;
    app.later(MINUTE).await;
    happens(app, charge, 0, PAYS_AGAIN).await;
    app.later(found_within).await;
    let twice = read(app, charge).await;
    assert_eq!((&twice["status"], &twice["amount"]), (&json!("authorized"), &json!(amount)), "{twice:#}");
    assert_eq!(
        requests(&twice),
        [
            ("void", void, amount),
            ("authorization", "success", amount),
            ("authorization", "success", amount),
            ("pending", "success", amount),
        ],
        "the second payment and its return have requests of their own"
    );
    let undone = stored(app, charge).await.remove(3);
    let second = &twice["transactionRequests"][1]["transactionId"];
    assert_ne!(second, &twice["transactionRequests"][2]["transactionId"], "each payment has its own id");
    assert_eq!(undone.undone_transaction_id.as_deref(), second.as_str(), "the second payment is given back");
    twice
}

/// The provider withdraws the instructions, and they are paid nevertheless, of which nobody is notified: a probe finds it,
/// and it is given back by a request of this status. Returns the key of the payment.
pub(crate) async fn pays_after_a_withdrawal(app: &TestApp, charge: &Value, void: &str) -> Uuid {
    happens(app, charge, 0, Staged::Withdrawal).await;
    app.later(MINUTE).await;
    let withdrawn = read(app, charge).await;
    assert_eq!(withdrawn["status"], "failed");
    let error = &newest(&withdrawn)["providerError"];
    assert_eq!((&error["declinedCode"], &error["retryable"]), (&json!("generic"), &json!(true)));
    assert_eq!(stopped(app, charge).await, "still_payable", "nobody else is asked");
    happens(app, charge, 0, PAYS).await;
    let request = stored(app, charge).await.remove(0);
    app.later(HOUR).await;
    let late = read(app, charge).await;
    assert_eq!(late["status"], "failed");
    assert_eq!(requests(&late)[0], ("void", void, asked_for(charge)), "{late:#}");
    request.provider_key()
}

/// The simulator keeps nothing of a payment.
pub(crate) async fn nothing_is_kept(app: &TestApp, key: Uuid) {
    let holding = app.books.holding(key).await.unwrap().unwrap();
    assert_eq!(holding.kept().minor_units(), 0, "nothing is kept");
}

/// The first answer is lost. The probe at once, or the reconcile job, finds the instructions: the charge with them.
pub(crate) async fn found_with_its_instructions(app: &TestApp, mut body: Value) -> Value {
    body["paymentFlow"] =
        json!({ "metadata": { "sandboxFaults": [{ "then": { "timeout": "after_effect" } }] } });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    app.later(MINUTE).await;
    let found = read(app, &charge).await;
    assert_eq!(found["status"], "pending");
    found
}

/// A tester sets each of these statuses of a charge of its own, which happens at the simulator. Each stands with the
/// amount and the newest request that follow. Returns the charges as they are then.
pub(crate) async fn statuses_are_set(
    app: &TestApp,
    awaiting: impl AsyncFn(&TestApp) -> Value,
    statuses: &[(&str, i64, (&str, &str, i64))],
) -> Vec<Value> {
    let mut all = Vec::new();
    for (status, amount, first) in statuses {
        let charge = awaiting(app).await;
        let after = set(app, &charge, status).await.expect(200);
        assert_eq!((&after["status"], &after["amount"]), (&json!(status), &json!(amount)), "{after:#}");
        assert_eq!(requests(&after)[0], *first);
        assert_eq!(read(app, &charge).await, after);
        // What banks take back and what is given back later are compared in stories of their own.
        if !["charged_back", "refund_pending"].contains(status) {
            agrees_with(app, &after).await;
        }
        all.push(after);
    }
    all
}

/// A tester sets none of these statuses: the method has no such.
pub(crate) async fn statuses_are_refused(app: &TestApp, charge: &Value, statuses: &[&str]) {
    for status in statuses {
        let refused = set(app, charge, status).await.details(400);
        assert_eq!(refused, ["status must be a status of the charge's payment type"], "{status}");
    }
    assert_eq!(read(app, charge).await, *charge);
}

/// A voided charge is set to nothing else; one that has expired may still be paid.
pub(crate) async fn nothing_else_is_set(
    app: &TestApp,
    awaiting: impl AsyncFn(&TestApp) -> Value,
    expires_within: Duration,
) {
    let charge = awaiting(app).await;
    set(app, &charge, "voided").await.expect(200);
    let refused = set(app, &charge, "authorized").await.expect(400);
    assert_eq!(refused["error"]["message"], "charge status cannot be set in status voided");
    let charge = awaiting(app).await;
    app.later(expires_within).await;
    assert_eq!(read(app, &charge).await["status"], "failed");
    let paid = set(app, &charge, "authorized").await.expect(200);
    assert_eq!(paid["status"], "authorized", "paid after it had expired");
    agrees_with(app, &paid).await;
}

fn asked_for(charge: &Value) -> i64 {
    charge["originalAmount"].as_i64().unwrap()
}
