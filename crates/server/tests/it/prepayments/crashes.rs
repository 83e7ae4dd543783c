//! The process stops at each step: what is committed is paid once.

use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::crashes::{at_each_step, stopped_at, stopped_while};
use crate::support::payouts::on_payday;
use crate::support::prepayments::{
    captured, captured_for, commit, commit_path, enabled, everything, everything_of, read, seller_of,
    simulated,
};
use crate::support::read::text;

use super::payments::{DAY, adds_up};

stories! {
    while_an_offer_is_committed,
    while_a_prepayment_is_paid,
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
        assert_eq!(read(&app, &offer).await["status"], "paid", "after {steps} steps");
        let path = format!("/v1/payouts/payment-batches?sellerId={}&limit=1", text(&seller["id"]));
        let paid = app.get(&path).await.expect(200)["items"][0].clone();
        assert_eq!(
            (&paid["status"], &paid["amount"]),
            (&json!("paid"), &json!(12_000)),
            "after {steps} steps"
        );
        assert_eq!(paid["finalBalance"], offer["netAmount"], "after {steps} steps");
        adds_up(&app).await;
        (app, is_done)
    })
    .await;
}
