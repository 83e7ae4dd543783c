//! Finds out unknown outcomes, whether the process died, the provider did not answer, or the payer is waited for. A
//! request comes here when it is due. An authorization is probed and never sent again; captures and voids are sent
//! again under the same key, and a risk analysis is asked for its verdict. After the last scheduled look-up the operator
//! is alerted, and the provider is asked again only when the operator requests it; of a payer's payment that a provider
//! which cannot be asked has told, nobody is. An authorization that the provider has denied is probed a few times more: if the
//! provider admits it later, the money is given back.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{OpenReason, Outcome, TransactionRequest, never_arrived};
use regente_domain::charge::{self, Charge, Says, expiry, reconciliation};
use regente_domain::id::Id;
use regente_domain::session::cards::CardRefused;
use regente_domain::time::Timestamp;
use regente_providers::request::Operation;
use regente_store::sessions::tries;
use regente_store::transaction_requests::{self, Claim, ObjectKind, StoredRequest};
use regente_store::{Batch, Commit, held_security_codes, subscriptions};

use crate::app::App;
use crate::charges::provider_report::{self, Applied, RequestPurpose, way};
use crate::charges::stored::{charge_of, provider_of};
use crate::charges::{approval_revoked, write_outcome};
use crate::error::Error;
use crate::queue::subscriptions::wake_unanswered;
use crate::transaction_requests::call::{self, LookUp, ProviderReport, SimulatorOverrides};
use crate::transaction_requests::look_up_schedule;
use crate::{anti_fraud, authentication, captures_and_voids};

/// Whether the outcome is known now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The outcome is known and written.
    Yes,
    /// The provider did not answer, or another worker has the request.
    NotYet,
}

/// Looks up a request that is due.
pub async fn look_after(app: &App, stored: &StoredRequest) -> Resolved {
    resolve(app, stored).await.unwrap_or_else(|error| {
        tracing::error!(
            transaction_request = %stored.request.id, error = ?error,
            "the reconcile job failed to look up an unknown outcome"
        );
        Resolved::NotYet
    })
}

/// How long after its expiry a request still waits for its payer when its provider tells nothing.
const UNANSWERED_FOR_MAX: Duration = Duration::from_secs(60 * 60);

async fn resolve(app: &App, stored: &StoredRequest) -> Result<Resolved, Error> {
    if app.in_flight.contains(stored.request.id) {
        return Ok(Resolved::NotYet);
    }
    let _admission = app.store.admit_waiting().await?;
    let (now, due_again_at) =
        (app.clock.of(stored.request.client_id), look_up_schedule::next_look(app, stored));
    let is_last = look_up_schedule::is_last_look(app, stored);
    let mut batch = Batch::new(stored.request.client_id);
    let (claim, sent_at) = match asks(stored) {
        Asking::SendsAgain => (Claim::ToSend { at: now }, now),
        Asking::Probes | Asking::AsksForVerdict => (Claim::ToProbe, stored.request.sent_at),
    };
    transaction_requests::claim(&mut batch, stored, claim, due_again_at);
    match stored.request.outcome {
        Outcome::Open if stored.request.open_reason.is_none() => {
            let claimed = TransactionRequest { sent_at, ..stored.request.clone() };
            transaction_requests::note_open(&mut batch, &claimed, OpenReason::Interrupted, due_again_at);
        }
        Outcome::Pending(_) => {
            held_security_codes::discard_expired(&mut batch, Id::new(stored.request.object_id), now);
        }
        Outcome::Open
        | Outcome::Accepted(_)
        | Outcome::Approved(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => {}
    }
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        // Another worker claimed the request, or the commit is unknown: the due date brings the request back.
        Commit::Refused(_) | Commit::Unknown => return Ok(Resolved::NotYet),
    }
    let found = look(app, stored).await.unwrap_or_else(|error| {
        tracing::error!(
            transaction_request = %stored.request.id, error = ?error,
            "a provider could not be asked for the outcome of a request"
        );
        Outcome::Open.into()
    });
    // Nobody can tell whether the payer still pays, and the charge has waited long enough. If they have paid, the money is
    // found late.
    let is_abandoned = stored.request.pending().is_some()
        && found.outcome == Outcome::Open
        && now >= expiry(&stored.request) + UNANSWERED_FOR_MAX;
    if is_abandoned {
        let still_pending = stored.request.outcome.clone().into();
        provider_report::apply(app, stored, still_pending, None, &Actor::Job(look_up_schedule::RECONCILE))
            .await?;
    }
    if Says::of(&stored.request, &found.outcome) == Says::NothingNew {
        return still_open(app, stored, due_again_at, is_last).await.map(|()| Resolved::NotYet);
    }
    let is_over = reconciliation::is_over(&stored.request, &found.outcome, is_last, now);
    let actor = Actor::Job(look_up_schedule::RECONCILE);
    if provider_report::apply(app, stored, found, None, &actor).await? == Applied::TooEarly {
        let takes_back = approval_revoked::approval(app, &stored.request).await?;
        let newest = look(app, stored).await?;
        provider_report::apply(app, stored, newest, takes_back, &actor).await?;
    }
    if is_over {
        stop_probing(app, &stored.request).await?;
    }
    Ok(Resolved::Yes)
}

