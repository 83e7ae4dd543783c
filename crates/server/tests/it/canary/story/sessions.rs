//! What buyers type at the page of a session, with its key.

use axum::http::Method;
use serde_json::{Value, json};

use super::super::text;
use super::Story;
use crate::support::bodies::APPROVED;
use crate::support::canary::cards::Fate;
use crate::support::client::Client;
use crate::support::records::put;
use crate::support::sessions::{buyer, session_body};
use crate::support::subscriptions::subscription_body;

impl Story<'_> {
    pub async fn sessions(&mut self) {
        for fate in [Fate::Approved, Fate::Declined, Fate::TimedOut, Fate::WrongCvv] {
            let (session, canary) = (self.session().await, self.canary(fate));
            let inline = json!({ "sourceType": "card", "card": canary.card() });
            self.pay(&session, &inline).await;
        }
        for fate in [Fate::Approved, Fate::WrongCvv] {
            let session = self.session().await;
            let token = self.token_of(&session, fate).await;
            self.pay(&session, &json!({ "sourceType": "token", "tokenId": token })).await;
        }
        self.saved_card().await;
        for fate in [Fate::Approved, Fate::WrongCvv] {
            self.card_for_a_subscription(fate).await;
        }
        self.what_buyers_may_not_send().await;
    }

    /// The buyer is a customer who pays with a card that is saved.
    async fn saved_card(&mut self) {
        let session = self.session().await;
        let key = buyer(&session);
        let customer = json!({ "name": "Ana", "email": "ana@example.com", "phoneNumber": "21988899990",
            "document": { "type": "cpf", "number": "72912053013" } });
        let path = "/v1/sessions/customers?force=true";
        let customer = self.twice(&key, path, "customer", &customer).await.expect(201);
        let token = self.token_of(&session, Fate::Approved).await;
        let card =
            self.twice(&key, "/v1/sessions/cards", &token, &json!({ "tokenId": token })).await.expect(201);
        let cvv = self.canary(Fate::Approved).cvv;
        self.pay(&session, &json!({ "sourceType": "card", "cardId": card["id"], "cardCvv": cvv })).await;
        let path = format!("/v1/sessions/customers/{}/cards", text(&customer["id"]));
        let link = json!({ "cardId": card["id"] }).to_string();
        self.send(&key, Method::POST, &path, &[], link).await.expect(204);
        let customer = self.customer.clone();
        for path in
            [format!("/v1/sessions/customers/{customer}"), format!("/v1/sessions/customers/{customer}/cards")]
        {
            self.send(&key, Method::GET, &path, &[], String::new()).await.expect(200);
        }
    }

    /// The buyer of a subscription gives another card.
    async fn card_for_a_subscription(&mut self, fate: Fate) {
        let card = self.app.card(APPROVED).await;
        let mut body = subscription_body(&self.merchant, &self.customer, &card);
        body["paymentMethod"]["card"]["cvv"] = self.canary(Fate::Approved).cvv.into();
        let subscription = self.post("/v1/subscriptions", &body).await.expect(201);
        let path = format!("/v1/subscriptions/{}/card-link", text(&subscription["id"]));
        let session = self.post(&path, &json!({})).await.expect(200);
        let token = self.token_of(&session, fate).await;
        let (key, id) = (buyer(&session), text(&session["id"]));
        let body = json!({ "tokenId": token });
        self.twice(&key, &format!("/v1/sessions/{id}/card"), &token, &body).await.expect(201);
        for path in [format!("/pay/{id}"), format!("/pay/{id}/status"), format!("/v1/sessions/{id}")] {
            self.send(&key, Method::GET, &path, &[], String::new()).await.expect_status(200);
        }
    }

    /// Card data in a wrong place, and in a body that is none.
    async fn what_buyers_may_not_send(&mut self) {
        let session = self.session().await;
        let (key, canary) = (buyer(&session), self.canary(Fate::Approved));
        let number = canary.number.as_str();
        let pay = format!("/v1/sessions/{}/charge", text(&session["id"]));
        let inline = payment(&json!({ "sourceType": "card", "card": canary.card() }));
        for (path, body) in [
            (pay.as_str(), inline.to_string().replace('}', "")),
            (&pay, put(inline.clone(), "paymentMethod", json!({ "paymentType": number })).to_string()),
            (&pay, put(inline.clone(), "paymentSource", json!({ "sourceType": number })).to_string()),
            ("/v1/sessions/tokens", put(canary.card(), "cardCvv", number).to_string()),
            ("/v1/sessions/tokens", put(canary.card(), "cardExpirationDate", number).to_string()),
            ("/v1/sessions/tokens", canary.card().to_string().replace('}', "")),
            ("/v1/sessions/cards", json!({ "tokenId": number }).to_string()),
            ("/v1/sessions/cards", canary.card().to_string()),
            ("/v1/sessions/customers", json!({ "email": number, "card": canary.card() }).to_string()),
            // It does not authenticate anybody, and ignores this.
            (&pay, put(inline, "threeDSecure2", number).to_string()),
        ] {
            let reply = self.send(&key, Method::POST, path, &[], body).await;
            assert!(matches!(reply.status.as_u16(), 201 | 400), "{path}: {reply:?}");
        }
        let stranger = Client { key: number.to_owned(), ..key };
        let body = payment(&json!({ "sourceType": "card", "card": canary.card() })).to_string();
        self.send(&stranger, Method::POST, &pay, &[], body).await.expect(403);
    }

    async fn session(&mut self) -> Value {
        let word = self.own_word();
        let body = put(session_body(&self.merchant), "orderId", word);
        self.post("/v1/sessions", &body).await.expect(200)
    }

    async fn token_of(&mut self, session: &Value, fate: Fate) -> String {
        let canary = self.canary(fate);
        let token = self.twice(&buyer(session), "/v1/sessions/tokens", &canary.number, &canary.card()).await;
        text(&token.expect(201)["tokenId"])
    }

    /// Pays with this source, sends it again, and reads everything that shows what became of it.
    async fn pay(&mut self, session: &Value, source: &Value) {
        let (key, id) = (buyer(session), text(&session["id"]));
        self.twice(&key, &format!("/v1/sessions/{id}/charge"), "pay", &payment(source)).await.expect(201);
        let secret = self.app.client.clone();
        for (key, path, status) in [
            (&key, format!("/v1/sessions/{id}"), 200),
            (&key, format!("/v1/sessions/{id}/link"), 201),
            (&secret, format!("/v1/sessions/{id}/history"), 200),
            (&secret, format!("/v1/charges?sessionId={id}"), 200),
        ] {
            self.send(key, Method::GET, &path, &[], String::new()).await.expect(status);
        }
        self.send(&key, Method::GET, &format!("/pay/{id}"), &[], String::new()).await.expect_status(200);
    }
}

fn payment(source: &Value) -> Value {
    json!({ "paymentMethod": { "paymentType": "credit", "installments": 1 }, "paymentSource": source })
}
