//! Until when an offer stands and when it is paid, by the days on which banks work and the clock of São Paulo.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::business_days::Calendar;
use crate::local_day;
use crate::time::Timestamp;

/// The hour of São Paulo by which an offer is accepted, so that it is paid on the next business day.
pub const HOUR_OF_DEADLINE: i8 = 15;

/// When an offer ends, and when it is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// From this moment on it cannot be accepted.
    pub expires_at: Timestamp,
    /// The business day on which the money comes.
    pub payment_date: Date,
}

impl Schedule {
    /// Of an offer made at this moment. One made at 15:00 or later, or on a day on which banks do not work, counts as made on the
    /// next business day.
    pub fn of(calendar: &Calendar, at: Timestamp) -> Self {
        let today = local_day::day_of(at);
        let is_in_time = at < local_day::hour_of(today, HOUR_OF_DEADLINE);
        let from = if is_in_time { today } else { following(today) };
        let day = calendar.on_or_after(from);
        Self { expires_at: local_day::hour_of(day, HOUR_OF_DEADLINE), payment_date: calendar.after(day) }
    }

    /// The calendar days from the payment to the day on which a receivable would be settled; 0 for one that is settled before.
    pub fn days_until(payment_date: Date, settlement_date: Date) -> u32 {
        let span = payment_date.until(settlement_date).map_or(0, |span| span.get_days());
        u32::try_from(span).unwrap_or(0)
    }
}

fn following(day: Date) -> Date {
    day.saturating_add(1.day())
}
