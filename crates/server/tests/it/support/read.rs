//! Reads what was answered or stored: members, requests, events, explanations.

use regente_domain::routing::explanation::{Explanation, Skipped};
use regente_store::{charges, events};
use serde_json::Value;

use crate::support::app::TestApp;

/// The text of a member, such as an id.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The newest transaction request, which comes first.
pub fn newest(charge: &Value) -> &Value {
    &charge["transactionRequests"][0]
}

/// What is stored about the route of a charge.
pub async fn explanation(app: &TestApp, charge: &Value) -> Explanation {
    let id = text(&charge["id"]).parse().unwrap();
    let stored = charges::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap();
    stored.charge.explanation
}

/// Why each provider of the route was skipped, or was not.
pub async fn skipped(app: &TestApp, charge: &Value) -> Vec<Option<Skipped>> {
    explanation(app, charge).await.considered.iter().map(|considered| considered.skipped).collect()
}

/// Status, amount, original amount, and the newest request's type, status and amount.
pub fn told(charge: &Value) -> (String, i64, i64, String, String, i64) {
    let newest = &charge["transactionRequests"][0];
    (
        text(&charge["status"]).to_owned(),
        charge["amount"].as_i64().unwrap(),
        charge["originalAmount"].as_i64().unwrap(),
        text(&newest["requestType"]).to_owned(),
        text(&newest["requestStatus"]).to_owned(),
        newest["amount"].as_i64().unwrap(),
    )
}

/// What [`told`] answers, in a few words.
pub fn is(
    status: &str,
    amount: i64,
    original: i64,
    (kind, ended, of): (&str, &str, i64),
) -> (String, i64, i64, String, String, i64) {
    (status.to_owned(), amount, original, kind.to_owned(), ended.to_owned(), of)
}

/// The names of the charge's events.
pub async fn announced(app: &TestApp, id: &str) -> Vec<String> {
    let events = events::of_object(&app.app.store, app.client_id(), id.parse().unwrap()).await.unwrap();
    events.into_iter().map(|event| event.name).collect()
}
