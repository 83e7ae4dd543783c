//! What the merchant does with a payment at its provider's own page, or by another system of theirs: they capture, release or
//! refund what a charge of ours holds, and nobody here has asked for it (`docs/interface/charges.md#done-elsewhere`).

use crate::currency::Currency;
use crate::money::Amount;
use crate::time::Timestamp;
use crate::words::words;

use super::attempt::{Approval, Asks, Outcome, RequestGroup, RequestType, TransactionRequest};
use super::reversal::{ReversalReason, ReversalVerdict, Reversed, is_of, taken};
use super::{Charge, ChargeState, FollowUpKind, Held, Transition, approved_authorization};

words! {
    /// What was done.
    DeedKind {
        /// What was reserved was captured.
        Captured = "captured_elsewhere",
        /// The payment was canceled: nothing of it is reserved or kept any more.
        Released = "released_elsewhere",
        /// What was taken was given back, or a part of it.
        Refunded = "refunded_elsewhere",
    }
}

/// How much of a payment something was done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Much {
    /// All that is left.
    Everything,
    /// This much.
    This(Amount),
    /// So much that this is given back in all, what we have asked for among it.
    UpTo(Amount),
}

/// Something that the merchant has done elsewhere, as the provider reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// What was done.
    pub kind: DeedKind,
    /// The provider's id of it.
    pub id: String,
    /// How much of the payment it is about.
    pub much: Much,
    /// The currency of that, where the provider tells it.
    pub currency: Option<Currency>,
}

impl DeedKind {
    /// What would have been asked for here.
    const fn operation(self) -> FollowUpKind {
        match self {
            Self::Captured => FollowUpKind::Capture,
            Self::Released | Self::Refunded => FollowUpKind::Void,
        }
    }
}

impl Charge {
    /// Decides what a deed changes. `requests` are those of the charge, oldest first; `about` is the one that the provider
    /// names. While an operation of ours is under way, nobody knows which of the two the provider means.
    pub fn done_elsewhere(
        &self,
        requests: &[TransactionRequest],
        about: &TransactionRequest,
        deed: &Deed,
        now: Timestamp,
    ) -> ReversalVerdict {
        if deed.is_recorded(requests) {
            return ReversalVerdict::Known;
        }
        if deed.currency.is_some_and(|currency| currency != self.currency) {
            return ReversalVerdict::Refused(ReversalReason::OtherCurrency);
        }
        let payment = approved_authorization(requests).filter(|payment| is_of(payment, about, requests));
        let (responsible, before) = match (&self.state, deed.kind) {
            (
                ChargeState::Processing
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::CapturePending { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. },
                _,
            ) => return ReversalVerdict::TooEarly(ReversalReason::UnderWay),
            // The payer may have paid all the same.
            (ChargeState::Failed { .. }, _) if self.ended_unpaid() => {
                return ReversalVerdict::TooEarly(ReversalReason::UnderWay);
            }
            // Of what we give back ourselves, or have never held, nothing has to be counted.
            _ if payment.is_none() => {
                let is_ours = deed.kind == DeedKind::Released || is_given_back(about, requests);
                return match is_ours {
                    true => ReversalVerdict::Known,
                    false => ReversalVerdict::Refused(ReversalReason::OtherPayment),
                };
            }
            (ChargeState::PreAuthorized { responsible }, DeedKind::Captured | DeedKind::Released) => {
                (*responsible, Held::Reserved)
            }
            // Its capture was made elsewhere too, and is not told yet.
            (ChargeState::PreAuthorized { .. }, DeedKind::Refunded) => {
                return ReversalVerdict::TooEarly(ReversalReason::State);
            }
            (ChargeState::Authorized { responsible }, DeedKind::Released | DeedKind::Refunded) => {
                (*responsible, Held::Taken)
            }
            (
                ChargeState::Authorized { .. } | ChargeState::Voided { .. } | ChargeState::ChargedBack { .. },
                DeedKind::Captured,
            ) => return deed.of_captured(requests),
            (
                ChargeState::Failed { .. } | ChargeState::Canceled { .. } | ChargeState::Voided { .. },
                DeedKind::Released,
            ) => return ReversalVerdict::Known,
            (ChargeState::Voided { .. } | ChargeState::ChargedBack { .. }, DeedKind::Refunded)
                if deed.is_counted(self, requests) =>
            {
                return ReversalVerdict::Known;
            }
            (ChargeState::Voided { .. }, DeedKind::Refunded) => {
                return ReversalVerdict::Refused(ReversalReason::MoreThanTaken);
            }
            (
                ChargeState::Failed { .. } | ChargeState::Canceled { .. },
                DeedKind::Captured | DeedKind::Refunded,
            )
            | (ChargeState::ChargedBack { .. }, DeedKind::Released | DeedKind::Refunded) => {
                return ReversalVerdict::Refused(ReversalReason::State);
            }
        };
        let Some(payment) = payment else {
            return ReversalVerdict::Refused(ReversalReason::OtherPayment);
        };
        if deed.is_counted(self, requests) {
            return ReversalVerdict::Known;
        }
        let amount = match deed.much {
            Much::Everything => self.amount,
            Much::This(amount) => amount,
            Much::UpTo(sum) => sum.minus(self.given_back(requests)).unwrap_or(Amount::ZERO),
        };
        let operation = deed.kind.operation();
        let done = (amount <= self.amount)
            .then(|| self.carried_out(operation, responsible, before, amount, now))
            .flatten();
        let Some(Transition { charge, announces }) = done else {
            return ReversalVerdict::Refused(ReversalReason::MoreThanTaken);
        };
        let approval = Approval { transaction_id: Some(deed.id.clone()), ..Approval::default() };
        ReversalVerdict::Applies(Box::new(Reversed {
            transition: Transition { charge: charge.with_one_more_request(), announces },
            asks: Asks::about(payment, operation.request_type(), amount),
            outcome: Outcome::Approved(approval),
            occurred_at: None,
            doubt: None,
        }))
    }

