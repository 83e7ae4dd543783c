//! Computes the amounts of each authorization and whether a capture or void is possible. Pure functions of the entries.

use std::collections::BTreeMap;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::money::Amount;
use uuid::Uuid;

use crate::outcome::{Finding, ReversalKind};
use crate::sandbox::rules::network_says;

use super::entry::{Answered, Deed, Entry, Record};

/// The holdings of all approved authorizations, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings(BTreeMap<Uuid, Holding>);

/// The amounts of one approved authorization. `authorized` always equals reserved plus captured plus released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// ISO 4217 currency of the amounts.
    pub currency: Currency,
    /// The approved amount.
    pub authorized: Amount,
    /// Reserved and not captured or released.
    pub reserved: Amount,
    /// Captured, including what was refunded later.
    pub captured: Amount,
    /// Captured and then refunded.
    pub refunded: Amount,
    /// Reserved and then released without capture.
    pub released: Amount,
    /// Captured and then taken back by the payer's bank.
    pub charged_back: Amount,
}

impl Holdings {
    /// Sums up entries in order of arrival.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut holdings = Self::default();
        holdings.add(entries);
        holdings
    }

    /// Adds later entries, in order of arrival.
    pub fn add<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) {
        for entry in entries {
            if let Some(answered) = entry.approved() {
                self.enter(entry.key, answered);
            }
        }
    }

    /// All holdings, ordered by authorization key.
    pub fn iter(&self) -> impl Iterator<Item = (Uuid, Holding)> {
        self.0.iter().map(|(key, holding)| (*key, *holding))
    }

    /// The holding of one authorization; `None` when none was approved under this key.
    pub fn holding(&self, authorization_key: Uuid) -> Option<Holding> {
        self.0.get(&authorization_key).copied()
    }

    fn enter(&mut self, key: Uuid, answered: &Answered) {
        match answered.deed {
            Deed::Authorization { capture, .. } => {
                self.0.insert(key, Holding::begin(capture, answered.amount, answered.currency));
            }
            Deed::Payment { authorization_key } => {
                let paid = Holding::begin(CaptureMode::Automatic, answered.amount, answered.currency);
                let holding = self.holding(authorization_key).map_or(paid, |before| before.and(paid));
                self.0.insert(authorization_key, holding);
            }
            Deed::Verification { .. }
            | Deed::Capture { .. }
            | Deed::Void { .. }
            | Deed::Withdrawal { .. }
            | Deed::VoidResult { .. }
            | Deed::TakenBack { .. }
            | Deed::ChargeBackReversed { .. }
            | Deed::Reversal { .. } => {}
        }
        // What is logged was possible when it was written, so it still is.
        if let Some(after) = self.after(answered).and_then(Result::ok) {
            self.0.extend(answered.deed.authorization_key().map(|authorization| (authorization, after)));
        }
    }

    /// The holding after a capture, a void or what happened since; `None` for what moves no money of a holding.
    fn after(&self, answered: &Answered) -> Option<Result<Holding, Refusal>> {
        let authorization_key = match answered.deed {
            Deed::Capture { authorization_key }
            | Deed::Void { authorization_key }
            | Deed::VoidResult { authorization_key }
            | Deed::TakenBack { authorization_key }
            | Deed::ChargeBackReversed { authorization_key }
            | Deed::Reversal { authorization_key, .. } => authorization_key,
            Deed::Authorization { .. }
            | Deed::Verification { .. }
            | Deed::Payment { .. }
            | Deed::Withdrawal { .. } => return None,
        };
        let before = self.holding(authorization_key).ok_or(Refusal::NoAuthorization);
        Some(before.and_then(|before| before.follow(answered)))
    }
}

impl Holding {
    /// The amount that the buyer has paid in the end: captured minus refunded minus charged back.
    pub fn kept(&self) -> Amount {
        let left = self.captured.minus(self.refunded).and_then(|left| left.minus(self.charged_back));
        left.unwrap_or(Amount::ZERO)
    }

    fn begin(capture: CaptureMode, authorized: Amount, currency: Currency) -> Self {
        let (reserved, captured) = match capture {
            CaptureMode::Automatic => (Amount::ZERO, authorized),
            CaptureMode::Manual => (authorized, Amount::ZERO),
        };
        let (refunded, released, charged_back) = (Amount::ZERO, Amount::ZERO, Amount::ZERO);
        Self { currency, authorized, reserved, captured, refunded, released, charged_back }
    }

    /// Both, of one authorization that was paid more than once. Amounts never exceed what fits.
    fn and(self, paid: Self) -> Self {
        Self {
            authorized: self.authorized.plus(paid.authorized).unwrap_or(self.authorized),
            captured: self.captured.plus(paid.captured).unwrap_or(self.captured),
            ..self
        }
    }

