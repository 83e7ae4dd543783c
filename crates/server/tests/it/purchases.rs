//! Purchases: every path of contract 04 §6, through HTTP, with the simulator's books held against what is answered.

mod bad_input;
mod late;
mod orders;

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::agreement::all_charges;
use crate::charges::text;
use crate::harness::{APPROVED, Reply, TestApp, WRONG_CVV, sandbox, stories};

stories! {
    every_card_is_reserved_and_then_captured,
    without_capture_the_cards_stay_reserved_until_they_are_captured,
    a_refused_card_releases_the_others,
    a_refused_first_card_charges_nobody,
    a_card_goes_on_to_the_next_provider,
    a_capture_that_fails_gives_back_what_was_taken,
    what_is_reserved_can_be_voided,
    a_void_that_is_refused_changes_nothing,
    a_paid_purchase_can_be_given_back,
    a_refund_that_is_refused_leaves_the_purchase_paid,
    a_refund_that_is_refused_for_the_second_card_goes_on_until_it_is_done,
    what_nobody_captures_is_released_after_seven_days,
    without_a_result_a_purchase_is_abandoned,
    a_rollback_that_fails_goes_on_until_it_is_done,
    a_rollback_that_never_succeeds_is_given_up,
    what_has_ended_is_not_captured_or_voided,
    while_something_is_under_way_nothing_else_is_begun,
    an_operation_is_about_the_whole_purchase,
    the_same_key_gives_the_same_answer,
    single_cards_are_not_voided_while_the_purchase_is_pending,
    nothing_secret_is_in_the_history,
    security_codes_are_gone_once_they_were_used,
}

/// What is reserved by a test's first, second and third card.
const AMOUNTS: [i64; 3] = [10_000, 20_000, 5_000];
/// Long enough for everything that is due soon, and too short for anything to be given up.
const SOON: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A card of the simulator that is refused as `generic`, by every provider.
const REFUSED: (&str, &str) = ("4916878170842862", "650");

