//! Counters are folded into spans of hours: no list shows whether that was before, is under way, or was interrupted.

use std::time::Duration;

use regente_engine::chance::Chance;
use regente_engine::jobs::DEPLOYMENT;
use regente_engine::queue;
use regente_engine::queue::Kind;
use regente_store::{Batch, Commit, args, counters, fold, sql};
use serde_json::{Value, json};

use super::HOUR;
use super::totals::{listed, lists_agree, many};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::read::text;

stories! {
    totals_are_exact_before_while_and_after_counters_are_folded,
    a_crash_while_counters_are_folded_is_in_no_total,
}

sql! {
    COUNTERS_IN_SPANS = "SELECT COUNT(*) AS n FROM charge_counter_spans WHERE client_id = :client_id AND n <> 0";
}

/// Random filters asked at each moment.
const FILTERS: usize = 25;
/// Charges over about six days: after a week a reservation is let go, which would change an old charge.
const APART_MAX_MILLIS: u64 = 4 * 3_600_000;
/// More than the writes of a worker around one fold: it leases the job, folds, and ends the job, before and after each of
/// which it may stop.
const STEPS: u64 = 10;

/// Number of counters of ended hours that no span contains.
async fn unfolded(app: &TestApp) -> usize {
    let hour = app.clock.deployment().hour();
    fold::unfolded::<counters::Kind>(&app.app.store, app.client_id(), hour, 1000).await.unwrap().len()
}

async fn spans_are_those_of_their_hours(app: &TestApp) {
    assert_eq!(counters::wrong_spans(&app.app.store, app.client_id()).await.unwrap(), 0);
}

/// Runs all recurring jobs.
async fn fold(app: &TestApp) {
    app.clock.advance(HOUR);
    app.worker.prepare().await.unwrap();
    while app.worker.round().await.unwrap().jobs > 0 {
        app.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(unfolded(app).await, 0);
    spans_are_those_of_their_hours(app).await;
}

async fn void(app: &TestApp, charge: &Value) {
    app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(201);
}

async fn totals_are_exact_before_while_and_after_counters_are_folded(app: TestApp) {
    let chance = Chance::seeded(20_261_122);
    let all = many(&app, &chance, APART_MAX_MILLIS).await;
    app.clock.advance(HOUR);
    lists_agree(&app, &chance, &all, FILTERS).await;

    let before = unfolded(&app).await;
    let hour = app.clock.deployment().hour();
    let some = fold::unfolded::<counters::Kind>(&app.app.store, app.client_id(), hour, 40).await;
    let mut batch = Batch::new(app.client_id());
    fold::fold(&mut batch, &some.unwrap());
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    assert!((1..before).contains(&unfolded(&app).await), "{before}");
    spans_are_those_of_their_hours(&app).await;
    lists_agree(&app, &chance, &all, FILTERS).await;

    fold(&app).await;
    let client_id = app.client_id();
    let spans = app.app.store.row(&COUNTERS_IN_SPANS, args! { client_id }).await.unwrap().unwrap();
    assert!(spans.get::<i64>("n").unwrap() > 70);
    lists_agree(&app, &chance, &all, FILTERS).await;

    let old: Vec<&Value> =
        all.iter().filter(|charge| charge["status"] == "authorized").rev().take(3).collect();
    for charge in &old {
        void(&app, charge).await;
    }
    assert!(unfolded(&app).await > 0);
    let all = listed(&app).await;
    assert_eq!(all.iter().filter(|charge| charge["status"] == "voided").count(), old.len());
    lists_agree(&app, &chance, &all, FILTERS).await;
    fold(&app).await;
    lists_agree(&app, &chance, &all, FILTERS).await;
}

async fn a_crash_while_counters_are_folded_is_in_no_total(mut app: TestApp) {
    let chance = Chance::seeded(3);
    let merchant = single_merchant(&app).await;
    let mut made = Vec::new();
    for _ in 0..=STEPS {
        app.clock.advance(11 * HOUR);
        made.push(charged(&app, &charge_body(&merchant, APPROVED)).await);
    }
    fold(&app).await;
    let mut left_over = 0;
    for (steps, charge) in (0..).zip(&made) {
        void(&app, charge).await;
        let all = listed(&app).await;
        let mut batch = Batch::new(DEPLOYMENT);
        let (key, now) = (format!("fold {steps}"), app.clock.deployment());
        queue::enqueue(&app.app.engine, &mut batch, Kind::FoldCounters, &key, "{}", now);
        assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
        app.fuse.arm(steps);
        let fuse = app.fuse.clone();
        tokio::select! {
            round = app.worker.round() => drop(round.unwrap()),
            () = fuse.blown() => {}
        }
        app = app.restart().await;
        left_over += usize::from(unfolded(&app).await > 0);
        spans_are_those_of_their_hours(&app).await;
        assert_eq!(listed(&app).await, all);
        lists_agree(&app, &chance, &all, 5).await;
    }
    assert!(
        (2..made.len()).contains(&left_over),
        "{left_over} of {} crashes came before the fold",
        made.len()
    );
    fold(&app).await;
}
