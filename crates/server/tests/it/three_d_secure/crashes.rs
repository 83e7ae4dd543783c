//! The process stops after every write and around every call, while a charge is authenticated and while its cardholder
//! comes back. Whatever is left agrees with the simulator's books.

use std::time::Duration;

use serde_json::Value;

use super::challenged;
use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::charges::{charged, read};
use crate::support::crashes::stopped_while;
use crate::support::read::text;
use crate::support::three_d_secure::{
    CHALLENGE_PASSES, FRICTIONLESS, answer, held, merchant, own_body, visit,
};

stories! {
    while_a_cardholder_is_authenticated,
    while_a_cardholder_comes_back,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(60 * 60);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

async fn while_a_cardholder_is_authenticated(app: TestApp) {
    let mut app = app.reachable().await;
    let merchant = merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let body = own_body(&app, &merchant, FRICTIONLESS).await;
        let is_answered;
        (app, is_answered) = stopped_while(app, steps, async |app| {
            assert_eq!(charged(app, &body).await["status"], "authorized");
        })
        .await;
        app.later(LATER).await;
        nothing_is_open(&app).await;
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        ledger_agrees(&app, &charges).await;
        let is_over = |charge: &Value| charge["status"] == "authorized" || charge["status"] == "failed";
        assert!(charges.iter().all(is_over), "after {steps} steps");
        if is_answered {
            assert!(steps >= 8, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_cardholder_comes_back(app: TestApp) {
    let mut app = app.reachable().await;
    let mut authorized = 0;
    for steps in 0..STEPS_MAX {
        let charge = challenged(&app, CHALLENGE_PASSES).await;
        let path = answer(&app, &charge, "approve").await;
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| {
            assert_eq!(visit(app, &path).await.status, 303);
        })
        .await;
        if !is_done {
            // The cardholder reloads the page.
            assert_eq!(visit(&app, &path).await.status, 303);
        }
        app.later(LATER).await;
        nothing_is_open(&app).await;
        agree_on_all(&app.books, &all_charges(&app).await).await;
        let done = read(&app, &charge).await;
        assert_eq!(held(&app).await, 0, "after {steps} steps");
        authorized += u32::from(done["status"] == "authorized");
        if is_done {
            assert_eq!(text(&done["status"]), "authorized");
            assert!(steps >= 4, "the flow has {steps} steps: writes and calls are missing from the sweep");
            assert!(authorized > 1, "what was stopped before the authorization is carried on");
            return;
        }
    }
    panic!("the flow does not end");
}
