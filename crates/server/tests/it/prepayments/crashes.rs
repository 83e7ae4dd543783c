//! The process stops at each step: what is committed is paid once.

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::crashes::{at_each_step, stopped_at, stopped_while};
use crate::support::payouts::{each_transfer_was_sent_once, moves_to, on_payday};
use crate::support::prepayments::{
    PREPAYMENT, captured, captured_for, commit, commit_path, enabled, everything, everything_of, read,
    seller_of, simulated, travel,
};
use crate::support::read::text;

use super::payments::{DAY, adds_up};

stories! {
    while_an_offer_is_made,
    while_an_offer_is_committed,
    while_a_prepayment_is_paid,
    while_a_prepayment_is_refused_by_the_bank,
}

async fn while_an_offer_is_made(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 1_000).await;
    at_each_step(app, 1, async |app, steps| {
        let key = format!("offer {steps}");
        let (app, is_done) = stopped_at(app, steps, PREPAYMENT, &key, &everything()).await;
        let offer = app.post_with_key(PREPAYMENT, &key, &everything()).await.expect(201);
        assert_eq!(read(&app, &offer).await, offer, "after {steps} steps");
        assert_eq!(offer["grossAmount"], 1_000, "after {steps} steps");
        (app, is_done)
    })
    .await;
}

async fn while_an_offer_is_committed(app: TestApp) {
    let merchant = enabled(&app).await;
    at_each_step(app, 1, async |app, steps| {
        captured(&app, &app.client, &merchant, 1_000).await;
        let offer = simulated(&app, &everything()).await;
        let (path, key) = (commit_path(&offer), format!("commit {steps}"));
        let (app, is_done) = stopped_at(app, steps, &path, &key, &json!({})).await;
        // Whoever heard nothing repeats it with the same key.
        let committed = app.post_with_key(&path, &key, &json!({})).await.expect(200);
        assert_eq!(committed["status"], "committed", "after {steps} steps");
        assert_eq!(read(&app, &offer).await, committed, "after {steps} steps");
        (app, is_done)
    })
    .await;
}

/// The offers of a day are made at its beginning, so each round takes a business day of its own.
async fn while_a_prepayment_is_paid(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    at_each_step(app, 6, async |app, steps| {
        captured_for(&app, &merchant, &seller, 12_000).await;
        let offer = simulated(&app, &everything_of(&seller)).await;
        commit(&app, &offer).await.expect(200);
        app.prepare().await;
        let day = text(&offer["paymentDate"]);
        let (app, is_done) = stopped_while(app, steps, async |app| on_payday(app, day).await).await;
        // A carnival lies between two business days.
        app.later(8 * DAY).await;
        is_paid(&app, &seller, &offer, steps).await;
        if is_done {
            adds_up(&app).await;
            each_transfer_was_sent_once(&app).await;
        }
        (app, is_done)
    })
    .await;
}

/// It is paid to the corrected account, once and at the agreed cost.
async fn while_a_prepayment_is_refused_by_the_bank(app: TestApp) {
    let merchant = enabled(&app).await;
    let seller = seller_of(&app, &merchant, 1).await;
    let id = text(&seller["id"]).to_owned();
    at_each_step(app, 6, async |app, steps| {
        moves_to(&app, &id, "4927").await;
        captured_for(&app, &merchant, &seller, 12_000).await;
        let offer = simulated(&app, &everything_of(&seller)).await;
        commit(&app, &offer).await.expect(200);
        app.prepare().await;
        // No longer than until the bank has refused it: a prepayment is looked at all the time until it is paid.
        let payday = format!("{}T09:00:00Z", text(&offer["paymentDate"]));
        let (app, is_done) = stopped_while(app, steps, async |app| travel(app, &payday).await).await;
        moves_to(&app, &id, "4921").await;
        app.later(8 * DAY).await;
        is_paid(&app, &seller, &offer, steps).await;
        if is_done {
            adds_up(&app).await;
            each_transfer_was_sent_once(&app).await;
        }
        (app, is_done)
    })
    .await;
}

/// The newest batch of the seller has paid the offer of 120.00, and each round has one that is paid.
async fn is_paid(app: &TestApp, seller: &Value, offer: &Value, steps: u64) {
    assert_eq!(read(app, offer).await["status"], "paid", "after {steps} steps");
    let path = format!("/v1/payouts/payment-batches?sellerId={}&status=paid&limit=1", text(&seller["id"]));
    let paid = app.get(&path).await.expect(200);
    assert_eq!(paid["meta"]["totalItems"], steps + 1, "after {steps} steps");
    let newest = &paid["items"][0];
    let expected = (&json!(12_000), &offer["netAmount"]);
    assert_eq!((&newest["amount"], &newest["finalBalance"]), expected, "after {steps} steps");
}
