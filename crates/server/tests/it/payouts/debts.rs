//! What receivers owe is deducted from what they are paid on the same day.

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::Charge;
use crate::support::charges::void;
use crate::support::payouts::{
    BATCHES, all_of_it, balance, card_payment, every_cent_is_accounted_for, listed, on_payday, platform,
    seller,
};
use crate::support::read::text;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MASTERCARD: (&str, &str) = ("5214254988499590", "220");
/// The day on which all of it comes together, and the night before its payday.
const THURSDAY: &str = "2026-04-23";
const NIGHT: &str = "2026-04-23T04:00:00Z";

stories! {
    what_is_owed_is_set_off_before_anything_is_paid,
}

async fn what_is_owed_is_set_off_before_anything_is_paid(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4920").await;
    let visa = card_payment(&app, &merchant, 6_000, 1, Some(all_of_it(&rita))).await;
    app.later(DAY).await;
    let other = Charge::by_card(&merchant, MASTERCARD).amount(10_000).with("splitRules", all_of_it(&rita));
    app.post("/v1/charges", &other.body()).await.expect(201);
    app.later(29 * DAY).await;
    assert_eq!(balance(&app, Some(&rita)).await, (0, 9_661));

    // What was paid is refunded: a part on Wednesday, the rest in the night before the payday.
    void(&app, &visa, json!({ "amount": 2_000 })).await.expect(201);
    app.run_jobs().await;
    app.clock.set(Timestamp::parse(NIGHT).unwrap());
    void(&app, &visa, json!({})).await.expect(201);
    app.run_jobs().await;
    assert_eq!(balance(&app, Some(&rita)).await, (3_880, 0));
    on_payday(&app, THURSDAY).await;

    let mut batches = listed(&app, BATCHES, "").await;
    batches.sort_by_key(|batch| (text(&batch["paymentDate"]).to_owned(), batch["finalBalance"].as_i64()));
    let told = |batch: &Value| {
        let of = |name: &str| batch[name].clone();
        json!([
            of("paymentArrangement"),
            of("balanceAmount"),
            of("finalBalance"),
            of("status"),
            of("paymentDate")
        ])
    };
    let expected = [
        json!(["VCC", 0, 5_781, "paid", "2026-04-22"]),
        json!(["VCC", 0, -5_781, "offset", THURSDAY]),
        json!(["MCC", 5_781, 3_880, "paid", THURSDAY]),
    ];
    assert_eq!(batches.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(balance(&app, Some(&rita)).await, (0, 0));
    every_cent_is_accounted_for(&app).await;
}
