//! The operations on purchases, and replays of their keys.

use std::time::Duration;

use serde_json::json;

use super::{REFUSED, made, operate};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::client::Reply;
use crate::support::purchases::{AMOUNTS, accepted, body, booked, send};
use crate::support::read::text;

stories! {
    what_has_ended_is_not_captured_or_voided,
    while_something_is_under_way_nothing_else_is_begun,
    an_operation_is_about_the_whole_purchase,
    the_same_key_gives_the_same_answer,
    every_202_says_when_to_look_again,
}

fn code(reply: &Reply, status: u16) -> String {
    let error = &reply.expect(status)["error"];
    let code = text(&error["businessCode"]).to_owned();
    assert_eq!(error["details"], json!([code]), "the details repeat the code");
    code
}

async fn what_has_ended_is_not_captured_or_voided(app: TestApp) {
    let merchant = app.merchant().await;
    let failed = made(&app, &merchant, &[APPROVED, REFUSED], false).await;
    let cancelled = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let cancelled = operate(&app, &cancelled, "void").await;
    for purchase in [&failed, &cancelled] {
        for operation in ["capture", "void"] {
            let path = format!("/v1/purchases/{}/{operation}", text(&purchase["id"]));
            assert_eq!(code(&send(&app, &path, &json!({})).await, 422), "purchase_invalid_state");
        }
    }
    let paid = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let paid = operate(&app, &paid, "capture").await;
    let path = format!("/v1/purchases/{}/capture", text(&paid["id"]));
    assert_eq!(code(&send(&app, &path, &json!({})).await, 422), "purchase_invalid_state");
}

async fn while_something_is_under_way_nothing_else_is_begun(app: TestApp) {
    let merchant = app.merchant().await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], false).await;
    for operation in ["capture", "void"] {
        let path = format!("/v1/purchases/{id}/{operation}");
        assert_eq!(code(&send(&app, &path, &json!({})).await, 409), "purchase_operation_in_progress");
    }
    app.later(Duration::from_secs(1)).await;
    let path = format!("/v1/purchases/{id}/capture");
    let nothing = json!({});
    let (first, second) = tokio::join!(send(&app, &path, &nothing), send(&app, &path, &nothing));
    let mut codes = [first.status.as_u16(), second.status.as_u16()];
    codes.sort_unstable();
    assert_eq!(codes, [202, 409], "one of two");
    app.later(Duration::from_secs(1)).await;
    assert_eq!(booked(&app).await, (30_000, 0));
}

async fn an_operation_is_about_the_whole_purchase(app: TestApp) {
    let merchant = app.merchant().await;
    let reserved = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let path = format!("/v1/purchases/{}/capture", text(&reserved["id"]));
    assert_eq!(code(&send(&app, &path, &json!({ "amount": 29_999 })).await, 422), "purchase_intent_mismatch");
    send(&app, &path, &json!({ "amount": 30_000 })).await.expect(202);
    let automatic = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let path = format!("/v1/purchases/{}/capture", text(&automatic["id"]));
    assert_eq!(code(&send(&app, &path, &json!({})).await, 422), "purchase_intent_mismatch");
}

async fn the_same_key_gives_the_same_answer(app: TestApp) {
    let merchant = app.merchant().await;
    let mut order = body(&app, &merchant, &[APPROVED, APPROVED], false).await;
    order["payments"][1] = json!({ "tokenId": app.card_token(APPROVED).await, "amount": AMOUNTS[1] });
    let first = app.post_with_key("/v1/purchases", "order", &order).await;
    app.later(Duration::from_secs(1)).await;
    let again = app.post_with_key("/v1/purchases", "order", &order).await;
    assert_eq!((first.status, &first.bytes), (again.status, &again.bytes));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let id = text(&first.json()["id"]).to_owned();
    let path = format!("/v1/purchases/{id}/capture");
    let first = app.post_with_key(&path, "order", &json!({})).await;
    app.later(Duration::from_secs(1)).await;
    let again = app.post_with_key(&path, "order", &json!({})).await;
    assert_eq!((first.status.as_u16(), &first.bytes), (202, &again.bytes));
    order["orderId"] = json!("another");
    let reply = app.post_with_key("/v1/purchases", "order", &order).await;
    assert_eq!(code(&reply, 409), "idempotency_key_payload_mismatch");
    assert_eq!(booked(&app).await, (30_000, 0), "charged once");
}

async fn every_202_says_when_to_look_again(app: TestApp) {
    let merchant = app.merchant().await;
    let order = body(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let mut path = "/v1/purchases".to_owned();
    for operation in ["capture", "void", ""] {
        let body = if path == "/v1/purchases" { order.clone() } else { json!({}) };
        let mut id = String::new();
        for _ in 0..2 {
            let reply = app.post_with_key(&path, "the same key", &body).await;
            id = text(&reply.expect(202)["id"]).to_owned();
            assert_eq!(reply.header("retry-after"), Some("1"), "{path}");
        }
        app.later(Duration::from_secs(1)).await;
        path = format!("/v1/purchases/{id}/{operation}");
    }
    assert_eq!(booked(&app).await, (0, 0), "captured, and given back");
}
