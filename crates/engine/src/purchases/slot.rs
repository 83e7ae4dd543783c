//! Orders the charge of one card of a purchase. It reads everything that the order needs from the database, so any node can
//! do it.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::decline::DeclinedCode;
use regente_domain::id::Id;
use regente_domain::payment_type::PaymentType;
use regente_domain::purchase::{CURRENCY, Change, Purchase};
use regente_domain::routing::Needs;
use regente_store::purchases::StoredPurchase;
use serde_json::Value;

use super::{Cards, Private, write};
use crate::anti_fraud::FRAUD_ANALYSIS;
use crate::app::App;
use crate::card_data::CvvSource;
use crate::charges::create::Created;
use crate::charges::{
    self, Buyer, CardMethod, ChargeOrder, OrderedCard, Origin, PaidBy, PlacedBy, PurchaseSlot, Unguarded,
};
use crate::customers::ResolvedCustomer;
use crate::error::Error;
use crate::queue::purchases::KIND;

/// Every card is reserved first, even if captured at once.
const CAPTURE: CaptureMode = CaptureMode::Manual;

/// The capabilities that a card of a purchase needs.
pub(super) const fn needs(installments: u8) -> Needs {
    Needs { payment_type: PaymentType::Credit, currency: CURRENCY, installments, capture: CAPTURE }
}

/// Reserves the amount on a card.
pub(super) async fn authorize(
    app: &App,
    stored: &StoredPurchase,
    cards: &Cards,
    index: usize,
) -> Result<(), Error> {
    let order = order(app, stored, index).await?;
    let by = PlacedBy::Job { client_id: stored.purchase.client_id, kind: KIND };
    let admission = app.store.admit_waiting().await?;
    match charges::place(app.clone(), order, by, admission, Unguarded).await {
        // The next step reads the outcome.
        Ok(Created::Ran(_)) => Ok(()),
        Ok(Created::Answered(_)) => Err(Error::internal("an answer to a request without a key")),
        // A card that cannot be tried counts as declined: it, its code, the merchant or a provider no longer exists. If its
        // charge has begun all the same, the purchase has another version, and this changes nothing.
        Err(error) if error.is_final() => {
            write(app, stored, cards, Change::SlotRefused(index, Some(DeclinedCode::Generic))).await
        }
        Err(error) => Err(error),
    }
}

async fn order(app: &App, stored: &StoredPurchase, index: usize) -> Result<ChargeOrder, Error> {
    let purchase = &stored.purchase;
    let Some(slot) = purchase.slots.get(index) else {
        return Err(Error::internal("a card that the purchase does not have"));
    };
    let mut private = Private::open(app, stored).await?;
    let cvv_token = private.cvv_tokens.get_mut(index).and_then(Option::take);
    let without_code = match cvv_token {
        Some(_) => Some(private.seal(app, purchase.client_id, purchase.id)?),
        None => None,
    };
    let risk_data = private.fraud_analysis.map(|data| (FRAUD_ANALYSIS.to_owned(), Value::Object(data)));
    Ok(ChargeOrder {
        origin: Origin::Purchase(Box::new(PurchaseSlot { purchase: purchase.clone(), index, without_code })),
        merchant_id: purchase.merchant_id,
        amount: slot.amount,
        currency: CURRENCY,
        capture: CAPTURE,
        order_id: purchase.order_id.clone(),
        buyer: buyer_of(purchase),
        paid_by: PaidBy::Card(
            CardMethod::Credit { installments: slot.installments, recurrence: None },
            OrderedCard::Stored {
                card_id: slot.card_id,
                cvv: cvv_token.map_or(CvvSource::None, CvvSource::Token),
            },
        ),
        authentication: None,
        split_rules: Vec::new(),
        references: purchase.references.clone(),
        vendor: None,
        private: risk_data.into_iter().collect(),
    })
}

/// The customer who was found when the purchase was accepted.
fn buyer_of(purchase: &Purchase) -> Option<Buyer> {
    let real_id = purchase.customer_id?;
    let alias = purchase.customer_alias.map(|alias| Id::new(alias.uuid()));
    Some(Buyer::Found(ResolvedCustomer {
        real_id,
        shown_id: alias.unwrap_or(real_id),
        via_alias: alias.is_some(),
    }))
}
