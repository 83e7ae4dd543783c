//! A payer may pay another amount than was charged. Paid is what reaches it: of less the merchant decides whether it is
//! accepted or given back (decision 30).

use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::time::Timestamp;

use super::attempt::{Outcome, TransactionRequest};
use super::late::payments;
use super::{Charge, ChargeEvent, ChargeState, FollowUpKind, FollowUpRefusal, PaymentSource, Transition};

/// What a payer has paid, where it is not what was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PaidOtherwise {
    /// More: all of it is the merchant's.
    More {
        /// What was paid.
        amount: Amount,
    },
    /// Less, and the merchant has not decided.
    Less {
        /// What was paid.
        amount: Amount,
    },
    /// Less, and the merchant has accepted it.
    Accepted {
        /// What was paid.
        amount: Amount,
    },
}

impl PaidOtherwise {
    /// Compares what was paid with what was charged; `None` when they are equal.
    pub(super) fn of(paid: Amount, charged: Amount) -> Option<Self> {
        match paid.cmp(&charged) {
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(Self::More { amount: paid }),
            std::cmp::Ordering::Less => Some(Self::Less { amount: paid }),
        }
    }
}

impl Charge {
    /// What its payer has paid or has to pay: what was charged, unless they have paid another amount.
    pub const fn paid_amount(&self) -> Amount {
        match self.paid_otherwise {
            Some(
                PaidOtherwise::More { amount }
                | PaidOtherwise::Less { amount }
                | PaidOtherwise::Accepted { amount },
            ) => amount,
            None => self.original_amount,
        }
    }

    /// Whether its payer has paid less than was charged, and the merchant has not accepted that.
    pub const fn is_underpaid(&self) -> bool {
        matches!(self.paid_otherwise, Some(PaidOtherwise::Less { .. }))
    }

    /// Whether `found` is a payment that is recorded with another sum: a provider that adds up what a payer pays has got
    /// more since.
    pub fn has_another_sum(&self, requests: &[TransactionRequest], found: &TransactionRequest) -> bool {
        let is_by_payer = match self.method.source() {
            PaymentSource::Payer(_) => matches!(found.outcome, Outcome::Approved(_)),
            PaymentSource::Card(_) | PaymentSource::Wallet => false,
        };
        let mut known = payments(requests, found.id).filter(|known| self.is_same_payment(known, found));
        is_by_payer && known.next().is_some_and(|known| known.amount != found.amount)
    }

    /// The merchant accepts what an underpaid charge still holds, by a capture of `amount`, or of all of it. The provider
    /// has the money and is not asked, so no request records it. `None` when the charge does not wait for that.
    ///
    /// # Errors
    /// [`FollowUpRefusal`] when the amount is another one.
    pub fn accept_underpaid(
        &self,
        amount: Option<Amount>,
        now: Timestamp,
    ) -> Option<Result<Transition, FollowUpRefusal>> {
        let (Some(PaidOtherwise::Less { amount: paid }), ChargeState::Authorized { responsible }) =
            (self.paid_otherwise, &self.state)
        else {
            return None;
        };
        let rest = self.amount;
        Some(match amount.unwrap_or(rest).cmp(&rest) {
            std::cmp::Ordering::Greater => Err(FollowUpRefusal::AmountAbove { rest }),
            std::cmp::Ordering::Less => {
                Err(FollowUpRefusal::PartNotPossible(FollowUpKind::Capture, *responsible))
            }
            std::cmp::Ordering::Equal => {
                let mut accepted = self.transition(self.state.clone(), Some(ChargeEvent::Authorized), now);
                accepted.charge.paid_otherwise = Some(PaidOtherwise::Accepted { amount: paid });
                Ok(accepted)
            }
        })
    }
}
