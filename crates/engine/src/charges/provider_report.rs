//! Applies what a provider says of a request after its call, in answer to a probe or by a notification.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, RequestGroup, TransactionRequest};
use regente_domain::charge::{ChargeStatus, Says};
use regente_domain::id::{Id, TransactionRequestId};
use regente_store::transaction_requests::{ObjectKind, StoredRequest};

use crate::app::App;
use crate::charges::approval_revoked::{self, Revoked};
use crate::charges::late_answer;
use crate::error::Error;
use crate::transaction_requests::call::ProviderReport;
use crate::{anti_fraud, captures_and_voids, card_checks, disputes};

/// What became of what a provider says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The records show it.
    Yes,
    /// It is to be told again when what is under way has ended.
    TooEarly,
    /// It cannot be followed in this status; an operator was told.
    LeftToOperator(ChargeStatus),
}

/// Applies it, however often it is said and in whatever order. The caller has admission. `takes_back` is the approval that
/// a refusal takes back: one that was recorded before the provider was asked or has said so. A refusal of another approval is too
/// early, and the caller asks again.
///
/// # Errors
/// [`Error::Busy`] when other changes came first each time; [`Error::Unavailable`] when it is not known whether the change
/// is written.
pub(crate) async fn apply(
    app: &App,
    stored: &StoredRequest,
    mut found: ProviderReport,
    takes_back: Option<TransactionRequestId>,
    actor: &Actor,
) -> Result<Applied, Error> {
    let request = &stored.request;
    let refused = match (stored.object_kind, &found.outcome) {
        (ObjectKind::Charge, Outcome::Declined(decline)) => Some(decline.clone()),
        (ObjectKind::Charge | ObjectKind::Card, _) => None,
    };
    if let Some(decline) = &refused {
        match approval_revoked::take(app, request, decline, takes_back, actor).await? {
            Revoked::Nothing => {}
            Revoked::Yes => return Ok(Applied::Yes),
            Revoked::TooEarly => return Ok(Applied::TooEarly),
            Revoked::LeftToOperator(status) => return Ok(Applied::LeftToOperator(status)),
        }
    }
    let (occurred_at, told_by) = (found.occurred_at, found.told_by);
    let ended = |outcome| TransactionRequest {
        occurred_at,
        told_by,
        ..request.end(outcome, None, app.clock.of(request.client_id))
    };
    let reversals = std::mem::take(&mut found.reversals);
    let outcome = match (stored.object_kind, Says::of(request, &found.outcome)) {
        (_, Says::NothingNew) => return Ok(Applied::Yes),
        (ObjectKind::Card, _) => match request.outcome {
            Outcome::Open => card_checks::recover(app, stored, ended(found.outcome), actor).await,
            Outcome::Pending(_)
            | Outcome::Accepted(_)
            | Outcome::Approved(_)
            | Outcome::Declined(_)
            | Outcome::NoEffect(_)
            | Outcome::Analysed(_) => Ok(()),
        },
        (ObjectKind::Charge, Says::Authorization) => late_answer::take_all(app, request, found, actor).await,
        (ObjectKind::Charge, Says::ResultOfAccepted) => {
            captures_and_voids::report(app, request, found, actor).await
        }
        (ObjectKind::Charge, Says::EndOfOperation) => {
            captures_and_voids::recover(app, ended(found.outcome), actor).await
        }
        (ObjectKind::Charge, Says::Verdict) => judge(app, request, ended(found.outcome), actor).await,
    };
    outcome?;
    disputes::apply_all(app, request, &reversals, actor).await?;
    Ok(match refused {
        // Another node was faster with an approval: which of the two holds, the provider says when it is asked again.
        Some(decline) if approval_revoked::contradicts(app, request, &decline).await? => Applied::TooEarly,
        Some(_) | None => Applied::Yes,
    })
}

/// Applies what a risk analysis found. A pending one keeps its request: the verdict is recorded in one of its own.
async fn judge(
    app: &App,
    request: &TransactionRequest,
    ended: TransactionRequest,
    actor: &Actor,
) -> Result<(), Error> {
    match (ended.verdict(), request.verdict()) {
        (None, _) => Ok(()),
        (Some(_), None) => late_answer::take(app, &ended, actor).await,
        (Some(verdict), Some(_)) => {
            let charge = (ended.client_id, Id::new(ended.object_id));
            anti_fraud::take(app, charge, verdict, actor, |_| {}).await.map(drop)
        }
    }
}

/// What a request asks of its provider.
pub(crate) enum RequestPurpose {
    /// To authorize, to check a card, or to authenticate its holder.
    Authorizes,
    /// To capture or void an earlier authorization.
    FollowsUp,
    /// To analyse the risk.
    Analyses,
}

pub(crate) const fn way(request: &TransactionRequest) -> RequestPurpose {
    match request.request_type.group() {
        RequestGroup::Authorization(_) | RequestGroup::CardCheck | RequestGroup::Authentication(_) => {
            RequestPurpose::Authorizes
        }
        RequestGroup::FollowUp(_) | RequestGroup::Reversal(_) => RequestPurpose::FollowsUp,
        RequestGroup::Risk(_) => RequestPurpose::Analyses,
    }
}
