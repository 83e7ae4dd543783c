//! The clock jumps forward and back.

use std::time::Duration;

use serde_json::{Value, json};

use super::{assert_agrees, charge, settled};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, token_body};

stories! {
    what_was_written_keeps_its_order_when_the_clock_goes_back,
    nothing_ends_early_when_the_clock_goes_back,
    a_jump_forward_ends_what_it_must_and_nothing_else,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn time(value: &Value) -> regente_domain::time::Timestamp {
    regente_domain::time::Timestamp::parse(value.as_str().unwrap()).unwrap()
}

async fn what_was_written_keeps_its_order_when_the_clock_goes_back(app: TestApp) {
    let id = app.merchant().await;
    let path = format!("/v1/merchants/{id}");
    let before = app.patch(&path, &json!({ "name": "Loja Um" })).await.expect(200);
    app.clock.set(app.clock.deployment() - DAY);
    let after = app.patch(&path, &json!({ "name": "Loja Dois" })).await.expect(200);
    assert!(time(&after["updatedAt"]) > time(&before["updatedAt"]), "{before} {after}");
    assert_eq!(after["name"], "Loja Dois");

    // A charge that ends at an earlier time than its beginning.
    let app = app.with_sandbox_deadline(Duration::from_millis(5)).await;
    let body = Charge::by_card(&id, TIMED_OUT).with("orderId", "back").body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert!(time(&charge["updatedAt"]) >= time(&charge["createdAt"]), "{charge}");
    let charges = settled(&app).await;
    assert_agrees(&app.books, &charges).await;
}

async fn nothing_ends_early_when_the_clock_goes_back(app: TestApp) {
    let merchant = app.merchant().await;
    let token = app.card_token(APPROVED).await;
    let public = app.client_token(json!(["tokens"])).await;
    let first = charge(&app, &merchant, "key").await.expect(201);
    app.clock.set(app.clock.deployment() - DAY);
    app.run_jobs().await;
    // The token is still valid, the charge's key still replays its answer, the public key still opens.
    assert_eq!(charge(&app, &merchant, "key").await.expect(201), first);
    let body = Charge::by_card(&merchant, APPROVED)
        .with("orderId", "by token")
        .with("paymentSource", json!({ "sourceType": "token", "tokenId": token }))
        .body();
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["status"], "authorized");
    let tokens =
        app.call(&public, axum::http::Method::POST, "/v1/tokens", &[], Some(&token_body(APPROVED))).await;
    tokens.expect(201);
    assert_agrees(&app.books, &settled(&app).await).await;
}

async fn a_jump_forward_ends_what_it_must_and_nothing_else(app: TestApp) {
    let merchant = app.merchant().await;
    let token = app.card_token(APPROVED).await;
    let first = charge(&app, &merchant, "key").await.expect(201);
    app.clock.set(app.clock.deployment() + DAY * 30);
    app.run_jobs().await;
    let body = Charge::by_card(&merchant, APPROVED)
        .with("orderId", "by token")
        .with("paymentSource", json!({ "sourceType": "token", "tokenId": token }))
        .body();
    assert!(app.post("/v1/charges", &body).await.status.is_client_error(), "a token lives two hours");
    let id = first["id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), first);
    // Back again: what was done in between stays, new charges are taken.
    app.clock.set(app.clock.deployment() - DAY * 30);
    charge(&app, &merchant, "another key").await.expect(201);
    let charges = settled(&app).await;
    assert_eq!(charges.len(), 2);
    assert_agrees(&app.books, &charges).await;
}
