//! Percentages in hundredths of a percent, never floating point.

use std::fmt;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::problems::Problems;
use crate::wire::{Decimal, Rule};

/// A number in percent, with at most two decimals.
pub type Percent = Decimal<0, 10_000>;

/// A percentage of an amount, exact to a hundredth of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Deserr)]
#[serde(transparent)]
#[deserr(error = Problems, try_from(Percent) = Percentage::of -> Rule)]
pub struct Percentage(u32);

impl Percentage {
    /// The whole.
    pub const HUNDRED: Self = Self(100 * 100);

    /// From hundredths of a percent: 150 is 1.5 %.
    pub const fn from_hundredths(hundredths: u32) -> Self {
        Self(hundredths)
    }

    /// The hundredths of a percent.
    pub const fn hundredths(self) -> u32 {
        self.0
    }

    fn of(number: Percent) -> Result<Self, Rule> {
        u32::try_from(number.hundredths()).map(Self).map_err(|_| Rule::Borrowed("is not valid"))
    }

    /// Reads a decimal number of percent with a point and at most two decimals, such as `1`, `1.5` or `0.03`.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(decimals) || decimals.len() > 2 {
            return None;
        }
        let hundredths = format!("{whole}{decimals:0<2}").parse().ok()?;
        Some(Self(hundredths))
    }
}

/// With a point and as few decimals as it takes: `1`, `1.5`, `0.03`.
impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, hundredths) = (self.0 / 100, self.0 % 100);
        match (hundredths, hundredths % 10) {
            (0, _) => write!(f, "{whole}"),
            (_, 0) => write!(f, "{whole}.{}", hundredths / 10),
            _ => write!(f, "{whole}.{hundredths:02}"),
        }
    }
}