/// The body of a purchase with these cards.
pub async fn body(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> Value {
    let mut payments = Vec::new();
    for (card, amount) in cards.iter().zip(AMOUNTS) {
        let card_id = app.card(*card).await;
        payments.push(json!({ "cardId": card_id, "amount": amount, "cardCvv": card.1 }));
    }
    let amount: i64 = AMOUNTS.iter().take(cards.len()).sum();
    json!({ "merchantId": merchant, "amount": amount, "capture": capture, "payments": payments })
}

pub async fn send(app: &TestApp, path: &str, body: &Value) -> Reply {
    app.post_with_key(path, &app.app.chance.uuid().to_string(), body).await
}

/// A purchase that was accepted; nothing of it is done yet.
pub async fn accepted(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> String {
    let body = body(app, merchant, cards, capture).await;
    let answer = send(app, "/v1/purchases", &body).await.expect(202);
    assert_eq!(answer["status"], "pending");
    text(&answer["id"]).to_owned()
}

/// A purchase of which everything that is due at once was done.
async fn made(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> Value {
    let id = accepted(app, merchant, cards, capture).await;
    app.later(Duration::from_secs(1)).await;
    read(app, &id).await
}

pub async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/purchases/{id}")).await.expect(200)
}

async fn operate(app: &TestApp, purchase: &Value, operation: &str) -> Value {
    let id = text(&purchase["id"]);
    send(app, &format!("/v1/purchases/{id}/{operation}"), &json!({})).await.expect(202);
    app.later(Duration::from_secs(1)).await;
    read(app, id).await
}

fn statuses(purchase: &Value) -> Vec<&str> {
    purchase["payments"].as_array().unwrap().iter().map(|payment| text(&payment["status"])).collect()
}

pub async fn history(app: &TestApp, id: &str) -> Vec<Value> {
    let entries = app.get(&format!("/v1/purchases/{id}/history")).await.expect(200);
    let entries = entries.as_array().unwrap().clone();
    assert!(entries.is_sorted_by_key(|entry| text(&entry["createdAt"]).to_owned()), "{entries:#?}");
    entries
}

/// `milestone: action, action` of each entry.
async fn story(app: &TestApp, purchase: &Value) -> Vec<String> {
    let entries = history(app, text(&purchase["id"])).await;
    entries.iter().map(line).collect()
}

fn line(entry: &Value) -> String {
    let actions =
        entry["actions"].as_array().map_or_else(Vec::new, |actions| actions.iter().map(text).collect());
    assert_eq!(entry.get("action"), entry["actions"].get(0), "the first action is the main one");
    match actions.is_empty() {
        true => text(&entry["status"]).to_owned(),
        false => format!("{}: {}", text(&entry["status"]), actions.join(", ")),
    }
}

/// What the simulator's books keep, and hold reserved, of all charges of the account.
pub async fn booked(app: &TestApp) -> (i64, i64) {
    let (mut kept, mut reserved) = (0, 0);
    for charge in all_charges(app).await {
        for request in charge["transactionRequests"].as_array().unwrap() {
            let Some(key) = request["idempotencyKey"].as_str() else { continue };
            if let Some(balance) = app.books.balance(key.parse().unwrap()).await.unwrap() {
                kept += balance.kept().minor_units();
                reserved += balance.reserved.minor_units();
            }
        }
    }
    (kept, reserved)
}

/// A merchant with one simulator for which this goes wrong.
async fn faulty(app: &TestApp, faults: Value) -> String {
    let mut provider = sandbox("Faulty", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    app.merchant_with(json!([provider])).await
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

async fn a_refused_card_releases_the_others(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED, REFUSED], true).await;
    assert_eq!(purchase["status"], "failed");
    assert_eq!(statuses(&purchase), ["canceled", "canceled", "failed"]);
    assert_eq!(purchase["payments"][2]["declinedCode"], "generic");
    assert_eq!(
        story(&app, &purchase).await[3..],
        [
            "rollback_started",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "rollback_completed",
            "failed: statusChanged",
        ]
    );
    let entries = history(&app, text(&purchase["id"])).await;
    let changes = json!({ "changes": { "status": { "from": "pending", "to": "failed" } } });
    assert_eq!(entries.last().unwrap()["diff"], changes);
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_refused_first_card_charges_nobody(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[WRONG_CVV, APPROVED], true).await;
    assert_eq!(statuses(&purchase), ["failed", "pending"]);
    assert_eq!(purchase["payments"][0]["declinedCode"], "invalid_cvv");
    assert_eq!(purchase["payments"][1]["chargeId"], Value::Null);
    let told = story(&app, &purchase).await;
    assert_eq!(
        told,
        ["created: statusChanged", "rollback_started", "rollback_completed", "failed: statusChanged"]
    );
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

async fn a_capture_that_fails_gives_back_what_was_taken(app: TestApp) {
    let faults = json!([{ "when": { "operation": "capture", "amount": AMOUNTS[1] }, "then": { "decline": "generic" } }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED, APPROVED], false).await;
    let purchase = operate(&app, &purchase, "capture").await;
    assert_eq!(purchase["status"], "failed");
    assert_eq!(statuses(&purchase), ["voided", "canceled", "canceled"]);
    assert_eq!(
        story(&app, &purchase).await[5..],
        [
            "rollback_started: captureFailed",
            "refund_requested: refundRequested",
            "refund_completed: refundCompleted",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "rollback_completed",
            "failed: statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn what_is_reserved_can_be_voided(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("cancelled"), &json!(0)));
    assert_eq!(statuses(&purchase), ["canceled", "canceled"]);
    assert_eq!(
        story(&app, &purchase).await[3..],
        [
            "pre_authorized: statusChanged, voidRequested",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "cancelled: voidCompleted, statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_void_that_is_refused_changes_nothing(app: TestApp) {
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" }, "sequence": [1] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!(purchase["status"], "pending");
    assert_eq!(statuses(&purchase), ["pre_authorized", "pre_authorized"]);
    assert_eq!(story(&app, &purchase).await[4..], ["cancel_failed: voidFailed"]);
    assert_eq!(booked(&app).await, (0, 30_000));
    let purchase = operate(&app, &purchase, "capture").await;
    assert_eq!(purchase["status"], "paid", "it is what it was before");
}

async fn a_paid_purchase_can_be_given_back(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("cancelled"), &json!(0)));
    assert_eq!(statuses(&purchase), ["voided", "voided"]);
    assert_eq!(
        story(&app, &purchase).await[5..],
        ["refund_requested: refundRequested", "refund_completed: refundCompleted, statusChanged"]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_refund_that_is_refused_leaves_the_purchase_paid(app: TestApp) {
    let merchant =
        faulty(&app, json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" } }])).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("paid"), &json!(30_000)));
    assert_eq!(
        story(&app, &purchase).await[5..],
        ["refund_requested: refundRequested", "refund_failed: refundFailed"]
    );
    assert_eq!(booked(&app).await, (30_000, 0));
}

async fn a_refund_that_is_refused_for_the_second_card_goes_on_until_it_is_done(app: TestApp) {
    let faults = json!([{ "when": { "operation": "void", "amount": AMOUNTS[1] },
        "then": { "decline": "generic" }, "sequence": [1, 2] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("paid"), &json!(20_000)));
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(
        story(&app, &purchase).await[5..],
        [
            "refund_requested: refundRequested",
            "refund_failed: refundFailed",
            "refund_completed: refundCompleted, statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn what_nobody_captures_is_released_after_seven_days(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    app.later(7 * DAY - SOON).await;
    assert_eq!(booked(&app).await, (0, 30_000));
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(
        story(&app, &purchase).await[4..],
        [
            "abandoned",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "cancelled: statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn without_a_result_a_purchase_is_abandoned(app: TestApp) {
    // Neither the authorization nor any question about it is answered.
    let faults = json!([
        { "when": { "operation": "authorization", "amount": AMOUNTS[1] }, "then": { "timeout": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "timeout": "before_effect" }, "sequence": [1, 2, 3, 4, 5, 6] },
    ]);
    let merchant = faulty(&app, faults).await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.later(Duration::from_secs(14 * 60)).await;
    let purchase = read(&app, &id).await;
    assert_eq!(
        (&purchase["status"], statuses(&purchase)),
        (&json!("pending"), vec!["pre_authorized", "pending"])
    );
    app.later(DAY).await;
    let purchase = read(&app, &id).await;
    assert_eq!(purchase["status"], "failed");
    assert_eq!(statuses(&purchase), ["canceled", "canceled"], "what came to light later was released too");
    let told = story(&app, &purchase).await;
    assert_eq!(
        told[..5],
        [
            "created: statusChanged",
            "slot_authorized",
            "abandoned",
            "rollback_started",
            "slot_cancelled: chargeCancelled"
        ]
    );
    assert_eq!(told.last().unwrap(), "rollback_completed");
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_rollback_that_fails_goes_on_until_it_is_done(app: TestApp) {
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" }, "sequence": [1, 2] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, REFUSED], true).await;
    assert_eq!(
        (&purchase["status"], statuses(&purchase)),
        (&json!("failed"), vec!["pre_authorized", "failed"])
    );
    assert_eq!(booked(&app).await, (0, 10_000));
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!((&purchase["status"], statuses(&purchase)), (&json!("failed"), vec!["canceled", "failed"]));
    assert_eq!(
        story(&app, &purchase).await[2..],
        [
            "rollback_started",
            "rollback_failed: voidFailed",
            "slot_cancelled: chargeCancelled",
            "rollback_completed",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_rollback_that_never_succeeds_is_given_up(app: TestApp) {
    let merchant =
        faulty(&app, json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" } }])).await;
    let purchase = made(&app, &merchant, &[APPROVED, REFUSED], true).await;
    app.later(5 * DAY).await;
    let told = story(&app, &purchase).await;
    assert_eq!(told[2..], ["rollback_started", "rollback_failed: voidFailed", "reconciliation_failed"]);
    assert_eq!(read(&app, text(&purchase["id"])).await["status"], "failed");
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

async fn single_cards_are_not_voided_while_the_purchase_is_pending(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let charge = format!("/v1/charges/{}", text(&purchase["payments"][0]["chargeId"]));
    for operation in ["capture", "void"] {
        let reply = app.post(&format!("{charge}/{operation}"), &json!({})).await;
        assert_eq!(reply.expect(400)["error"]["type"], "invalid_request_error");
    }
    let purchase = operate(&app, &purchase, "capture").await;
    app.post(&format!("{charge}/void"), &json!({ "amount": 4_000 })).await.expect(201);
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!((&purchase["amount"], &purchase["originalAmount"]), (&json!(26_000), &json!(30_000)));
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(booked(&app).await, (0, 0));
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
    let left = regente_store::tokens::clients_with_expired(&app.app.store, far, 10).await.unwrap();
    assert!(left.is_empty(), "no token is left: {left:?}");
}
