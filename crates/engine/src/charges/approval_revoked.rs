//! Applies that a provider takes its word back about a payment or a capture that it had approved
//! (`docs/interface/charges.md#word-taken-back`). A notification that says so is an old message as easily as a new one, so the
//! provider is asked before it counts.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, TransactionRequest, never_arrived};
use regente_domain::charge::{AfterRevoking, ChargeStatus};
use regente_domain::decline::Decline;
use regente_domain::id::TransactionRequestId;
use regente_domain::time::Timestamp;
use regente_store::Commit;

use crate::app::App;
use crate::charges::stored::{self, Ran, provider_of};
use crate::charges::write_outcome;
use crate::error::Error;
use crate::metrics;
use crate::races;
use crate::transaction_requests::call::{self, LookUp, ProviderReport, SimulatorOverrides};

/// What became of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revoked {
    /// The charge does not rest on what is refused.
    Nothing,
    /// The charge has followed it.
    Yes,
    /// An operation on the charge is under way: it is to be told again.
    TooEarly,
    /// An operator was told.
    LeftToOperator(ChargeStatus),
}

/// Applies that the provider refuses `about`, however often it says so. `takes_back` is the approval that was recorded
/// before the provider said so: an approval that was recorded since may be the newer word, and the provider is asked again.
///
/// # Errors
/// [`Error::Busy`] when other changes came first each time; [`Error::Unavailable`] when it is not known whether the change
/// is written.
pub(crate) async fn take(
    app: &App,
    about: &TransactionRequest,
    decline: &Decline,
    takes_back: Option<TransactionRequestId>,
    actor: &Actor,
) -> Result<Revoked, Error> {
    for _ in races::tries() {
        let Ran { charge: before, requests } = stored::whole_of(app, about).await?;
        if let Some(approved) = before.contradicted(&requests, about.id)
            && takes_back != Some(approved.id)
        {
            return Ok(Revoked::TooEarly);
        }
        let now = app.clock.of(before.client_id);
        let (after, told) = match before.revoke(app.chance.id(now), &requests, about.id, decline, now) {
            AfterRevoking::Revoked(revoked) => *revoked,
            AfterRevoking::Nothing => return Ok(Revoked::Nothing),
            AfterRevoking::TooEarly => return Ok(Revoked::TooEarly),
            AfterRevoking::NotPossible(status) => {
                metrics::payment_revoked();
                tracing::error!(
                    alert = "revoked_payment_not_applied", charge = %before.id, transaction_request = %about.id,
                    client = %before.client_id, provider = %about.provider_type.code(), status = status.word(),
                    "a provider refuses what it had approved, and the money has moved since: the operator must look"
                );
                return Ok(Revoked::LeftToOperator(status));
            }
        };
        match write_outcome::write_report(app, &before, &after, &told, actor).await? {
            Commit::Applied => {
                metrics::payment_revoked();
                tracing::error!(
                    alert = "payment_revoked", charge = %before.id, transaction_request = %about.id,
                    client = %before.client_id, provider = %about.provider_type.code(),
                    purchase = ?before.purchase_id, session = ?before.session_id,
                    amount = told.amount.minor_units(), operation = told.request_type.word(),
                    was = before.state.status().word(), status = after.charge.state.status().word(),
                    "a provider refuses what it had approved: the operator must look at what was delivered for it"
                );
                return Ok(Revoked::Yes);
            }
            // Another node moved the charge: decide again.
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(Error::unavailable()),
        }
    }
    Err(Error::busy())
}

/// The approval that a refusal of `about` would take back as the records are now.
pub(crate) async fn approval(
    app: &App,
    about: &TransactionRequest,
) -> Result<Option<TransactionRequestId>, Error> {
    let Ran { charge, requests } = stored::whole_of(app, about).await?;
    Ok(charge.contradicted(&requests, about.id).map(|approved| approved.id))
}

/// Whether a refusal of `about` contradicts what is recorded by now: another node may have recorded the approval after the
/// refusal was applied to what was open before.
pub(crate) async fn contradicts(
    app: &App,
    about: &TransactionRequest,
    decline: &Decline,
) -> Result<bool, Error> {
    let Ran { charge, requests } = stored::whole_of(app, about).await?;
    let now = app.clock.of(charge.client_id);
    Ok(charge.revoke(about.id, &requests, about.id, decline, now) != AfterRevoking::Nothing)
}

/// When something was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    /// At this time, by the provider's clock.
    At(Timestamp),
    /// After it was approved: the provider says so by the kind of its refusal.
    AfterApproval,
}

/// What a provider that is asked says of a refusal.
pub(crate) enum Confirmed {
    /// It contradicts nothing, or it is the newest word and takes this approval back: it counts as it was told.
    AsTold { takes_back: Option<TransactionRequestId> },
    /// This is what the provider says, and what is taken back by it.
    Says { found: Box<ProviderReport>, takes_back: TransactionRequestId },
    /// It does not count, for this reason.
    No(&'static str),
    /// The provider says that it has approved it. What it is asked may not show yet what it notifies: it is asked again.
    Denied,
    /// The provider does not answer: it is asked again.
    Unanswered,
}

/// Has the provider confirm a refusal of `about` that it has notified, if that contradicts what is recorded. Of a provider that
/// cannot be asked, a refusal of the same payment counts that has happened after the approval: after the moment that a
/// notification gave for it, or after its answer was recorded.
pub(crate) async fn confirm(
    app: &App,
    about: &TransactionRequest,
    refused: &Decline,
    when: Refused,
) -> Result<Confirmed, Error> {
    let Ran { charge, requests } = stored::whole_of(app, about).await?;
    let Some(approved) = charge.contradicted(&requests, about.id) else {
        return Ok(Confirmed::AsTold { takes_back: None });
    };
    let takes_back = approved.id;
    if !app.providers.can_be_asked(about.provider_type) {
        let is_of_another = refused
            .transaction_id
            .as_deref()
            .zip(approved.transaction_id())
            .is_some_and(|(refused, approved)| refused != approved);
        let approved_at = approved.occurred_at.unwrap_or(approved.updated_at);
        let is_later = match when {
            Refused::At(at) => at > approved_at,
            Refused::AfterApproval => true,
        };
        return Ok(match (is_of_another, is_later) {
            (true, _) => Confirmed::No("it is about another payment than the approved one"),
            (false, true) => Confirmed::AsTold { takes_back: Some(takes_back) },
            (false, false) => Confirmed::No("it is older than the approval"),
        });
    }
    let provider = provider_of(app, about).await?;
    let overrides = SimulatorOverrides::of(app, &charge, None);
    let found = call::find_out(app, &provider, about, &overrides, LookUp::PROBE, never_arrived()).await?;
    Ok(match &found.outcome {
        Outcome::Declined(_) => Confirmed::Says { found: Box::new(found), takes_back },
        Outcome::Approved(_) | Outcome::Accepted(_) | Outcome::Pending(_) => Confirmed::Denied,
        Outcome::Open | Outcome::NoEffect(_) | Outcome::Analysed(_) => Confirmed::Unanswered,
    })
}
