//! A session and its history as answers show them (`docs/interface/sessions.md#record`).

use regente_domain::id::{ClientId, Id, MerchantId, of};
use regente_domain::session::{EntryStatus, Session, SessionAction};
use regente_domain::time::Timestamp;
use regente_engine::events::session::SessionView;
use regente_store::sessions::StoredEntry;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::link::LinkSettings;

/// A session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct ShownSession {
    /// The session.
    #[serde(flatten)]
    pub session: SessionView,
    /// How its page looks; in the answer of `GET /v1/sessions/{id}/link` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<LinkSettings>,
}

/// An entry of the history of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionHistoryEntry)]
pub struct EntryView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::SessionEntry>,
    /// What the session was after it; `disabled` when it was switched off by itself.
    status: EntryStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    client_id: ClientId,
    merchant_id: MerchantId,
    /// The main thing that happened; null for a payment that was refused.
    #[schema(required = true)]
    action: Option<SessionAction>,
    /// Everything that happened.
    actions: Vec<SessionAction>,
    /// What is different, under `changes`.
    #[schema(value_type = Object)]
    diff: Value,
}

impl EntryView {
    /// Shows an entry of a session.
    pub fn of(session: &Session, entry: StoredEntry) -> Self {
        Self {
            id: entry.id,
            status: entry.status,
            created_at: entry.created_at,
            updated_at: entry.created_at,
            client_id: session.client_id,
            merchant_id: session.merchant_id,
            action: entry.actions.first().copied(),
            actions: entry.actions,
            diff: entry.diff,
        }
    }
}
