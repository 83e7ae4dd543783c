//! A provider takes its word back: it had approved a payment or a capture, and says later that it has refused it
//! (`docs/interface/charges.md#word-taken-back`).

use crate::decline::Decline;
use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::routing::explanation::Stopped;
use crate::time::Timestamp;

use super::attempt::{Asks, Outcome, RequestGroup, RequestType, TransactionRequest};
use super::{
    Charge, ChargeEvent, ChargeState, ChargeStatus, FollowUpKind, Transition, approved_authorization,
};

/// What follows when a provider refuses what it had approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterRevoking {
    /// The charge after it, with the request that tells of it.
    Revoked(Box<(Transition, TransactionRequest)>),
    /// The charge does not rest on that approval.
    Nothing,
    /// An operation on the charge is under way: it is decided when that has ended.
    TooEarly,
    /// What has happened to the money since leaves it to an operator.
    NotPossible(ChargeStatus),
}

/// What a capture is that has failed and that nobody here has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedCapture<'a> {
    /// This one, which was told as done.
    Recorded(&'a TransactionRequest),
    /// The provider has captured by itself what it approved: the payment fails with it.
    ByItself,
    /// A capture by hand that is not told as done yet.
    NotTold,
}

/// Which capture of the payment `about` has failed: the one with this id of the provider, if there is one.
pub fn failed_capture<'a>(
    requests: &'a [TransactionRequest],
    about: &TransactionRequest,
    id: Option<&str>,
) -> FailedCapture<'a> {
    let is_meant = |request: &&TransactionRequest| {
        request.request_type == RequestType::Capture
            && matches!(request.outcome, Outcome::Approved(_))
            && id.is_some()
            && request.transaction_id() == id
    };
    match requests.iter().find(is_meant) {
        Some(capture) => FailedCapture::Recorded(capture),
        None if about.request_type == RequestType::PreAuthorization => FailedCapture::NotTold,
        None => FailedCapture::ByItself,
    }
}

impl Charge {
    /// The approval that a refusal of the request `about` contradicts, if that has not been taken back already. Of a payer
    /// who has paid several times it is the first payment.
    pub fn contradicted<'a>(
        &self,
        requests: &'a [TransactionRequest],
        about: TransactionRequestId,
    ) -> Option<&'a TransactionRequest> {
        let approved = requests
            .iter()
            .find(|request| is_about(request, about) && matches!(request.outcome, Outcome::Approved(_)))?;
        let is_taken = match approved.request_type.group() {
            RequestGroup::Authorization(_) => {
                approved_authorization(requests).is_some_and(|taken| taken.id == approved.id)
            }
            RequestGroup::FollowUp(FollowUpKind::Capture) => true,
            RequestGroup::FollowUp(FollowUpKind::Void)
            | RequestGroup::CardCheck
            | RequestGroup::Reversal(_)
            | RequestGroup::Authentication(_)
            | RequestGroup::Risk(_) => false,
        };
        (is_taken && !is_revoked(requests, approved, about)).then_some(approved)
    }

    /// What follows when the provider refuses the request `about`, which it had approved. `requests` are those of the
    /// charge, oldest first; `id` is that of the request that tells of it.
    pub fn revoke(
        &self,
        id: TransactionRequestId,
        requests: &[TransactionRequest],
        about: TransactionRequestId,
        decline: &Decline,
        now: Timestamp,
    ) -> AfterRevoking {
        let Some(approved) = self.contradicted(requests, about) else { return AfterRevoking::Nothing };
        let is_capture = approved.request_type == RequestType::Capture;
        let shown = self.state.status();
        let revoked = match self.state {
            // What was reserved is released.
            ChargeState::PreAuthorized { responsible } if !is_capture => {
                let state = ChargeState::Canceled { responsible };
                let released = self.transition(state, Some(ChargeEvent::Canceled), now);
                let charge = released.charge.with_given_back(Amount::ZERO, self.requests);
                Transition { charge, ..released }
            }
            ChargeState::Authorized { .. } if !is_untouched(requests) => {
                return AfterRevoking::NotPossible(shown);
            }
            ChargeState::Authorized { responsible } if !is_capture => {
                self.transition(ChargeState::Failed { responsible }, Some(ChargeEvent::Failed), now)
            }
            ChargeState::Authorized { responsible } => {
                let reserved = approved_authorization(requests).map_or(self.amount, |taken| taken.amount);
                // What was captured of a part that is divided cannot be divided back.
                if self.split.is_some() && reserved != self.amount {
                    return AfterRevoking::NotPossible(shown);
                }
                let state = ChargeState::PreAuthorized { responsible };
                self.transition(state, Some(ChargeEvent::PreAuthorized), now).with_amount(reserved)
            }
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. } => return AfterRevoking::TooEarly,
            // It holds nothing.
            ChargeState::Failed { .. } | ChargeState::Canceled { .. } | ChargeState::Voided { .. } => {
                return AfterRevoking::Nothing;
            }
            ChargeState::PreAuthorized { .. } | ChargeState::ChargedBack { .. } => {
                return AfterRevoking::NotPossible(shown);
            }
        };
        let Transition { mut charge, announces } = revoked;
        if matches!(charge.state, ChargeState::Failed { .. }) {
            charge.explanation.stopped = Some(Stopped::Interrupted);
        }
        let charge = charge.with_one_more_request();
        let asks =
            Asks { follows: Some(about), ..Asks::about(approved, approved.request_type, approved.amount) };
        let told = TransactionRequest {
            outcome: Outcome::Declined(decline.clone()),
            ..charge.begin_request(id, asks, now)
        };
        AfterRevoking::Revoked(Box::new((Transition { charge, announces }, told)))
    }
}

