//! A purchase and its history as answers show them (contract 04 §3–4).

use regente_domain::charge::ChargeStatus;
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, TokenId, of};
use regente_domain::money::Amount;
use regente_domain::purchase::{CURRENCY, Purchase, PurchaseStatus, Slot};
use regente_domain::time::Timestamp;
use regente_store::purchases::StoredEntry;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::api::schema::words;
use crate::flows::purchase::{Cards, Private};

/// A purchase.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Purchase)]
pub struct PurchaseView {
    #[schema(value_type = uuid::Uuid)]
    id: PurchaseId,
    #[schema(value_type = uuid::Uuid)]
    client_id: ClientId,
    #[schema(value_type = uuid::Uuid)]
    merchant_id: MerchantId,
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
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
    #[schema(value_type = words::PurchaseCurrency, example = "BRL")]
    currency: &'static str,
    capture: bool,
    #[schema(value_type = words::PurchaseStatus, example = "pending")]
    status: &'static str,
    /// The cards, in the order in which they are charged.
    payments: Vec<PaymentView>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// One card of a purchase.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PurchasePayment)]
pub struct PaymentView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::PurchaseSlot>,
    /// The stored card; null when a token was sent.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    card_id: Option<CardId>,
    /// The token that was sent.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    token_id: Option<TokenId>,
    #[schema(value_type = i64, example = 10000)]
    amount: Amount,
    #[schema(example = 1)]
    installments: u8,
    /// The status of the charge; `pending` until there is one.
    #[schema(value_type = words::ChargeStatus, example = "pre_authorized")]
    status: &'static str,
    /// The charge, once there is one.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    charge_id: Option<ChargeId>,
    /// Why it was refused.
    #[schema(value_type = Option<words::DeclinedCode>, required = true)]
    declined_code: Option<&'static str>,
}

impl PurchaseView {
    /// What the merchant still keeps.
    pub const fn amount(&self) -> Amount {
        self.amount
    }

    /// Shows a purchase with what its charges are now.
    pub fn of(purchase: &Purchase, cards: &Cards, private: &Private) -> Self {
        let token = |index: usize| private.tokens.get(index).copied().flatten();
        let payments = purchase.slots.iter().enumerate();
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
            currency: CURRENCY.code(),
            capture: purchase.capture.flag(),
            status: purchase.status().word(),
            payments: payments.map(|(index, slot)| PaymentView::of(slot, cards, token(index))).collect(),
            created_at: purchase.id.created_at(),
            updated_at: purchase.updated_at,
        }
    }
}

/// Refunds of single cards lower what the merchant keeps of a purchase that is paid.
fn amount(purchase: &Purchase, cards: &Cards) -> Amount {
    match purchase.status() {
        PurchaseStatus::Pending | PurchaseStatus::Failed => purchase.amount,
        PurchaseStatus::Cancelled => Amount::ZERO,
        PurchaseStatus::Paid => {
            let kept = |slot: &Slot| cards.charge(slot).map_or(slot.amount, |charge| charge.amount);
            let sum = purchase.slots.iter().map(|slot| kept(slot).minor_units()).sum();
            Amount::new(sum).unwrap_or(purchase.amount)
        }
    }
}

impl PaymentView {
    fn of(slot: &Slot, cards: &Cards, token_id: Option<TokenId>) -> Self {
        let status = match (cards.charge(slot), slot.declined_code) {
            (Some(charge), _) => charge.state.status(),
            // It could not even be tried.
            (None, Some(_)) => ChargeStatus::Failed,
            (None, None) => ChargeStatus::Pending,
        };
        Self {
            id: slot.id,
            card_id: token_id.is_none().then_some(slot.card_id),
            token_id,
            amount: slot.amount,
            installments: slot.installments,
            status: status.word(),
            charge_id: slot.charge_id,
            declined_code: slot.declined_code.or_else(|| cards.declined_code(slot)).map(DeclinedCode::code),
        }
    }
}

/// An entry of the history of a purchase.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PurchaseHistoryEntry)]
pub struct EntryView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::PurchaseEntry>,
    /// What it marks, such as `slot_authorized` or `rollback_started`.
    #[schema(value_type = words::PurchaseMilestone, example = "created")]
    status: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = uuid::Uuid)]
    client_id: ClientId,
    #[schema(value_type = uuid::Uuid)]
    merchant_id: MerchantId,
    /// The main thing that was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::PurchaseAction>, example = "statusChanged")]
    action: Option<&'static str>,
    /// Everything that was done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Option<Vec<words::PurchaseAction>>)]
    actions: Vec<&'static str>,
    /// What is different, under `changes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    diff: Option<Value>,
}

impl EntryView {
    /// Shows an entry of a purchase.
    pub fn of(purchase: &Purchase, entry: StoredEntry) -> Self {
        let actions: Vec<&str> = entry.actions.iter().map(|action| action.word()).collect();
        let has_changes = entry.changes.as_object().is_some_and(|changes| !changes.is_empty());
        Self {
            id: entry.id,
            status: entry.milestone.word(),
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            client_id: purchase.client_id,
            merchant_id: purchase.merchant_id,
            action: actions.first().copied(),
            actions,
            diff: has_changes.then(|| json!({ "changes": entry.changes })),
        }
    }
}
