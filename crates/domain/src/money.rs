//! Amounts. Always integers of the minor unit, never floating point.

use serde::{Deserialize, Serialize};

/// An amount in the minor unit of its currency (cents for BRL), at least 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(i64);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The highest amount that every JSON reader takes exactly: 2^53 − 1 (RFC 8259 §6).
    pub const MINOR_UNITS_MAX: i64 = (1 << 53) - 1;

    /// From minor units; `None` outside `0..=MINOR_UNITS_MAX`.
    pub const fn new(minor_units: i64) -> Option<Self> {
        if minor_units >= 0 && minor_units <= Self::MINOR_UNITS_MAX { Some(Self(minor_units)) } else { None }
    }

    /// The minor units.
    pub const fn minor_units(self) -> i64 {
        self.0
    }

    /// What is left after `part` was taken away; `None` when `part` is more than there is.
    pub fn minus(self, part: Self) -> Option<Self> {
        Self::new(self.0 - part.0)
    }
}
