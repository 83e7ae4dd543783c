//! How far a rate can be trusted: the interval in which the true one lies in 95 of 100 cases.

#![allow(clippy::float_arithmetic, reason = "probabilities, never money")]

use crate::percentage::Percentage;

/// The square of the 0.975 quantile of the normal distribution.
const Z_SQUARED: f64 = 3.841_458_820_694_124;
/// Hundredths of a percent in the whole.
const WHOLE: f64 = 10_000.0;

/// A rate with the Wilson interval of 95 % (E. B. Wilson, 1927), which also holds for few tries and for rates near 0 and 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// What was counted, to the nearest hundredth of a percent.
    pub rate: Percentage,
    /// The lower end, rounded down.
    pub low: Percentage,
    /// The upper end, rounded up.
    pub high: Percentage,
}

impl Interval {
    /// So many of so many tries. `None` without a try, and where more are said to have succeeded than were tried.
    pub fn of(succeeded: i64, tried: i64) -> Option<Self> {
        if tried <= 0 || !(0..=tried).contains(&succeeded) {
            return None;
        }
        let (succeeded, tried) = (succeeded as f64, tried as f64);
        let middle = succeeded + Z_SQUARED / 2.0;
        let spread = succeeded * (tried - succeeded) / tried + Z_SQUARED / 4.0;
        let reach = (Z_SQUARED * spread).sqrt();
        let part = |count: f64| (count / (tried + Z_SQUARED) * WHOLE).clamp(0.0, WHOLE);
        let percentage = |hundredths: f64| Percentage::from_hundredths(hundredths as u32);
        Some(Self {
            rate: percentage((succeeded / tried * WHOLE).round()),
            // Where nothing or everything has succeeded, the end is 0 or 100 % but for an error of the last bit.
            low: percentage(if succeeded > 0.0 { part(middle - reach).floor() } else { 0.0 }),
            high: percentage(if succeeded < tried { part(middle + reach).ceil() } else { WHOLE }),
        })
    }
}
