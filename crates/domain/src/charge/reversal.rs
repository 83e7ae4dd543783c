//! What happens to a payment at its provider after it was taken, without a call of ours: the payer disputes it, his bank
//! takes it back, or a refund comes back (`docs/interface/charges.md#disputes`). The requests of a charge record it, each
//! with the provider's id of the case, so that a repeated or late report changes nothing.

use serde::{Deserialize, Serialize};

use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

use super::attempt::{Approval, Asks, Outcome, RequestGroup, RequestType, TransactionRequest};
use super::words::words;
use super::{Charge, ChargeEvent, ChargeState, StateName, Transition, approved_authorization};

words! {
    /// What happened.
    ReversalKind {
        /// The payer disputes the payment.
        DisputeOpened = "dispute_opened",
        /// The dispute was decided for the merchant.
        DisputeWon = "dispute_won",
        /// The dispute was decided for the payer, whose bank takes the money back.
        DisputeLost = "dispute_lost",
        /// The payer's bank took the money back.
        ChargedBack = "charged_back",
        /// A refund came back: the merchant has the money again.
        RefundReverted = "refund_reverted",
    }
}

/// Something that happened to a payment, as its provider reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reversal {
    /// What happened.
    pub kind: ReversalKind,
    /// The provider's id of the case: a dispute has one id from its opening to its end.
    pub id: String,
    /// What it is about, in minor units; everything when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
}

words! {
    /// Why a report changes nothing.
    ReversalReason {
        /// The payment, or an operation on it, has no outcome yet.
        UnderWay = "under_way",
        /// The opening of the dispute is not known.
        NoSuchDispute = "no_such_dispute",
        /// The state of the charge does not allow it.
        State = "state",
        /// It is about another payment than the one that the charge consists of.
        OtherPayment = "other_payment",
        /// It is more than was refunded.
        MoreThanRefunded = "more_than_refunded",
    }
}

/// What a report does to a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReversalVerdict {
    /// It changes the charge. Boxed, since a charge is large.
    Applies(Box<Reversed>),
    /// The charge has it already.
    Known,
    /// It is decided again later: what it follows is not known yet.
    TooEarly(ReversalReason),
    /// It never applies.
    Refused(ReversalReason),
}

/// A charge after a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversed {
    /// The charge, with one more request, and the event.
    pub transition: Transition,
    /// The request that records it.
    pub asks: Asks,
    /// How that request ended.
    pub outcome: Outcome,
}

impl Reversed {
    /// The request that records the report.
    pub fn request(&self, id: TransactionRequestId, now: Timestamp) -> TransactionRequest {
        let begun = self.transition.charge.begin_request(id, self.asks, now);
        TransactionRequest { outcome: self.outcome.clone(), ..begun }
    }
}

impl ReversalKind {
    /// The type of the transaction request that records it.
    pub const fn request_type(self) -> RequestType {
        match self {
            Self::DisputeOpened => RequestType::Dispute,
            Self::DisputeWon => RequestType::DisputeClosed,
            Self::DisputeLost | Self::ChargedBack => RequestType::ChargeBack,
            Self::RefundReverted => RequestType::RevertVoid,
        }
    }

    /// The types of requests that say as much, or more, of the same case.
    const fn is_told_by(self, told: RequestType) -> bool {
        match (self, told) {
            (
                Self::DisputeOpened,
                RequestType::Dispute | RequestType::DisputeClosed | RequestType::ChargeBack,
            )
            | (Self::DisputeWon, RequestType::DisputeClosed)
            | (Self::DisputeLost | Self::ChargedBack, RequestType::ChargeBack)
            | (Self::RefundReverted, RequestType::RevertVoid) => true,
            (
                Self::DisputeOpened
                | Self::DisputeWon
                | Self::DisputeLost
                | Self::ChargedBack
                | Self::RefundReverted,
                _,
            ) => false,
        }
    }
}

impl Charge {
    /// `isDispute`: a dispute is open, and the money was not taken back.
    pub fn is_disputed(&self, requests: &[TransactionRequest]) -> bool {
        self.state.name() != StateName::ChargedBack && open_disputes(requests).next().is_some()
    }

