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

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::providers::sandbox;
use crate::support::purchases::{accepted, read, send};
use crate::support::read::text;

/// Long enough for every job that is due soon, too short for a request to be given up.
const SOON: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A card that the simulator declines as `generic` at every provider.
const REFUSED: (&str, &str) = ("4916878170842862", "650");

/// A purchase after every job that was due at once.
async fn made(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> Value {
    let id = accepted(app, merchant, cards, capture).await;
    app.later(Duration::from_secs(1)).await;
    read(app, &id).await
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

/// A merchant with one simulator that has these faults.
async fn faulty(app: &TestApp, faults: Value) -> String {
    let mut provider = sandbox("Faulty", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    app.merchant_with(json!([provider])).await
}
