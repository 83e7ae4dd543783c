//! Makes merchants, cards and charges; reads, captures and voids charges.

use regente_providers::outcome::Finding;
use regente_providers::sandbox::Entry;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge, charge_body, token_body};
use crate::support::client::Reply;
use crate::support::providers::sandbox;
use crate::support::read::text;

impl TestApp {
    /// Makes a merchant with these providers; returns its id.
    pub async fn merchant_with(&self, providers: Value) -> String {
        let body =
            self.post("/v1/merchants", &json!({ "mcc": "5812", "providers": providers })).await.expect(201);
        body["id"].as_str().unwrap().to_owned()
    }

    /// Makes a merchant with two healthy simulators; returns its id.
    pub async fn merchant(&self) -> String {
        self.merchant_with(json!([sandbox("Main", 1), sandbox("Spare", 2)])).await
    }

    /// Makes a merchant whose first simulator declines everything with `try_again`; returns its id.
    pub async fn fallback_merchant(&self) -> String {
        let mut first = sandbox("Declines", 1);
        first["options"] = json!({ "type": "SANDBOX", "faults": [{ "then": { "decline": "try_again" } }] });
        self.merchant_with(json!([first, sandbox("Approves", 2)])).await
    }

    /// Makes a card token; returns its id.
    pub async fn card_token(&self, card: (&str, &str)) -> String {
        let body = self.post("/v1/tokens", &token_body(card)).await.expect(201);
        body["tokenId"].as_str().unwrap().to_owned()
    }

    /// Makes a stored card without a check; returns its id.
    pub async fn card(&self, card: (&str, &str)) -> String {
        let token = self.card_token(card).await;
        self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201)["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// Makes a charge; returns the answered charge.
pub async fn charged(app: &TestApp, body: &Value) -> Value {
    app.post("/v1/charges", body).await.expect(201)
}

/// A merchant with one healthy simulator.
pub async fn single_merchant(app: &TestApp) -> String {
    app.merchant_with(json!([sandbox("Only", 1)])).await
}

/// A charge as it is now.
pub async fn read(app: &TestApp, charge: &Value) -> Value {
    app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200)
}

/// Makes a pre-authorized charge of 100; returns its id.
pub async fn reserved(app: &TestApp) -> String {
    made(app, 100, false).await
}

/// Makes a captured charge of 100; returns its id.
pub async fn captured(app: &TestApp) -> String {
    made(app, 100, true).await
}

/// Makes a charge of this amount at a new merchant; returns its id.
pub async fn made(app: &TestApp, amount: i64, capture: bool) -> String {
    let body =
        Charge::by_card(&app.merchant().await, APPROVED).amount(amount).with("capture", capture).body();
    text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned()
}

/// A merchant captures a charge.
pub async fn capture(app: &TestApp, id: &str, body: Value) -> Reply {
    app.post(&format!("/v1/charges/{id}/capture"), &body).await
}

/// A merchant voids or refunds a charge.
pub async fn void(app: &TestApp, id: &str, body: Value) -> Reply {
    app.post(&format!("/v1/charges/{id}/void"), &body).await
}

/// Makes a charge at a new merchant.
pub async fn any_charge(app: &TestApp) -> Value {
    app.post("/v1/charges", &charge_body(&app.merchant().await, APPROVED)).await.expect(201)
}

/// The card network's ids that the simulator has noted, oldest payment first: of a payment that names another one, the id
/// of that one.
pub async fn network_transaction_ids(app: &TestApp) -> Vec<String> {
    let noted = |entry: Entry| match &entry.answered()?.finding {
        Finding::Approved(approval) => approval.network_transaction_id.clone(),
        Finding::Declined(_)
        | Finding::Pending(_)
        | Finding::Accepted(_)
        | Finding::Paid(_)
        | Finding::Reversed { .. } => None,
    };
    app.books.entries().await.unwrap().into_iter().filter_map(noted).collect()
}
