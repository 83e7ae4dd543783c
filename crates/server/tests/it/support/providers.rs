//! Providers of a merchant, as a request names them, and what plays them.

pub mod books;
pub mod elsewhere;
pub mod fused;
pub mod payers;
pub mod wired;

use elsewhere::Said;
use serde_json::{Value, json};

/// A provider of a type without an adapter.
pub fn cielo(priority: i64) -> Value {
    json!({ "name": "Cielo", "priority": priority,
        "credentials": { "type": "CIELO", "merchantId": "m", "merchantKey": "k" } })
}

/// A healthy simulator.
pub fn sandbox(name: &str, priority: i64) -> Value {
    json!({ "name": name, "priority": priority, "credentials": { "type": "SANDBOX", "apiKey": "any-api-key-1234" } })
}

/// A simulator whose answers to these operations are lost, and that does not answer probes.
pub fn losing(operations: &[&str]) -> Value {
    let mut faults = vec![json!({ "when": { "operation": "probe" }, "then": { "reset": "before_effect" } })];
    let lost = |operation| json!({ "when": { "operation": operation }, "then": { "reset": "after_effect" } });
    faults.extend(operations.iter().map(lost));
    let mut provider = sandbox("Loses answers", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    provider
}

/// A provider of this type with credentials.
pub fn stripe(priority: i64) -> Value {
    json!({ "name": "Stripe", "priority": priority, "credentials": {
        "type": "STRIPE", "secretKey": "sk_test_1234567890", "webhookSecret": "whsec_test",
    } })
}

/// A provider of this type with credentials.
pub fn adyen(priority: i64) -> Value {
    json!({ "name": "Adyen", "priority": priority, "credentials": {
        "type": "ADYEN", "apiKey": "an-api-key-1234", "liveUrlPrefix": "1797a841fbb37ca7-Shop",
        "merchantAccount": "Shop", "webhookHmacKey": "44".repeat(32),
    } })
}

/// A provider of this type with credentials.
pub fn pagarme(priority: i64) -> Value {
    json!({ "name": "Pagarme", "priority": priority, "credentials": {
        "type": "PAGARME_V5", "secretKey": "sk_test_1234567890", "webhookUser": "regente",
        "webhookPassword": "a secret",
    } })
}

/// Each provider knows the credentials.
pub fn knows_the_merchant(said: &Said) -> Option<(u16, Value)> {
    match (said.method.as_str(), said.path.as_str()) {
        ("GET", "/stripe/v1/balance") => Some((200, json!({ "object": "balance" }))),
        ("POST", "/adyen/paymentMethods") => Some((200, json!({ "paymentMethods": [] }))),
        ("GET", path) if path.starts_with("/pagarme_v5/") => Some((200, json!({ "data": [] }))),
        _ => None,
    }
}

/// The denial is over before the second look, two minutes after it and a moment.
const DENIED_FOR_SECONDS: u64 = 90;

/// A provider that takes the money, does not answer and denies it for a while; with further faults.
pub fn lying(further: &[Value]) -> Value {
    let mut faults = vec![
        json!({ "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } }),
        json!({ "when": { "operation": "probe" }, "then": { "deny_seconds": DENIED_FOR_SECONDS } }),
    ];
    faults.extend_from_slice(further);
    let mut provider = sandbox("Lies", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    provider
}
