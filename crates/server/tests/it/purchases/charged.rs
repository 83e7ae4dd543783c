//! All cards are pre-authorized and then captured.

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use super::{AMOUNTS, DAY, REFUSED, body, booked, history, made, operate, read, send, statuses, story};
use crate::agreement::all_charges;
use crate::charges::text;
use crate::harness::{APPROVED, TestApp, stories};

stories! {
    every_card_is_reserved_and_then_captured,
    without_capture_the_cards_stay_reserved_until_they_are_captured,
    a_card_goes_on_to_the_next_provider,
    nothing_secret_is_in_the_history,
    security_codes_are_gone_once_they_were_used,
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
    assert_eq!(purchase["payments"][1]["tokenId"], json!(token), "the same record");
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
    let left = regente_store::tokens::clients_with_expired(&app.app.store, &all, far, 10).await.unwrap();
    assert!(left.is_empty(), "no token is left: {left:?}");
}
