//! Merchants with flows, and the nodes of trees.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::providers::sandbox;
use crate::support::read::text;

pub const FLOWS: &str = "/v1/flows";

/// A merchant with providers A, B and C, in this priority, and the ids of the providers.
pub struct Shop {
    pub merchant: String,
    pub ids: [String; 3],
}

impl Shop {
    pub async fn new(app: &TestApp) -> Self {
        Self::with(app, [sandbox("A", 1), sandbox("B", 2), sandbox("C", 3)]).await
    }

    pub async fn with(app: &TestApp, providers: [Value; 3]) -> Self {
        let merchant = app.merchant_with(json!(providers)).await;
        let shown = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
        let id = |name: &str| {
            let providers = shown["providers"].as_array().unwrap();
            text(&providers.iter().find(|provider| provider["name"] == name).unwrap()["id"]).to_owned()
        };
        let ids = ["A", "B", "C"].map(id);
        Self { merchant, ids }
    }

    /// The node of a provider.
    pub fn node(&self, name: &str) -> Value {
        json!({ "rule": "provider", "id": self.id(name) })
    }

    pub fn id(&self, name: &str) -> &str {
        &self.ids[["A", "B", "C"].iter().position(|known| *known == name).unwrap()]
    }

    /// A flow of credit cards with this root.
    pub fn flow(&self, root: Value) -> Value {
        json!({ "merchantId": self.merchant, "paymentMethod": "credit",
            "flow": { "version": "0.0.0", "root": root } })
    }

    pub async fn publish(&self, app: &TestApp, root: Value) -> Value {
        app.post(FLOWS, &self.flow(root)).await.expect(201)
    }

    /// The names of the providers that a charge asked, in their order.
    pub fn asked(&self, charge: &Value) -> Vec<&'static str> {
        let name = |request: &Value| {
            let place = self.ids.iter().position(|id| *id == text(&request["providerId"])).unwrap();
            ["A", "B", "C"][place]
        };
        charge["transactionRequests"].as_array().unwrap().iter().rev().map(name).collect()
    }
}

/// A condition with two ways.
pub fn condition(when: Value, yes: Value, no: Value) -> Value {
    json!({ "rule": "condition", "when": when, "yes": yes, "no": no })
}

/// A comparison of a property of the transaction.
pub fn compares(property: &str, operator: &str, value: impl Into<Value>) -> Value {
    json!({ "property": format!("transaction.{property}"), "operator": operator, "value": value.into() })
}

/// A balance of two providers.
pub fn balance(shares: [Value; 2], roots: [Value; 2]) -> Value {
    let [first, second] = shares;
    let [one, other] = roots;
    json!({ "rule": "balance", "branches": [
        { "percentage": first, "root": one }, { "percentage": second, "root": other } ] })
}
