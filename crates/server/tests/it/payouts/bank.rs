//! What banks do: they refuse, answer late or not at all, and give back. Each transfer is made once.

use std::time::Duration;

use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::wire;
use regente_engine::bank::{Answer, Bank, Transfer};
use regente_engine::jobs::Worker;
use regente_store::DatabaseKind;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::payouts::{
    BATCHES, all_of_it, balance, bank_account, every_cent_is_accounted_for, listed, moves_to, own,
    pix_payment, plan, platform, seller, transfers,
};
use crate::support::read::text;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

stories! {
    a_refused_transfer_is_tried_again_to_a_corrected_account,
    a_bank_that_answers_late_is_asked_and_never_sent_to_again,
    what_comes_back_is_paid_again,
    an_account_without_a_bank_account_is_not_paid,
    two_nodes_pay_each_transfer_once,
    a_name_is_one_transfer,
    a_bank_remembers_what_was_sent_before_a_restart,
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
    let transfer = transfers(&app).await[text(&batches[1]["id"])];
    assert_eq!(transfer.last_digit, Some('0'), "to the corrected account");
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
    let taken = transfers(&app).await;
    assert_eq!(taken.values().map(|transfer| transfer.sent).collect::<Vec<_>>(), [1, 1]);
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
    assert_eq!(transfers(&app).await.len(), 6);
    every_cent_is_accounted_for(&app).await;
}

async fn a_name_is_one_transfer(app: TestApp) {
    let account = |number: &str| wire::read(bank_account(number).as_object().unwrap().clone()).unwrap();
    let first = Transfer {
        client_id: app.client_id(),
        id: app.app.chance.id(app.clock.deployment()),
        amount: Amount::new(1_000).unwrap(),
        currency: Currency::BRL,
        to: account("4920"),
        at: app.clock.deployment(),
    };
    let (bank, of_another_node) = (app.bank(), app.bank());
    let at_once = tokio::join!(bank.send(&first), of_another_node.send(&first));
    assert_eq!(at_once, (Answer::Paid, Answer::Paid));
    let other = Transfer { amount: Amount::new(2_000).unwrap(), to: account("4927"), ..first.clone() };
    assert_eq!(bank.send(&other).await, Answer::Paid, "the first one of this name");
    let taken: Vec<_> = transfers(&app).await.into_values().collect();
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].amount, taken[0].last_digit, taken[0].sent), (first.amount, Some('0'), 3));
}

async fn a_bank_remembers_what_was_sent_before_a_restart(app: TestApp) {
    let merchant = platform(&app).await;
    let rita = seller(&app, &merchant, 1, "4928").await;
    pix_payment(&app, &merchant, 1_000, Some(all_of_it(&rita))).await;
    app.later(18 * Duration::from_secs(60 * 60)).await;
    assert_eq!(statuses(&listed(&app, BATCHES, "").await), ["pending"]);
    let taken = transfers(&app).await;
    assert_eq!(taken.len(), 1);
    let app = app.restart().await;
    app.end_leases().await;
    app.later(2 * DAY).await;
    assert_eq!(statuses(&listed(&app, BATCHES, "").await), ["paid"]);
    assert_eq!(transfers(&app).await, taken, "it was not sent again");
    every_cent_is_accounted_for(&app).await;
}