    /// Decides what a report changes. `requests` are those of the charge, oldest first; `about` is the one that the
    /// provider names.
    pub fn reverse(
        &self,
        requests: &[TransactionRequest],
        about: &TransactionRequest,
        reversal: &Reversal,
        now: Timestamp,
    ) -> ReversalVerdict {
        let says_it = |request: &TransactionRequest| {
            reversal.kind.is_told_by(request.request_type)
                && request.transaction_id() == Some(reversal.id.as_str())
        };
        if requests.iter().any(says_it) {
            return ReversalVerdict::Known;
        }
        let is_open = |dispute: &TransactionRequest| dispute.transaction_id() == Some(reversal.id.as_str());
        let opening = open_disputes(requests).find(|dispute| is_open(dispute));
        let change = match (&self.state, reversal.kind) {
            (
                ChargeState::Processing
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::CapturePending { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. },
                _,
            ) => Err(ReversalVerdict::TooEarly(ReversalReason::UnderWay)),
            // The payer may have paid all the same.
            (ChargeState::Failed { .. }, _) if self.has_expired() => {
                Err(ReversalVerdict::TooEarly(ReversalReason::UnderWay))
            }
            (ChargeState::Authorized { .. }, ReversalKind::DisputeOpened) => Ok(self.disputed(now)),
            (ChargeState::Authorized { .. } | ChargeState::Voided { .. }, ReversalKind::DisputeWon)
                if opening.is_some() =>
            {
                Ok(self.dispute_closed(now))
            }
            (ChargeState::Authorized { .. }, ReversalKind::DisputeWon) => {
                Err(ReversalVerdict::TooEarly(ReversalReason::NoSuchDispute))
            }
            (
                ChargeState::Authorized { responsible },
                ReversalKind::DisputeLost | ReversalKind::ChargedBack,
            ) => Ok(self.charged_back(*responsible, now)),
            // What was refunded while it was disputed may be taken a second time.
            (ChargeState::Voided { responsible }, ReversalKind::DisputeLost | ReversalKind::ChargedBack)
                if self.is_disputed(requests) =>
            {
                Ok(self.charged_back(*responsible, now))
            }
            (
                ChargeState::Authorized { responsible } | ChargeState::Voided { responsible },
                ReversalKind::RefundReverted,
            ) => self.refund_reverted(*responsible, requests, reversal, now),
            (ChargeState::ChargedBack { .. }, ReversalKind::DisputeLost | ReversalKind::ChargedBack) => {
                Err(ReversalVerdict::Known)
            }
            // Its refund may have come back, which is not told yet.
            (
                ChargeState::Voided { .. },
                ReversalKind::DisputeOpened
                | ReversalKind::DisputeWon
                | ReversalKind::DisputeLost
                | ReversalKind::ChargedBack,
            ) => Err(ReversalVerdict::TooEarly(ReversalReason::State)),
            (
                ChargeState::PreAuthorized { .. }
                | ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::ChargedBack { .. },
                ReversalKind::DisputeOpened
                | ReversalKind::DisputeWon
                | ReversalKind::DisputeLost
                | ReversalKind::ChargedBack
                | ReversalKind::RefundReverted,
            ) => Err(ReversalVerdict::Refused(ReversalReason::State)),
        };
        let transition = match change {
            Ok(transition) => transition,
            Err(verdict) => return verdict,
        };
        let Some(taken) = approved_authorization(requests).filter(|taken| is_of(taken, about, requests))
        else {
            return ReversalVerdict::Refused(ReversalReason::OtherPayment);
        };
        let amount = match reversal.kind {
            ReversalKind::DisputeOpened | ReversalKind::DisputeLost | ReversalKind::ChargedBack => {
                reversal.amount.unwrap_or(self.amount)
            }
            ReversalKind::DisputeWon => {
                reversal.amount.or(opening.map(|opening| opening.amount)).unwrap_or(self.amount)
            }
            ReversalKind::RefundReverted => {
                transition.charge.amount.minus(self.amount).unwrap_or(Amount::ZERO)
            }
        };
        let asks = Asks::about(taken, reversal.kind.request_type(), amount);
        let approval = Approval { transaction_id: Some(reversal.id.clone()), ..Approval::default() };
        ReversalVerdict::Applies(Box::new(Reversed {
            transition: Transition { charge: transition.charge.with_one_more_request(), ..transition },
            asks,
            outcome: Outcome::Approved(approval),
        }))
    }

