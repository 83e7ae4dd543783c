//! What banks do: they refuse, answer late or not at all, and give back. Each transfer is made once.

use std::time::Duration;

use regente_engine::jobs::Worker;
use regente_store::DatabaseKind;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::payouts::{
    BATCHES, all_of_it, balance, every_cent_is_accounted_for, listed, moves_to, own, pix_payment, plan,
    platform, seller, transfers,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

stories! {
    a_refused_transfer_is_tried_again_to_a_corrected_account,
    a_bank_that_answers_late_is_asked_and_never_sent_to_again,
    what_comes_back_is_paid_again,
    an_account_without_a_bank_account_is_not_paid,
    two_nodes_pay_each_transfer_once,
}

fn statuses(batches: &[Value]) -> Vec<&str> {
    batches.iter().map(|batch| batch["status"].as_str().unwrap()).collect()
}

async fn a_refused_transfer_is_tried_again_to_a_corrected_account(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4927").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    // Tuesday is its day, and so is Wednesday.
    app.later(Duration::from_secs(36 * 60 * 60)).await;
    let batches = listed(&app, BATCHES, "").await;
    assert_eq!(statuses(&batches), ["failed"]);
    assert_eq!(batches[0]["error"], json!({ "reason": "the account does not exist" }));
    assert_eq!(batches[0]["payoutDate"], Value::Null);
    assert_eq!(balance(&app, Some(&rita)).await, (990, 0));
    let of_batch = format!("{BATCHES}/{}/orders", batches[0]["id"].as_str().unwrap());
    assert_eq!(listed(&app, &of_batch, "").await.len(), 0, "its orders are in the next one");
    moves_to(&app, &rita, "4920").await;
    app.later(2 * DAY).await;
    let batches = listed(&app, BATCHES, "").await;
    assert_eq!(statuses(&batches), ["failed", "paid"]);
    assert_eq!(transfers(&app)[batches[1]["id"].as_str().unwrap()].to.account_number.as_str(), "4920");
    assert_eq!(balance(&app, Some(&rita)).await, (0, 0));
    every_cent_is_accounted_for(&app).await;
}

async fn a_bank_that_answers_late_is_asked_and_never_sent_to_again(app: TestApp) {
    let merchant = platform(&app).await;
    for (number, account) in [(1, "4926"), (2, "4928")] {
        let seller = seller(&app, &merchant, number, account).await;
        pix_payment(&app, &merchant, 1_000, Some(all_of_it(&seller))).await;
    }
    app.later(18 * Duration::from_secs(60 * 60)).await;
    // One is paid without an answer, and was asked about; the other one is still under way.
    let batches = listed(&app, BATCHES, "").await;
    let mut found = statuses(&batches);
    found.sort_unstable();
    assert_eq!(found, ["paid", "pending"]);
    app.later(2 * DAY).await;
    assert_eq!(statuses(&listed(&app, BATCHES, "").await), ["paid", "paid"]);
    let taken = app.bank.transfers();
    assert_eq!(taken.iter().map(|(_, sent)| *sent).collect::<Vec<_>>(), [1, 1]);
    every_cent_is_accounted_for(&app).await;
}

async fn what_comes_back_is_paid_again(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4929").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    app.later(Duration::from_secs(20 * 60 * 60)).await;
    let batches = listed(&app, BATCHES, "").await;
    assert_eq!((statuses(&batches), balance(&app, Some(&rita)).await), (vec!["paid"], (0, 0)));
    every_cent_is_accounted_for(&app).await;
    moves_to(&app, &rita, "4921").await;
    app.later(4 * DAY).await;
    let batches = listed(&app, BATCHES, "").await;
    assert_eq!(statuses(&batches), ["failed", "paid"]);
    assert_eq!(batches[0]["error"]["reason"], "the account is closed");
    every_cent_is_accounted_for(&app).await;
}

async fn an_account_without_a_bank_account_is_not_paid(app: TestApp) {
    plan(&app).await;
    let merchant = app.merchant_with(json!([own()])).await;
    pix_payment(&app, &merchant, 1_000, None).await;
    app.later(Duration::from_secs(20 * 60 * 60)).await;
    let batches = listed(&app, BATCHES, "").await;
    assert_eq!(batches[0]["error"]["reason"], "the receiver has no bank account");
    crate::support::payouts::paid_to(&app, "1000").await;
    app.later(DAY).await;
    assert_eq!(statuses(&listed(&app, BATCHES, "").await), ["failed", "paid"]);
    every_cent_is_accounted_for(&app).await;
}

async fn two_nodes_pay_each_transfer_once(app: TestApp) {
    let merchant = platform(&app).await;
    for number in 1..=6 {
        let seller = seller(&app, &merchant, number, &format!("492{number}")).await;
        for _ in 0..2 {
            pix_payment(&app, &merchant, 1_000, Some(all_of_it(&seller))).await;
        }
    }
    app.run_jobs().await;
    app.clock.advance(DAY);
    let other = match app.app.store.database_kind() {
        DatabaseKind::Postgres => app.another_worker().await,
        // One process has the file.
        DatabaseKind::Sqlite => Worker::new(app.app.engine.clone()),
    };
    loop {
        let (one, two) = tokio::join!(app.worker.round(), other.round());
        if one.unwrap().jobs + two.unwrap().jobs == 0 {
            break;
        }
    }
    app.later(DAY).await;
    let batches = listed(&app, BATCHES, "").await;
    assert_eq!(statuses(&batches), ["paid"; 6]);
    assert!(batches.iter().all(|batch| batch["finalBalance"] == 1_980), "{batches:#?}");
    assert_eq!(app.bank.transfers().len(), 6);
    every_cent_is_accounted_for(&app).await;
}
