//! When the reconcile job looks up a request: often at first, then for some days. A request with instructions for the
//! payer is looked up until they expire and then for as long as any other, because the payer may still pay. A request
//! that the provider has denied is looked up a few times more, in case the provider admits it later; so is one that it has refused
//! and whose answer never came, since a payer may hold its instructions.

use std::time::Duration;

use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::expiry;
use regente_domain::charge::reconciliation::{self, LAST_LOOK_WITHIN};
use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use regente_store::transaction_requests::StoredRequest;

use crate::app::App;
use crate::charges::security_code;

/// The name of the reconcile job, as an actor and in logs.
pub(crate) const RECONCILE: &str = "reconcile";

/// When the provider is asked for the first time about a request that was not answered.
pub(crate) fn first_look(app: &App, client_id: ClientId) -> Timestamp {
    app.clock.of(client_id) + app.settings.reconcile_waits.first().copied().unwrap_or_default()
}

/// The first look-up of a request that gave the payer instructions.
pub(crate) fn first_look_at_payer(app: &App, instructed: &TransactionRequest) -> Timestamp {
    first_look(app, instructed.client_id)
        .min(expiry(instructed))
        .min(security_code::held_until(Id::new(instructed.object_id)))
}

/// The first look-up of an authorization that the provider has denied.
pub(crate) fn first_look_at_denied(denied: &TransactionRequest) -> Timestamp {
    let wait = reconciliation::next_look_at_denied(Duration::ZERO);
    denied.updated_at + wait.unwrap_or(LAST_LOOK_WITHIN)
}

/// When the void of an orphaned authorization is tried again after so many refusals; `None` when it is not.
pub(crate) fn next_void(app: &App, client_id: ClientId, refusals: usize) -> Option<Timestamp> {
    let wait = app.settings.reconcile_waits.get(refusals.checked_sub(1)?)?;
    Some(app.clock.of(client_id) + *wait)
}

/// The look-up after the current one.
pub(crate) fn next_look(app: &App, stored: &StoredRequest) -> Timestamp {
    let now = app.clock.of(stored.request.client_id);
    match stored.request.outcome {
        Outcome::Pending(_) => {
            let wait = payers_wait(app, stored);
            // The instructions and the held security code expire at these times.
            let ends =
                [expiry(&stored.request), security_code::held_until(Id::new(stored.request.object_id))];
            ends.into_iter().filter(|end| now < *end).fold(now + wait, Timestamp::min)
        }
        Outcome::NoEffect(_) => {
            let wait = reconciliation::next_look_at_denied(now.since(stored.request.updated_at));
            now + wait.unwrap_or(LAST_LOOK_WITHIN)
        }
        Outcome::Declined(_) => now + payers_wait(app, stored),
        Outcome::Open | Outcome::Accepted(_) | Outcome::Approved(_) | Outcome::Analysed(_) => {
            now + reconciliation::due_again(&app.settings.reconcile_waits, stored.probes)
        }
    }
}

/// Whether the current look-up is the last one.
pub(crate) fn is_last_look(app: &App, stored: &StoredRequest) -> bool {
    match stored.request.outcome {
        Outcome::Pending(_) => is_whole_schedule_over(app, stored, expiry(&stored.request)),
        Outcome::Declined(_) => is_whole_schedule_over(app, stored, stored.request.updated_at),
        Outcome::NoEffect(_) => {
            let denied_for = app.clock.of(stored.request.client_id).since(stored.request.updated_at);
            reconciliation::next_look_at_denied(denied_for).is_none()
        }
        Outcome::Open | Outcome::Accepted(_) | Outcome::Approved(_) | Outcome::Analysed(_) => {
            reconciliation::next_look(&app.settings.reconcile_waits, stored.probes).is_none()
        }
    }
}

/// The wait until the next look for a payer's payment: the last wait of the schedule is repeated.
fn payers_wait(app: &App, stored: &StoredRequest) -> Duration {
    let waits = &app.settings.reconcile_waits;
    let wait = reconciliation::next_look(waits, stored.probes).or_else(|| waits.last().copied());
    wait.unwrap_or(LAST_LOOK_WITHIN)
}

/// Whether the payer had the time of a whole schedule to pay since `since`.
fn is_whole_schedule_over(app: &App, stored: &StoredRequest, since: Timestamp) -> bool {
    let whole: Duration = app.settings.reconcile_waits.iter().sum();
    app.clock.of(stored.request.client_id) >= since + whole
}
