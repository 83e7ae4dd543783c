//! The process stops at each write and around each call while a boleto is made, while its payments are found, and while a
//! settlement is taken back. At the end the charge agrees with the simulator's books, and nothing was done twice.

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::super::pix::crashes::{STEPS_MAX, count, stopped_at, stopped_in_jobs};
use super::super::pix::paid::{HOUR, MINUTE, PAYS, PAYS_AGAIN, agrees_with, happens, read};
use super::super::pix::{described, jose};
use super::super::single_merchant;
use super::boleto_body;
use crate::agreement::nothing_is_open;
use crate::harness::{TestApp, stories};

stories! {
    while_a_boleto_is_made,
    while_a_second_payment_is_given_back,
    while_a_settlement_is_taken_back,
}

async fn while_a_boleto_is_made(mut app: TestApp) {
    let mut body = boleto_body(&single_merchant(&app).await, described(jose()));
    // In a week, whatever time it is by then.
    body["paymentMethod"].as_object_mut().unwrap().shift_remove("expiresDate");
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
        app.later(HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        let status = if now["status"] == "pending" { "authorized" } else { "failed" };
        assert_eq!(after["status"], status, "after {steps} steps: {after:#}");
        agrees_with(&app, &after).await;
        let all = app.get("/v1/charges").await.expect(200)["meta"]["totalItems"].as_u64().unwrap();
        assert_eq!(all, steps + 1, "one charge for one key");
        if is_answered {
            assert!(steps >= 5, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

/// A charge that was paid and found to be.
async fn paid(app: &TestApp, merchant: &str) -> Value {
    let charge = app.post("/v1/charges", &boleto_body(merchant, described(jose()))).await.expect(201);
    happens(app, &charge, 0, PAYS).await;
    app.later(MINUTE).await;
    let paid = read(app, &charge).await;
    assert_eq!(paid["status"], "authorized");
    paid
}

async fn while_a_second_payment_is_given_back(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let charge = paid(&app, &merchant).await;
        happens(&app, &charge, 0, PAYS_AGAIN).await;
        let is_done;
        (app, is_done) = stopped_in_jobs(app, steps).await;
        app.later(HOUR).await;
        nothing_is_open(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(15000)));
        let counted = (count(&after, "authorization", "success"), count(&after, "void", "success"));
        assert_eq!(counted, (2, 1), "after {steps} steps: {after:#}");
        agrees_with(&app, &after).await;
        if is_done {
            assert!(steps >= 4, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_settlement_is_taken_back(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let charge = paid(&app, &merchant).await;
        happens(&app, &charge, 0, Staged::TakenBack).await;
        let is_done;
        (app, is_done) = stopped_in_jobs(app, steps).await;
        app.later(HOUR).await;
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