impl Transition {
    fn with_amount(self, amount: Amount) -> Self {
        Self { charge: Charge { amount, ..self.charge }, ..self }
    }
}

/// Whether a request tells that its provider refuses what another one of these has approved.
pub(super) fn takes_back<'a>(
    refusal: &TransactionRequest,
    mut requests: impl Iterator<Item = &'a TransactionRequest>,
) -> bool {
    let Some(about) = refusal.follows else { return false };
    let is_approval = |request: &TransactionRequest| {
        request.ordinal < refusal.ordinal
            && request.request_type == refusal.request_type
            && is_about(request, about)
            && matches!(request.outcome, Outcome::Approved(_))
    };
    let is_of_money = refusal.request_type.is_authorization() || refusal.request_type == RequestType::Capture;
    is_of_money && matches!(refusal.outcome, Outcome::Declined(_)) && requests.any(is_approval)
}

/// Whether a request tells of this one, or is it.
fn is_about(request: &TransactionRequest, about: TransactionRequestId) -> bool {
    request.id == about || request.follows == Some(about)
}

/// Whether the approval was taken back.
fn is_revoked(
    requests: &[TransactionRequest],
    approved: &TransactionRequest,
    about: TransactionRequestId,
) -> bool {
    requests.iter().any(|request| {
        request.ordinal > approved.ordinal
            && request.request_type == approved.request_type
            && is_about(request, about)
            && matches!(request.outcome, Outcome::Declined(_))
    })
}

/// Whether the provider has taken an approval back. `requests` are those of its charge.
pub(crate) fn is_taken_back(requests: &[TransactionRequest], approved: &TransactionRequest) -> bool {
    // The result of what was accepted first is told of that request.
    let is_accepted = |id: &TransactionRequestId| {
        requests.iter().any(|request| request.id == *id && request.request_type == approved.request_type)
    };
    let told_of = approved.follows.filter(is_accepted);
    // Of a payer who has paid several times it is the first payment.
    let is_first = |about: TransactionRequestId| {
        let mut approvals = requests.iter().filter(|request| matches!(request.outcome, Outcome::Approved(_)));
        approvals.find(|request| is_about(request, about)).is_some_and(|first| first.id == approved.id)
    };
    let mut abouts = [Some(approved.id), told_of].into_iter().flatten();
    abouts.any(|about| is_first(about) && is_revoked(requests, approved, about))
}

/// Whether nobody has given anything back, asked for it or disputed it. A void that was refused gave nothing back, also if
/// it had been accepted first.
fn is_untouched(requests: &[TransactionRequest]) -> bool {
    let is_refused = |accepted: &TransactionRequest| {
        let is_refusal = |told: &TransactionRequest| {
            told.follows == Some(accepted.id) && matches!(told.outcome, Outcome::Declined(_))
        };
        requests.iter().any(is_refusal)
    };
    let touches = |request: &TransactionRequest| match (request.request_type.group(), &request.outcome) {
        (RequestGroup::Reversal(_), _) => true,
        (RequestGroup::FollowUp(FollowUpKind::Void), Outcome::Accepted(_)) => !is_refused(request),
        (
            RequestGroup::FollowUp(FollowUpKind::Void),
            Outcome::Open | Outcome::Approved(_) | Outcome::Pending(_),
        ) => true,
        (
            RequestGroup::FollowUp(FollowUpKind::Void),
            Outcome::Declined(_) | Outcome::NoEffect(_) | Outcome::Analysed(_),
        )
        | (
            RequestGroup::FollowUp(FollowUpKind::Capture)
            | RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::Authentication(_)
            | RequestGroup::Risk(_),
            _,
        ) => false,
    };
    !requests.iter().any(touches)
}
