//! Points in time and calendar days. Callers pass the present time.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time in milliseconds since 1970-01-01T00:00:00Z, the precision that the interface shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// From milliseconds since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// From seconds since the epoch; `None` outside of the years that can be written.
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        jiff::Timestamp::from_second(seconds).ok().map(|time| Self(time.as_millisecond()))
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole hours since the epoch, the unit of counters.
    pub const fn hour(self) -> i64 {
        self.0.div_euclid(3_600_000)
    }

    /// The start of an hour, counted since the epoch.
    pub const fn of_hour(hour: i64) -> Self {
        Self(hour * 3_600_000)
    }

    /// The time since `earlier`; zero when it lies in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses RFC 3339 with or without fraction and with any offset, or a date `YYYY-MM-DD` (midnight UTC). A space
    /// before the offset counts as `+`, because shipped clients do not percent-encode
    /// (`docs/interface/conventions.md#values`).
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(day) = parse_date(text) {
            return day
                .to_zoned(jiff::tz::TimeZone::UTC)
                .ok()
                .map(|zoned| Self(zoned.timestamp().as_millisecond()));
        }
        let repaired;
        let text = match text.split_at_checked(19) {
            Some((time, offset)) if offset.contains(' ') => {
                repaired = format!("{time}{}", offset.replace(' ', "+"));
                &repaired
            }
            Some(_) | None => text,
        };
        text.parse::<jiff::Timestamp>().ok().map(|time| Self(time.as_millisecond()))
    }

    /// The form of `card.createdAt` alone: date, time and numeric offset (`docs/interface/conventions.md#values`).
    pub fn to_offset_form(self) -> String {
        self.to_jiff().strftime("%Y-%m-%d %H:%M:%S +0000").to_string()
    }

    pub(crate) fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

/// Parses a calendar date `YYYY-MM-DD`.
pub fn parse_date(text: &str) -> Option<jiff::civil::Date> {
    if text.len() == 10 { text.parse().ok() } else { None }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}
impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// ISO 8601 in UTC with milliseconds and `Z`, as everywhere in the interface (`docs/interface/conventions.md#values`).
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.to_jiff())
    }
}
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not a date-time"))
    }
}

/// A time that is later than `before` even when the clock jumps back.
pub fn later_of(now: Timestamp, before: Timestamp) -> Timestamp {
    if now > before { now } else { Timestamp::from_millis(before.as_millis() + 1) }
}
