//! Amounts in bodies that are more than 0.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Amount;
use crate::problems::Problems;
use crate::wire::{IN_PLACE, Integer, integer_from, refused, within};

/// An amount of more than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositiveAmount(Amount);

impl From<PositiveAmount> for Amount {
    fn from(PositiveAmount(amount): PositiveAmount) -> Self {
        amount
    }
}

impl Deserr<Problems> for PositiveAmount {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let number = integer_from(value, location)?;
        if number <= 0 {
            return Err(refused(location, "must be greater than 0"));
        }
        let number = within(number, 1..=Amount::MINOR_UNITS_MAX).map_err(|rule| refused(location, rule))?;
        Amount::new(number).map(Self).ok_or_else(|| refused(location, "is not valid"))
    }
}

impl PartialSchema for PositiveAmount {
    fn schema() -> RefOr<Schema> {
        Integer::<1, { Amount::MINOR_UNITS_MAX }>::schema()
    }
}

impl ToSchema for PositiveAmount {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}PositiveAmount"))
    }
}
