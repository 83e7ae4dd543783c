//! A span of time by the calendar, as people write it.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use jiff::tz::TimeZone;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::problems::Problems;
use crate::time::Timestamp;
use crate::wire::{IN_PLACE, text_as};

/// The most characters of a span.
const CHARS_MAX: usize = 100;
/// The rule of what is no span.
const RULE: &str = "must be a span of time ahead, such as 1d, 3mo or P1Y6M";

/// A positive span of time: `1d`, `3mo`, `1y 2mo 3h`, or as in ISO 8601, `P1Y2MT3H`.
#[derive(Clone, Copy, Debug)]
pub struct Span(jiff::Span);

impl Span {
    /// Parses a span; none that is zero or leads back.
    pub fn parse(text: &str) -> Option<Self> {
        let span: jiff::Span = if text.len() <= CHARS_MAX { text.parse().ok()? } else { return None };
        span.is_positive().then_some(Self(span))
    }

    /// The moment that is so much later, by the calendar in UTC; `None` past the end of all calendars.
    pub fn after(self, now: Timestamp) -> Option<Timestamp> {
        let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(TimeZone::UTC);
        let then = now.checked_add(self.0).ok()?;
        Some(Timestamp::from_millis(then.timestamp().as_millisecond()))
    }
}

impl From<jiff::Span> for Span {
    fn from(span: jiff::Span) -> Self {
        Self(span)
    }
}

impl Deserr<Problems> for Span {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        text_as(value, location, || RULE.into(), Self::parse)
    }
}

impl PartialSchema for Span {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(CHARS_MAX)).into()
    }
}

impl ToSchema for Span {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{IN_PLACE}Span"))
    }
}
