//! Captures, voids and refunds of card charges: every rule and state of `docs/interface/charges.md#states`, and
//! statuses set by hand (`docs/interface/sandbox.md#status`). Answers are compared with the simulator's transaction
//! log.

mod status;
mod unknown;

use std::time::Duration;

use axum::http::Method;
use regente_domain::charge::ChargeStatus;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, charge_body};
use crate::support::charges::{capture, captured, made, reserved, void};
use crate::support::providers::sandbox;
use crate::support::read::{announced, is, text, told};
use crate::support::{agreement, client};

stories! {
    everything_reserved_is_captured_once,
    a_part_is_captured_and_the_rest_released,
    a_charge_is_refunded_in_parts_until_nothing_is_left,
    a_reservation_is_canceled,
    a_reservation_is_lowered_and_then_captured_or_canceled,
    the_provider_refuses_991_and_nothing_changes,
    what_the_state_does_not_allow_is_a_400_that_says_so,
    more_than_there_is_is_refused_without_asking_the_provider,
    a_wrong_amount_names_the_field,
    a_voucher_is_refunded_and_its_rest_is_a_422,
    the_same_key_gives_the_same_bytes_after_the_charge_has_moved_on,
    the_same_key_with_another_amount_is_a_409,
    two_refunds_at_once_give_back_no_more_than_there_is,
    totals_follow_the_state,
    a_reservation_that_nobody_captures_is_let_go_after_a_week,
}

async fn everything_reserved_is_captured_once(app: TestApp) {
    let id = reserved(&app).await;
    let charge = capture(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 100, 100, ("capture", "success", 100)));
    assert_eq!(charge["transactionRequests"][0]["idempotencyKey"], Value::Null);
    assert_eq!(charge["transactionRequests"][1]["requestType"], "pre_authorization");
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge);
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "authorized"]);
    let again = capture(&app, &id, json!({})).await.expect(400);
    assert_eq!(again["error"]["type"], "invalid_request_error");
    assert_eq!(again["error"]["message"], "charge cannot be captured in status authorized");
}

async fn a_part_is_captured_and_the_rest_released(app: TestApp) {
    let id = reserved(&app).await;
    let charge = capture(&app, &id, json!({ "amount": 60 })).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 60, 100, ("capture", "success", 60)));
    capture(&app, &id, json!({ "amount": 40 })).await.expect(400);
    // Only the captured amount can be refunded.
    void(&app, &id, json!({ "amount": 61 })).await.expect(400);
    let charge = void(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("voided", 0, 100, ("void", "success", 60)));
}

async fn a_charge_is_refunded_in_parts_until_nothing_is_left(app: TestApp) {
    let id = captured(&app).await;
    let charge = void(&app, &id, json!({ "amount": 10 })).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 90, 100, ("void", "success", 10)));
    let charge = void(&app, &id, json!({ "amount": 20 })).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 70, 100, ("void", "success", 20)));
    let charge = void(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("voided", 0, 100, ("void", "success", 70)));
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "voided", "voided", "voided"]);
    let error = void(&app, &id, json!({})).await.expect(400);
    assert_eq!(error["error"]["message"], "charge cannot be voided in status voided");
}

async fn a_reservation_is_canceled(app: TestApp) {
    let id = reserved(&app).await;
    let charge = void(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("canceled", 0, 100, ("void", "success", 100)));
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "canceled"]);
    capture(&app, &id, json!({})).await.expect(400);
}

async fn a_reservation_is_lowered_and_then_captured_or_canceled(app: TestApp) {
    let id = reserved(&app).await;
    let charge = void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    assert_eq!(told(&charge), is("pre_authorized", 70, 100, ("void", "success", 30)));
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized"]);
    capture(&app, &id, json!({ "amount": 71 })).await.expect(400);
    let charge = capture(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 70, 100, ("capture", "success", 70)));

    let id = reserved(&app).await;
    void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    let charge = void(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("canceled", 0, 100, ("void", "success", 70)));
}

async fn the_provider_refuses_991_and_nothing_changes(app: TestApp) {
    let id = made(&app, 991, false).await;
    let charge = capture(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("pre_authorized", 991, 991, ("capture", "failed", 991)));
    assert!(charge["transactionRequests"][0]["providerError"]["declinedCode"].is_string());
    let charge = void(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("pre_authorized", 991, 991, ("void", "failed", 991)));
    assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized"]);
    // Another amount succeeds.
    let charge = capture(&app, &id, json!({ "amount": 990 })).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 990, 991, ("capture", "success", 990)));
}

async fn what_the_state_does_not_allow_is_a_400_that_says_so(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Alone", 1)])).await;
    let failed = app.post("/v1/charges", &charge_body(&merchant, TIMED_OUT)).await.expect(201);
    assert_eq!(failed["status"], ChargeStatus::Failed.word());
    for (operation, participle) in [("capture", "captured"), ("void", "voided")] {
        let path = format!("/v1/charges/{}/{operation}", text(&failed["id"]));
        let error = app.post(&path, &json!({})).await.expect(400);
        let message = format!("charge cannot be {participle} in status failed");
        assert_eq!(
            error["error"],
            json!({
                "type": "invalid_request_error", "code": 400, "message": message, "details": [],
            })
        );
    }
    let nobody = "/v1/charges/0199a3f0-0000-7000-8000-000000000000/void";
    app.post(nobody, &json!({})).await.expect(404);
    app.post("/v1/charges/nothing/capture", &json!({})).await.expect(404);
}

