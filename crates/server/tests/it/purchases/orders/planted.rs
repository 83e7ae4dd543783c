//! Shows that the verdict fails when money moves beside a purchase.

use serde_json::json;

use super::order::{Intention, Order};
use super::verdict::verdicts;
use super::{Round, Shop, settle};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::providers::sandbox;
use crate::support::purchases;
use crate::support::read::text;

stories! {
    a_second_charge_for_a_card_is_noticed,
    a_charge_of_no_purchase_is_noticed,
    an_authorization_without_a_charge_is_noticed,
}

async fn a_second_charge_for_a_card_is_noticed(app: TestApp) {
    let (app, shop, round) = paid(app).await;
    let purchase = purchases::read(&app, &round.ids[0]).await;
    charge(&app, &shop, json!(text(&purchase["orderId"]))).await;
    assert_noticed(app, round, "one charge for each card that was tried").await;
}

async fn a_charge_of_no_purchase_is_noticed(app: TestApp) {
    let (app, shop, round) = paid(app).await;
    charge(&app, &shop, json!("another order")).await;
    assert_noticed(app, round, "a charge belongs to no purchase").await;
}

/// Another account's charge: the log has it, and this account does not.
async fn an_authorization_without_a_charge_is_noticed(app: TestApp) {
    let (app, _, round) = paid(app).await;
    let other = app.another_client().await;
    let post = async |path: &str, body| {
        app.call(&other, axum::http::Method::POST, path, &[], Some(&body)).await.expect(201)
    };
    let merchant = post("/v1/merchants", json!({ "mcc": "5812", "providers": [sandbox("Only", 1)] })).await;
    let charge = post("/v1/charges", charge_body(text(&merchant["id"]), APPROVED)).await;
    assert_eq!(charge["status"], "authorized");
    assert_noticed(app, round, "the log has authorizations that no charge has").await;
}

fn order() -> Order {
    Order::smooth(2, Intention::CaptureAtOnce)
}

/// A purchase of two cards that is paid.
async fn paid(app: TestApp) -> (TestApp, Shop, Round) {
    let (app, shop) = Shop::open(app).await;
    let round = shop.round(&app, &[order()]).await;
    settle(&app, &round.ids).await;
    verdicts(&app, &round, &[order()]).await;
    (app, shop, round)
}

/// Charges a card of the purchase outside of it.
async fn charge(app: &TestApp, shop: &Shop, order_id: serde_json::Value) {
    let body = Charge::by_card(&shop.merchant, APPROVED)
        .with("orderId", order_id)
        .with("paymentSource", json!({ "sourceType": "card", "cardId": shop.cards[0] }))
        .body();
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["status"], "authorized");
}

/// The verdict fails with this message.
async fn assert_noticed(app: TestApp, round: Round, message: &str) {
    let judging = tokio::spawn(async move { verdicts(&app, &round, &[order()]).await });
    let panic = judging.await.expect_err("the verdict does not notice it").into_panic();
    let told = panic.downcast_ref::<String>().expect("a message");
    assert!(told.contains(message), "{told}");
}
