//! The crash sweep: the process stops after every write and around every provider call of each flow, one step after the
//! other, until the flow completes. After a restart and all due jobs, the charge agrees with the simulator's
//! transaction log: authorized with one effect, or failed with none, and no outcome is unknown.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::charges::text;
use crate::harness::{APPROVED, TIMED_OUT, TestApp, charge_body, request, sandbox, stories};

stories! {
    while_a_charge_is_made,
    while_a_charge_goes_on_to_the_next_provider,
    while_a_charge_is_not_answered,
    while_a_charge_is_captured,
    while_a_part_is_captured,
    while_a_reservation_is_voided,
    while_a_charge_is_refunded,
    while_a_part_is_refunded,
    while_a_charge_is_recovered,
    while_a_refund_is_recovered,
    while_a_charge_is_repeated_at_once,
    while_a_refund_is_repeated_at_once,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(60 * 60);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

/// The request that is interrupted.
struct Interrupted {
    path: String,
    body: Value,
}

/// Stops the process at each step of the request that `prepare` makes, until it completes.
async fn sweep(app: TestApp, prepare: impl AsyncFn(&TestApp) -> Interrupted, steps_min: u64) {
    sweep_with(app, prepare, steps_min, Recovery::Undisturbed).await;
}

/// What happens during the recovery.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recovery {
    /// Nothing.
    Undisturbed,
    /// The process stops again, one step later each time.
    Interrupted,
    /// The caller sends the request again without waiting.
    Repeated,
}

/// The deployment after all due jobs.
async fn recovered(
    mut app: TestApp,
    recovery: Recovery,
    Interrupted { path, body }: &Interrupted,
    key: &str,
) -> TestApp {
    match recovery {
        Recovery::Undisturbed => {}
        Recovery::Interrupted => {
            // However often it stops, no more time passes than without: answers are kept for a day.
            let end = app.clock.deployment() + LATER;
            for steps in 0.. {
                assert!(steps < STEPS_MAX, "the recovery does not end");
                app.fuse.arm(steps);
                let fuse = app.fuse.clone();
                tokio::select! {
                    () = app.later(end.since(app.clock.deployment())) => break,
                    () = fuse.blown() => {}
                }
                app = app.restart().await;
            }
            app.fuse.disarm();
        }
        Recovery::Repeated => {
            let again = app.post_with_key(path, key, body).await;
            // 201 if the first try had not claimed the key; otherwise it is under way or just answered.
            assert!(matches!(again.status.as_u16(), 201 | 409), "{}", again.status);
        }
    }
    app.later(LATER).await;
    app
}

async fn sweep_with(
    mut app: TestApp,
    prepare: impl AsyncFn(&TestApp) -> Interrupted,
    steps_min: u64,
    recovery: Recovery,
) {
    for steps in 0..STEPS_MAX {
        let interrupted = prepare(&app).await;
        let key = format!("key {steps}");
        let headers = [("X-Idempotency-Key", key.as_str())];
        let Interrupted { path, body } = &interrupted;
        app.fuse.arm(steps);
        let mut pending = app.begin(request(&app.client, Method::POST, path, &headers, Some(body)));
        let fuse = app.fuse.clone();
        let reply = tokio::select! {
            reply = &mut pending => Some(reply.unwrap()),
            () = fuse.blown() => None,
        };
        if reply.is_none() {
            app = app.restart().await;
            pending.abort();
        } else {
            app.fuse.disarm();
        }
        app = recovered(app, recovery, &interrupted, &key).await;
        nothing_is_open(&app).await;
        agree_on_all(&app.books, &all_charges(&app).await).await;
        // A retried key has one answer, whether or not the first try had claimed it.
        let answer = app.post_with_key(path, &key, body).await;
        let answer = answer.expect(201);
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        assert_eq!(charges.len() as u64, steps + 1, "one charge for one key, after {steps} steps");
        let read = app.get(&format!("/v1/charges/{}", text(&answer["id"]))).await.expect(200);
        assert_eq!(read, answer, "after {steps} steps");
        assert_eq!(effects_of(&answer), 1, "after {steps} steps: {answer:#}");
        if reply.is_some() {
            assert!(
                steps >= steps_min,
                "the flow has {steps} steps: writes and calls are missing from the sweep"
            );
            return;
        }
    }
    panic!("the flow does not end");
}

/// The number of completed requests of the newest kind: the operation happened once. A charge that failed because of
/// the crash counts as completed.
fn effects_of(charge: &Value) -> usize {
    let requests = charge["transactionRequests"].as_array().unwrap();
    let kind = &requests[0]["requestType"];
    let done = requests
        .iter()
        .filter(|request| request["requestType"] == *kind && request["requestStatus"] == json!("success"));
    if charge["status"] == "failed" { 1 } else { done.count() }
}

async fn made_by(app: &TestApp, merchant: &str, card: (&str, &str), capture: bool) -> Interrupted {
    let _ = app;
    let mut body = charge_body(merchant, card);
    body["capture"] = json!(capture);
    Interrupted { path: "/v1/charges".to_owned(), body }
}

async fn while_a_charge_is_made(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| made_by(app, &merchant, APPROVED, true).await, 6).await;
}

async fn while_a_charge_goes_on_to_the_next_provider(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    sweep(app, async |app| made_by(app, &merchant, APPROVED, false).await, 10).await;
}

async fn while_a_charge_is_not_answered(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Alone", 1)])).await;
    sweep(app, async |app| made_by(app, &merchant, TIMED_OUT, true).await, 7).await;
}

/// A charge on which `operation` with `amount` is possible.
async fn ready(app: &TestApp, merchant: &str, capture: bool, operation: &str, body: Value) -> Interrupted {
    let Interrupted { path, body: charge } = made_by(app, merchant, APPROVED, capture).await;
    let charge = app.post(&path, &charge).await.expect(201);
    Interrupted { path: format!("/v1/charges/{}/{operation}", text(&charge["id"])), body }
}

async fn while_a_charge_is_captured(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| ready(app, &merchant, false, "capture", json!({})).await, 6).await;
}

async fn while_a_part_is_captured(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| ready(app, &merchant, false, "capture", json!({ "amount": 60 })).await, 6).await;
}

async fn while_a_reservation_is_voided(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| ready(app, &merchant, false, "void", json!({})).await, 6).await;
}

async fn while_a_charge_is_refunded(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| ready(app, &merchant, true, "void", json!({})).await, 6).await;
}

async fn while_a_part_is_refunded(app: TestApp) {
    let merchant = app.merchant().await;
    sweep(app, async |app| ready(app, &merchant, true, "void", json!({ "amount": 40 })).await, 6).await;
}

async fn while_a_charge_is_recovered(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare = async |app: &TestApp| made_by(app, &merchant, APPROVED, true).await;
    sweep_with(app, prepare, 6, Recovery::Interrupted).await;
}

async fn while_a_refund_is_recovered(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare = async |app: &TestApp| ready(app, &merchant, true, "void", json!({ "amount": 40 })).await;
    sweep_with(app, prepare, 6, Recovery::Interrupted).await;
}

async fn while_a_charge_is_repeated_at_once(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare = async |app: &TestApp| made_by(app, &merchant, APPROVED, true).await;
    sweep_with(app, prepare, 6, Recovery::Repeated).await;
}

async fn while_a_refund_is_repeated_at_once(app: TestApp) {
    let merchant = app.merchant().await;
    let prepare = async |app: &TestApp| ready(app, &merchant, true, "void", json!({ "amount": 40 })).await;
    sweep_with(app, prepare, 6, Recovery::Repeated).await;
}