/// Ends probing of a request. If the commit is unknown, the due date brings the request back once more.
async fn stop_probing(app: &App, request: &TransactionRequest) -> Result<(), Error> {
    let TransactionRequest { client_id, object_id, id, .. } = *request;
    let mut batch = Batch::new(client_id);
    transaction_requests::stop_probing(&mut batch, client_id, object_id, id);
    let _ = app.store.apply(batch).await?;
    Ok(())
}

/// Asks the provider once.
async fn look(app: &App, stored: &StoredRequest) -> Result<ProviderReport, Error> {
    let _running = app.in_flight.enter(stored.request.id);
    if stored.request.request_type.is_authentication() {
        let charge = charge_of(app, &stored.request).await?;
        return Ok(authentication::look(app, &charge, &stored.request).await);
    }
    let (charge, again): (Option<Charge>, Option<Operation>) = match (stored.object_kind, asks(stored)) {
        (ObjectKind::Card, _) => (None, None),
        (ObjectKind::Charge, Asking::AsksForVerdict) => {
            let charge = charge_of(app, &stored.request).await?;
            return Ok(anti_fraud::look(app, &charge, &stored.request).await?.into());
        }
        (ObjectKind::Charge, Asking::Probes) => (Some(charge_of(app, &stored.request).await?), None),
        (ObjectKind::Charge, Asking::SendsAgain) => {
            let (charge, operation) = captures_and_voids::again(app, stored).await?;
            (Some(charge), Some(operation))
        }
    };
    let provider = provider_of(app, &stored.request).await?;
    let overrides = charge.map(|charge| SimulatorOverrides::of(app, &charge, None)).unwrap_or_default();
    let look_up = LookUp::of(again);
    let finding_out = call::find_out(app, &provider, &stored.request, &overrides, look_up, never_arrived());
    Ok(finding_out.await?)
}

/// How the provider is asked about a request.
enum Asking {
    /// The request is sent again under its key.
    SendsAgain,
    /// The provider is probed by its key.
    Probes,
    /// The provider of risk is asked for its verdict.
    AsksForVerdict,
}

/// Only a capture or void is sent again, until the provider has answered it.
const fn asks(stored: &StoredRequest) -> Asking {
    match (way(&stored.request), &stored.request.outcome) {
        (RequestPurpose::FollowsUp, Outcome::Open) => Asking::SendsAgain,
        (RequestPurpose::Analyses, _) => Asking::AsksForVerdict,
        (RequestPurpose::Authorizes | RequestPurpose::FollowsUp, _) => Asking::Probes,
    }
}

/// Handles a look-up without a result. After the last one the provider is not asked again.
async fn still_open(
    app: &App,
    stored: &StoredRequest,
    due_at: Timestamp,
    is_last: bool,
) -> Result<(), Error> {
    let probes = stored.probes + 1;
    if stored.object_kind == ObjectKind::Charge && stored.request.outcome == Outcome::Open {
        announce(app, stored).await?;
    }
    if !is_last {
        tracing::warn!(
            transaction_request = %stored.request.id, probes,
            "the outcome of a request is still unknown"
        );
        return Ok(());
    }
    if is_told(app, &stored.request).await? {
        return stop_probing(app, &stored.request).await;
    }
    let TransactionRequest { client_id, object_id, .. } = stored.request;
    let mut batch = Batch::new(client_id);
    transaction_requests::give_up(&mut batch, &stored.request, due_at, app.clock.of(client_id));
    // An outcome that nobody knows has told nothing of the card, and must not keep others off for good. What had no effect is
    // only looked at once more: its card may be under way at the next provider.
    if stored.request.outcome == Outcome::Open
        && let Some(session_id) = tries::session_of(&app.store, client_id, object_id).await?
    {
        tries::end(&mut batch, session_id, object_id, CardRefused::No);
    }
    let attempt = subscriptions::charges::find(&app.store, client_id, Id::new(object_id)).await?;
    if let Some(attempt) = attempt {
        wake_unanswered(app, &mut batch, attempt.subscription_id, Id::new(object_id));
    }
    match app.store.apply(batch).await? {
        Commit::Applied => tracing::error!(
            alert = "unknown_outcome_given_up", transaction_request = %stored.request.id,
            object = %stored.request.object_id, client = %stored.request.client_id,
            provider = %stored.request.provider_type.code(), probes,
            "the provider did not report the outcome of a request within the whole schedule: the operator must look \
             (`regente unknowns`)"
        ),
        // Another task ended the request, or its due date brings it back once more.
        Commit::Refused(_) | Commit::Unknown => {}
    }
    Ok(())
}

/// Whether a provider that cannot be asked has told by itself that the payer of a request has paid.
async fn is_told(app: &App, request: &TransactionRequest) -> Result<bool, Error> {
    if request.pending().is_none() || app.providers.can_be_asked(request.provider_type) {
        return Ok(false);
    }
    let requests = transaction_requests::of_object(&app.store, request.client_id, request.object_id).await?;
    let requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
    Ok(charge::payments(&requests, request.id).next().is_some())
}

/// Sends the event for an open outcome, in case a crash prevented it.
async fn announce(app: &App, stored: &StoredRequest) -> Result<(), Error> {
    let charge = charge_of(app, &stored.request).await?;
    if let Some(batch) = write_outcome::announcement(app, &charge, &Actor::Job(look_up_schedule::RECONCILE)) {
        // A refusal means that the charge has moved and another event was sent.
        let _ = app.store.apply(batch).await?;
    }
    Ok(())
}
