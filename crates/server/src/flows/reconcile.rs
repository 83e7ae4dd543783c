//! Requests whose outcome nobody wrote down: the process died, or the provider did not tell. Their due date brings them
//! here, in daily life and after a crash alike. The provider's books decide; nothing is guessed, and an authorization
//! is never sent again.

use std::time::Duration;

use regente_domain::charge::attempt::{Outcome, TransactionRequest, never_arrived};
use regente_providers::outcome::Probe;
use regente_store::transaction_requests::{self, ObjectKind, StoredRequest};
use regente_store::{Batch, Commit};

use super::{attempt, card_check, charge};
use crate::api::error::ApiError;
use crate::app::App;

/// What this work is called as an actor and in logs.
pub const KIND: &str = "reconcile";

/// Clients looked at in one round.
const CLIENTS_MAX: i64 = 100;
/// Requests of one client looked at in one round.
const REQUESTS_MAX: i64 = 100;

/// What one round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Requests whose outcome is known now.
    pub resolved: usize,
    /// Requests that were asked for without an answer, or left to another worker.
    pub left: usize,
}

/// Asks for every request that is due.
pub async fn round(app: &App) -> Result<Round, ApiError> {
    let mut round = Round::default();
    let now = app.clock.now();
    for client_id in transaction_requests::clients_with_due(&app.store, now, CLIENTS_MAX).await? {
        // What cannot be read of one client must not keep the others waiting.
        let due = match transaction_requests::due(&app.store, client_id, now, REQUESTS_MAX).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(client = %client_id, error = ?error, "the due requests of a client cannot be read");
                continue;
            }
        };
        for stored in due {
            match resolve(app, &stored).await {
                Ok(Resolved::Yes) => round.resolved += 1,
                Ok(Resolved::NotYet) => round.left += 1,
                Err(error) => {
                    round.left += 1;
                    tracing::error!(
                        transaction_request = %stored.request.id, error = ?error,
                        "a request with an unknown outcome could not be resolved"
                    );
                }
            }
        }
    }
    Ok(round)
}

enum Resolved {
    Yes,
    NotYet,
}

async fn resolve(app: &App, stored: &StoredRequest) -> Result<Resolved, ApiError> {
    if app.in_flight.contains(stored.request.id) {
        return Ok(Resolved::NotYet);
    }
    let _admission = app.store.admit_waiting().await?;
    let mut batch = Batch::new(stored.request.client_id);
    transaction_requests::claim(&mut batch, stored, app.clock.now() + wait_after(app, stored.probes));
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        // Somebody else has taken it, or nobody knows: its due date brings it back.
        Commit::Refused(_) | Commit::Unknown => return Ok(Resolved::NotYet),
    }
    let provider = charge::provider_of(app, &stored.request).await?;
    let outcome = match attempt::probe(app, &provider, &stored.request).await? {
        Probe::Found(finding) => attempt::found(finding),
        Probe::Absent => Outcome::NoEffect(never_arrived()),
        Probe::Unknown => Outcome::Open,
    };
    if outcome == Outcome::Open {
        tracing::warn!(
            transaction_request = %stored.request.id, probes = stored.probes + 1,
            "the outcome of a request is still unknown"
        );
        return Ok(Resolved::NotYet);
    }
    let ended: TransactionRequest = stored.request.end(outcome, None, app.clock.now());
    match stored.object_kind {
        ObjectKind::Charge => charge::recover(app, stored, ended).await?,
        ObjectKind::Card => card_check::recover(app, stored, ended).await?,
    }
    Ok(Resolved::Yes)
}

/// How long to wait after so many probes without an answer.
fn wait_after(app: &App, probes: i64) -> Duration {
    let waits = &app.settings.reconcile_waits;
    let index = usize::try_from(probes).unwrap_or(0);
    waits.get(index).or(waits.last()).copied().unwrap_or(Duration::from_secs(3600))
}
