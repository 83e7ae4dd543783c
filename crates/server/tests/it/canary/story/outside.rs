//! Events to merchants, the merchants' answers, and orders paid with several cards.

use axum::http::Method;
use serde_json::{Value, json};

use super::super::text;
use super::Story;
use crate::support::canary::cards::Fate;
use crate::support::canary::search::Search;
use crate::support::receiver::{Receiver, Say};
use crate::support::records::put;

/// A merchant's servers for webhooks.
pub struct Merchants {
    echo: Receiver,
    gossip: Receiver,
    webhooks: Vec<String>,
}

impl Story<'_> {
    /// Sends all events from now on to a server that echoes them and to one that answers with a card number.
    pub async fn listen(&mut self) -> Merchants {
        let (echo, gossip) = (Receiver::start().await, Receiver::start().await);
        let canary = self.canary(Fate::Approved);
        echo.always(Say::Echo(200));
        gossip.say(&[Say::Words(500, format!("{{\"pan\":\"{}\"}}", canary.spaced(" ")))]);
        gossip.always(Say::Words(200, format!("{}{}", "x".repeat(1012), canary.number)));
        let mut webhooks = Vec::new();
        for (event, endpoint) in [
            ("*", echo.url("/all")),
            ("purchase.paid", echo.url("/paid")),
            ("purchase.failed", gossip.url("/failed")),
            ("*", gossip.url("/all")),
        ] {
            let body = json!({ "event": event, "endpoint": endpoint });
            webhooks.push(text(&self.post("/v1/webhooks", &body).await.expect(201)["id"]));
        }
        Merchants { echo, gossip, webhooks }
    }

    pub async fn purchases(&mut self) {
        for (number, fate) in
            [Fate::Approved, Fate::Declined, Fate::WrongCvv, Fate::TimedOut].into_iter().enumerate()
        {
            let (card, cvv) = (self.card().await, self.canary(Fate::Approved).cvv);
            let (stored, cvv_token) = (self.card().await, self.cvv_token().await);
            let token = self.token(fate).await;
            let payments = json!([
                { "cardId": card, "cardCvv": cvv, "amount": 150 },
                { "cardId": stored, "tokenCvv": cvv_token, "amount": 150 },
                { "tokenId": token, "amount": 150 },
            ]);
            let body = self.purchase(payments);
            let reply = self.post_twice("/v1/purchases", &format!("purchase {number}"), &body).await;
            let id = text(&reply.expect(202)["id"]);
            self.app.run_jobs().await;
            self.look_into_the_tables();
            let path = format!("/v1/purchases/{id}");
            self.read(&path).await;
            self.read(&format!("{path}/history")).await;
            let client = self.app.client.clone();
            let (headers, path) = ([("X-Idempotency-Key", "void")], format!("{path}/void"));
            let void = self.send(&client, Method::POST, &path, &headers, "{}".to_owned()).await;
            assert!(matches!(void.status.as_u16(), 202 | 422));
            self.app.run_jobs().await;
        }
        let canary = self.canary(Fate::Approved);
        let card = self.card().await;
        for payment in [
            json!({ "card": canary.card(), "amount": 150 }),
            json!({ "cardId": canary.number, "amount": 150 }),
            json!({ "cardId": card, "cardCvv": canary.number, "amount": 150 }),
            json!({ "cardId": card, "note": canary.spaced(" "), "amount": 150 }),
        ] {
            let body = self.purchase(json!([payment, { "cardId": card, "amount": 150 }]));
            let client = self.app.client.clone();
            let headers = [("X-Idempotency-Key", "refused")];
            let reply = self.send(&client, Method::POST, "/v1/purchases", &headers, body.to_string()).await;
            reply.expect(400);
        }
    }

    pub(super) fn purchase(&self, payments: Value) -> Value {
        let amount = 150 * payments.as_array().unwrap().len();
        let body = json!({ "merchantId": self.merchant, "amount": amount, "capture": true });
        put(body, "payments", payments)
    }

    /// Waits for all deliveries and keeps what was sent and what is stored of the answers, for the search.
    pub async fn what_went_out(&mut self, merchants: Merchants) {
        let Merchants { echo, gossip, webhooks } = merchants;
        let said = [echo.received(), gossip.received()].concat();
        for path in ["/all", "/paid", "/failed"] {
            assert!(said.iter().any(|got| got.path == path), "{path}");
        }
        assert!(said.len() > 100, "{}", said.len());
        let words = Search::of(&self.own_words);
        for got in said {
            assert_eq!(words.hits(&got.body), [""; 0], "in an event");
            self.answers.extend_from_slice(&got.body);
            self.answers.extend(super::shown(&got.headers).bytes());
        }
        let mut kept = String::new();
        for id in webhooks {
            for page in 1..=3 {
                let path = format!("/v1/webhooks/{id}/deliveries?limit=100&page={page}");
                kept.push_str(&self.read(&path).await.to_string());
            }
        }
        assert!(kept.contains("[card 527391"), "what was answered was heard");
        assert!(kept.contains("transactionRequests"), "and repeated");
        let masked = String::from_utf8_lossy(&self.answers).matches(r#""orderId":"[card 527391"#).count();
        assert!(masked > 5, "identifiers were masked: {masked}");
    }

    async fn read(&mut self, path: &str) -> Value {
        let client = self.app.client.clone();
        self.send(&client, Method::GET, path, &[], String::new()).await.expect(200)
    }
}