    /// What was given back of what was taken, in all.
    fn given_back(&self, requests: &[TransactionRequest]) -> Amount {
        taken(requests).minus(self.amount).unwrap_or(Amount::ZERO)
    }
}

/// Whether a void of ours gives back what the provider has taken by `about`, which is not the payment of the charge.
fn is_given_back(about: &TransactionRequest, requests: &[TransactionRequest]) -> bool {
    let follows = |request: &TransactionRequest| {
        request.follows.and_then(|id| requests.iter().find(|earlier| earlier.id == id))
    };
    requests.iter().any(|void| {
        let undone = follows(void);
        void.request_type.group() == RequestGroup::FollowUp(FollowUpKind::Void)
            && matches!(void.outcome, Outcome::Open | Outcome::Accepted(_) | Outcome::Approved(_))
            && undone.is_some_and(|undone| undone.id == about.id || undone.follows == Some(about.id))
    })
}

impl Deed {
    /// What a capture says of a charge that has one. Of what is captured at once it is that very capture, which has no request
    /// here. Another one has taken more than the charge shows: a charge is captured once.
    fn of_captured(&self, requests: &[TransactionRequest]) -> ReversalVerdict {
        let is_capture = |request: &TransactionRequest| request.request_type == RequestType::Capture;
        let is_the_same = !requests.iter().any(is_capture) && self.much == Much::This(taken(requests));
        match is_the_same {
            true => ReversalVerdict::Known,
            false => ReversalVerdict::Refused(ReversalReason::CapturedBefore),
        }
    }

    /// Whether a request has its id: it was recorded before, or was one of ours.
    fn is_recorded(&self, requests: &[TransactionRequest]) -> bool {
        let is_this = |request: &TransactionRequest| {
            request.request_type.group() == RequestGroup::FollowUp(self.kind.operation())
                && matches!(request.outcome, Outcome::Approved(_) | Outcome::Accepted(_))
                && request.transaction_id() == Some(self.id.as_str())
        };
        // A sum is not that of one deed.
        !matches!(self.much, Much::UpTo(_)) && requests.iter().any(is_this)
    }

    /// Whether what is given back in all has it already.
    fn is_counted(&self, charge: &Charge, requests: &[TransactionRequest]) -> bool {
        match self.much {
            Much::Everything => charge.amount == Amount::ZERO,
            Much::This(_) => false,
            Much::UpTo(sum) => sum <= charge.given_back(requests),
        }
    }
}
