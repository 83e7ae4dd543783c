//! The process stops at each write and around each call while a NuPay is made, while its payer's refusal is found, and
//! while it is refunded. At the end the charge agrees with the simulator's books, and nothing was done twice.

use regente_providers::staged::Staged;
use serde_json::json;

use super::nupay_body;
use crate::agreement::nothing_is_open;
use crate::charges::pix::crashes::{STEPS_MAX, count, stopped_at, stopped_in_jobs};
use crate::charges::pix::paid::{HOUR, MINUTE, PAYS, agrees_with, happens, read, stored};
use crate::charges::{single_merchant, text};
use crate::follow_ups::announced;
use crate::harness::{TestApp, stories};

stories! {
    while_a_nupay_is_made,
    while_a_refusal_is_found,
    while_a_nupay_expires,
    while_a_nupay_is_refunded,
}

async fn while_a_nupay_is_made(mut app: TestApp) {
    let body = nupay_body(&single_merchant(&app).await);
    for steps in 0..STEPS_MAX {
        let key = format!("key {steps}");
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, "/v1/charges", &key, &body).await;
        app.later(MINUTE).await;
        let charge = app.post_with_key("/v1/charges", &key, &body).await.expect(201);
        let is_waiting = read(&app, &charge).await["status"] == "pending";
        if is_waiting {
            happens(&app, &charge, 0, PAYS).await;
        }
        app.later(2 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        let status = if is_waiting { "authorized" } else { "failed" };
        assert_eq!(after["status"], status, "after {steps} steps: {after:#}");
        agrees_with(&app, &after).await;
        if is_answered {
            assert!(is_waiting && steps >= 5, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

/// What happens in jobs leads to `canceled`, wherever the process stops.
async fn canceled(mut app: TestApp, happening: impl AsyncFn(&TestApp, &serde_json::Value)) {
    let body = nupay_body(&single_merchant(&app).await);
    for steps in 0..STEPS_MAX {
        let charge = app.post("/v1/charges", &body).await.expect(201);
        happening(&app, &charge).await;
        let is_done;
        (app, is_done) = stopped_in_jobs(app, steps).await;
        app.later(24 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("canceled"), &json!(0)), "{after:#}");
        assert_eq!(count(&after, "authorization", "failed"), 1, "after {steps} steps: {after:#}");
        assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "canceled"]);
        agrees_with(&app, &after).await;
        if is_done {
            assert!(steps >= 3, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_refusal_is_found(app: TestApp) {
    canceled(app, async |app, charge| happens(app, charge, 0, Staged::Refusal).await).await;
}

async fn while_a_nupay_expires(app: TestApp) {
    // The jobs of the four minutes that follow find it unpaid.
    canceled(app, async |app, _| app.clock.advance(198 * MINUTE)).await;
}

async fn while_a_nupay_is_refunded(mut app: TestApp) {
    let body = nupay_body(&single_merchant(&app).await);
    for steps in 0..STEPS_MAX {
        let charge = app.post("/v1/charges", &body).await.expect(201);
        happens(&app, &charge, 0, PAYS).await;
        app.later(MINUTE).await;
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        let (key, void) = (format!("void {steps}"), json!({ "amount": 50, "delayToCompose": 2 }));
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, &path, &key, &void).await;
        app.later(HOUR).await;
        let pending = app.post_with_key(&path, &key, &void).await.expect(201);
        assert_eq!(pending["status"], "refund_pending", "after {steps} steps: {pending:#}");
        assert!(app.wire.delays().iter().all(|delay| *delay == Some(2)), "each says the same");
        let place = stored(&app, &charge).await.len() - 1;
        happens(&app, &charge, place, Staged::Refund).await;
        app.later(24 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(100)), "{after:#}");
        assert_eq!((count(&after, "void", "processing"), count(&after, "void", "success")), (1, 1));
        agrees_with(&app, &after).await;
        if is_answered {
            assert!(steps >= 5, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}
