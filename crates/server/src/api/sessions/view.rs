//! The history of a session as answers show it, and the OpenAPI description of sessions
//! (`docs/interface/sessions.md#record`). The engine shows the session itself, since events carry it too.

use regente_domain::id::{ClientId, Id, MerchantId, of};
use regente_domain::session::Session;
use regente_domain::time::Timestamp;
use regente_store::sessions::StoredEntry;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::link::LinkSettings;
use super::methods::OfferedMethod;
use crate::api::schema::words;
use crate::api::split_rules::SplitRuleSchema;

/// A session.
#[derive(ToSchema)]
#[schema(as = Session, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct SessionSchema {
    id: Uuid,
    #[schema(required = true)]
    name: Option<String>,
    #[schema(value_type = words::SessionStatus, example = "created")]
    status: (),
    is_active: bool,
    captcha_enabled: bool,
    client_id: Uuid,
    merchant_id: Uuid,
    #[schema(required = true)]
    order_id: Option<String>,
    /// What a buyer pays, in the minor unit of the currency.
    #[schema(example = 10000)]
    amount: i64,
    #[schema(value_type = words::Currency, example = "BRL")]
    currency: (),
    capture: bool,
    /// When it can be paid no longer; absent where it always can.
    #[schema(value_type = Option<String>, format = DateTime)]
    due_date: Option<()>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    provider_reference_key: Option<String>,
    /// In whose name its charges are taken.
    vendor: Option<NamedVendorSchema>,
    items: Vec<ItemSchema>,
    payment_methods: Vec<OfferedMethod>,
    /// How its charges are divided among sellers; absent where they are not.
    split_rules: Option<Vec<SplitRuleSchema>>,
    /// The address of its page, of a session with `createLink`. Absent in events.
    payment_link: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: (),
    #[schema(value_type = String, format = DateTime)]
    updated_at: (),
    /// The key of the session, for `X-Api-Key` in the page of a buyer. Absent in events.
    public_key: Option<Uuid>,
    multiple_payments: MultiplePaymentsSchema,
    /// How its page looks; in the answer of `GET /v1/sessions/{id}/link` alone.
    settings: Option<LinkSettings>,
}

/// The vendor of a session.
#[derive(ToSchema)]
#[schema(as = SessionVendor, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct NamedVendorSchema {
    id: Uuid,
    /// The number under which the acquirer knows the payment facilitator.
    #[schema(required = true)]
    payment_facilitator_id: Option<String>,
}

/// An item of a session.
#[derive(ToSchema)]
#[schema(as = SessionItem, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct ItemSchema {
    /// Never changes.
    id: Uuid,
    name: String,
    description: Option<String>,
    #[schema(example = 10000)]
    unit_price: i64,
    #[schema(example = 1)]
    quantity: i64,
    tangible: Option<bool>,
    category_id: Option<String>,
}

/// How often a session was paid, and can be.
#[derive(ToSchema)]
#[schema(as = SessionPayments, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct MultiplePaymentsSchema {
    /// Whether it has `maxPayments`.
    allow: bool,
    /// Null where one payment ends it, -1 where none does.
    #[schema(required = true)]
    max_payments: Option<i64>,
    /// Payments that were made.
    payment_count: i64,
    /// Payments that are under way.
    pending_count: i64,
    /// Whether a payment can start.
    #[schema(value_type = words::SessionAvailability, example = "active")]
    status: (),
}

/// An entry of the history of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionHistoryEntry)]
pub struct EntryView {
    #[schema(value_type = Uuid)]
    id: Id<of::SessionEntry>,
    /// What the session was after it; `disabled` when it was switched off by itself.
    #[schema(value_type = words::SessionEntryStatus, example = "created")]
    status: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Uuid)]
    client_id: ClientId,
    #[schema(value_type = Uuid)]
    merchant_id: MerchantId,
    /// The main thing that happened; null for a payment that was refused.
    #[schema(value_type = Option<words::SessionAction>, required = true, example = "statusChanged")]
    action: Option<&'static str>,
    /// Everything that happened.
    #[schema(value_type = Vec<words::SessionAction>)]
    actions: Vec<&'static str>,
    /// What is different, under `changes`.
    #[schema(value_type = Object)]
    diff: Value,
}

impl EntryView {
    /// Shows an entry of a session.
    pub fn of(session: &Session, entry: StoredEntry) -> Self {
        let actions: Vec<&str> = entry.actions.iter().map(|action| action.word()).collect();
        Self {
            id: entry.id,
            status: entry.status.word(),
            created_at: entry.created_at,
            updated_at: entry.created_at,
            client_id: session.client_id,
            merchant_id: session.merchant_id,
            action: actions.first().copied(),
            actions,
            diff: entry.diff,
        }
    }
}
