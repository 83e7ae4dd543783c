//! Readers of single values: texts, ids, numbers, times, choices. The wording is that of
//! `docs/interface/conventions.md#problems`.

use std::io;
use std::ops::RangeInclusive;

use regente_domain::currency::Currency;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::text::{chars_max, is_email};
use regente_domain::time::Timestamp;
use regente_domain::wire::{
    NOT_A_DATE, NOT_A_NUMBER, Rule, day, hundredths_within, integer_of, moment, not_among, uuid, within,
    within_chars,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Field;

const NOT_A_STRING: &str = "must be a string";
const EMPTY: &str = "should not be empty";
const NOT_AN_INTEGER: &str = "must be an integer number";

/// Texts.
impl<'a> Field<'a> {
    /// Text of at most `chars_max` characters (see [`chars_max`]); may be empty.
    pub fn text(self, chars_max: usize) -> Option<String> {
        self.read(|value| within_chars(string(value)?, chars_max)).map(str::to_owned)
    }

    /// Text with at least one character that is no white space; it is not trimmed.
    pub fn non_empty_text(self, chars_max: usize) -> Option<String> {
        self.read(|value| within_chars(not_blank(string(value)?)?, chars_max)).map(str::to_owned)
    }

    /// Text parsed by `parse`; when that fails, the problem is `rule`.
    pub fn text_as<T>(self, rule: &'static str, parse: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        self.read(|value| parse(string(value)?).ok_or(Rule::Borrowed(rule)))
    }

    /// An e-mail address as sent.
    pub fn email(self) -> Option<String> {
        self.read(|value| {
            let text = string(value)?;
            // White space around an address carries no meaning, and no address begins or ends with it.
            let text = within_chars(text.trim(), chars_max::EMAIL)?;
            if is_email(text) { Ok(text.to_owned()) } else { Err(Rule::Borrowed("must be an email")) }
        })
    }

    /// An accepted currency, in upper case.
    pub fn currency(self) -> Option<Currency> {
        self.read(|value| {
            value
                .as_str()
                .and_then(Currency::parse)
                .ok_or_else(|| not_among(Currency::all().map(Currency::code)))
        })
    }

    /// One of the names of `table`, matched exactly.
    pub fn one_of<T: Clone>(self, table: &[(&str, T)]) -> Option<T> {
        self.read(|value| {
            let found = value.as_str().and_then(|text| table.iter().find(|(name, _)| *name == text));
            found.map(|(_, choice)| choice.clone()).ok_or_else(|| not_one_of(table))
        })
    }
}

/// Ids and truths.
impl Field<'_> {
    /// The id of a `T`, which may not exist.
    pub fn id<T>(self) -> Option<Id<T>> {
        self.uuid().map(Id::new)
    }

    /// A UUID of any version in its usual form, with hyphens.
    pub fn uuid(self) -> Option<Uuid> {
        self.verbatim().read(|value| value.as_str().and_then(uuid).ok_or("must be a UUID"))
    }

    /// `true` or `false`.
    pub fn boolean(self) -> Option<bool> {
        self.read(|value| value.as_bool().ok_or("must be a boolean"))
    }

    /// `true` or `false`, or either as text.
    pub fn lenient_boolean(self) -> Option<bool> {
        self.read(|value| match value.as_str() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(_) | None => value.as_bool().ok_or("must be a boolean"),
        })
    }
}

/// Numbers. No reader uses floating point.
impl Field<'_> {
    /// An integer within `range`; `100.0` is one, `100.5` and `"100"` are not.
    pub fn integer(self, range: RangeInclusive<i64>) -> Option<i64> {
        self.verbatim().read(|value| within(integer(value)?, range))
    }

    /// As [`Field::integer`], of a member that clients in use know by another sentence: what is no number at all `must be a
    /// number`.
    pub fn number(self, range: RangeInclusive<i64>) -> Option<i64> {
        self.verbatim().read(|value| match value {
            Value::Number(_) => within(integer(value)?, range),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err(Rule::Borrowed("must be a number"))
            }
        })
    }

    /// An amount in minor units, 0 or more.
    pub fn amount(self) -> Option<Amount> {
        self.verbatim().read(|value| amount(within(integer(value)?, 0..=Amount::MINOR_UNITS_MAX)?))
    }

    /// An amount in minor units, more than 0.
    pub fn positive_amount(self) -> Option<Amount> {
        self.verbatim().read(|value| {
            let number = integer(value)?;
            if number <= 0 {
                return Err(Rule::Borrowed("must be greater than 0"));
            }
            amount(within(number, 1..=Amount::MINOR_UNITS_MAX)?)
        })
    }

    /// A number with at most two decimals, such as a percentage, in hundredths: `2.5` is 250. `range` is in hundredths.
    pub fn hundredths(self, range: RangeInclusive<i64>) -> Option<i64> {
        self.verbatim().read(|value| match value {
            Value::Number(number) => hundredths_within(number, range),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err(Rule::Borrowed(NOT_A_NUMBER))
            }
        })
    }
}

/// Times.
impl Field<'_> {
    /// A calendar day, `YYYY-MM-DD`.
    pub fn date(self) -> Option<jiff::civil::Date> {
        self.read(|value| value.as_str().and_then(day).ok_or(NOT_A_DATE))
    }

    /// A point in time: RFC 3339 with any offset, or a calendar day, which means its midnight in UTC.
    pub fn timestamp(self) -> Option<Timestamp> {
        self.read(|value| value.as_str().and_then(moment).ok_or(NOT_A_DATE))
    }
}

/// Values that are stored or passed on as sent.
impl Field<'_> {
    /// An object of any members, at most `bytes_max` bytes when written without white space.
    pub fn raw_object(self, bytes_max: usize) -> Option<Map<String, Value>> {
        self.read(|value| match value {
            Value::Object(members) => small(value, bytes_max).map(|()| members.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(Rule::Borrowed("must be an object"))
            }
        })
    }
}

fn string(value: &Value) -> Result<&str, Rule> {
    value.as_str().ok_or(Rule::Borrowed(NOT_A_STRING))
}

fn not_blank(text: &str) -> Result<&str, Rule> {
    if text.trim().is_empty() { Err(Rule::Borrowed(EMPTY)) } else { Ok(text) }
}

pub(in super::super) fn not_one_of<T>(table: &[(&str, T)]) -> Rule {
    not_among(table.iter().map(|(name, _)| *name))
}

fn amount(minor_units: i64) -> Result<Amount, Rule> {
    Amount::new(minor_units).ok_or(Rule::Borrowed(NOT_AN_INTEGER))
}

fn integer(value: &Value) -> Result<i64, Rule> {
    match value {
        Value::Number(number) => integer_of(number).ok_or(Rule::Borrowed(NOT_AN_INTEGER)),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Err(Rule::Borrowed(NOT_AN_INTEGER))
        }
    }
}

fn small(value: &Value, bytes_max: usize) -> Result<(), Rule> {
    match serde_json::to_writer(Room(bytes_max), value) {
        Ok(()) => Ok(()),
        Err(_) => Err(Rule::Owned(format!("must not be larger than {bytes_max} bytes"))),
    }
}

/// So many bytes may be written. They go nowhere.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
