//! Charges that a risk analysis looks at.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge};
use crate::support::providers::sandbox;
use crate::support::read::text;

/// The buyer's document whose last digit the simulator of risk analysis decides by.
pub const PENDING: &str = "11111111110";

pub const APPROVED_RISK: &str = "11111111111";

pub const REPROVED: &str = "11111111113";

/// An anti-fraud provider with these options besides `type`.
pub fn risk(options: &Value) -> Value {
    let mut all = json!({ "type": "ANTIFRAUD" });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    json!({
        "name": "Risk", "priority": 2, "credentials": { "type": "SANDBOX_ANTIFRAUD", "apiKey": "any" },
        "options": all,
    })
}

/// A merchant with one payment provider and an anti-fraud provider with these options.
pub async fn analysing(app: &TestApp, options: &Value) -> String {
    app.merchant_with(json!([sandbox("Only", 1), risk(options)])).await
}

/// A charge that comes with data for an analysis.
pub fn analysed(merchant: &str, identity: &str, capture: bool) -> Value {
    Charge::by_card(merchant, APPROVED)
        .with("capture", capture)
        .with("fraudAnalysis", json!({ "customer": { "name": "Ana", "identity": identity } }))
        .body()
}

/// The requests of a charge, newest first: type, status, and what an analysis found.
pub fn requests(charge: &Value) -> Vec<String> {
    let told = |request: &Value| {
        let found = request["fraudAnalysis"]["status"].as_str().map(|found| format!(" {found}"));
        let (kind, status) = (text(&request["requestType"]), text(&request["requestStatus"]));
        format!("{kind} {status}{}", found.unwrap_or_default())
    };
    charge["transactionRequests"].as_array().unwrap().iter().map(told).collect()
}