    fn disputed(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::Dispute), now)
    }

    fn dispute_closed(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::DisputeClosed), now)
    }

    fn charged_back(&self, responsible: ProviderType, now: Timestamp) -> Transition {
        self.transition(ChargeState::ChargedBack { responsible }, Some(ChargeEvent::ChargedBack), now)
    }

    /// The merchant has a part of what was refunded again, never more than that.
    fn refund_reverted(
        &self,
        responsible: ProviderType,
        requests: &[TransactionRequest],
        reversal: &Reversal,
        now: Timestamp,
    ) -> Result<Transition, ReversalVerdict> {
        let refunded = taken(requests).minus(self.amount).unwrap_or(Amount::ZERO);
        let part = reversal.amount.unwrap_or(refunded);
        let is_possible = part > Amount::ZERO && part <= refunded;
        let amount = is_possible.then(|| self.amount.plus(part)).flatten();
        let amount = amount.ok_or(ReversalVerdict::Refused(ReversalReason::MoreThanRefunded))?;
        let state = ChargeState::Authorized { responsible };
        let mut reverted = self.transition(state, Some(ChargeEvent::RevertVoid), now);
        reverted.charge = reverted.charge.with_amount(amount);
        Ok(reverted)
    }
}

/// The requests that opened a dispute which has not ended.
fn open_disputes(requests: &[TransactionRequest]) -> impl Iterator<Item = &TransactionRequest> {
    let is_over = |opening: &TransactionRequest| {
        requests.iter().any(|request| {
            matches!(request.request_type, RequestType::DisputeClosed | RequestType::ChargeBack)
                && request.transaction_id() == opening.transaction_id()
        })
    };
    requests
        .iter()
        .filter(|request| request.request_type == RequestType::Dispute)
        .filter(move |request| !is_over(request))
}

/// How often a refund came back.
pub fn refunds_reverted<'a>(requests: impl IntoIterator<Item = &'a TransactionRequest>) -> i64 {
    let reverted = requests.into_iter().filter(|request| request.request_type == RequestType::RevertVoid);
    i64::try_from(reverted.count()).unwrap_or(i64::MAX)
}

/// What the provider has taken: what was captured, or paid at once.
fn taken(requests: &[TransactionRequest]) -> Amount {
    let is_capture = |request: &&TransactionRequest| {
        request.request_type == RequestType::Capture && matches!(request.outcome, Outcome::Approved(_))
    };
    let at_once = || {
        let authorization = approved_authorization(requests)?;
        (authorization.request_type == RequestType::Authorization).then_some(authorization)
    };
    requests.iter().find(is_capture).or_else(at_once).map_or(Amount::ZERO, |request| request.amount)
}

/// Whether the payment `taken` is what a report about `about` means: the request itself, the one whose instructions the
/// payer followed, or a capture or refund of it.
fn is_of(taken: &TransactionRequest, about: &TransactionRequest, requests: &[TransactionRequest]) -> bool {
    if about.id == taken.id || Some(about.id) == taken.awaited() {
        return true;
    }
    let followed = about.follows.and_then(|id| requests.iter().find(|request| request.id == id));
    match about.request_type.group() {
        RequestGroup::FollowUp(_) => match followed {
            Some(followed) => followed.id == taken.id || followed.follows == Some(taken.id),
            // Requests of earlier releases do not name it.
            None => about.follows.is_none(),
        },
        RequestGroup::Authorization(_)
        | RequestGroup::CardCheck
        | RequestGroup::Reversal(_)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => false,
    }
}