    fn follow(self, answered: &Answered) -> Result<Self, Refusal> {
        let amount = answered.amount;
        if answered.currency != self.currency {
            return Err(Refusal::OtherCurrency);
        }
        if amount == Amount::ZERO {
            return Err(Refusal::NoAmount);
        }
        match answered.deed {
            Deed::Authorization { .. }
            | Deed::Verification { .. }
            | Deed::Payment { .. }
            | Deed::Withdrawal { .. } => Ok(self),
            Deed::Capture { .. } => self.capture(amount),
            Deed::Void { .. } | Deed::VoidResult { .. } if self.reserved > Amount::ZERO => {
                self.release(amount)
            }
            Deed::Void { .. } | Deed::VoidResult { .. } | Deed::TakenBack { .. } => self.refund(amount),
            Deed::ChargeBackReversed { .. } => {
                let charged_back = self.charged_back.minus(amount).ok_or(Refusal::MoreThanTaken)?;
                Ok(Self { charged_back, ..self })
            }
            Deed::Reversal { kind, .. } => self.reverse(kind, amount),
        }
    }

    /// Allowed once: the remainder is released.
    fn capture(self, amount: Amount) -> Result<Self, Refusal> {
        if self.reserved == Amount::ZERO {
            return Err(Refusal::NothingReserved);
        }
        let rest = self.reserved.minus(amount).ok_or(Refusal::MoreThanReserved)?;
        let released = self.released.plus(rest).ok_or(Refusal::MoreThanReserved)?;
        Ok(Self { reserved: Amount::ZERO, captured: amount, released, ..self })
    }

    fn release(self, amount: Amount) -> Result<Self, Refusal> {
        let reserved = self.reserved.minus(amount).ok_or(Refusal::MoreThanReserved)?;
        let released = self.released.plus(amount).ok_or(Refusal::MoreThanReserved)?;
        Ok(Self { reserved, released, ..self })
    }

    fn refund(self, amount: Amount) -> Result<Self, Refusal> {
        let refunded = self.refunded.plus(amount).filter(|_| amount <= self.kept());
        Ok(Self { refunded: refunded.ok_or(Refusal::MoreThanTaken)?, ..self })
    }

    fn reverse(self, kind: ReversalKind, amount: Amount) -> Result<Self, Refusal> {
        match kind {
            ReversalKind::DisputeOpened if amount > self.kept() => Err(Refusal::MoreThanTaken),
            // A dispute moves no money while it is open, nor when the merchant wins.
            ReversalKind::DisputeOpened | ReversalKind::DisputeWon | ReversalKind::ChargeBackReversed => {
                Ok(self)
            }
            ReversalKind::DisputeLost | ReversalKind::ChargedBack => {
                let charged_back = self.charged_back.plus(amount).filter(|_| amount <= self.kept());
                Ok(Self { charged_back: charged_back.ok_or(Refusal::MoreThanTaken)?, ..self })
            }
            ReversalKind::RefundReverted if self.charged_back > Amount::ZERO => Err(Refusal::ChargedBack),
            ReversalKind::RefundReverted => {
                Ok(Self { refunded: self.refunded.minus(amount).ok_or(Refusal::MoreThanRefunded)?, ..self })
            }
        }
    }
}

/// The entry as it is logged after `history`: an approved or accepted capture or void becomes a decline when the holding does not
/// allow it. `history` is the authorization with its captures and voids, in order.
pub(super) fn settle(entry: Entry, history: &[Entry]) -> Entry {
    let refusal = entry.taken_on().and_then(|answered| Holdings::of(history).after(answered)?.err());
    let Some(refusal) = refusal else { return entry };
    match entry.record {
        Record::Answered(answered) => {
            let finding = Finding::Declined(refusal.decline());
            Entry { record: Record::Answered(Box::new(Answered { finding, ..*answered })), ..entry }
        }
        Record::ProbedBeforeArrival => entry,
    }
}

/// Why a capture or void is refused. No refusal is retryable.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    NoAuthorization,
    OtherCurrency,
    NoAmount,
    NothingReserved,
    MoreThanReserved,
    MoreThanTaken,
    MoreThanRefunded,
    ChargedBack,
}

impl Refusal {
    fn decline(self) -> Decline {
        let (code, reason) = match self {
            Self::NoAuthorization => (DeclinedCode::TransactionNotAllowed, "sandbox no such authorization"),
            Self::ChargedBack => (DeclinedCode::TransactionNotAllowed, "sandbox charged back"),
            Self::OtherCurrency => (DeclinedCode::TransactionNotAllowed, "sandbox other currency"),
            Self::NothingReserved => (DeclinedCode::TransactionNotAllowed, "sandbox nothing reserved"),
            Self::NoAmount => (DeclinedCode::InvalidAmount, "sandbox no amount"),
            Self::MoreThanReserved => (DeclinedCode::InvalidAmount, "sandbox more than reserved"),
            Self::MoreThanTaken => (DeclinedCode::InvalidAmount, "sandbox more than taken"),
            Self::MoreThanRefunded => (DeclinedCode::InvalidAmount, "sandbox more than refunded"),
        };
        network_says(Decline::of(code), reason)
    }
}
