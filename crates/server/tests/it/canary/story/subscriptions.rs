//! What merchants send of subscriptions, and what their cycles charge.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::super::text;
use super::Story;
use crate::support::canary::cards::Fate;
use crate::support::records::put;
use crate::support::subscriptions::{SETTINGS, SUBSCRIPTIONS, complete_item, path_of, subscription_body};

impl Story<'_> {
    pub async fn subscriptions(&mut self) {
        for fate in [Fate::Approved, Fate::WrongCvv] {
            self.subscription_by(fate).await;
        }
        self.texts_of_subscriptions().await;
        self.what_is_no_subscription().await;
    }

    /// A card is charged by a first cycle with its code, by a second one without, and replaced by another one.
    async fn subscription_by(&mut self, fate: Fate) {
        let canary = self.canary(fate);
        let token = text(&self.post("/v1/tokens", &canary.card()).await.expect(201)["tokenId"]);
        let card = text(&self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201)["id"]);
        let mut body = subscription_body(&self.merchant, &self.customer, &card);
        body["recurrence"] = json!({ "interval": "daily" });
        body["paymentMethod"]["card"]["cvv"] = canary.cvv.clone().into();
        self.post("/v1/subscriptions/preview", &body).await.expect(200);
        let subscription = self.post_twice(SUBSCRIPTIONS, &canary.number, &body).await.expect(201);
        let path = path_of(&subscription);
        self.app.later(Duration::from_secs(2 * 24 * 60 * 60)).await;
        let card = self.card().await;
        let changes = json!({ "paymentMethod": { "type": "credit", "card": { "cardId": card } } });
        self.change(&path, &changes, 200).await;
        self.app.run_jobs().await;
        self.post(&format!("{path}/cancel"), &json!({})).await.expect(200);
        let cycles = self.app.get(&format!("{path}/cycles")).await.expect(200);
        let of_each = |cycle: &Value| format!("{path}/cycles/{}", text(&cycle["id"]));
        let cycles: Vec<String> = cycles["items"].as_array().unwrap().iter().map(of_each).collect();
        assert!(!cycles.is_empty(), "it was charged");
        let client = self.app.client.clone();
        for path in [&path, cycles.last().unwrap()] {
            self.send(&client, Method::GET, path, &[], String::new()).await.expect(200);
        }
    }

    /// The number of a card in what its merchant writes.
    async fn texts_of_subscriptions(&mut self) {
        let card = self.card().await;
        let mut body = subscription_body(&self.merchant, &self.customer, &card);
        let subscription = self.post(SUBSCRIPTIONS, &body).await.expect(201);
        body["items"] = json!([complete_item()]);
        for place in ["/name", "/items/0/location/street"] {
            let number = self.canary(Fate::Approved).spaced(" ");
            let mut sent = body.clone();
            *sent.pointer_mut(place).unwrap() = json!(format!("paid by {number} at last"));
            let details = self.post(SUBSCRIPTIONS, &sent).await.details(400).join("\n");
            assert!(details.ends_with("must not contain a card number"), "{place}: {details}");
        }
        let path = path_of(&subscription);
        let number = self.canary(Fate::Approved).number;
        self.change(&path, &json!({ "name": number }), 400).await;
        let reason = json!({ "cancelAtPeriodEnd": true, "scheduledCancellationReason": number });
        self.change(&path, &reason, 400).await;
        let client = self.app.client.clone();
        let settings = json!({ "statementDescriptor": number }).to_string();
        self.send(&client, Method::PATCH, SETTINGS, &[], settings).await.expect(400);
    }

    /// Card data in a wrong place, and in a body that is none.
    async fn what_is_no_subscription(&mut self) {
        let card = self.card().await;
        let body = subscription_body(&self.merchant, &self.customer, &card);
        let client = self.app.client.clone();
        let canary = self.canary(Fate::Approved);
        let number = canary.number.as_str();
        let card = json!({ "type": "credit", "card": canary.card() });
        for broken in [
            put(body.clone(), "paymentMethod", card).to_string(),
            put(body.clone(), "paymentMethod", json!({ "type": number, "card": number })).to_string(),
            put(body.clone(), "recurrence", json!({ "interval": number, "startAt": number })).to_string(),
            put(body.clone(), "name", json!({ number: number })).to_string().replace('}', ""),
        ] {
            self.send(&client, Method::POST, SUBSCRIPTIONS, &[], broken).await.expect(400);
        }
    }

    async fn change(&mut self, path: &str, changes: &Value, status: u16) {
        let client = self.app.client.clone();
        self.send(&client, Method::PUT, path, &[], changes.to_string()).await.expect(status);
    }
}
