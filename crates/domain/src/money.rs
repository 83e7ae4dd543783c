//! Amounts, as integers of the minor unit, never floating point.

mod positive;

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

pub use positive::PositiveAmount;

use crate::currency::Currency;
use crate::problems::Problems;
use crate::wire::{IN_PLACE, Integer};

/// An amount in the minor unit of its currency (cents for BRL), at least 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Amount(i64);

impl TryFrom<i64> for Amount {
    type Error = &'static str;

    fn try_from(minor_units: i64) -> Result<Self, Self::Error> {
        Self::new(minor_units).ok_or("an amount is at least 0 and at most 2^53 - 1")
    }
}

impl From<Amount> for i64 {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

type AnyAmount = Integer<0, { Amount::MINOR_UNITS_MAX }>;

impl Deserr<Problems> for Amount {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        AnyAmount::deserialize_from_value(value, location).map(|number| Self(number.get()))
    }
}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        AnyAmount::schema()
    }
}

impl ToSchema for Amount {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Amount"))
    }
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The highest amount that every JSON reader represents exactly: 2^53 − 1 (RFC 8259 §6).
    pub const MINOR_UNITS_MAX: i64 = (1 << 53) - 1;

    /// From minor units; `None` outside `0..=MINOR_UNITS_MAX`.
    pub const fn new(minor_units: i64) -> Option<Self> {
        if minor_units >= 0 && minor_units <= Self::MINOR_UNITS_MAX { Some(Self(minor_units)) } else { None }
    }

    /// The minor units.
    pub const fn minor_units(self) -> i64 {
        self.0
    }

    /// For people: `BRL 1.50`, or `JPY 150` for a currency without minor units.
    pub fn shown_in(self, currency: Currency) -> String {
        format!("{} {}", currency.code(), self.in_major_units_of(currency))
    }

    /// In major units with a point: `1.50`, or `150` for a currency without minor units.
    pub fn in_major_units_of(self, currency: Currency) -> String {
        let decimals = usize::from(currency.exponent());
        if decimals == 0 {
            return self.0.to_string();
        }
        let unit = 10_i64.pow(u32::from(currency.exponent()));
        format!("{}.{:0decimals$}", self.0 / unit, self.0 % unit)
    }

    /// The rest after subtracting `part`; `None` when `part` is more.
    pub fn minus(self, part: Self) -> Option<Self> {
        Self::new(self.0 - part.0)
    }

    /// Both together; `None` above [`Self::MINOR_UNITS_MAX`].
    pub fn plus(self, other: Self) -> Option<Self> {
        Self::new(self.0.saturating_add(other.0))
    }
}
