//! All cards are pre-authorized and then captured.

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use super::{DAY, REFUSED, history, made, operate, statuses, story};
use crate::support::agreement::all_charges;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, token_body};
use crate::support::purchases::{AMOUNTS, body, booked, read, send};
use crate::support::read::text;

stories! {
    every_card_is_reserved_and_then_captured,
    without_capture_the_cards_stay_reserved_until_they_are_captured,
    a_card_goes_on_to_the_next_provider,
    nothing_secret_is_in_the_history,
    security_codes_are_gone_once_they_were_used,
    metadata_come_back_as_they_were_sent,
    a_repeated_key_shows_the_token_that_was_sent,
}

async fn every_card_is_reserved_and_then_captured(app: TestApp) {
    let merchant = app.merchant().await;
    let token = app.card_token(APPROVED).await;
    let mut body = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    body["payments"][1] = json!({ "tokenId": token, "amount": AMOUNTS[1], "installments": 3 });
    let reply = send(&app, "/v1/purchases", &body).await;
    assert_eq!(reply.header("retry-after"), Some("1"));
    let answer = reply.expect(202);
    assert_eq!((&answer["status"], &answer["amount"]), (&json!("pending"), &json!(30_000)));
    assert_eq!(answer["payments"][1]["tokenId"], json!(token));
    assert_eq!(answer["payments"][1]["cardId"], Value::Null);
    assert_eq!(answer["payments"][1]["chargeId"], Value::Null);
    assert_eq!(app.books.effects().await.unwrap(), 0, "what is accepted is not done yet");

    app.later(Duration::from_secs(1)).await;
    let purchase = read(&app, text(&answer["id"])).await;
    assert_eq!(purchase["status"], "paid");
    assert_eq!(statuses(&purchase), ["authorized", "authorized"]);
    assert_eq!(purchase["payments"][1]["tokenId"], Value::Null, "the token is used up");
    assert!(purchase["payments"][1]["cardId"].is_string(), "the card that was made of it");
    assert_eq!(
        story(&app, &purchase).await,
        [
            "created: statusChanged",
            "slot_authorized",
            "slot_authorized",
            "pre_authorized: captureRequested",
            "paid: captureCompleted, statusChanged",
        ]
    );
    let entries = history(&app, text(&purchase["id"])).await;
    assert_eq!(entries[0]["diff"], json!({ "changes": { "status": { "from": null, "to": "pending" } } }));
    let slot = json!({ "index": 0, "chargeId": purchase["payments"][0]["chargeId"],
        "status": { "from": "pending", "to": "pre_authorized" } });
    assert_eq!(entries[1]["diff"], json!({ "changes": { "slot": slot } }));
    assert_eq!(booked(&app).await, (30_000, 0));

    let charge =
        app.get(&format!("/v1/charges/{}", text(&purchase["payments"][1]["chargeId"]))).await.expect(200);
    assert_eq!(charge["paymentMethod"]["installments"], 3);
    let kinds: Vec<&str> =
        charge["transactionRequests"].as_array().unwrap().iter().map(|r| text(&r["requestType"])).collect();
    assert_eq!(kinds, ["capture", "pre_authorization"], "reserved first, captured when all are");
}

async fn without_capture_the_cards_stay_reserved_until_they_are_captured(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED, APPROVED], false).await;
    assert_eq!(purchase["status"], "pending");
    assert_eq!(statuses(&purchase), ["pre_authorized"; 3]);
    assert_eq!(booked(&app).await, (0, 35_000));
    let purchase = operate(&app, &purchase, "capture").await;
    assert_eq!(purchase["status"], "paid");
    assert_eq!(booked(&app).await, (35_000, 0));
    assert_eq!(
        story(&app, &purchase).await[4..],
        ["pre_authorized: statusChanged, captureRequested", "paid: captureCompleted, statusChanged"]
    );
    app.later(8 * DAY).await;
    assert_eq!(read(&app, text(&purchase["id"])).await["status"], "paid", "what is paid does not expire");
}

async fn a_card_goes_on_to_the_next_provider(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    assert_eq!(purchase["status"], "paid");
    for charge in all_charges(&app).await {
        assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 3, "{charge:#}");
    }
    assert_eq!(booked(&app).await, (30_000, 0));
}

async fn nothing_secret_is_in_the_history(app: TestApp) {
    let merchant = app.merchant().await;
    let mut order = body(&app, &merchant, &[APPROVED, REFUSED], true).await;
    order["metadata"] = json!({ "note": "CANARYMETADATA" });
    order["fraudAnalysis"] = json!({ "customer": { "name": "CANARYFRAUD", "ip": "203.0.113.77" } });
    let answer = send(&app, "/v1/purchases", &order).await.expect(202);
    app.later(Duration::from_secs(1)).await;
    let told = serde_json::to_string(&history(&app, text(&answer["id"])).await).unwrap();
    for secret in
        ["CANARY", "203.0.113.77", "411111", "491674", "cardId", text(&order["payments"][0]["cardId"])]
    {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
    let charges = all_charges(&app).await;
    assert_eq!(charges[0]["fraudAnalysisMetadata"]["customer"]["name"], "CANARYFRAUD", "part of each charge");
}

async fn security_codes_are_gone_once_they_were_used(app: TestApp) {
    let merchant = app.merchant().await;
    let _ = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let far = Timestamp::from_millis(i64::MAX / 2);
    let all = regente_store::accounts::Accounts::AllBut(Vec::new());
    let left = regente_store::tokens::EXPIRING.clients(&app.app.store, &all, far, 10).await.unwrap();
    assert!(left.is_empty(), "no token is left: {left:?}");
}

async fn metadata_come_back_as_they_were_sent(app: TestApp) {
    let merchant = app.merchant().await;
    let mut body = body(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let metadata = json!({ "zebra": 1, "alpha": { "note": "é" } });
    body["metadata"] = metadata.clone();
    let accepted = send(&app, "/v1/purchases", &body).await.expect(202);
    assert_eq!(accepted["metadata"].to_string(), metadata.to_string(), "in the order of the caller");
    app.later(Duration::from_secs(1)).await;
    let purchase = read(&app, text(&accepted["id"])).await;
    assert_eq!(purchase["metadata"], metadata);
    assert_eq!(operate(&app, &purchase, "capture").await["metadata"], metadata);
    let entries = history(&app, text(&purchase["id"])).await;
    assert!(!json!(entries).to_string().contains("zebra"), "and never in the history");

    body.as_object_mut().unwrap().shift_remove("metadata");
    let without = send(&app, "/v1/purchases", &body).await.expect(202);
    assert_eq!(without.get("metadata"), None);
}

async fn a_repeated_key_shows_the_token_that_was_sent(app: TestApp) {
    let merchant = app.merchant().await;
    let mut body = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let token = app.card_token(APPROVED).await;
    body["payments"][1] = json!({ "tokenId": token, "amount": AMOUNTS[1] });
    let first = app.post_with_key("/v1/purchases", "k", &body).await;
    app.later(Duration::from_secs(1)).await;
    let again = app.post_with_key("/v1/purchases", "k", &body).await;
    assert_eq!((first.expect(202), &first.bytes), (again.expect(202), &again.bytes));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.json()["payments"][1]["tokenId"], json!(token));

    let card = app.post_with_key("/v1/tokens", "t", &token_body(APPROVED)).await;
    let again = app.post_with_key("/v1/tokens", "t", &token_body(APPROVED)).await;
    assert_eq!((card.expect(201), &card.bytes), (again.expect(201), &again.bytes));
    app.post("/v1/cards", &again.json()).await.expect(201);
}
