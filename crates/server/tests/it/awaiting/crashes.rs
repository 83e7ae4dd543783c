//! The process stops at each write and around each call while a charge that awaits its payer is made, and while a job
//! continues it. At the end the charge agrees with the providers.

use std::time::Duration;

use serde_json::Value;

use super::{agrees, held, merchant};
use crate::support::agreement::nothing_is_open;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::crashes::{stopped_at, stopped_while};
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
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, "/v1/charges", &key, &body).await;
        app.wire.payers().act(Act::Pays, &app.books).await;
        app.later(LATER).await;
        // A key that is claimed only now makes a new charge, whose payer is asked now.
        let again = app.post_with_key("/v1/charges", &key, &body).await.expect(201);
        app.wire.payers().act(Act::Pays, &app.books).await;
        let charge = in_the_end(&app, &key, &body).await;
        assert_eq!(charge["id"], again["id"]);
        assert!(matches!(text(&charge["status"]), "authorized" | "failed"), "{charge:#}");
        assert_eq!(charges(&app).await, steps + 1, "one charge for one key, after {steps} steps");
        if is_answered {
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
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| {
            app.worker.round().await.unwrap();
        })
        .await;
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
