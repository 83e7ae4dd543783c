//! Notifications of providers: taken, kept for their unknown kind, and refused.

use serde_json::{Value, json};

use super::Story;
use crate::support::canary::cards::Fate;
use crate::support::notifications::signing_key;

/// The key of simulators in `support/providers.rs`.
const API_KEY: &str = "any-api-key-1234";

impl Story<'_> {
    /// A provider that writes card data into everything that it may write.
    pub async fn notifications(&mut self) {
        let path = format!("/v1/merchants/{}", self.merchant);
        let merchant = self.app.get(&path).await.expect(200);
        let path = format!("/providers/{}/notifications", merchant["providers"][0]["id"].as_str().unwrap());
        for api_key in [API_KEY, "another"] {
            let status = if api_key == API_KEY { 200 } else { 401 };
            let canary = self.canary(Fate::Approved);
            let number = canary.number.as_str();
            let message = json!({ "id": number, "kind": format!("card {number}"),
                "occurredAt": "2026-01-01T00:00:00.000Z", "objectId": uuid::Uuid::nil(), "key": uuid::Uuid::nil(),
                "data": canary.card(), number: number });
            for body in [message.to_string(), format!("no JSON: {}", canary.card()), Value::Null.to_string()]
            {
                let signature = signing_key(api_key).sign(self.app.clock.deployment(), body.as_bytes());
                let reply = self.app.notify(&path, &signature, body.into_bytes()).await;
                assert_eq!(reply.status.as_u16(), status);
                self.answers.extend_from_slice(&reply.bytes);
            }
            self.app.notify(&path, number, canary.card().to_string().into_bytes()).await.expect(401);
        }
        self.app.run_jobs().await;
    }
}
