//! Receivables of cards, what is paid of them early, and what operators say of plans and payments.

use axum::http::Method;
use regente::admin::PayoutsTask;
use regente_domain::plan::NewPlan;
use regente_domain::wire;
use serde_json::json;

use super::Story;
use crate::support::canary::cards::Fate;
use crate::support::payouts::{BATCHES, ORDERS, operator};
use crate::support::plans::{PLANS, of_pix};
use crate::support::prepayments::{self, PREPAYMENT, PUBLISHED, RECEIVABLES, commit_path, everything};
use crate::support::read::text;
use crate::support::receipts::own_merchant;
use crate::support::records::put;

impl Story<'_> {
    pub async fn payouts(&mut self) {
        prepayments::operator(self.app, self.app.client_id(), PUBLISHED).await;
        let merchant = own_merchant(self.app).await;
        let canary = self.canary(Fate::Approved);
        let body = put(self.inline(&canary), "merchantId", merchant);
        self.post("/v1/charges", &body).await.expect(201);
        self.app.run_jobs().await;
        let offer = self.post_twice(PREPAYMENT, &canary.number, &everything()).await.expect(201);
        self.post_twice(&commit_path(&offer), &canary.spaced("-"), &json!({})).await.expect(200);
        let offer = format!("{PREPAYMENT}/{}", text(&offer["id"]));
        let client = self.app.client.clone();
        for path in [PLANS, ORDERS, BATCHES, "/v1/payouts/balance", RECEIVABLES, &offer] {
            self.send(&client, Method::GET, path, &[], String::new()).await.expect(200);
        }
        self.words_of_operators().await;
    }

    /// They are stored, and shown to the account.
    async fn words_of_operators(&mut self) {
        for spelling in [self.canary(Fate::Approved).number, self.canary(Fate::Approved).spaced("-")] {
            let (batch_id, reason) =
                (uuid::Uuid::nil().to_string().parse().unwrap(), format!("closed {spelling}"));
            let refused = operator(self.app, PayoutsTask::Failed { batch_id, reason }).await.unwrap_err();
            assert_eq!(refused, "the reason must not contain card data");
            let plan = of_pix(&format!("plan {spelling}"), &json!(1));
            let refused = wire::read::<NewPlan>(plan.as_object().unwrap().clone()).err();
            assert_eq!(refused.unwrap().into_details(), ["name must not contain a card number"]);
        }
    }
}
