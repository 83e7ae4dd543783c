//! Risk analysis: every row of the options' matrix, and what follows a verdict (`docs/interface/charges.md#fraud-analysis`).

mod authenticated;
mod crashes;
mod feeding;
mod matrix;
mod purchases;
mod verdicts;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::client::Reply;

pub const FAILED_RISK: &str = "11111111112";

/// Sets the verdict of a pending analysis.
pub async fn decide(app: &TestApp, id: &str, status: &str) -> Reply {
    app.patch(&format!("/v1/charges/{id}/antifraud"), &json!({ "status": status })).await
}

pub async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}
