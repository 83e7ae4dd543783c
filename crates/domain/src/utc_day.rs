//! Calendar days in UTC, by which subscriptions fall due.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::time::Timestamp;

/// The day at this time.
pub fn day_of(at: Timestamp) -> Date {
    TimeZone::UTC.to_datetime(at.to_jiff()).date()
}

/// The first moment of a day.
pub fn start_of(day: Date) -> Timestamp {
    day.to_zoned(TimeZone::UTC).map_or(Timestamp::from_millis(i64::MAX), |midnight| {
        Timestamp::from_millis(midnight.timestamp().as_millisecond())
    })
}
