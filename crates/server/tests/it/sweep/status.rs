//! The process stops while a tester sets a status (`docs/interface/sandbox.md#status`). The repeated key goes on from what has
//! happened: one request and one event for each thing, and one answer.

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::charges::{read, single_merchant};
use crate::support::crashes::{at_each_step, stopped_at};
use crate::support::payers::{agrees_with, requests};
use crate::support::read::{announced, text};
use crate::support::time::MINUTE;

stories! {
    while_a_pix_is_failed,
    while_a_pix_is_voided,
    while_a_pix_is_charged_back,
    while_a_reservation_is_voided,
    while_a_charge_is_failed,
}

/// What a status leads to: the newest requests, and all events.
struct Expected<'a> {
    requests: &'a [(&'a str, &'a str)],
    events: &'a [&'a str],
    steps_min: u64,
}

async fn while_it_is_set(app: TestApp, body: &Value, status: &str, expected: Expected<'_>) {
    let status = json!({ "status": status });
    at_each_step(app, expected.steps_min, async |app, steps| {
        let charge = app.post("/v1/charges", body).await.expect(201);
        let path = format!("/v1/charges/{}", text(&charge["id"]));
        let key = format!("key {steps}");
        let (app, is_answered) = stopped_at(app, steps, &path, &key, &status).await;
        // Half of the testers come back when jobs have found what has happened.
        if steps % 2 == 0 {
            app.later(5 * MINUTE).await;
        }
        let mut again = app.post_with_key(&path, &key, &status).await;
        if again.status == 409 {
            app.later(5 * MINUTE).await;
            again = app.post_with_key(&path, &key, &status).await;
        }
        let after = again.expect(200);
        assert_eq!(after["status"], status["status"], "after {steps} steps: {after:#}");
        let told: Vec<(&str, &str)> =
            requests(&after).iter().map(|(kind, status, _)| (*kind, *status)).collect();
        assert_eq!(told, expected.requests, "after {steps} steps");
        assert_eq!(announced(&app, text(&charge["id"])).await, expected.events, "after {steps} steps");
        let repeated = app.post_with_key(&path, &key, &status).await;
        assert_eq!(repeated.bytes, again.bytes, "the key has one answer");
        app.later(5 * MINUTE).await;
        assert_eq!(read(&app, &charge).await, after, "and nothing comes after it");
        let is_by_hand = status["status"] == "failed" && body["paymentMethod"]["paymentType"] == "credit";
        if !is_by_hand {
            agrees_with(&app, &after).await;
        }
        (app, is_answered)
    })
    .await;
}

async fn while_a_pix_is_set(app: TestApp, status: &str, expected: Expected<'_>) {
    let body = pix_body(&single_merchant(&app).await, described(jose()));
    while_it_is_set(app, &body, status, expected).await;
}

async fn while_a_pix_is_failed(app: TestApp) {
    let expected = Expected {
        requests: &[("authorization", "failed"), ("pending", "success")],
        events: &["pending", "failed"],
        steps_min: 5,
    };
    while_a_pix_is_set(app, "failed", expected).await;
}

async fn while_a_pix_is_voided(app: TestApp) {
    let expected = Expected {
        requests: &[
            ("void", "success"),
            ("void", "processing"),
            ("authorization", "success"),
            ("pending", "success"),
        ],
        events: &["pending", "authorized", "refund_pending", "voided"],
        steps_min: 12,
    };
    while_a_pix_is_set(app, "voided", expected).await;
}

async fn while_a_pix_is_charged_back(app: TestApp) {
    let expected = Expected {
        requests: &[("charge_back", "success"), ("authorization", "success"), ("pending", "success")],
        events: &["pending", "authorized", "charged_back"],
        steps_min: 8,
    };
    while_a_pix_is_set(app, "charged_back", expected).await;
}

async fn while_a_reservation_is_voided(app: TestApp) {
    let body = Charge::by_card(&single_merchant(&app).await, APPROVED).reserved().body();
    let expected = Expected {
        requests: &[("void", "success"), ("capture", "success"), ("pre_authorization", "success")],
        events: &["pending", "pre_authorized", "authorized", "voided"],
        steps_min: 10,
    };
    while_it_is_set(app, &body, "voided", expected).await;
}

/// By hand alone: in one batch.
async fn while_a_charge_is_failed(app: TestApp) {
    let body = charge_body(&single_merchant(&app).await, APPROVED);
    let expected = Expected {
        requests: &[("authorization", "failed"), ("authorization", "success")],
        events: &["pending", "authorized", "failed"],
        steps_min: 2,
    };
    while_it_is_set(app, &body, "failed", expected).await;
}
