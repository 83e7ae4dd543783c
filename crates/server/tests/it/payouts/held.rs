//! What is not paid yet: on days on which banks do not work, and to sellers that may not be paid. It stays what they are due.

use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_engine::error::Error;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::payouts::{
    BATCHES, all_of_it, balance, card_payment, every_cent_is_accounted_for, listed, on_payday, own, paid_to,
    pix_payment, plan, platform, seller, set_account, transfers,
};
use crate::support::prepayments::{NOTHING, PREPAYMENT, PUBLISHED, denied, everything_of, operator};
use crate::support::providers::sandbox;
use crate::support::reviews::{answered, opened};
use crate::support::sellers::{changed, deleted, read};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The weekend on which a service catches up, and the next business days.
const SATURDAY: &str = "2026-03-28T12:00:00Z";
const MONDAY: &str = "2026-03-30";
const TUESDAY: &str = "2026-03-31";
const WEDNESDAY: &str = "2026-04-01";

stories! {
    who_catches_up_on_a_weekend_pays_on_monday,
    a_seller_blocked_by_a_review_is_paid_once_it_has_answered,
    a_seller_without_transfers_is_paid_once_they_are_switched_on,
    a_batch_waits_for_a_seller_that_is_switched_off,
    a_deleted_seller_is_paid_where_an_operator_says,
}

/// The service stands still from Monday to Saturday. Then it makes the batches of Tuesday, to be paid on the next Monday.
async fn catches_up_on_a_weekend(app: &TestApp) {
    app.run_jobs().await;
    app.clock.set(Timestamp::parse(SATURDAY).unwrap());
    app.run_jobs().await;
}

/// Status, day and amount of each batch; of one seller, where one is named.
async fn batches(app: &TestApp, seller: Option<&str>) -> Vec<Value> {
    let line = |batch: &Value| json!([batch["status"], batch["paymentDate"], batch["finalBalance"]]);
    let filter = seller.map_or_else(String::new, |seller| format!("sellerId={seller}"));
    listed(app, BATCHES, &filter).await.iter().map(line).collect()
}

async fn who_catches_up_on_a_weekend_pays_on_monday(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    catches_up_on_a_weekend(&app).await;
    app.later(DAY).await;
    assert_eq!(batches(&app, None).await, [json!(["pending", MONDAY, 990])]);
    assert_eq!((transfers(&app).await.len(), balance(&app, Some(&rita)).await), (0, (990, 0)));
    on_payday(&app, MONDAY).await;
    assert_eq!(batches(&app, None).await, [json!(["paid", MONDAY, 990])]);
    assert_eq!(listed(&app, BATCHES, "").await[0]["payoutDate"], MONDAY);
    every_cent_is_accounted_for(&app).await;
}

async fn a_seller_blocked_by_a_review_is_paid_once_it_has_answered(app: TestApp) {
    plan(&app).await;
    paid_to(&app, "1000").await;
    // The provider of the sandbox asks for the review; its block holds for the own provider too.
    let merchant = app.merchant_with(json!([own(), sandbox("Other", 2)])).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let lia = seller(&app, &merchant, 2, "4920").await;
    for seller in [&rita, &lia] {
        card_payment(&app, &merchant, 1_000, 1, Some(all_of_it(seller))).await;
    }
    let held = json!({ "id": rita });
    let review = opened(&app, &held, &["owner.phoneNumber"], 10).await;
    // Wednesday 2026-04-22 is the day of both.
    app.later(32 * DAY).await;
    assert_eq!(read(&app, &held).await["status"], "blocked");
    assert_eq!(batches(&app, None).await, [json!(["paid", "2026-04-22", 931])], "that of the other seller");
    assert_eq!(balance(&app, Some(&rita)).await, (931, 0));
    let statements = every_cent_is_accounted_for(&app).await;
    assert_eq!(statements.iter().map(|line| line.due).sum::<i64>(), 931);

    // A late answer lifts the block. It is Friday, after the payday.
    answered(&app, &review, &json!({ "owner.phoneNumber": "21977777777" })).await;
    app.run_jobs().await;
    assert_eq!(read(&app, &held).await["status"], "active");
    assert_eq!(batches(&app, Some(&rita)).await.len(), 0);
    app.later(3 * DAY).await;
    assert_eq!(batches(&app, Some(&rita)).await, [json!(["paid", "2026-04-27", 931])]);
    assert_eq!(balance(&app, Some(&rita)).await, (0, 0));
    every_cent_is_accounted_for(&app).await;
}

async fn a_seller_without_transfers_is_paid_once_they_are_switched_on(app: TestApp) {
    operator(&app, app.client_id(), PUBLISHED).await;
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let held = json!({ "id": rita });
    let enabled = |is: bool| json!({ "transferPolicy": { "transferEnabled": is } });
    changed(&app, &held, &enabled(false)).await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    card_payment(&app, &merchant, 2_000, 1, Some(all_of_it(&rita))).await;
    app.later(3 * DAY).await;
    assert_eq!((batches(&app, None).await.len(), balance(&app, Some(&rita)).await), (0, (990, 1_901)));
    // Nothing is paid early either.
    denied(&app.post(PREPAYMENT, &everything_of(&held)).await, 422, NOTHING);
    changed(&app, &held, &enabled(true)).await;
    app.later(DAY).await;
    assert_eq!(batches(&app, None).await, [json!(["paid", "2026-03-27", 990])]);
    every_cent_is_accounted_for(&app).await;
}

async fn a_batch_waits_for_a_seller_that_is_switched_off(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let held = json!({ "id": rita });
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    catches_up_on_a_weekend(&app).await;
    changed(&app, &held, &json!({ "status": "inactive" })).await;
    on_payday(&app, MONDAY).await;
    on_payday(&app, TUESDAY).await;
    assert_eq!(batches(&app, None).await, [json!(["pending", MONDAY, 990])]);
    assert_eq!((transfers(&app).await.len(), balance(&app, Some(&rita)).await), (0, (990, 0)));
    changed(&app, &held, &json!({ "status": "active" })).await;
    on_payday(&app, WEDNESDAY).await;
    assert_eq!(batches(&app, None).await, [json!(["paid", MONDAY, 990])]);
    assert_eq!(listed(&app, BATCHES, "").await[0]["payoutDate"], WEDNESDAY);
    every_cent_is_accounted_for(&app).await;
}

async fn a_deleted_seller_is_paid_where_an_operator_says(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    app.run_jobs().await;
    let refused = set_account(&app, Some(&rita), "4921").await.unwrap_err();
    assert!(matches!(refused, Error::Impossible { .. }), "the bank account of its data counts: {refused}");
    deleted(&app, &json!({ "id": rita, "merchantId": merchant })).await;
    app.later(4 * DAY).await;
    assert_eq!((batches(&app, None).await.len(), balance(&app, Some(&rita)).await), (0, (990, 0)));
    every_cent_is_accounted_for(&app).await;

    // It is Friday, after the payday.
    set_account(&app, Some(&rita), "4921").await.unwrap();
    app.later(3 * DAY).await;
    assert_eq!(batches(&app, Some(&rita)).await, [json!(["paid", MONDAY, 990])]);
    let sent = transfers(&app).await.into_values().next().unwrap();
    assert_eq!(sent.last_digit, Some('1'));
    assert_eq!(balance(&app, Some(&rita)).await, (0, 0));
    every_cent_is_accounted_for(&app).await;
}
