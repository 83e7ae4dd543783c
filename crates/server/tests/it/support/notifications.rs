//! Writes notifications as the simulator does, and sends them.

use axum::body::Body;
use axum::http::{Method, Request};
use regente_domain::charge::attempt::TransactionRequest;
use regente_providers::sandbox::{Notice, SIGNATURE_HEADER, SigningKey};
use regente_store::{args, sql, transaction_requests};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::app::{ADDRESS, TestApp};
use crate::support::client::Reply;

sql! {
    STATES = "SELECT state FROM provider_notifications WHERE client_id = :client_id ORDER BY received_at";
}

impl TestApp {
    /// The simulator sends a notification.
    pub async fn deliver(&self, notice: &Notice) -> Reply {
        let path = notice.url.strip_prefix(ADDRESS).expect("the address of this deployment");
        self.notify(path, &notice.signature(self.clock.deployment()), notice.body.clone()).await
    }

    /// Somebody sends a notification with this signature.
    pub async fn notify(&self, path: &str, signature: &str, body: Vec<u8>) -> Reply {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("Content-Type", "application/json")
            .header(SIGNATURE_HEADER, signature);
        self.send(request.body(Body::from(body)).unwrap()).await
    }
}

/// The key of every simulator in `providers.rs`.
pub const API_KEY: &str = "any-api-key-1234";

/// What became of every notification of the account.
pub async fn states(app: &TestApp) -> Vec<String> {
    let rows = app.app.store.rows(&STATES, args! { client_id: app.client_id() }).await.unwrap();
    rows.iter().map(|row| row.get("state").unwrap()).collect()
}

/// The first request of a charge.
pub async fn request_of(app: &TestApp, id: &str) -> TransactionRequest {
    let id = id.parse().unwrap();
    let stored = transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    stored.into_iter().next().unwrap().request
}

/// A notification that the provider of a request writes about it.
pub fn message(request: &TransactionRequest, id: &str, kind: &str, data: &Value) -> Value {
    json!({ "id": id, "kind": kind, "occurredAt": "2026-03-23T15:12:40.000Z", "objectId": request.object_id,
        "key": request.provider_key(), "data": data })
}

/// The provider of the request sends a notification.
pub async fn send(app: &TestApp, request: &TransactionRequest, message: &Value, api_key: &str) -> u16 {
    send_to(app, request.provider_id.uuid(), message, api_key).await
}

pub async fn send_to(app: &TestApp, provider_id: Uuid, message: &Value, api_key: &str) -> u16 {
    let body = message.to_string().into_bytes();
    let signature = signing_key(api_key).sign(app.clock.deployment(), &body);
    app.notify(&path(provider_id), &signature, body).await.status.as_u16()
}

pub fn path(provider_id: Uuid) -> String {
    format!("/providers/{provider_id}/notifications")
}

pub fn signing_key(api_key: &str) -> SigningKey {
    let credentials = json!({ "type": "SANDBOX", "apiKey": api_key });
    let members = credentials.as_object().unwrap().clone();
    SigningKey::of(&regente_providers::request::Credentials::new(members)).unwrap()
}
