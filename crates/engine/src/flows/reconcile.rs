//! Requests whose outcome nobody wrote down: the process died, or the provider did not tell. Their due date brings them
//! here, in daily life and after a crash alike. The provider decides; nothing is guessed. An authorization is asked after
//! and never sent again; captures and voids are sent again under the same key. The schedule is bounded: past its end the
//! operator is alerted, and nobody asks until he says so.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::Charge;
use regente_domain::charge::attempt::{OpenReason, Outcome, RequestType, never_arrived};
use regente_domain::time::Timestamp;
use regente_providers::request::Operation;
use regente_store::transaction_requests::{self, ObjectKind, StoredRequest};
use regente_store::{Batch, Commit};

use super::attempt::{self, Wishes};
use super::{card_check, charge, follow_up, outcome};
use crate::app::App;
use crate::error::Error;

/// What this work is called as an actor and in logs.
pub const KIND: &str = "reconcile";

/// By when the last look must have ended, or another one is made.
const LAST_LOOK: Duration = Duration::from_secs(300);

/// Whether the outcome is known now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It is.
    Yes,
    /// The provider did not tell, or another worker asks.
    NotYet,
}

/// Asks for a request that is due.
pub async fn look_after(app: &App, stored: &StoredRequest) -> Resolved {
    resolve(app, stored).await.unwrap_or_else(|error| {
        tracing::error!(
            transaction_request = %stored.request.id, error = ?error,
            "a request with an unknown outcome could not be resolved"
        );
        Resolved::NotYet
    })
}

async fn resolve(app: &App, stored: &StoredRequest) -> Result<Resolved, Error> {
    if app.in_flight.contains(stored.request.id) {
        return Ok(Resolved::NotYet);
    }
    let _admission = app.store.admit_waiting().await?;
    let due_again_at =
        app.clock.of(stored.request.client_id) + wait_after(app, stored.probes).unwrap_or(LAST_LOOK);
    let mut batch = Batch::new(stored.request.client_id);
    transaction_requests::claim(&mut batch, stored, due_again_at);
    if stored.open_reason.is_none() {
        transaction_requests::note_open(&mut batch, &stored.request, OpenReason::Interrupted, due_again_at);
    }
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        // Somebody else has taken it, or nobody knows: its due date brings it back.
        Commit::Refused(_) | Commit::Unknown => return Ok(Resolved::NotYet),
    }
    let outcome = look(app, stored).await.unwrap_or_else(|error| {
        tracing::error!(
            transaction_request = %stored.request.id, error = ?error,
            "a provider could not be asked what became of a request"
        );
        Outcome::Open
    });
    if outcome == Outcome::Open {
        return still_open(app, stored, due_again_at).await.map(|()| Resolved::NotYet);
    }
    let ended = stored.request.end(outcome, None, app.clock.of(stored.request.client_id));
    match (stored.object_kind, follows(stored)) {
        (ObjectKind::Card, _) => card_check::recover(app, stored, ended).await?,
        (ObjectKind::Charge, Follows::No) => charge::recover(app, stored, ended).await?,
        (ObjectKind::Charge, Follows::Yes) => follow_up::recover(app, ended).await?,
    }
    Ok(Resolved::Yes)
}

/// Asks the provider once.
async fn look(app: &App, stored: &StoredRequest) -> Result<Outcome, Error> {
    let _running = app.in_flight.enter(stored.request.id);
    let provider = charge::provider_of(app, &stored.request).await?;
    let (charge, again): (Option<Charge>, Option<Operation>) = match (stored.object_kind, follows(stored)) {
        (ObjectKind::Card, _) => (None, None),
        (ObjectKind::Charge, Follows::No) => (Some(charge::charge_of(app, &stored.request).await?), None),
        (ObjectKind::Charge, Follows::Yes) => {
            let (charge, operation) = follow_up::again(app, stored).await?;
            (Some(charge), Some(operation))
        }
    };
    let wishes = charge.map(|charge| Wishes::of(app, &charge, None)).unwrap_or_default();
    Ok(attempt::find_out(app, &provider, &stored.request, &wishes, again, never_arrived()).await?)
}

/// Whether a request does something with an earlier authorization.
enum Follows {
    Yes,
    No,
}

const fn follows(stored: &StoredRequest) -> Follows {
    match stored.request.request_type {
        RequestType::Authorization | RequestType::PreAuthorization | RequestType::ZeroDollar => Follows::No,
        RequestType::Capture | RequestType::Void | RequestType::ChargeBack => Follows::Yes,
    }
}

/// Nobody knows yet. After the last wait nobody asks any more.
async fn still_open(app: &App, stored: &StoredRequest, due_at: Timestamp) -> Result<(), Error> {
    let probes = stored.probes + 1;
    if stored.object_kind == ObjectKind::Charge {
        announce(app, stored).await?;
    }
    if wait_after(app, stored.probes).is_some() {
        tracing::warn!(
            transaction_request = %stored.request.id, probes,
            "the outcome of a request is still unknown"
        );
        return Ok(());
    }
    let mut batch = Batch::new(stored.request.client_id);
    transaction_requests::give_up(
        &mut batch,
        &stored.request,
        due_at,
        app.clock.of(stored.request.client_id),
    );
    match app.store.apply(batch).await? {
        Commit::Applied => tracing::error!(
            alert = "unknown_outcome_given_up", transaction_request = %stored.request.id,
            object = %stored.request.object_id, client = %stored.request.client_id,
            provider = %stored.request.provider_type.code(), probes,
            "the provider did not tell within the whole schedule what became of a request: the operator must look \
             (`regente unknowns`)"
        ),
        // It was ended meanwhile, or its due date brings it back for one more look.
        Commit::Refused(_) | Commit::Unknown => {}
    }
    Ok(())
}

/// What the merchant would otherwise wait for in vain, when a crash has kept it from being told.
async fn announce(app: &App, stored: &StoredRequest) -> Result<(), Error> {
    let charge = charge::charge_of(app, &stored.request).await?;
    if let Some(batch) = outcome::announcement(app, &charge, &Actor::Job(KIND)) {
        // Refused: the charge has moved on, and something else was announced.
        let _ = app.store.apply(batch).await?;
    }
    Ok(())
}

/// How long to wait after so many looks without an answer; nothing when the schedule is over.
fn wait_after(app: &App, looks: i64) -> Option<Duration> {
    let looks = usize::try_from(looks).unwrap_or(usize::MAX);
    app.settings.reconcile_waits.get(looks).copied()
}
