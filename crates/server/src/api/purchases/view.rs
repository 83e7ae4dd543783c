//! The history of a purchase as answers show it (`docs/interface/purchases.md#history`). The engine shows the purchase
//! itself, since events carry it too.

use regente_domain::id::{ClientId, Id, MerchantId, of};
use regente_domain::purchase::{Action, Milestone, Purchase};
use regente_domain::time::Timestamp;
use regente_store::purchases::StoredEntry;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// An entry of the history of a purchase.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PurchaseHistoryEntry)]
pub struct EntryView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::PurchaseEntry>,
    /// What it marks, such as `slot_authorized` or `rollback_started`.
    status: Milestone,
    created_at: Timestamp,
    updated_at: Timestamp,
    client_id: ClientId,
    merchant_id: MerchantId,
    /// The main thing that was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    /// Everything that was done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<Action>,
    /// What is different, under `changes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    diff: Option<Value>,
}

impl EntryView {
    /// Shows an entry of a purchase.
    pub fn of(purchase: &Purchase, entry: StoredEntry) -> Self {
        let has_changes = entry.changes.as_object().is_some_and(|changes| !changes.is_empty());
        Self {
            id: entry.id,
            status: entry.milestone,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            client_id: purchase.client_id,
            merchant_id: purchase.merchant_id,
            action: entry.actions.first().copied(),
            actions: entry.actions,
            diff: has_changes.then(|| json!({ "changes": entry.changes })),
        }
    }
}
