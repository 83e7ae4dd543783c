//! Lists requests whose outcome is unknown, and restarts the probes of one that was given up. The reconcile job finds
//! the outcome (`transaction_requests/reconcile.rs`).

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id, ProviderId, TransactionRequestId};
use regente_domain::time::Timestamp;
use regente_store::audit::{self, AuditEntry};
use regente_store::transaction_requests::{self, ObjectKind, StoredRequest};
use regente_store::{Batch, Commit, StoreError, charges, providers};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::CommandError;
use crate::app::App;

/// The most requests in one list.
const UNKNOWNS_MAX: i64 = 1000;

/// A request whose outcome is unknown, as a list shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnknownRow {
    /// The request.
    pub request_id: TransactionRequestId,
    /// The account.
    pub client_id: ClientId,
    /// `charge`, or `card` for a check.
    pub object_kind: String,
    /// The charge or the card.
    pub object_id: Uuid,
    /// The provider that was called.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: String,
    /// The merchant's name for it.
    pub provider_name: Option<String>,
    /// The operation, such as `authorization`.
    pub operation: String,
    /// In minor units.
    pub amount: i64,
    /// The currency of the charge.
    pub currency: Option<String>,
    /// The amount for people, such as `BRL 1.50`.
    pub amount_shown: String,
    /// When it was sent.
    pub asked_at: Timestamp,
    /// How long ago that was.
    pub age_seconds: u64,
    /// Why the outcome is unknown; absent before the first probe.
    pub reason: Option<String>,
    /// How often the provider was probed since.
    pub probes: i64,
    /// When it is probed next.
    pub next_probe_at: Option<Timestamp>,
    /// Since when it is no longer probed.
    pub given_up_at: Option<Timestamp>,
}

/// Every request whose outcome is unknown, oldest first, and whether there are more than a list shows.
pub(super) async fn list(app: &App) -> Result<(Vec<UnknownRow>, bool), CommandError> {
    let now = app.clock.deployment();
    let mut stored = transaction_requests::given_up(&app.store, UNKNOWNS_MAX + 1).await?;
    stored.extend(transaction_requests::open(&app.store, now, UNKNOWNS_MAX + 1).await?);
    stored.sort_by_key(|stored| stored.request.id);
    let shown = usize::try_from(UNKNOWNS_MAX).unwrap_or(usize::MAX);
    let more = stored.len() > shown;
    stored.truncate(shown);
    let mut unknowns = Vec::with_capacity(stored.len());
    for stored in stored {
        unknowns.push(row(app, stored).await?);
    }
    Ok((unknowns, more))
}

async fn row(app: &App, stored: StoredRequest) -> Result<UnknownRow, StoreError> {
    let request = stored.request;
    let now = app.clock.of(request.client_id);
    let provider = providers::find(&app.store, request.client_id, request.provider_id).await?;
    let charge = match stored.object_kind {
        ObjectKind::Charge => {
            charges::find(&app.store, request.client_id, Id::new(request.object_id)).await?
        }
        ObjectKind::Card => None,
    };
    let currency = charge.map(|stored| stored.charge.currency);
    let asked_at = request.id.created_at();
    Ok(UnknownRow {
        request_id: request.id,
        client_id: request.client_id,
        object_kind: stored.object_kind.word().to_owned(),
        object_id: request.object_id,
        provider_id: request.provider_id,
        provider_type: request.provider_type.code().to_owned(),
        provider_name: provider.map(|provider| provider.name),
        operation: request.request_type.word().to_owned(),
        amount: request.amount.minor_units(),
        currency: currency.map(|currency| currency.code().to_owned()),
        amount_shown: currency.map_or_else(String::new, |currency| request.amount.shown_in(currency)),
        asked_at,
        age_seconds: now.since(asked_at).as_secs(),
        reason: request.open_reason.map(|reason| reason.word().to_owned()),
        probes: stored.probes,
        next_probe_at: stored.due_at,
        given_up_at: stored.given_up_at,
    })
}

/// Restarts the whole schedule of probes for a request that was given up.
pub(super) async fn retry(app: &App, request_id: TransactionRequestId) -> Result<(), CommandError> {
    let not_given_up = || {
        CommandError::Argument(format!(
            "no request {request_id} was given up; `regente unknowns` shows those that were"
        ))
    };
    let stored = transaction_requests::find_given_up(&app.store, request_id).await?;
    let stored = stored.ok_or_else(not_given_up)?;
    let now = app.clock.of(stored.request.client_id);
    let mut batch = Batch::new(stored.request.client_id);
    transaction_requests::resume(&mut batch, &stored.request, now);
    let entry = AuditEntry {
        id: app.chance.id(now),
        actor: Actor::Operator,
        action: "transaction_request.resumed",
        object_kind: "transaction_request",
        object_id: request_id.uuid(),
        request_id: None,
    };
    audit::record(&mut batch, entry);
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        Commit::Refused(_) => Err(not_given_up()),
        Commit::Unknown => Err(CommandError::Unknown),
    }
}
