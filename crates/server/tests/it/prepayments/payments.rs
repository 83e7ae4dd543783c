//! What is committed is paid on its day.

use std::time::Duration;

use regente_engine::payouts::statement;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::payouts::bank_account;
use crate::support::prepayments::{
    EXPIRED, PAID_ON, RECEIVABLES, captured_for, commit, denied, enabled, everything_of, read, seller_of,
    seller_with, simulated, travel,
};
use crate::support::read::text;

stories! {
    the_whole_way,
    a_refund_before_the_payment_reduces_it,
    what_is_refunded_as_a_whole_has_nothing_to_wait_for,
    a_transfer_that_fails_is_paid_at_the_agreed_cost,
    a_seller_who_is_blocked_before_the_payment_gets_the_receivables_back,
}

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The moment of the payment.
const PAYDAY: &str = "2026-05-06T09:00:00Z";
/// After the payment, at noon of its day.
const AFTERWARDS: &str = "2026-05-06T15:00:00Z";

async fn balance(app: &TestApp, seller: &Value, purpose: &str) -> i64 {
    let path = format!(
        "/v1/ledger/balances?purpose={purpose}&providerType=PLATFORM&sellerId={}",
        text(&seller["id"])
    );
    let found = app.get(&path).await.expect(200);
    found["items"].as_array().unwrap().iter().map(|item| item["balance"].as_i64().unwrap()).sum()
}

async fn batches(app: &TestApp, seller: &Value) -> Vec<Value> {
    let path = format!("/v1/payouts/payment-batches?sellerId={}", text(&seller["id"]));
    app.get(&path).await.expect(200)["items"].as_array().unwrap().clone()
}

/// Every cent is named, and the ledger says the same.
pub(super) async fn adds_up(app: &TestApp) {
    for line in statement::of(&app.app, app.client_id()).await.unwrap() {
        assert!(line.adds_up() && line.equals_ledger(), "{line:#?}");
    }
}

async fn the_whole_way(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    for amount in [12_000, 8_000] {
        captured_for(&app, &merchant, &seller, amount).await;
    }
    let offer = simulated(&app, &everything_of(&seller)).await;
    assert_eq!(commit(&app, &offer).await.expect(200)["status"], "committed");
    travel(&app, "2026-05-06T08:00:00Z").await;
    assert_eq!(
        (read(&app, &offer).await["status"].clone(), batches(&app, &seller).await.len()),
        (json!("committed"), 0)
    );
    // At 06:00 in São Paulo it is made, and paid as soon as the bank has paid it.
    travel(&app, PAYDAY).await;
    assert_eq!(read(&app, &offer).await["status"], "paid");
    let paid = batches(&app, &seller).await;
    assert_eq!(paid.len(), 1, "{paid:#?}");
    let expected = json!([20_000, 677, 19_323, PAID_ON, "paid", "subacquirer", "credit", "VCC"]);
    let members = [
        "amount",
        "totalFeeAmount",
        "finalBalance",
        "payoutDate",
        "status",
        "feature",
        "paymentMethod",
        "paymentArrangement",
    ];
    let shown: Vec<Value> = members.iter().map(|name| paid[0][*name].clone()).collect();
    assert_eq!(Value::from(shown), expected, "{:#}", paid[0]);
    assert_eq!(balance(&app, &seller, "seller_payable").await, 20_000);
    assert_eq!(balance(&app, &seller, "anticipation").await, 677);
    assert_eq!(balance(&app, &seller, "payout").await, 19_323);
    adds_up(&app).await;
    // It is not paid again on the day on which it would have been settled.
    travel(&app, "2026-06-09T15:00:00Z").await;
    assert_eq!(batches(&app, &seller).await.len(), 1);
    assert_eq!(balance(&app, &seller, "payout").await, 19_323);
    adds_up(&app).await;
}

async fn a_refund_before_the_payment_reduces_it(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    captured_for(&app, &merchant, &seller, 12_000).await;
    let charge = captured_for(&app, &merchant, &seller, 16_000).await;
    let offer = simulated(&app, &everything_of(&seller)).await;
    commit(&app, &offer).await.expect(200);
    app.post(&format!("/v1/charges/{charge}/void"), &json!({ "amount": 8_000 })).await.expect(201);
    app.run_jobs().await;
    travel(&app, AFTERWARDS).await;
    assert_eq!(read(&app, &offer).await["status"], "paid");
    // What is left costs what it would have cost alone.
    assert_eq!(balance(&app, &seller, "anticipation").await, 677);
    assert_eq!(balance(&app, &seller, "payout").await, 19_323);
    adds_up(&app).await;
    travel(&app, "2026-06-09T15:00:00Z").await;
    assert_eq!(balance(&app, &seller, "payout").await, 19_323);
    adds_up(&app).await;
}

async fn what_is_refunded_as_a_whole_has_nothing_to_wait_for(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    let charge = captured_for(&app, &merchant, &seller, 16_000).await;
    let offer = simulated(&app, &everything_of(&seller)).await;
    commit(&app, &offer).await.expect(200);
    app.post(&format!("/v1/charges/{charge}/void"), &json!({})).await.expect(201);
    travel(&app, PAYDAY).await;
    assert_eq!(batches(&app, &seller).await[0]["status"], "offset");
    assert_eq!(read(&app, &offer).await["status"], "paid");
    adds_up(&app).await;
}

async fn a_transfer_that_fails_is_paid_at_the_agreed_cost(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_with(&app, &merchant, 1, "4927").await;
    captured_for(&app, &merchant, &seller, 12_000).await;
    let offer = simulated(&app, &everything_of(&seller)).await;
    commit(&app, &offer).await.expect(200);
    travel(&app, AFTERWARDS).await;
    assert_eq!(read(&app, &offer).await["status"], "committed");
    let path = format!("/v1/sellers/{}", text(&seller["id"]));
    app.patch(&path, &json!({ "merchantId": merchant, "bankAccount": bank_account("4921") }))
        .await
        .expect(200);
    travel(&app, "2026-05-07T15:00:00Z").await;
    assert_eq!(read(&app, &offer).await["status"], "paid");
    assert_eq!(balance(&app, &seller, "payout").await, 11_594);
    assert_eq!(balance(&app, &seller, "anticipation").await, 406);
    adds_up(&app).await;
}

async fn a_seller_who_is_blocked_before_the_payment_gets_the_receivables_back(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    captured_for(&app, &merchant, &seller, 12_000).await;
    let offer = simulated(&app, &everything_of(&seller)).await;
    commit(&app, &offer).await.expect(200);
    let path = format!("/v1/sellers/{}", text(&seller["id"]));
    app.patch(&path, &json!({ "merchantId": merchant, "status": "inactive" })).await.expect(200);
    app.run_jobs().await;
    travel(&app, AFTERWARDS).await;
    assert_eq!(read(&app, &offer).await["status"], "expired");
    denied(&commit(&app, &offer).await, 409, EXPIRED);
    assert_eq!(balance(&app, &seller, "payout").await, 0);
    app.patch(&path, &json!({ "merchantId": merchant, "status": "active" })).await.expect(200);
    app.run_jobs().await;
    let listed = app.get(&format!("{RECEIVABLES}?sellerId={}", text(&seller["id"]))).await.expect(200);
    assert_eq!(listed["summary"]["availableAmount"], 12_000);
}
