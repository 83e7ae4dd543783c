//! Switches platform fees on.

use serde_json::{Value, json};

use crate::support::app::TestApp;

pub fn path(merchant: &str) -> String {
    format!("/v1/merchants/{merchant}/platform-fee")
}

/// These rules, switched on.
pub async fn keep(app: &TestApp, merchant: &str, rules: &Value) -> Value {
    let made = app.post(&path(merchant), rules).await.expect(201);
    app.patch(&format!("{}/enabled", path(merchant)), &json!({ "enabled": true })).await.expect(200);
    made
}
