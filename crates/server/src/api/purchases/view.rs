//! The history of a purchase as answers show it, and the OpenAPI description of purchases
//! (`docs/interface/purchases.md#history`). The engine shows the purchase itself, since events carry it too.

use regente_domain::id::{CardId, ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, TokenId, of};
use regente_domain::money::Amount;
use regente_domain::purchase::Purchase;
use regente_domain::time::Timestamp;
use regente_store::purchases::StoredEntry;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::api::schema::words;

/// A purchase.
#[derive(ToSchema)]
#[schema(as = Purchase, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct PurchaseSchema {
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
    /// The caller's own data, as sent. Absent where none was sent, and in events.
    #[schema(value_type = Option<Object>)]
    metadata: Option<()>,
    /// The cards, in the order in which they are charged.
    payments: Vec<PaymentSchema>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// One card of a purchase.
#[derive(ToSchema)]
#[schema(as = PurchasePayment, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct PaymentSchema {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::PurchaseSlot>,
    /// The stored card; null in the answer to the request that sent a token.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    card_id: Option<CardId>,
    /// The token that was sent, in the answer to the request that sent it; null otherwise.
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
