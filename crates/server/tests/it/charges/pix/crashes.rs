//! The process stops at each write and around each call while a Pix is made, while its payments are found, and while it is
//! refunded. At the end the charge agrees with the simulator's books, and nothing was done twice.

use axum::http::Method;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::paid::{HOUR, MINUTE, PAYS, agrees_with, happens, read, requests, stored};
use super::{described, jose, pix_body};
use crate::agreement::nothing_is_open;
use crate::charges::{single_merchant, text};
use crate::harness::{TestApp, request, stories};

stories! {
    while_a_pix_is_made,
    while_a_second_payment_is_given_back,
    while_a_pix_is_refunded,
    while_a_refund_is_confirmed,
}

/// More steps than any of these flows has.
pub(crate) const STEPS_MAX: u64 = 200;

/// Sends a request and stops the process after so many steps; whether the request was answered.
pub(crate) async fn stopped_at(
    app: TestApp,
    steps: u64,
    path: &str,
    key: &str,
    body: &Value,
) -> (TestApp, bool) {
    app.fuse.arm(steps);
    let headers = [("X-Idempotency-Key", key)];
    let mut pending = app.begin(request(&app.client, Method::POST, path, &headers, Some(body)));
    let fuse = app.fuse.clone();
    let is_answered = tokio::select! {
        reply = &mut pending => reply.is_ok(),
        () = fuse.blown() => false,
    };
    if is_answered {
        app.fuse.disarm();
        return (app, true);
    }
    let app = app.restart().await;
    pending.abort();
    (app, false)
}

/// Lets time pass and stops the process after so many steps; whether all jobs were done.
pub(crate) async fn stopped_in_jobs(app: TestApp, steps: u64) -> (TestApp, bool) {
    app.fuse.arm(steps);
    let fuse = app.fuse.clone();
    let is_done = tokio::select! {
        () = app.later(4 * MINUTE) => true,
        () = fuse.blown() => false,
    };
    if is_done {
        app.fuse.disarm();
        return (app, true);
    }
    (app.restart().await, false)
}

/// A charge that was paid and found to be.
async fn paid(app: &TestApp, merchant: &str) -> Value {
    let charge = app.post("/v1/charges", &pix_body(merchant, described(jose()))).await.expect(201);
    happens(app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    let paid = read(app, &charge).await;
    assert_eq!(paid["status"], "authorized");
    paid
}

/// How many requests of this type and status the charge has.
pub(crate) fn count(charge: &Value, kind: &str, status: &str) -> usize {
    requests(charge)
        .iter()
        .filter(|(own_kind, own_status, _)| (*own_kind, *own_status) == (kind, status))
        .count()
}

async fn while_a_pix_is_made(mut app: TestApp) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    for steps in 0..STEPS_MAX {
        let key = format!("key {steps}");
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, "/v1/charges", &key, &body).await;
        app.later(MINUTE).await;
        let charge = app.post_with_key("/v1/charges", &key, &body).await.expect(201);
        let now = read(&app, &charge).await;
        if now["status"] == "pending" {
            happens(&app, &charge, 0, PAYS).await;
        } else {
            assert_eq!(now["status"], "failed", "it never arrived: {now:#}");
            assert!(!is_answered);
        }
        app.later(2 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        let status = if now["status"] == "pending" { "authorized" } else { "failed" };
        assert_eq!(after["status"], status, "after {steps} steps: {after:#}");
        agrees_with(&app, &after).await;
        let all = app.get("/v1/charges").await.expect(200)["meta"]["totalItems"].as_u64().unwrap();
        assert_eq!(all, steps + 1, "one charge for one key");
        let customers = app.get("/v1/customers").await.expect(200)["meta"]["totalItems"].clone();
        assert_eq!(customers, 1, "one customer for one payer");
        if is_answered {
            assert!(steps >= 5, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_second_payment_is_given_back(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let charge = paid(&app, &merchant).await;
        happens(&app, &charge, 0, Staged::FurtherPayment { amount: None }).await;
        let is_done;
        (app, is_done) = stopped_in_jobs(app, steps).await;
        app.later(HOUR).await;
        let found = read(&app, &charge).await;
        assert_eq!(count(&found, "authorization", "success"), 2, "after {steps} steps: {found:#}");
        assert_eq!(count(&found, "void", "processing"), 1, "after {steps} steps: {found:#}");
        happens(&app, &charge, 3, Staged::Refund).await;
        app.later(24 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(150)));
        assert_eq!(count(&after, "void", "success"), 1);
        agrees_with(&app, &after).await;
        if is_done {
            assert!(steps >= 4, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_pix_is_refunded(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let charge = paid(&app, &merchant).await;
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        let (key, body) = (format!("void {steps}"), json!({ "amount": 50 }));
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, &path, &key, &body).await;
        app.later(HOUR).await;
        let pending = app.post_with_key(&path, &key, &body).await.expect(201);
        assert_eq!(pending["status"], "refund_pending", "after {steps} steps: {pending:#}");
        assert_eq!(requests(&pending)[0], ("void", "processing", 50));
        let place = stored(&app, &charge).await.len() - 1;
        happens(&app, &charge, place, Staged::Refund).await;
        app.later(24 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(100)), "{after:#}");
        assert_eq!((count(&after, "void", "processing"), count(&after, "void", "success")), (1, 1));
        agrees_with(&app, &after).await;
        let again = app.post_with_key(&path, &key, &body).await.expect(201);
        assert_eq!(again, pending, "the key has one answer");
        if is_answered {
            assert!(steps >= 5, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_refund_is_confirmed(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let charge = paid(&app, &merchant).await;
        app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(201);
        happens(&app, &charge, 2, Staged::Refund).await;
        let is_done;
        (app, is_done) = stopped_in_jobs(app, steps).await;
        app.later(24 * HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("voided"), &json!(0)), "{after:#}");
        assert_eq!(count(&after, "void", "success"), 1, "after {steps} steps: {after:#}");
        agrees_with(&app, &after).await;
        if is_done {
            assert!(steps >= 3, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}
