//! Ids, days and moments in bodies.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::IN_PLACE;
use super::reading::text_as;
use crate::id::Id;
use crate::problems::Problems;
use crate::time::{Timestamp, parse_date};

/// The rule of days and moments.
pub const NOT_A_DATE: &str = "must be a valid ISO 8601 date string";

/// A UUID of any version in its usual form, with hyphens.
pub fn uuid(text: &str) -> Option<Uuid> {
    const CHARS: usize = 36;
    if text.len() == CHARS { Uuid::try_parse(text).ok() } else { None }
}

/// A calendar day, `YYYY-MM-DD`.
pub fn day(text: &str) -> Option<jiff::civil::Date> {
    let has_shape = text.len() == 10
        && text.bytes().enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if has_shape { parse_date(text) } else { None }
}

/// A moment: RFC 3339 with any offset, or a calendar day, which means its midnight in UTC.
pub fn moment(text: &str) -> Option<Timestamp> {
    if text.is_ascii() { Timestamp::parse(text) } else { None }
}

impl Deserr<Problems> for Uuid {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        text_as(value, location, || "must be a UUID".into(), uuid)
    }
}

impl<T> Deserr<Problems> for Id<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        Uuid::deserialize_from_value(value, location).map(Self::new)
    }
}

impl Deserr<Problems> for jiff::civil::Date {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        text_as(value, location, || NOT_A_DATE.into(), day)
    }
}

impl Deserr<Problems> for Timestamp {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        text_as(value, location, || NOT_A_DATE.into(), moment)
    }
}

fn text_of(format: KnownFormat) -> RefOr<Schema> {
    let format = SchemaFormat::KnownFormat(format);
    ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
}

impl<T> PartialSchema for Id<T> {
    fn schema() -> RefOr<Schema> {
        text_of(KnownFormat::Uuid)
    }
}

impl<T> ToSchema for Id<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Uuid"))
    }
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        text_of(KnownFormat::DateTime)
    }
}

impl ToSchema for Timestamp {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Timestamp"))
    }
}
