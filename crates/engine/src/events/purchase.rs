//! A purchase as answers and events show it (`docs/interface/purchases.md#record`).

use regente_domain::charge::{Charge, ChargeStatus};
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, of};
use regente_domain::money::Amount;
use regente_domain::purchase::{Purchase, PurchaseCurrency, PurchaseStatus, Slot};
use regente_domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::masked;

/// A purchase.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Purchase)]
pub struct PurchaseView {
    id: PurchaseId,
    client_id: ClientId,
    merchant_id: MerchantId,
    #[schema(required = true)]
    customer_id: Option<CustomerId>,
    #[schema(required = true)]
    order_id: Option<String>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    /// What the merchant still keeps, in cents.
    #[schema(value_type = i64, example = 30000)]
    amount: Amount,
    /// What was asked for; never changes.
    #[schema(value_type = i64, example = 30000)]
    original_amount: Amount,
    currency: PurchaseCurrency,
    capture: bool,
    status: PurchaseStatus,
    /// The caller's own data, as sent. Absent where none was sent, and in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
    /// The cards, in the order in which they are charged.
    payments: Vec<PaymentView>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// One card of a purchase.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PurchasePayment)]
pub struct PaymentView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::PurchaseSlot>,
    /// The stored card; null in the answer to the request that sent a token.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    card_id: CardId,
    /// The token that was sent, in the answer to the request that sent it; null otherwise.
    // An id of a token is never stored, since it would open what is left of the token.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    token_id: (),
    #[schema(value_type = i64, example = 10000)]
    amount: Amount,
    #[schema(example = 1)]
    installments: u8,
    /// The status of the charge; `pending` until there is one.
    status: ChargeStatus,
    /// The charge, once there is one.
    #[schema(required = true)]
    charge_id: Option<ChargeId>,
    /// Why it was refused.
    #[schema(required = true)]
    declined_code: Option<DeclinedCode>,
}

/// Data about one card that the purchase itself does not contain.
#[derive(Clone, Copy, Debug)]
pub struct KnownCard<'a> {
    /// The charge, once it exists.
    pub charge: Option<&'a Charge>,
    /// Why the charge was declined.
    pub declined_code: Option<DeclinedCode>,
}

impl PurchaseView {
    /// The amount that the merchant keeps so far.
    pub const fn amount(&self) -> Amount {
        self.amount
    }

    /// Builds the view; `cards` are in the order of the purchase.
    pub fn of(purchase: &Purchase, cards: &[KnownCard<'_>]) -> Self {
        let payments = purchase.slots.iter().zip(cards);
        Self {
            id: purchase.id,
            client_id: purchase.client_id,
            merchant_id: purchase.merchant_id,
            customer_id: purchase.customer_id,
            order_id: purchase.order_id.clone(),
            description: purchase.references.description.clone(),
            statement_descriptor: purchase.references.statement_descriptor.clone(),
            amount: amount(purchase, cards),
            original_amount: purchase.amount,
            currency: PurchaseCurrency::Brl,
            capture: purchase.capture.flag(),
            status: purchase.status(),
            metadata: None,
            payments: payments.map(|(slot, card)| PaymentView::of(slot, card)).collect(),
            created_at: purchase.id.created_at(),
            updated_at: purchase.updated_at,
        }
    }

    /// The view as everybody but the merchant is shown it.
    pub fn for_others(self) -> Self {
        Self {
            order_id: masked(self.order_id.as_deref()),
            description: masked(self.description.as_deref()),
            statement_descriptor: masked(self.statement_descriptor.as_deref()),
            ..self
        }
    }

    /// The view with the caller's own data.
    pub fn with_metadata(self, metadata: Option<Map<String, Value>>) -> Self {
        Self { metadata, ..self }
    }
}

/// Refunds of single cards reduce the kept amount of a paid purchase.
fn amount(purchase: &Purchase, cards: &[KnownCard<'_>]) -> Amount {
    match purchase.status() {
        PurchaseStatus::Pending | PurchaseStatus::Failed => purchase.amount,
        PurchaseStatus::Cancelled => Amount::ZERO,
        PurchaseStatus::Paid => {
            let kept = |(slot, card): (&Slot, &KnownCard<'_>)| {
                card.charge.map_or(slot.amount, |charge| charge.amount).minor_units()
            };
            let sum = purchase.slots.iter().zip(cards).map(kept).sum();
            Amount::new(sum).unwrap_or(purchase.amount)
        }
    }
}

impl PaymentView {
    fn of(slot: &Slot, card: &KnownCard<'_>) -> Self {
        let status = match (card.charge, slot.declined_code) {
            (Some(charge), _) => charge.state.status(),
            // The card could not be charged at all.
            (None, Some(_)) => ChargeStatus::Failed,
            (None, None) => ChargeStatus::Pending,
        };
        Self {
            id: slot.id,
            card_id: slot.card_id,
            token_id: (),
            amount: slot.amount,
            installments: slot.installments,
            status,
            charge_id: slot.charge_id,
            declined_code: slot.declined_code.or(card.declined_code),
        }
    }
}
