//! The process stops after every write and around every call of a real provider's adapter. Whatever was going on, in the
//! end the provider holds what the charge says, once.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::bank::{Bank, Held};
use super::{stripe, with_providers};
use crate::agreement::{all_charges, nothing_is_open};
use crate::charges::text;
use crate::harness::{APPROVED, TestApp, charge_body, request, stories};

stories! {
    while_a_charge_is_made,
    while_a_reservation_is_captured,
    while_a_reservation_is_voided,
    while_a_part_is_refunded,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
/// By then the absence of a payment proves that there is none.
const HOURS: usize = 4;
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

/// The request that is interrupted.
enum Interrupted {
    Charge,
    /// Of a charge that is there: the end of the path, the body, and whether the charge is only reserved.
    FollowUp {
        operation: &'static str,
        body: Value,
        captured: bool,
    },
}

async fn while_a_charge_is_made(app: TestApp) {
    sweep(app, Interrupted::Charge).await;
}

async fn while_a_reservation_is_captured(app: TestApp) {
    let body = json!({ "amount": 100 });
    sweep(app, Interrupted::FollowUp { operation: "capture", body, captured: false }).await;
}

async fn while_a_reservation_is_voided(app: TestApp) {
    sweep(app, Interrupted::FollowUp { operation: "void", body: json!({}), captured: false }).await;
}

async fn while_a_part_is_refunded(app: TestApp) {
    let body = json!({ "amount": 40 });
    sweep(app, Interrupted::FollowUp { operation: "void", body, captured: true }).await;
}

async fn sweep(app: TestApp, interrupted: Interrupted) {
    let bank = Bank::default();
    let answering = bank.clone();
    let (mut app, _elsewhere) = with_providers(app, move |said| answering.answer(said)).await;
    let merchant = app.merchant_with(json!([stripe(1)])).await;
    for steps in 0..STEPS_MAX {
        let mut sent = charge_body(&merchant, APPROVED);
        let (path, body) = match &interrupted {
            Interrupted::Charge => ("/v1/charges".to_owned(), sent),
            Interrupted::FollowUp { operation, body, captured } => {
                sent["capture"] = json!(captured);
                let charge = app.post("/v1/charges", &sent).await.expect(201);
                (format!("/v1/charges/{}/{operation}", text(&charge["id"])), body.clone())
            }
        };
        let key = format!("key {steps}");
        app.fuse.arm(steps);
        let headers = [("X-Idempotency-Key", key.as_str())];
        let mut pending = app.begin(request(&app.client, Method::POST, &path, &headers, Some(&body)));
        let fuse = app.fuse.clone();
        let is_done = tokio::select! {
            reply = &mut pending => reply.is_ok(),
            () = fuse.blown() => false,
        };
        app.fuse.disarm();
        if !is_done {
            app = app.restart().await;
            pending.abort();
        }
        for _ in 0..HOURS {
            app.later(HOUR).await;
        }
        nothing_is_open(&app).await;
        let answer = app.post_with_key(&path, &key, &body).await.expect(201);
        agrees(&bank, &answer);
        for charge in all_charges(&app).await {
            agrees(&bank, &charge);
        }
        if is_done {
            assert!(steps >= 6, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

fn agrees(bank: &Bank, charge: &Value) {
    let amount = charge["amount"].as_i64().unwrap();
    let held = bank.held(text(&charge["id"]));
    let told = match text(&charge["status"]) {
        "authorized" => Held { payments: 1, reserved: 0, kept: amount },
        "pre_authorized" => Held { payments: 1, reserved: amount, kept: 0 },
        "voided" | "canceled" => Held { payments: 1, ..Held::default() },
        "failed" => Held::default(),
        other => panic!("a charge that is {other} in the end: {charge:#}"),
    };
    assert_eq!(held, told, "{charge:#}");
}
