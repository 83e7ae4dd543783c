//! How often a session can be paid, and how often it was.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};

use crate::problems::Problems;
use crate::wire::{integer_from, refused, within};

/// How often a session can be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Once.
    One,
    /// So many times.
    Many(u32),
    /// As often as buyers like.
    Unlimited,
}

impl Deserr<Problems> for Capacity {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let most = i64::from(Self::PAYMENTS_MAX);
        let number = within(integer_from(value, location)?, Self::UNLIMITED..=most);
        let number = number.map_err(|rule| refused(location, rule))?;
        Self::of(Some(number)).ok_or_else(|| refused(location, "must not be 0"))
    }
}

impl Capacity {
    /// `maxPayments` of an unlimited session.
    pub const UNLIMITED: i64 = -1;
    /// The highest finite `maxPayments`.
    pub const PAYMENTS_MAX: u32 = 99_999;

    /// How many payments of a session that is paid once may be under way when a buyer asks for instructions: they change
    /// their mind, or try other devices (decision 34).
    pub const OPEN_ONCE_MAX: i64 = 10;
    /// The same of a session that many pay: they all have instructions at once.
    pub const OPEN_MANY_MAX: i64 = 1_000;

    /// How many customers the buyers of a session that is paid once may make with its key.
    pub const CUSTOMERS_ONCE_MAX: i64 = 20;
    /// The same where many pay, before the first payment.
    pub const CUSTOMERS_MANY_MAX: i64 = 1_000;
    /// How many more each payment allows for, where many pay.
    pub const CUSTOMERS_FOR_EACH_PAYMENT: i64 = 10;

    /// From `maxPayments`; `None` when it is out of range.
    pub fn of(max_payments: Option<i64>) -> Option<Self> {
        match max_payments {
            None => Some(Self::One),
            Some(Self::UNLIMITED) => Some(Self::Unlimited),
            Some(number) => match u32::try_from(number) {
                Ok(number @ 1..=Self::PAYMENTS_MAX) => Some(Self::Many(number)),
                Ok(_) | Err(_) => None,
            },
        }
    }

    /// `maxPayments`.
    pub fn max_payments(self) -> Option<i64> {
        match self {
            Self::One => None,
            Self::Many(number) => Some(i64::from(number)),
            Self::Unlimited => Some(Self::UNLIMITED),
        }
    }

    /// Whether it ends with the first payment: then instructions that nobody has paid yet keep no other buyer off.
    pub const fn is_single(self) -> bool {
        matches!(self, Self::One | Self::Many(1))
    }

    /// How many payments may be under way when a buyer asks for instructions.
    pub(super) const fn open_max(self) -> i64 {
        match self.is_single() {
            true => Self::OPEN_ONCE_MAX,
            false => Self::OPEN_MANY_MAX,
        }
    }

    /// How many customers its buyers may make with its key after so many payments.
    pub(super) const fn customers_max(self, paid: i64) -> i64 {
        match self.is_single() {
            true => Self::CUSTOMERS_ONCE_MAX,
            false => Self::CUSTOMERS_MANY_MAX + Self::CUSTOMERS_FOR_EACH_PAYMENT * paid,
        }
    }

    pub(super) const fn limit(self) -> Option<i64> {
        match self {
            Self::One => Some(1),
            Self::Many(number) => Some(number as i64),
            Self::Unlimited => None,
        }
    }
}

/// The payments of a session by where they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// A provider is being asked.
    pub authorizing: i64,
    /// A buyer has instructions and has not paid.
    pub pending: i64,
    /// They were made, also those that were given back since.
    pub paid: i64,
    /// Those of them that were given back in full.
    pub returned: i64,
}
