//! Interest and fine of a boleto that is paid late.
//!
//! A boleto that falls due on a day without banking is payable on the next business day as if it were in time (Law
//! 7.089/1983, Civil Code art. 132 §1). Who pays even later is late since the due date itself, not since that business
//! day (Superior Tribunal de Justiça, REsp 1.954.924).

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::business_days::Calendar;
use crate::money::Amount;
use crate::percentage::Percentage;

/// What is added when a boleto is paid late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LateCharges {
    /// Grows with each day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interest: Option<Interest>,
    /// Added once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine: Option<Fine>,
}

/// Interest for each day from a day on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interest {
    /// The day after the due date for which interest is owed first: 1 is the day after. 0 means the same, since nobody
    /// is late on the due date.
    pub days: u16,
    /// How much a day costs.
    pub rate: InterestRate,
}

/// The rate of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InterestRate {
    /// An amount for each day.
    AmountPerDay(Amount),
    /// A part of the boleto's amount for each month of 30 days, simple interest.
    PercentagePerMonth(Percentage),
}

/// A fine, owed once from a day on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fine {
    /// The day after the due date from which it is owed: 1 is the day after, and 0 means the same.
    pub days: u16,
    /// How much it is.
    pub rate: FineRate,
}

/// The size of a fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FineRate {
    /// An amount.
    Amount(Amount),
    /// A part of the boleto's amount.
    Percentage(Percentage),
}

/// What a payer owes on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    /// The amount of the boleto.
    pub principal: Amount,
    /// The interest until that day.
    pub interest: Amount,
    /// The fine.
    pub fine: Amount,
    /// The sum.
    pub total: Amount,
}

/// The last day after the due date on which interest or a fine may begin.
pub const LATE_DAYS_MAX: u16 = 365;
/// Days of the month of [`InterestRate::PercentagePerMonth`].
const DAYS_OF_MONTH: i128 = 30;

impl LateCharges {
    /// Whether nothing is added.
    pub const fn is_none(&self) -> bool {
        self.interest.is_none() && self.fine.is_none()
    }

    /// What is owed for a boleto of `principal` that fell due on `due` and is paid on `paid_on`. Parts of a cent are
    /// rounded to the nearest one, halves up, once for the interest of all days and once for the fine. Whether it is late goes by
    /// the national calendar: it is the bank of the boleto that asks for this, and it knows no others' holidays. `None` when
    /// the sum is more than an [`Amount`] holds.
    pub fn owed(&self, principal: Amount, due: Date, paid_on: Date) -> Option<Owed> {
        let days_late =
            if paid_on <= Calendar::NATIONAL.on_or_after(due) { 0 } else { days_between(due, paid_on) };
        let interest = match self.interest {
            Some(interest) => interest.of(principal, days_late)?,
            None => Amount::ZERO,
        };
        let fine = match self.fine {
            Some(fine) => fine.of(principal, days_late)?,
            None => Amount::ZERO,
        };
        let total =
            [interest, fine].into_iter().map(Amount::minor_units).sum::<i64>() + principal.minor_units();
        Some(Owed { principal, interest, fine, total: Amount::new(total)? })
    }
}

impl Interest {
    fn of(self, principal: Amount, days_late: i64) -> Option<Amount> {
        let days = i128::from((days_late - first_day(self.days) + 1).max(0));
        match self.rate {
            InterestRate::AmountPerDay(amount) => rounded(i128::from(amount.minor_units()) * days, 1),
            InterestRate::PercentagePerMonth(percentage) => part(principal, percentage, days, DAYS_OF_MONTH),
        }
    }
}

impl Fine {
    fn of(self, principal: Amount, days_late: i64) -> Option<Amount> {
        if days_late < first_day(self.days) {
            return Some(Amount::ZERO);
        }
        match self.rate {
            FineRate::Amount(amount) => Some(amount),
            FineRate::Percentage(percentage) => part(principal, percentage, 1, 1),
        }
    }
}

fn first_day(days: u16) -> i64 {
    i64::from(days).max(1)
}

fn days_between(due: Date, paid_on: Date) -> i64 {
    i64::from((paid_on - due).get_days())
}

/// `principal` × `percentage` × `times` ÷ `divisor`.
fn part(principal: Amount, percentage: Percentage, times: i128, divisor: i128) -> Option<Amount> {
    let numerator = i128::from(principal.minor_units()) * i128::from(percentage.hundredths()) * times;
    rounded(numerator, i128::from(Percentage::HUNDRED.hundredths()) * divisor)
}

/// A quotient of what is not negative, rounded to the nearest cent, halves up.
fn rounded(numerator: i128, divisor: i128) -> Option<Amount> {
    Amount::new(i64::try_from((2 * numerator + divisor) / (2 * divisor)).ok()?)
}
