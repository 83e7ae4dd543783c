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
    /// The request that records the report, at the time of the version that has it.
    pub fn request(&self, id: TransactionRequestId) -> TransactionRequest {
        let charge = &self.transition.charge;
        let begun = charge.begin_request(id, self.asks, charge.updated_at);
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

    /// Whether its case is decided with it, for the time being.
    const fn ends_case(self) -> bool {
        match self {
            Self::DisputeWon | Self::DisputeLost | Self::ChargedBack => true,
            Self::DisputeOpened | Self::RefundReverted => false,
        }
    }

    /// Whether what is recorded of its case says as much, or more.
    fn is_told_by(self, case: Case<'_>) -> bool {
        let has = |told: RequestType| case.requests().any(|request| request.request_type == told);
        match self {
            Self::DisputeOpened => has(RequestType::Dispute) || case.end().is_some(),
            // A case can end several times: a bank takes the money, gives it back, and takes it again.
            Self::DisputeWon => case.end() == Some(RequestType::DisputeClosed),
            Self::DisputeLost => case.end() == Some(RequestType::ChargeBack),
            // Without a dispute a case takes the money once: what repeats it is an old message.
            Self::ChargedBack => has(RequestType::ChargeBack),
            Self::RefundReverted => has(RequestType::RevertVoid),
        }
    }
}

/// Of all that a provider has told of a payment, in order, what counts: of a case that ended several times the last end. A
/// provider that repeats the whole story would end the case anew each time otherwise.
pub fn counting(told: &[Reversal]) -> impl Iterator<Item = &Reversal> {
    let is_overruled = |place: usize, reversal: &Reversal| {
        let is_later_end = |later: &Reversal| later.kind.ends_case() && later.id == reversal.id;
        reversal.kind.ends_case() && told.iter().skip(place + 1).any(is_later_end)
    };
    let counts = move |(place, reversal): &(usize, &Reversal)| !is_overruled(*place, reversal);
    told.iter().enumerate().filter(counts).map(|(_, reversal)| reversal)
}

/// What is recorded of a case.
#[derive(Clone, Copy)]
struct Case<'a> {
    requests: &'a [TransactionRequest],
    id: &'a str,
}

impl<'a> Case<'a> {
    fn requests(self) -> impl DoubleEndedIterator<Item = &'a TransactionRequest> {
        self.requests.iter().filter(move |request| {
            matches!(request.request_type.group(), RequestGroup::Reversal(_))
                && request.transaction_id() == Some(self.id)
        })
    }

    /// How it ended last.
    fn end(self) -> Option<RequestType> {
        let ends = |told: &RequestType| matches!(told, RequestType::DisputeClosed | RequestType::ChargeBack);
        self.requests().rev().map(|request| request.request_type).find(ends)
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
        let case = Case { requests, id: &reversal.id };
        if reversal.kind.is_told_by(case) {
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
            ) => self.refund_reverted(*responsible, requests, about, reversal, now),
            (ChargeState::ChargedBack { .. }, ReversalKind::DisputeLost | ReversalKind::ChargedBack) => {
                Err(ReversalVerdict::Known)
            }
            // The case that took the money was decided for the merchant in the end.
            (ChargeState::ChargedBack { responsible }, ReversalKind::DisputeWon)
                if case.end() == Some(RequestType::ChargeBack) =>
            {
                Ok(self.charge_back_reversed(*responsible, now))
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

    /// The money is back: it is what it was before, refunded in full or not.
    fn charge_back_reversed(&self, responsible: ProviderType, now: Timestamp) -> Transition {
        let state = if self.amount == Amount::ZERO {
            ChargeState::Voided { responsible }
        } else {
            ChargeState::Authorized { responsible }
        };
        self.transition(state, Some(ChargeEvent::DisputeClosed), now)
    }

    /// The merchant has a part of what was refunded again, never more than that.
    fn refund_reverted(
        &self,
        responsible: ProviderType,
        requests: &[TransactionRequest],
        about: &TransactionRequest,
        reversal: &Reversal,
        now: Timestamp,
    ) -> Result<Transition, ReversalVerdict> {
        let refunded = taken(requests).minus(self.amount).unwrap_or(Amount::ZERO);
        let part = reversal.amount.unwrap_or(refunded);
        let is_possible = part > Amount::ZERO && part <= refunded;
        let state = ChargeState::Authorized { responsible };
        let mut reverted = self.transition(state, Some(ChargeEvent::RevertVoid), now);
        let raised =
            is_possible.then(|| reverted.charge.with_come_back(part, void_of(about, requests))).flatten();
        reverted.charge = raised.ok_or(ReversalVerdict::Refused(ReversalReason::MoreThanRefunded))?;
        Ok(reverted)
    }
}

/// The ordinal of the void that a report is about: what follows an accepted one is its result.
fn void_of(about: &TransactionRequest, requests: &[TransactionRequest]) -> Option<i64> {
    let is_void = |request: &&TransactionRequest| request.request_type == RequestType::Void;
    let followed = about.follows.and_then(|id| requests.iter().find(|request| request.id == id));
    Some(about).filter(is_void).map(|about| followed.filter(is_void).unwrap_or(about).ordinal)
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

/// Whether a request that closed a dispute, at this place, is the end of a charge back: its case had taken the money.
pub(crate) fn reverses_charge_back(requests: &[TransactionRequest], place: usize) -> bool {
    let closed = requests.get(place).filter(|request| request.request_type == RequestType::DisputeClosed);
    let id = closed.and_then(TransactionRequest::transaction_id);
    let earlier = requests.get(..place).unwrap_or_default();
    id.is_some_and(|id| Case { requests: earlier, id }.end() == Some(RequestType::ChargeBack))
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
pub(crate) fn is_of(
    taken: &TransactionRequest,
    about: &TransactionRequest,
    requests: &[TransactionRequest],
) -> bool {
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
