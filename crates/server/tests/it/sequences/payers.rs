//! Charges without a card: what their payers and banks do, drawn like everything else.

use std::time::Duration;

use regente_domain::charge::attempt::{Outcome, RequestType, TransactionRequest};
use regente_domain::local_day::day_of;
use regente_domain::money::Amount;
use regente_providers::staged::{Staged, StagedEvent};
use regente_store::transaction_requests;
use regente_store::transaction_requests::StoredRequest;
use serde_json::{Value, json};

use super::{Dice, REFUSED_AMOUNT, Sequence, Told};
use crate::support::app::TestApp;
use crate::support::bodies::payers::{address, described, jose};
use crate::support::read::text;

impl Sequence {
    /// Gives the body a method without a card. Each expires before the sequence is over.
    pub(super) fn pay_without_card(&mut self, app: &TestApp, body: &mut Value) {
        let today = day_of(app.clock.deployment());
        let minutes = 1 + self.dice.below(120);
        let mut payer = jose();
        payer["address"] = address();
        body["paymentSource"] = described(payer);
        body["paymentMethod"] = match self.dice.below(6) {
            0 | 1 => json!({ "paymentType": "pix", "expiresIn": 60 * minutes }),
            2 => {
                body["fraudAnalysis"]["cart"] = json!({ "items": [{ "name": "Shoe" }] });
                json!({ "paymentType": "nupay", "delayToAutoCancel": minutes })
            }
            3 => json!({ "paymentType": "drip", "minutesToExpire": minutes }),
            4 => json!({ "paymentType": "picpay" }),
            _ => json!({
                "paymentType": "boleto", "expiresDate": today.to_string(),
                "interest": { "days": 1, "amount": 1000 + self.dice.below(10) }, "fine": { "days": 2, "amount": 2000 },
            }),
        };
        // What is paid once more is given back, and the simulator never gives this amount back. Late payers pay more.
        if body["amount"] == json!(REFUSED_AMOUNT) {
            body["amount"] = json!(REFUSED_AMOUNT + 1);
        }
    }

    /// Something happens at the simulator to one of the requests of a charge that it is still asked about: of anything later
    /// only notifications tell, and those of a sequence may get lost.
    pub(super) async fn happen(&mut self, app: &TestApp, id: &str, told: &mut Told) {
        if self.dice.one_in(4) {
            let hours = self.dice.pick(&[1, 30, 100]);
            app.later(Duration::from_secs(hours * 3600)).await;
        }
        let requests = requests(app, id).await;
        let what = self.what();
        let waits = |stored: &&StoredRequest| match what {
            Staged::Payment { .. }
            | Staged::FurtherPayment { .. }
            | Staged::Refusal
            | Staged::Withdrawal
            | Staged::TakenBack => stored.request.pending().is_some() && stored.due_at.is_some(),
            Staged::Refund | Staged::RefundRefusal => matches!(stored.request.outcome, Outcome::Accepted(_)),
            // They are drawn apart, and no seller takes part.
            Staged::Seller { .. }
            | Staged::ReviewOpened
            | Staged::ReviewWithdrawn
            | Staged::DisputeOpened
            | Staged::DisputeWon
            | Staged::DisputeLost
            | Staged::ChargedBack
            | Staged::Case { .. }
            | Staged::RefundReverted { .. } => false,
        };
        let Some(stored) = requests.iter().rfind(waits) else { return };
        let is_withdrawn = requests.iter().any(|told| {
            told.request.awaited() == Some(stored.request.id)
                && matches!(told.request.outcome, Outcome::Declined(_))
        });
        let is_done = stage(app, &stored.request, what).await;
        match what {
            Staged::Payment { .. } | Staged::FurtherPayment { .. } => {
                told.payments += usize::from(is_done);
                told.paid_withdrawn += usize::from(is_done && is_withdrawn);
            }
            Staged::TakenBack => told.taken_back += usize::from(is_done),
            Staged::Refusal
            | Staged::Withdrawal
            | Staged::Refund
            | Staged::RefundRefusal
            | Staged::Seller { .. }
            | Staged::ReviewOpened
            | Staged::ReviewWithdrawn
            | Staged::DisputeOpened
            | Staged::DisputeWon
            | Staged::DisputeLost
            | Staged::ChargedBack
            | Staged::Case { .. }
            | Staged::RefundReverted { .. } => {}
        }
    }

    fn what(&mut self) -> Staged {
        let amount = sometimes_another(&mut self.dice);
        match self.dice.below(11) {
            0..=3 => Staged::Payment { amount },
            4 => Staged::FurtherPayment { amount },
            5 => Staged::Withdrawal,
            6 | 7 => Staged::TakenBack,
            8 => Staged::Refund,
            9 => Staged::Refusal,
            _ => Staged::RefundRefusal,
        }
    }
}

/// What a payer pays: sometimes another amount than what is asked, and none that the simulator refuses to give back.
fn sometimes_another(dice: &mut Dice) -> Option<Amount> {
    if !dice.one_in(4) {
        return None;
    }
    let drawn = 1 + dice.below(REFUSED_AMOUNT - 1);
    Amount::new(i64::try_from(drawn).unwrap())
}

/// Confirms what providers have accepted to refund.
pub(super) async fn confirm_refunds(app: &TestApp, charges: &Value) {
    for charge in charges.as_array().unwrap() {
        let requests = requests(app, text(&charge["id"])).await;
        let requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
        let is_told = |void: &TransactionRequest| requests.iter().any(|told| told.follows == Some(void.id));
        for void in &requests {
            let is_accepted =
                void.request_type == RequestType::Void && matches!(void.outcome, Outcome::Accepted(_));
            if is_accepted && !is_told(void) {
                stage(app, void, Staged::Refund).await;
            }
        }
    }
}

/// Whoever has instructions for one of these charges pays.
pub(super) async fn all_pay(app: &TestApp, charges: &[Value], dice: &mut Dice) {
    for charge in charges {
        for stored in requests(app, text(&charge["id"])).await {
            // Of anything later only notifications tell, and those of a sequence may get lost.
            if stored.request.pending().is_some() && stored.due_at.is_some() {
                let amount = sometimes_another(dice);
                stage(app, &stored.request, Staged::Payment { amount }).await;
            }
        }
    }
}

async fn requests(app: &TestApp, id: &str) -> Vec<StoredRequest> {
    transaction_requests::of_object(&app.app.store, app.client_id(), id.parse().unwrap()).await.unwrap()
}

/// Whether it happened.
async fn stage(app: &TestApp, request: &TransactionRequest, what: Staged) -> bool {
    let event = StagedEvent { key: request.provider_key(), at: app.clock.deployment(), what };
    app.app.providers.stage(request.provider_type, event).await.is_ok()
}
