//! The process stops at each write while a report is taken and settled, and while a tester has a charge taken back. In
//! the end each is on the charge once, and the simulator's books agree.

use std::time::Duration;

use regente_providers::staged::Staged;
use serde_json::json;

use super::agrees;
use crate::support::app::{TestApp, stories};
use crate::support::charges::{captured, reserved, void};
use crate::support::crashes::stopped_while;
use crate::support::disputes::{happens, read, told_of};
use crate::support::read::announced;

stories! {
    while_a_dispute_is_opened,
    while_a_dispute_is_won,
    while_a_dispute_is_lost,
    while_a_charge_is_charged_back,
    while_a_refund_comes_back,
    while_a_tester_has_a_reservation_charged_back,
}

const SOON: Duration = Duration::from_secs(60);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 120;

async fn while_a_dispute_is_opened(app: TestApp) {
    sweep(app, &[], Staged::DisputeOpened, ("authorized", 60, "dispute")).await;
}

async fn while_a_dispute_is_won(app: TestApp) {
    sweep(app, &[Staged::DisputeOpened], Staged::DisputeWon, ("authorized", 60, "dispute_closed")).await;
}

async fn while_a_dispute_is_lost(app: TestApp) {
    sweep(app, &[Staged::DisputeOpened], Staged::DisputeLost, ("charged_back", 60, "charged_back")).await;
}

async fn while_a_charge_is_charged_back(app: TestApp) {
    sweep(app, &[], Staged::ChargedBack, ("charged_back", 60, "charged_back")).await;
}

async fn while_a_refund_comes_back(app: TestApp) {
    let reverted = Staged::RefundReverted { amount: None };
    sweep(app, &[], reverted, ("authorized", 100, "revert_void")).await;
}

/// Stops at each step of what a report does to a charge of 100 of which 40 were refunded.
async fn sweep(app: TestApp, before: &[Staged], what: Staged, (status, amount, event): (&str, i64, &str)) {
    let mut app = app.reachable().await;
    for steps in 0..STEPS_MAX {
        let id = captured(&app).await;
        void(&app, &id, json!({ "amount": 40 })).await.expect(201);
        for earlier in before {
            told_of(&app, &id, *earlier).await;
        }
        let notices = happens(&app, &id, what).await;
        let events = announced(&app, &id).await;
        // Housekeeping runs first, so that the steps are those of the report.
        app.prepare().await;
        while app.worker.round().await.unwrap().jobs > 0 {}
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| {
            app.deliver(&notices[0]).await.expect(200);
            app.worker.round().await.unwrap();
        })
        .await;
        if !is_done {
            app.deliver(&notices[0]).await.expect(200);
        }
        app.later(SOON).await;
        let charge = read(&app, &id).await;
        let shown = (&charge["status"], &charge["amount"]);
        assert_eq!(shown, (&json!(status), &json!(amount)), "after {steps} steps: {charge:#}");
        let told = [events, vec![event.to_owned()]].concat();
        assert_eq!(announced(&app, &id).await, told, "after {steps} steps");
        agrees(&app).await;
        if is_done {
            assert!(steps >= 4, "the flow has {steps} steps: writes are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

/// The reservation is captured, and then taken back: one request of a tester, two calls, several writes.
async fn while_a_tester_has_a_reservation_charged_back(app: TestApp) {
    let mut app = app.reachable().await;
    for steps in 0..STEPS_MAX {
        let id = reserved(&app).await;
        let (path, body) = (format!("/v1/charges/{id}"), json!({ "status": "charged_back" }));
        let key = format!("key {steps}");
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| {
            app.post_with_key(&path, &key, &body).await.expect(200);
        })
        .await;
        app.later(SOON).await;
        // A tester tries again; what is charged back already is final.
        let again = app.post_with_key(&path, &key, &body).await.status.as_u16();
        assert!(again == 200 || (again == 400 && !is_done), "{again} after {steps} steps");
        let charge = read(&app, &id).await;
        assert_eq!(charge["status"], "charged_back", "after {steps} steps: {charge:#}");
        let events = announced(&app, &id).await;
        assert_eq!(
            events,
            ["pending", "pre_authorized", "authorized", "charged_back"],
            "after {steps} steps"
        );
        agrees(&app).await;
        if is_done {
            assert!(steps >= 6, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}
