//! What happens to a payment at its provider after it was taken, without a call of ours: the payer disputes it, their bank
//! takes it back, or a refund comes back (`docs/interface/charges.md#disputes`). The requests of a charge record it, each
//! with the provider's id of the case, so that a repeated or late report changes nothing.

use serde::{Deserialize, Serialize};

use crate::currency::Currency;
use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;
use crate::words::words;

use super::attempt::{Approval, Asks, Outcome, RequestGroup, RequestType, ToldBy, TransactionRequest};
use super::revoked::is_taken_back;
use super::{Charge, ChargeEvent, ChargeState, StateName, Transition, approved_authorization};

mod case;
mod named;

pub(crate) use case::reverses_charge_back;
use case::{Case, Gravity, is_lost, lost_besides, open_disputes};
pub use case::{counting, lost};

words! {
    /// What happened.
    ReversalKind {
        /// The payer disputes the payment.
        DisputeOpened = "dispute_opened",
        /// The dispute was decided for the merchant.
        DisputeWon = "dispute_won",
        /// The merchant has again what the payer's bank had taken. It says nothing where nothing was taken: a provider that tells
        /// of no disputes shows a payment in the same way before them.
        ChargeBackReversed = "charge_back_reversed",
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
    /// The currency of the amount, where the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// When it happened, by the provider's clock; it is the newest of its case when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
}

impl Reversal {
    /// One of which the provider says neither the time nor the currency.
    pub const fn new(kind: ReversalKind, id: String, amount: Option<Amount>) -> Self {
        Self { kind, id, amount, currency: None, occurred_at: None }
    }
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
        /// It is more than is left of what was taken.
        MoreThanTaken = "more_than_taken",
        /// It is in another currency than the charge.
        OtherCurrency = "other_currency",
        /// The charge was captured before: it shows one capture.
        CapturedBefore = "captured_before",
        /// The provider, which was asked, does not say so.
        Unconfirmed = "unconfirmed",
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
    /// When it happened, by the provider's clock.
    pub occurred_at: Option<Timestamp>,
    /// What is recorded otherwise than it was reported.
    pub doubt: Option<Doubt>,
}

words! {
    /// Why a report is not recorded as it came.
    Doubt {
        /// It is more than was taken: what was taken is recorded.
        AboveThePayment = "above_the_payment",
        /// It is in another currency than the charge: it is recorded as if the provider had not named it.
        OtherCurrency = "other_currency",
        /// It names the payment alone, of which several cases have this sum: one of them is taken for it.
        OneOfSeveral = "one_of_several",
    }
}

impl Reversed {
    /// The request that records the report, at the time of the version that has it.
    pub fn request(&self, id: TransactionRequestId) -> TransactionRequest {
        let charge = &self.transition.charge;
        let begun = charge.begin_request(id, self.asks, charge.updated_at);
        let (outcome, occurred_at) = (self.outcome.clone(), self.occurred_at);
        TransactionRequest { outcome, occurred_at, told_by: Some(ToldBy::Elsewhere), ..begun }
    }
}

impl ReversalKind {
    /// The type of the transaction request that records it.
    pub const fn request_type(self) -> RequestType {
        match self {
            Self::DisputeOpened => RequestType::Dispute,
            Self::DisputeWon | Self::ChargeBackReversed => RequestType::DisputeClosed,
            Self::DisputeLost | Self::ChargedBack => RequestType::ChargeBack,
            Self::RefundReverted => RequestType::RevertVoid,
        }
    }
}

/// Whether a tester has set that the money was taken back, which has no case: what the provider tells of later is that.
fn is_charged_back_by_hand(request: &TransactionRequest) -> bool {
    request.request_type == RequestType::ChargeBack && request.transaction_id().is_none()
}

/// A part of `whole`; `None` for all of it.
fn part_of(part: Amount, whole: Amount) -> Option<Amount> {
    Some(part).filter(|part| *part < whole)
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
        let payment = approved_authorization(requests);
        let sum = self.sum_of(requests, reversal);
        let named = reversal.named(requests, payment.and_then(TransactionRequest::transaction_id), sum);
        let reversal = &Reversal { id: named.id, ..reversal.clone() };
        let case = Case { requests, id: &reversal.id };
        if reversal.is_told_by(case) {
            return ReversalVerdict::Known;
        }
        if reversal.kind.gravity() == Some(Gravity::Taken) && requests.iter().any(is_charged_back_by_hand) {
            return ReversalVerdict::Known;
        }
        let is_open = |dispute: &TransactionRequest| dispute.transaction_id() == Some(reversal.id.as_str());
        let opening = open_disputes(requests).find(|dispute| is_open(dispute));
        let (amount, doubt) = self.amount_of(requests, reversal, opening);
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
            (ChargeState::Failed { .. }, _) if self.ended_unpaid() => {
                Err(ReversalVerdict::TooEarly(ReversalReason::UnderWay))
            }
            // A case besides the one that has taken the money is recorded as well.
            (
                ChargeState::Authorized { .. } | ChargeState::ChargedBack { .. },
                ReversalKind::DisputeOpened,
            ) => Ok(self.disputed(now)),
            // The case that took the money was decided for the merchant in the end, or one besides it.
            (
                ChargeState::ChargedBack { responsible, .. },
                ReversalKind::DisputeWon | ReversalKind::ChargeBackReversed,
            ) if case.is_lost() || opening.is_some() => {
                Ok(self.won(*responsible, requests, &reversal.id, now))
            }
            (ChargeState::Authorized { .. } | ChargeState::Voided { .. }, ReversalKind::DisputeWon)
                if opening.is_some() =>
            {
                Ok(self.dispute_closed(now))
            }
            // Newer than the end of the same kind that is recorded: it counts where an end in between is heard later.
            (ChargeState::Authorized { .. } | ChargeState::Voided { .. }, ReversalKind::DisputeWon)
                if case.end().is_some() =>
            {
                Ok(self.noted(now))
            }
            (ChargeState::Authorized { .. } | ChargeState::ChargedBack { .. }, ReversalKind::DisputeWon) => {
                Err(ReversalVerdict::TooEarly(ReversalReason::NoSuchDispute))
            }
            (
                ChargeState::Authorized { responsible } | ChargeState::ChargedBack { responsible, .. },
                ReversalKind::DisputeLost | ReversalKind::ChargedBack,
            ) => Ok(self.charged_back(*responsible, requests, (case, amount), now)),
            // What was refunded while it was disputed may be taken a second time.
            (ChargeState::Voided { responsible }, ReversalKind::DisputeLost | ReversalKind::ChargedBack)
                if self.is_disputed(requests) || case.end().is_some() =>
            {
                Ok(self.charged_back(*responsible, requests, (case, amount), now))
            }
            (
                ChargeState::Authorized { responsible } | ChargeState::Voided { responsible },
                ReversalKind::RefundReverted,
            ) if doubt != Some(Doubt::OtherCurrency) => {
                self.refund_reverted(*responsible, requests, about, reversal, now)
            }
            (ChargeState::Authorized { .. } | ChargeState::Voided { .. }, ReversalKind::RefundReverted) => {
                Err(ReversalVerdict::Refused(ReversalReason::OtherCurrency))
            }
            // Its refund may have come back, which is not told yet.
            (
                ChargeState::Voided { .. },
                ReversalKind::DisputeOpened
                | ReversalKind::DisputeWon
                | ReversalKind::ChargeBackReversed
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
                | ReversalKind::ChargeBackReversed
                | ReversalKind::DisputeLost
                | ReversalKind::ChargedBack
                | ReversalKind::RefundReverted,
            )
            | (ChargeState::Authorized { .. }, ReversalKind::ChargeBackReversed) => {
                Err(ReversalVerdict::Refused(ReversalReason::State))
            }
        };
        let transition = match change {
            Ok(transition) => transition,
            Err(verdict) => return verdict,
        };
        let Some(taken) = payment.filter(|taken| is_of(taken, about, requests)) else {
            return ReversalVerdict::Refused(ReversalReason::OtherPayment);
        };
        let amount = match reversal.kind {
            ReversalKind::DisputeOpened
            | ReversalKind::DisputeLost
            | ReversalKind::ChargedBack
            | ReversalKind::DisputeWon
            | ReversalKind::ChargeBackReversed => amount,
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
            occurred_at: reversal.occurred_at,
            doubt: doubt.or_else(|| named.is_one_of_several.then_some(Doubt::OneOfSeveral)),
        }))
    }

    /// What a report says that it is about, as it is recorded; `None` where it does not say.
    fn sum_of(&self, requests: &[TransactionRequest], reversal: &Reversal) -> Option<Amount> {
        let is_other = reversal.currency.is_some_and(|currency| currency != self.currency);
        reversal.amount.filter(|_| !is_other).map(|named| named.min(taken(requests).max(self.amount)))
    }

    /// What a report is about: what its dispute was about, or else all that is left, where it does not say. A case cannot
    /// take more than the provider has taken.
    fn amount_of(
        &self,
        requests: &[TransactionRequest],
        reversal: &Reversal,
        opening: Option<&TransactionRequest>,
    ) -> (Amount, Option<Doubt>) {
        let most = taken(requests).max(self.amount);
        let unnamed = opening.map_or(self.amount, |opening| opening.amount);
        match reversal.amount {
            Some(_) if reversal.currency.is_some_and(|currency| currency != self.currency) => {
                (unnamed, Some(Doubt::OtherCurrency))
            }
            // More than was refunded is refused.
            Some(named) if named > most && reversal.kind != ReversalKind::RefundReverted => {
                (most, Some(Doubt::AboveThePayment))
            }
            Some(named) => (named, None),
            None => (unnamed, None),
        }
    }

    fn disputed(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::Dispute), now)
    }

    fn dispute_closed(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::DisputeClosed), now)
    }

    fn noted(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), None, now)
    }

    /// A case has taken this amount. What it had taken before is part of it, and no news.
    fn charged_back(
        &self,
        responsible: ProviderType,
        requests: &[TransactionRequest],
        (case, amount): (Case<'_>, Amount),
        now: Timestamp,
    ) -> Transition {
        let taken = lost_besides(requests, case.id, self.amount).plus(amount).unwrap_or(self.amount);
        let state = ChargeState::ChargedBack { responsible, lost: part_of(taken, self.amount) };
        let announces = (!case.is_lost()).then_some(ChargeEvent::ChargedBack);
        self.transition(state, announces, now)
    }

    /// A case was decided for the merchant. Without another one that is lost the charge is what it was before, refunded in
    /// full or not.
    fn won(
        &self,
        responsible: ProviderType,
        requests: &[TransactionRequest],
        id: &str,
        now: Timestamp,
    ) -> Transition {
        let is_of_another = |request: &&TransactionRequest| request.transaction_id() != Some(id);
        let state = if requests.iter().filter(is_of_another).any(|request| is_lost(requests, request)) {
            let lost = part_of(lost_besides(requests, id, self.amount), self.amount);
            ChargeState::ChargedBack { responsible, lost }
        } else if self.amount == Amount::ZERO {
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
pub(super) fn void_of(about: &TransactionRequest, requests: &[TransactionRequest]) -> Option<i64> {
    let is_void = |request: &&TransactionRequest| request.request_type == RequestType::Void;
    let followed = about.follows.and_then(|id| requests.iter().find(|request| request.id == id));
    Some(about).filter(is_void).map(|about| followed.filter(is_void).unwrap_or(about).ordinal)
}

/// How often a refund came back.
pub fn refunds_reverted<'a>(requests: impl IntoIterator<Item = &'a TransactionRequest>) -> i64 {
    let reverted = requests.into_iter().filter(|request| request.request_type == RequestType::RevertVoid);
    i64::try_from(reverted.count()).unwrap_or(i64::MAX)
}

/// What the provider has taken: what was captured and did not fail later, or paid at once.
pub(super) fn taken(requests: &[TransactionRequest]) -> Amount {
    taking(requests).map_or(Amount::ZERO, |request| request.amount)
}

/// The request with which the provider has taken the money; `None` while it holds a reservation, or nothing.
pub(super) fn taking(requests: &[TransactionRequest]) -> Option<&TransactionRequest> {
    let is_capture = |request: &&TransactionRequest| {
        request.request_type == RequestType::Capture
            && matches!(request.outcome, Outcome::Approved(_))
            && !is_taken_back(requests, request)
    };
    let at_once = || {
        let authorization = approved_authorization(requests)?;
        (authorization.request_type == RequestType::Authorization).then_some(authorization)
    };
    requests.iter().find(is_capture).or_else(at_once)
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
        // A case of it that has its id.
        RequestGroup::Reversal(_) => about.follows == Some(taken.id),
        RequestGroup::Authorization(_)
        | RequestGroup::CardCheck
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => false,
    }
}
