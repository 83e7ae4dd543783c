//! What is not paid yet: on days on which banks do not work.

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::payouts::{
    BATCHES, all_of_it, balance, every_cent_is_accounted_for, listed, on_payday, pix_payment, platform,
    seller, transfers,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The days after a weekend on which a service catches up.
const SATURDAY: &str = "2026-03-28T12:00:00Z";
const MONDAY: &str = "2026-03-30";

stories! {
    who_catches_up_on_a_weekend_pays_on_monday,
}

/// The service stands still from Monday to Saturday. Then it makes the batches of Tuesday, to be paid on the next Monday.
async fn catches_up_on_a_weekend(app: &TestApp) {
    app.run_jobs().await;
    app.clock.set(Timestamp::parse(SATURDAY).unwrap());
    app.run_jobs().await;
}

/// Status, day and amount of each batch.
async fn batches(app: &TestApp) -> Vec<Value> {
    let line = |batch: &Value| json!([batch["status"], batch["paymentDate"], batch["finalBalance"]]);
    listed(app, BATCHES, "").await.iter().map(line).collect()
}

async fn who_catches_up_on_a_weekend_pays_on_monday(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    catches_up_on_a_weekend(&app).await;
    app.later(DAY).await;
    assert_eq!(batches(&app).await, [json!(["pending", MONDAY, 990])]);
    assert_eq!((transfers(&app).len(), balance(&app, Some(&rita)).await), (0, (990, 0)));
    on_payday(&app, MONDAY).await;
    assert_eq!(batches(&app).await, [json!(["paid", MONDAY, 990])]);
    assert_eq!(listed(&app, BATCHES, "").await[0]["payoutDate"], MONDAY);
    every_cent_is_accounted_for(&app).await;
}
