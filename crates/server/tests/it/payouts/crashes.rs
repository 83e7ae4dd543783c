//! The process stops at each step between a capture and the payment: each order is in one batch that is paid, and each transfer is
//! made once.

use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::crashes::{at_each_step, stopped_while};
use crate::support::payouts::{
    BATCHES, ORDERS, all_of_it, each_transfer_was_sent_once, every_cent_is_accounted_for, listed, moves_to,
    next_payday, on_payday, pix_payment, platform, seller, transfers,
};
use crate::support::read::text;

stories! {
    while_a_charge_is_paid_out,
    while_a_bank_does_not_answer,
    while_a_transfer_comes_back,
}

async fn while_a_charge_is_paid_out(app: TestApp) {
    stopped_at_each_step(app, "4920").await;
}

async fn while_a_bank_does_not_answer(app: TestApp) {
    stopped_at_each_step(app, "4926").await;
}

async fn stopped_at_each_step(app: TestApp, account: &str) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, account).await;
    at_each_step(app, 12, async |app, steps| {
        let id = pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
        app.prepare().await;
        let day = next_payday(&app).to_string();
        let (app, is_done) = stopped_while(app, steps, async |app| on_payday(app, &day).await).await;
        if !is_done {
            two_paydays(&app).await;
        }
        is_paid(&app, &id, steps).await;
        if is_done {
            nothing_is_missing(&app, steps + 1).await;
        }
        (app, is_done)
    })
    .await;
}

/// The bank gives it back on the business day after, and it is paid to the corrected account on the day after that.
async fn while_a_transfer_comes_back(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4929").await;
    at_each_step(app, 10, async |app, steps| {
        moves_to(&app, &rita, "4929").await;
        let id = pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
        on_payday(&app, &next_payday(&app).to_string()).await;
        is_paid(&app, &id, steps).await;
        moves_to(&app, &rita, "4920").await;
        let (app, is_done) = stopped_while(app, steps, two_paydays).await;
        if !is_done {
            two_paydays(&app).await;
        }
        is_paid(&app, &id, steps).await;
        // In each round one that came back, and one that did not.
        for status in ["failed", "paid"] {
            let batches = listed(&app, BATCHES, &format!("status={status}")).await;
            assert_eq!(batches.len() as u64, steps + 1, "{status} after {steps} steps");
        }
        if is_done {
            nothing_is_missing(&app, 2 * (steps + 1)).await;
        }
        (app, is_done)
    })
    .await;
}

async fn two_paydays(app: &TestApp) {
    for _ in 0..2 {
        on_payday(app, &next_payday(app).to_string()).await;
    }
}

/// The one order of a Pix of 10.00 is in a batch that the bank has paid.
async fn is_paid(app: &TestApp, id: &str, steps: u64) {
    let orders = listed(app, ORDERS, &format!("chargeId={id}")).await;
    assert_eq!(orders.len(), 1, "after {steps} steps: {orders:#?}");
    let batch = text(&orders[0]["paymentBatchId"]).to_owned();
    let shown = app.get(&format!("{BATCHES}/{batch}")).await.expect(200);
    let told = (&shown["status"], &shown["finalBalance"]);
    assert_eq!(told, (&json!("paid"), &json!(990)), "after {steps} steps");
}

/// All that the rounds have left is as it should be: looked at once, since it would cost more in each round.
async fn nothing_is_missing(app: &TestApp, made: u64) {
    every_cent_is_accounted_for(app).await;
    each_transfer_was_sent_once(app).await;
    assert_eq!(transfers(app).await.len() as u64, made, "transfers of all rounds");
}