async fn more_than_there_is_is_refused_without_asking_the_provider(app: TestApp) {
    for (id, operation) in [(reserved(&app).await, "capture"), (captured(&app).await, "void")] {
        let before = app.books.entries().await.unwrap().len();
        let path = format!("/v1/charges/{id}/{operation}");
        let details = app.post(&path, &json!({ "amount": 101 })).await.details(400);
        assert_eq!(details, ["amount must not be greater than 100"]);
        assert_eq!(app.books.entries().await.unwrap().len(), before);
        let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
        assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    }
}

async fn a_wrong_amount_names_the_field(app: TestApp) {
    let id = reserved(&app).await;
    for amount in [json!(0), json!(-1), json!("x"), json!(1.5), json!(true)] {
        for operation in ["capture", "void"] {
            let path = format!("/v1/charges/{id}/{operation}");
            let details = app.post(&path, &json!({ "amount": amount })).await.details(400);
            assert!(details[0].starts_with("amount must"), "{details:?}");
        }
    }
}

async fn a_voucher_is_refunded_and_its_rest_is_a_422(app: TestApp) {
    let body = Charge::by_card(&app.merchant().await, APPROVED)
        .with("paymentMethod", json!({ "paymentType": "voucher" }))
        .body();
    let id = text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned();
    let error = void(&app, &id, json!({ "amount": 151 })).await.expect(422);
    assert_eq!(
        error["error"],
        json!({ "type": "unprocessable_entity", "code": 422, "message": "Transaction failed", "details": [] })
    );
    let charge = void(&app, &id, json!({})).await.expect(201);
    assert_eq!(told(&charge), is("voided", 0, 150, ("void", "success", 150)));
}

async fn the_same_key_gives_the_same_bytes_after_the_charge_has_moved_on(app: TestApp) {
    let body = Charge::by_card(&app.merchant().await, APPROVED).reserved().body();
    let created = app.post_with_key("/v1/charges", "create", &body).await;
    let id = text(&created.expect(201)["id"]).to_owned();
    let (capture, void) = (format!("/v1/charges/{id}/capture"), format!("/v1/charges/{id}/void"));
    let steps = [
        (capture.as_str(), "capture", json!({ "amount": 100 })),
        (void.as_str(), "first", json!({ "amount": 30 })),
        (void.as_str(), "second", json!({})),
    ];
    let mut answers = vec![("/v1/charges", "create", body, created)];
    for (path, key, body) in steps {
        let answer = app.post_with_key(path, key, &body).await;
        answer.expect(201);
        answers.push((path, key, body, answer));
    }
    let entries = app.books.entries().await.unwrap().len();
    for (path, key, body, first) in &answers {
        let replay = app.post_with_key(path, key, body).await;
        assert_eq!((replay.status, &replay.bytes), (first.status, &first.bytes), "{key}");
        assert_eq!(replay.header("Idempotent-Replayed"), Some("true"));
    }
    assert_eq!(app.books.entries().await.unwrap().len(), entries, "a replay asks no provider");
}

async fn the_same_key_with_another_amount_is_a_409(app: TestApp) {
    let id = captured(&app).await;
    let path = format!("/v1/charges/{id}/void");
    app.post_with_key(&path, "one", &json!({ "amount": 10 })).await.expect(201);
    app.post_with_key(&path, "one", &json!({ "amount": 11 })).await.expect(409);
    // A key belongs to one operation on one charge.
    let other = captured(&app).await;
    app.post_with_key(&format!("/v1/charges/{other}/void"), "one", &json!({ "amount": 11 }))
        .await
        .expect(201);
}

async fn two_refunds_at_once_give_back_no_more_than_there_is(app: TestApp) {
    let id = captured(&app).await;
    let path = format!("/v1/charges/{id}/void");
    let body = json!({ "amount": 60 });
    let begin = || app.begin(client::request(&app.client, Method::POST, &path, &[], Some(&body)));
    let pending: Vec<_> = (0..8).map(|_| begin()).collect();
    let mut done = 0;
    for pending in pending {
        let reply = pending.await.unwrap();
        match reply.status.as_u16() {
            201 => done += 1,
            400 | 409 => {}
            other => panic!("{other}: {}", String::from_utf8_lossy(&reply.bytes)),
        }
    }
    assert_eq!(done, 1, "sixty of a hundred can be given back once");
    let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    assert_eq!((&charge["amount"], &charge["status"]), (&json!(40), &json!("authorized")));
}

async fn totals_follow_the_state(app: TestApp) {
    let (kept, canceled) = (captured(&app).await, reserved(&app).await);
    void(&app, &canceled, json!({})).await.expect(201);
    void(&app, &kept, json!({ "amount": 1 })).await.expect(201);
    for (status, total) in [("authorized", 1), ("canceled", 1), ("pre_authorized", 0), ("refund_pending", 0)]
    {
        let page = app.get(&format!("/v1/charges?status={status}")).await.expect(200);
        assert_eq!(page["meta"]["totalItems"], json!(total), "{status}");
    }
}

async fn a_reservation_that_nobody_captures_is_let_go_after_a_week(app: TestApp) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let (left, taken) = (reserved(&app).await, reserved(&app).await);
    capture(&app, &taken, json!({})).await.expect(201);
    app.later(DAY * 6).await;
    assert_eq!(app.get(&format!("/v1/charges/{left}")).await.expect(200)["status"], "pre_authorized");
    app.later(DAY * 2).await;
    let charge = app.get(&format!("/v1/charges/{left}")).await.expect(200);
    assert_eq!(told(&charge), is("canceled", 0, 100, ("void", "success", 100)));
    assert_eq!(announced(&app, &left).await, ["pending", "pre_authorized", "canceled"]);
    assert_eq!(app.get(&format!("/v1/charges/{taken}")).await.expect(200)["status"], "authorized");
    agreement::agree(&app.books, &charge).await;
}
