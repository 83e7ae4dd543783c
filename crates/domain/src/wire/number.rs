//! Numbers. Nothing here computes with floating point.

use std::borrow::Cow;
use std::ops::{Deref, RangeInclusive};

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use super::IN_PLACE;
use super::reading::{EMPTY, Rule, refused};
use crate::problems::Problems;

/// The rule of numbers that are none, or have too many decimals.
pub const NOT_A_NUMBER: &str = "must be a number conforming to the specified constraints";

/// A number with at most two decimals, kept as sent, from `MIN` to `MAX` hundredths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Decimal<const MIN: i64, const MAX: i64>(Number);

impl<const MIN: i64, const MAX: i64> Decimal<MIN, MAX> {
    /// Its hundredths.
    pub fn hundredths(&self) -> i64 {
        hundredths(&self.0.to_string()).unwrap_or_default()
    }
}

impl<const MIN: i64, const MAX: i64> Deref for Decimal<MIN, MAX> {
    type Target = Number;
    fn deref(&self) -> &Number {
        &self.0
    }
}

impl<const MIN: i64, const MAX: i64> Deserr<Problems> for Decimal<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let number = match value {
            Value::Null => return Err(refused(location, EMPTY)),
            Value::Integer(number) => Some(Number::from(number)),
            Value::NegativeInteger(number) => Some(Number::from(number)),
            Value::Float(number) => Number::from_f64(number),
            Value::Boolean(_) | Value::String(_) | Value::Sequence(_) | Value::Map(_) => None,
        };
        let number = number.ok_or_else(|| refused(location, NOT_A_NUMBER))?;
        hundredths_within(&number, MIN..=MAX).map_err(|rule| refused(location, rule))?;
        Ok(Self(number))
    }
}

/// The hundredths of a number with at most two decimals, such as a percentage: `2.5` is 250. `range` is in hundredths.
///
/// # Errors
/// The rule that the number breaks.
pub fn hundredths_within(number: &Number, range: RangeInclusive<i64>) -> Result<i64, Rule> {
    let number = hundredths(&number.to_string()).ok_or(Rule::Borrowed(NOT_A_NUMBER))?;
    if number < *range.start() {
        Err(Rule::Owned(format!("must not be less than {}", shown(*range.start()))))
    } else if number > *range.end() {
        Err(Rule::Owned(format!("must not be greater than {}", shown(*range.end()))))
    } else {
        Ok(number)
    }
}

/// A decimal text with at most two decimals, in hundredths.
fn hundredths(text: &str) -> Option<i64> {
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 2 {
        return None;
    }
    format!("{integer}{fraction:0<2}").parse().ok()
}

fn shown(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (integer, fraction) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    let fraction = format!(".{fraction:02}");
    format!("{sign}{integer}{}", fraction.trim_end_matches('0').trim_end_matches('.'))
}

impl<const MIN: i64, const MAX: i64> PartialSchema for Decimal<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
            .minimum(Some(MIN.div_euclid(100)))
            .maximum(Some((MAX + 99).div_euclid(100)))
            .into()
    }
}

impl<const MIN: i64, const MAX: i64> ToSchema for Decimal<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Decimal{MIN}to{MAX}"))
    }
}

/// The largest integer, in absolute value, that every JSON reader takes exactly: 2^53 − 1 (RFC 8259 §6).
pub const INTEGER_MAX: i64 = (1 << 53) - 1;

/// An integer from `MIN` to `MAX`; `100.0` is one, `100.5` and `"100"` are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Integer<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Integer<MIN, MAX> {
    /// The number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Deserr<Problems> for Integer<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let number = integer_from(value, location)?;
        within(number, MIN..=MAX).map(Self).map_err(|rule| refused(location, rule))
    }
}

/// An integer of any size; one too large for 64 bits becomes the largest value, which every range refuses.
pub(crate) fn integer_from<V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
) -> Result<i64, Problems> {
    let number = match value {
        Value::Null => return Err(refused(location, EMPTY)),
        Value::Integer(number) => Some(i64::try_from(number).unwrap_or(i64::MAX)),
        Value::NegativeInteger(number) => Some(number),
        Value::Float(number) => Number::from_f64(number).as_ref().and_then(integer_of),
        Value::Boolean(_) | Value::String(_) | Value::Sequence(_) | Value::Map(_) => None,
    };
    number.ok_or_else(|| refused(location, "must be an integer number"))
}

/// A number within a range.
///
/// # Errors
/// The bound that the number breaks.
pub fn within(number: i64, range: RangeInclusive<i64>) -> Result<i64, Rule> {
    let (least, most) = ((*range.start()).max(-INTEGER_MAX), (*range.end()).min(INTEGER_MAX));
    if number < least {
        Err(Rule::Owned(format!("must not be less than {least}")))
    } else if number > most {
        Err(Rule::Owned(format!("must not be greater than {most}")))
    } else {
        Ok(number)
    }
}

/// The integer that a JSON number is; `None` with a fraction. A number too large for 64 bits becomes the largest value of its
/// sign, which every range refuses.
pub fn integer_of(number: &Number) -> Option<i64> {
    if let Some(integer) = number.as_i64() {
        return Some(integer);
    }
    let text = number.to_string();
    let largest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    match text.split_once(['e', 'E']) {
        Some((_, exponent)) => (!exponent.starts_with('-')).then_some(largest),
        None => {
            let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let is_whole = fraction.bytes().all(|digit| digit == b'0');
            is_whole.then(|| integer.parse().unwrap_or(largest))
        }
    }
}

/// The shortest text of a number: `100` for `100.0`.
pub fn plain(number: &Number) -> String {
    match integer_of(number) {
        Some(integer) if (-INTEGER_MAX..=INTEGER_MAX).contains(&integer) => integer.to_string(),
        Some(_) | None => number.to_string(),
    }
}

impl<const MIN: i64, const MAX: i64> PartialSchema for Integer<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        let integer = ObjectBuilder::new().schema_type(Type::Integer);
        let integer = integer.format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
        integer.minimum(Some(MIN)).maximum(Some(MAX)).into()
    }
}

impl<const MIN: i64, const MAX: i64> ToSchema for Integer<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Integer{MIN}to{MAX}"))
    }
}
