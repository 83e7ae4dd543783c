//! What it costs to be paid early. Everything is computed in integers: a root of a large one, and divisions that round half up.

use std::fmt;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::percentage::Percentage;

/// Days of the month of [`Rates`].
const DAYS_OF_A_MONTH: u32 = 30;
/// Decimals of a rate as a fraction: hundredths of a percent.
const DECIMALS_OF_RATES: u32 = 4;
/// Decimals that a factor has beyond those of a whole number of months. With so many, no amount of the interface lies so near to half
/// a cent that it were rounded otherwise than the exact value.
const DECIMALS_BEYOND: u32 = 30;
/// Decimals of an effective rate.
const DECIMALS_OF_EFFECTIVE_RATES: u32 = 8;

/// The rates of an account: of what the provider asks, and of what the platform adds, each for 30 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// The provider's.
    pub monthly_rate: Percentage,
    /// The platform's.
    pub markup: Percentage,
}

impl Rates {
    /// Both together, in hundredths of a percent.
    fn together(self) -> u64 {
        u64::from(self.monthly_rate.hundredths()) + u64::from(self.markup.hundredths())
    }

    /// A rate as a fraction, with as few decimals as it takes: 1.5 % is `0.015`.
    pub fn fraction(rate: Percentage) -> String {
        decimal(rate.hundredths().into(), DECIMALS_OF_RATES)
    }

    /// What it costs to have `gross` paid early, where `factor` is that of these rates: `net = round(gross / factor)`, of the rest
    /// `fee = round(rest × monthly_rate / (monthly_rate + markup))`, and what is left is the markup. Halves are rounded up.
    pub fn cost(self, gross: Amount, factor: &Factor) -> Cost {
        let net = factor.divide(gross);
        let discount = gross.minus(net).unwrap_or(Amount::ZERO);
        let fee = part_of(discount, self.monthly_rate.hundredths().into(), self.together());
        Cost { net, fee, markup: discount.minus(fee).unwrap_or(Amount::ZERO) }
    }
}

/// What becomes of an amount that is paid early: its three parts are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// What is paid.
    pub net: Amount,
    /// What the provider keeps.
    pub fee: Amount,
    /// What the platform keeps.
    pub markup: Amount,
}

/// `(1 + rate)^(days / 30)`, by which a receivable is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The factor times `unit`, rounded down.
    scaled: BigUint,
    /// A power of ten.
    unit: BigUint,
}

impl Factor {
    /// Of these rates and so many days. A factor that has an end in decimals, such as that of a whole number of months, is exact.
    pub fn of(rates: Rates, days: u32) -> Self {
        let decimals = DECIMALS_BEYOND + (days * DECIMALS_OF_RATES).div_ceil(DAYS_OF_A_MONTH);
        let ten = BigUint::from(10_u32);
        // (1 + rate)^days has four decimals for each day; the root of 30 times as many decimals has `decimals`.
        let one_and_rate = BigUint::from(10_u64.pow(DECIMALS_OF_RATES) + rates.together());
        let raised = one_and_rate.pow(days);
        let more = ten.pow(DAYS_OF_A_MONTH * decimals - DECIMALS_OF_RATES * days);
        Self { scaled: (raised * more).nth_root(DAYS_OF_A_MONTH), unit: ten.pow(decimals) }
    }

    /// `amount / factor`, rounded half up.
    fn divide(&self, amount: Amount) -> Amount {
        let amount = BigUint::from(amount.minor_units().unsigned_abs());
        let twice = (amount * &self.unit) << 1_u32;
        let rounded = (twice + &self.scaled) / (&self.scaled << 1_u32);
        i64::try_from(&rounded).ok().and_then(Amount::new).unwrap_or(Amount::ZERO)
    }
}

/// `amount × part / whole`, rounded half up; nothing of a whole that is nothing.
fn part_of(amount: Amount, part: u64, whole: u64) -> Amount {
    if whole == 0 {
        return Amount::ZERO;
    }
    let twice = i128::from(amount.minor_units()) * i128::from(part) * 2;
    let rounded = (twice + i128::from(whole)) / (i128::from(whole) * 2);
    i64::try_from(rounded).ok().and_then(Amount::new).unwrap_or(Amount::ZERO)
}

/// The part of receivables that it costs to have them paid early, to eight decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectiveRate(u64);

impl EffectiveRate {
    /// `discount / gross`, rounded half up; 0 of nothing.
    pub fn of(discount: Amount, gross: Amount) -> Self {
        let unit = 10_u64.pow(DECIMALS_OF_EFFECTIVE_RATES);
        let (discount, gross) = (i128::from(discount.minor_units()), i128::from(gross.minor_units()));
        if gross == 0 {
            return Self(0);
        }
        let scaled = (discount * i128::from(unit) * 2 + gross) / (gross * 2);
        Self(u64::try_from(scaled).unwrap_or_default())
    }
}

/// A decimal number with as few decimals as it takes.
impl fmt::Display for EffectiveRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(self.0, DECIMALS_OF_EFFECTIVE_RATES))
    }
}

/// `scaled / 10^decimals` with as few decimals as it takes.
fn decimal(scaled: u64, decimals: u32) -> String {
    let (unit, width) = (10_u64.pow(decimals), decimals as usize);
    let (whole, rest) = (scaled / unit, scaled % unit);
    let rest = format!("{rest:0width$}");
    match rest.trim_end_matches('0') {
        "" => whole.to_string(),
        rest => format!("{whole}.{rest}"),
    }
}
