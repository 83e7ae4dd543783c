//! Risk analysis: every row of the options' matrix, and what follows a verdict (`docs/interface/charges.md#fraud-analysis`).

mod crashes;
mod feeding;
mod matrix;
mod purchases;
mod verdicts;

use serde_json::{Value, json};

use crate::charges::text;
use crate::harness::{APPROVED, Reply, TestApp, charge_body, sandbox};

/// The buyer's document whose last digit the simulator of risk analysis decides by.
pub const PENDING: &str = "11111111110";
pub const APPROVED_RISK: &str = "11111111111";
pub const FAILED_RISK: &str = "11111111112";
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
    let mut body = charge_body(merchant, APPROVED);
    body["capture"] = json!(capture);
    body["fraudAnalysis"] = json!({ "customer": { "name": "Ana", "identity": identity } });
    body
}

/// Sets the verdict of a pending analysis.
pub async fn decide(app: &TestApp, id: &str, status: &str) -> Reply {
    app.patch(&format!("/v1/charges/{id}/antifraud"), &json!({ "status": status })).await
}

pub async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
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
