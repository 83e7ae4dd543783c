//! The process stops after every write and around every call, while a charge is authenticated and while its cardholder
//! comes back. Whatever is left agrees with the simulator's books.

use std::time::Duration;

use serde_json::Value;

use super::challenged;
use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::charges::read;
use crate::support::client::request;
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
        app.fuse.arm(steps);
        let fuse = app.fuse.clone();
        let mut pending =
            app.begin(request(&app.client, axum::http::Method::POST, "/v1/charges", &[], Some(&body)));
        let reply = tokio::select! {
            reply = &mut pending => Some(reply.unwrap()),
            () = fuse.blown() => None,
        };
        match &reply {
            Some(_) => app.fuse.disarm(),
            None => {
                app = app.restart().await;
                pending.abort();
            }
        }
        app.later(LATER).await;
        nothing_is_open(&app).await;
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        ledger_agrees(&app, &charges).await;
        let is_over = |charge: &Value| charge["status"] == "authorized" || charge["status"] == "failed";
        assert!(charges.iter().all(is_over), "after {steps} steps");
        if let Some(reply) = reply {
            assert_eq!(reply.expect(201)["status"], "authorized");
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
        app.fuse.arm(steps);
        let fuse = app.fuse.clone();
        let is_done = tokio::select! {
            back = visit(&app, &path) => { assert_eq!(back.status, 303); true }
            () = fuse.blown() => false,
        };
        if is_done {
            app.fuse.disarm();
        } else {
            app = app.restart().await;
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
