//! Registers webhooks.

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::receiver::Receiver;

pub async fn webhook(app: &TestApp, receiver: &Receiver, event: &str, path: &str) -> String {
    let body = json!({ "event": event, "endpoint": receiver.url(path) });
    app.post("/v1/webhooks", &body).await.expect(201)["id"].as_str().unwrap().to_owned()
}
