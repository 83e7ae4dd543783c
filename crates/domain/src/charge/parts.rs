//! What belongs to whom of what a charge has left.

use super::{Charge, ChargeState};
use crate::id::SellerId;
use crate::money::Amount;
use crate::split::{Shares, Split};

/// To whom an amount belongs. All parts together are the amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The merchant.
    pub merchant: Amount,
    /// The platform.
    pub fee: Amount,
    /// Each seller, in the order of the rules.
    pub sellers: Vec<(SellerId, Amount)>,
}

impl Parts {
    /// All together.
    pub fn total(&self) -> Amount {
        let others = self.merchant.plus(self.fee);
        let sum = |sum: Amount, (_, part): &(SellerId, Amount)| sum.plus(*part);
        others.and_then(|others| self.sellers.iter().try_fold(others, sum)).unwrap_or(Amount::ZERO)
    }

    const fn all_the_merchants(amount: Amount) -> Self {
        Self { merchant: amount, fee: Amount::ZERO, sellers: Vec::new() }
    }

    /// The shares of a split, with the ids of its sellers.
    pub fn of(split: &Split, shares: &Shares) -> Self {
        let ids = split.rules.iter().map(|rule| rule.seller_id);
        Self {
            merchant: shares.merchant,
            fee: shares.fee,
            sellers: ids.zip(shares.sellers.iter().copied()).collect(),
        }
    }
}

impl Charge {
    /// To whom [`Self::amount`] belongs in this version.
    pub fn parts(&self) -> Parts {
        match &self.split {
            None => Parts::all_the_merchants(self.amount),
            Some(split) => Parts::of(split, &split.shares(self.amount, self.original_amount)),
        }
    }

    /// Who bears how much of what the payer's bank has taken back.
    pub fn parts_on_charge_back(&self) -> Parts {
        let lost = match &self.state {
            ChargeState::ChargedBack { lost, .. } => lost.unwrap_or(self.amount),
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::PreAuthorized { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. } => self.amount,
        };
        match &self.split {
            None => Parts::all_the_merchants(lost),
            Some(split) => {
                let taken = split.part(self.amount, self.original_amount, lost);
                Parts::of(split, &split.on_charge_back(&taken))
            }
        }
    }

    /// What each gives back with the void that is under way; `None` without a split or a void.
    pub fn parts_returning(&self) -> Option<Parts> {
        let split = self.split.as_deref()?;
        Some(Parts::of(split, split.under_way()?))
    }

    /// How the amount of the open operation is divided: what is captured, or what each gives back.
    pub fn shares_of_open(&self) -> Option<Shares> {
        let split = self.split.as_deref()?;
        match &self.state {
            ChargeState::CapturePending { open, .. } => {
                let captured = split.captured(self.amount, open.amount, self.original_amount);
                Some(captured.shares(open.amount, self.original_amount))
            }
            ChargeState::RefundPending { .. } | ChargeState::RefundAccepted { .. } => {
                split.under_way().cloned()
            }
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => None,
        }
    }

    /// After a capture of `amount`.
    pub(super) fn with_captured(self, amount: Amount) -> Self {
        let captured = |split: &Split| split.captured(self.amount, amount, self.original_amount);
        let split = self.split.as_deref().map(captured);
        Self { split: split.map(Box::new), amount, ..self }
    }

    /// After a refund by the void whose request has this ordinal.
    pub(super) fn with_given_back(self, to: Amount, void: i64) -> Self {
        let given_back = |split: &Split| split.given_back(self.amount, to, self.original_amount, void);
        let split = self.split.as_deref().map(given_back);
        Self { split: split.map(Box::new), amount: to, ..self }
    }

    /// After `back` of what was refunded has come back: of the void with this ordinal, if it is known. `None` for more than
    /// an amount can be.
    pub(super) fn with_come_back(self, back: Amount, void: Option<i64>) -> Option<Self> {
        let amount = self.amount.plus(back)?;
        let split = self.split.as_deref().map(|split| Box::new(split.come_back(back, void)));
        Some(Self { split, amount, ..self })
    }
}

impl Charge {
    /// Who bears how much of a fee of the provider; nobody named is the merchant. It depends on what was captured or paid
    /// alone, so it is the same whenever a fee is settled.
    pub fn fee_borne(&self, fee: i64) -> Vec<(Option<SellerId>, i64)> {
        match &self.split {
            None => vec![(None, fee)],
            Some(split) => split.fee_borne(&split.charged(self.amount, self.original_amount), fee),
        }
    }
}
