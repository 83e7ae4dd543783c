//! Bodies of sessions, and what merchants and buyers do with them.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::payers::{described, jose};
use crate::support::bodies::token_body;
use crate::support::client::{Client, Reply};
use crate::support::read::text;

/// The body of a session of 150 that is paid by card, or by Pix within an hour.
pub fn session_body(merchant: &str) -> Value {
    json!({
        "name": "Order 77", "merchantId": merchant, "amount": 150, "createLink": true, "orderId": "order-77",
        "statementDescriptor": "LOJA", "description": "Shoes",
        "paymentMethods": [
            { "paymentType": "credit", "installments": 3 }, { "paymentType": "pix", "expiresIn": 3600 },
        ],
        "items": [{ "name": "Shoe", "description": "Blue", "unitPrice": 75, "quantity": 2, "tangible": true }],
    })
}

/// Makes a session.
pub async fn create(app: &TestApp, body: &Value) -> Value {
    app.post("/v1/sessions", body).await.expect(200)
}

/// A session as its merchant reads it.
pub async fn read(app: &TestApp, session: &Value) -> Value {
    app.get(&format!("/v1/sessions/{}", text(&session["id"]))).await.expect(200)
}

/// The key of a session, as a caller.
pub fn buyer(session: &Value) -> Client {
    Client { id: text(&session["clientId"]).to_owned(), key: text(&session["publicKey"]).to_owned() }
}

/// Pays by an inline card.
pub fn by_card(card: (&str, &str)) -> Value {
    json!({
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": token_body(card) },
    })
}

/// Pays by Pix.
pub fn by_pix() -> Value {
    json!({ "paymentMethod": { "paymentType": "pix" }, "paymentSource": described(jose()) })
}

/// A buyer pays with the key of the session.
pub async fn pay(app: &TestApp, session: &Value, body: &Value) -> Reply {
    let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
    app.call(&buyer(session), Method::POST, &path, &[], Some(body)).await
}

/// `status: action, action` of each entry of the history, oldest first.
pub async fn history(app: &TestApp, session: &Value) -> Vec<String> {
    let path = format!("/v1/sessions/{}/history", text(&session["id"]));
    let entries = app.get(&path).await.expect(200);
    let entries = entries.as_array().unwrap().iter().rev();
    entries
        .map(|entry| {
            assert_eq!(entry["action"], entry["actions"].get(0).cloned().unwrap_or_default());
            let actions: Vec<&str> = entry["actions"].as_array().unwrap().iter().map(text).collect();
            format!("{}: {}", text(&entry["status"]), actions.join(", "))
        })
        .collect()
}
