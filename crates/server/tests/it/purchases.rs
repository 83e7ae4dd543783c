//! Purchases: every path of `docs/interface/purchases.md#states` through HTTP. Answers are compared with the
//! simulator's transaction log.

mod abandoned;
mod bad_input;
mod charged;
mod late;
mod operations;
mod orders;
mod rolled_back;
mod voided;

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::agreement::booked_since;
use crate::charges::text;
use crate::harness::{Reply, TestApp, sandbox};

/// The amounts of a test's first, second and third card.
const AMOUNTS: [i64; 3] = [10_000, 20_000, 5_000];
/// Long enough for every job that is due soon, too short for a request to be given up.
const SOON: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A card that the simulator declines as `generic` at every provider.
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

/// An accepted purchase before its job has run.
pub async fn accepted(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> String {
    let body = body(app, merchant, cards, capture).await;
    let answer = send(app, "/v1/purchases", &body).await.expect(202);
    assert_eq!(answer["status"], "pending");
    text(&answer["id"]).to_owned()
}

/// A purchase after every job that was due at once.
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

/// The captured and the reserved sum of everything in the simulator's transaction log, whether a charge has it or not.
pub async fn booked(app: &TestApp) -> (i64, i64) {
    let money = booked_since(&app.books, Timestamp::from_millis(0)).await;
    (money.kept, money.reserved)
}

/// A merchant with one simulator that has these faults.
async fn faulty(app: &TestApp, faults: Value) -> String {
    let mut provider = sandbox("Faulty", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    app.merchant_with(json!([provider])).await
}
