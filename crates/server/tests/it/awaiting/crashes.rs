//! The process stops at each write and around each call while a charge that awaits its payer is made, and while a job
//! continues it. At the end the charge agrees with the providers.

use std::time::Duration;

use axum::http::Method;
use serde_json::Value;

use super::{agrees, held, merchant};
use crate::support::agreement::nothing_is_open;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::client::request;
use crate::support::providers::payers::Act;
use crate::support::read::text;

stories! {
    while_instructions_are_issued,
    while_a_payment_is_found,
    while_the_next_provider_is_asked,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(4 * 60 * 60);
/// The time of the first probe for the payer's decision.
const FIRST_LOOK: Duration = Duration::from_secs(5);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

/// The charge of a key after all jobs have run.
async fn in_the_end(app: &TestApp, key: &str, body: &Value) -> Value {
    app.later(LATER).await;
    nothing_is_open(app).await;
    assert_eq!(held(app).await, 0);
    let answer = app.post_with_key("/v1/charges", key, body).await.expect(201);
    app.get(&format!("/v1/charges/{}", text(&answer["id"]))).await.expect(200)
}

/// The number of charges of the account.
async fn charges(app: &TestApp) -> u64 {
    app.get("/v1/charges").await.expect(200)["meta"]["totalItems"].as_u64().unwrap()
}

/// The process stops while the charge is made; the payer pays afterwards.
async fn while_instructions_are_issued(mut app: TestApp) {
    let body = charge_body(&merchant(&app).await, APPROVED);
    for steps in 0..STEPS_MAX {
        let key = format!("key {steps}");
        let headers = [("X-Idempotency-Key", key.as_str())];
        app.fuse.arm(steps);
        let mut pending = app.begin(request(&app.client, Method::POST, "/v1/charges", &headers, Some(&body)));
        let fuse = app.fuse.clone();
        let answered = tokio::select! {
            reply = &mut pending => Some(reply.unwrap()),
            () = fuse.blown() => None,
        };
        if answered.is_none() {
            app = app.restart().await;
            pending.abort();
        } else {
            app.fuse.disarm();
        }
        app.wire.payers().act(Act::Pays, &app.books).await;
        app.later(LATER).await;
        // A key that is claimed only now makes a new charge, whose payer is asked now.
        let again = app.post_with_key("/v1/charges", &key, &body).await.expect(201);
        app.wire.payers().act(Act::Pays, &app.books).await;
        let charge = in_the_end(&app, &key, &body).await;
        assert_eq!(charge["id"], again["id"]);
        assert!(matches!(text(&charge["status"]), "authorized" | "failed"), "{charge:#}");
        assert_eq!(charges(&app).await, steps + 1, "one charge for one key, after {steps} steps");
        if answered.is_some() {
            assert!(steps >= 5, "the flow has {steps} steps: writes and calls are missing");
            assert_eq!(charge["status"], "authorized");
            return;
        }
    }
    panic!("the flow does not end");
}

/// The process stops while a job continues a charge whose payer has decided.
async fn while_a_job_goes_on(mut app: TestApp, act: Act, steps_min: u64) {
    let body = charge_body(&merchant(&app).await, APPROVED);
    for steps in 0..STEPS_MAX {
        let key = format!("key {steps}");
        let answer = app.post_with_key("/v1/charges", &key, &body).await.expect(201);
        assert_eq!(answer["status"], "pending");
        app.wire.payers().act(act, &app.books).await;
        // Housekeeping runs first, so that the steps are those of the charge.
        app.run_jobs().await;
        app.clock.advance(FIRST_LOOK);
        app.fuse.arm(steps);
        let fuse = app.fuse.clone();
        let is_done = tokio::select! {
            round = app.worker.round() => round.is_ok(),
            () = fuse.blown() => false,
        };
        if !is_done {
            app = app.restart().await;
        }
        app.fuse.disarm();
        let charge = in_the_end(&app, &key, &body).await;
        assert_eq!(charge["id"], answer["id"]);
        if act == Act::Pays {
            assert_eq!(charge["status"], "authorized", "after {steps} steps");
        }
        if steps == 0 {
            agrees(&app, &charge).await;
        }
        let effects = app.books.effects().await.unwrap();
        let mut taken = 0;
        for item in app.get("/v1/charges?limit=100").await.expect(200)["items"].as_array().unwrap() {
            taken += usize::from(item["status"] == "authorized");
        }
        assert_eq!(effects, taken, "after {steps} steps");
        if is_done {
            assert!(steps >= steps_min, "the flow has {steps} steps: writes and calls are missing");
            assert_eq!(charge["status"], "authorized");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_payment_is_found(app: TestApp) {
    while_a_job_goes_on(app, Act::Pays, 4).await;
}

async fn while_the_next_provider_is_asked(app: TestApp) {
    while_a_job_goes_on(app, Act::TurnsBack, 6).await;
}
