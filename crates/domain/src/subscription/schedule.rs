//! The due dates of a subscription. Each is computed from the anchor, never from the date before it, so that what was
//! clamped to the end of a short month returns to its day. All days are UTC days.

use std::num::NonZeroU32;
use std::time::Duration;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::Interval;
use crate::id::SubscriptionId;
use crate::time::Timestamp;
use crate::utc_day;

/// Billing begins this long after midnight UTC: midnight UTC is 21:00 of the day before in Brasília.
const BILLING_BEGINS_AFTER: Duration = Duration::from_secs(3 * 60 * 60);
/// Billing of a day is spread over this long.
const BILLING_LASTS: Duration = Duration::from_secs(3 * 60 * 60);

/// When a subscription falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The first due date.
    start_at: Date,
    /// The time between due dates from the next cycle on.
    interval: Interval,
    /// The number of cycles, skipped ones included; `None` for endless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cycles: Option<NonZeroU32>,
    /// From where the interval counts, once it has changed after the first cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<Base>,
}

/// From where an interval counts: the due date of this cycle is `months` months after `anchor`. They are kept apart
/// because the sum may be clamped to the end of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Base {
    number: u32,
    anchor: Date,
    months: i64,
    /// The due date of the cycle before, which stays the last one where no other was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Date>,
}

#[derive(Clone, Copy)]
enum Step {
    Days(i64),
    Months(i64),
}

impl Interval {
    const fn step(self) -> Step {
        match self {
            Self::Daily => Step::Days(1),
            Self::Weekly => Step::Days(7),
            Self::Monthly => Step::Months(1),
            Self::Quarterly => Step::Months(3),
            Self::Yearly => Step::Months(12),
            Self::Biennial => Step::Months(24),
            Self::Triennial => Step::Months(36),
        }
    }
}

impl Schedule {
    /// Cycle 1 is due at `start_at`, and cycle n `n - 1` intervals later.
    pub const fn new(start_at: Date, interval: Interval, cycles: Option<NonZeroU32>) -> Self {
        Self { start_at, interval, cycles, base: None }
    }

    /// The due date of cycle 1.
    pub const fn start_at(&self) -> Date {
        self.start_at
    }

    /// The time between due dates from the next cycle on.
    pub const fn interval(&self) -> Interval {
        self.interval
    }

    /// The number of cycles; `None` for endless.
    pub const fn cycles(&self) -> Option<NonZeroU32> {
        self.cycles
    }

    /// The due date of the last cycle; `None` for endless.
    pub fn end_at(&self) -> Option<Date> {
        let (last, base) = (self.cycles?.get(), self.base());
        self.due_on(last).or_else(|| base.before.filter(|_| last.checked_add(1) == Some(base.number)))
    }

    /// The due date of a cycle, counted from 1, whether or not there are so many. `None` after the year 9999, and
    /// before the cycle from which on the interval holds: such a cycle knows its own date.
    pub fn due_on(&self, number: u32) -> Option<Date> {
        let base = self.base();
        let intervals = i64::from(number.checked_sub(base.number)?);
        let (months, days) = match self.interval.step() {
            Step::Months(months) => (base.months.checked_add(intervals.checked_mul(months)?)?, 0),
            Step::Days(days) => (base.months, intervals.checked_mul(days)?),
        };
        let month = base.anchor.checked_add(months_span(months)?).ok()?;
        month.checked_add(days_span(days)?).ok()
    }

    /// Whether there is a cycle of this number.
    pub fn has(&self, number: u32) -> bool {
        self.cycles.is_none_or(|cycles| number <= cycles.get()) && self.due_on(number).is_some()
    }

    /// With another interval from cycle `next` on, whose due date stays.
    #[must_use]
    pub fn with_interval(self, interval: Interval, next: u32) -> Self {
        let base = self.base();
        if interval == self.interval || next <= base.number {
            return Self { interval, ..self };
        }
        let Some(due_on) = self.due_on(next) else { return self };
        let before = next.checked_sub(1).and_then(|made| self.due_on(made));
        let base = match self.interval.step() {
            Step::Months(months) => {
                let months = base.months + i64::from(next - base.number) * months;
                Base { number: next, anchor: base.anchor, months, before }
            }
            Step::Days(_) => Base { number: next, anchor: due_on, months: 0, before },
        };
        Self { interval, base: Some(base), ..self }
    }

    /// With another first due date; only for a subscription without cycles.
    #[must_use]
    pub const fn with_start(self, start_at: Date) -> Self {
        Self { start_at, base: None, ..self }
    }

    /// With another number of cycles.
    #[must_use]
    pub const fn with_cycles(self, cycles: Option<NonZeroU32>) -> Self {
        Self { cycles, ..self }
    }

    fn base(&self) -> Base {
        self.base.unwrap_or(Base { number: 1, anchor: self.start_at, months: 0, before: None })
    }
}

/// When a subscription is billed on a day: always at the same time of the day, between 03:00 and 06:00 UTC.
pub fn billed_at(id: SubscriptionId, day: Date) -> Timestamp {
    let (_, random) = id.uuid().as_u64_pair();
    // Fibonacci hashing: the low bits of an id are not always random.
    let hash = random.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let spread = Duration::from_secs(hash % BILLING_LASTS.as_secs());
    utc_day::start_of(day) + BILLING_BEGINS_AFTER + spread
}

/// `None` for more months than the calendar has.
fn months_span(months: i64) -> Option<jiff::Span> {
    jiff::Span::new().try_months(months).ok()
}

/// `None` for more days than the calendar has.
fn days_span(days: i64) -> Option<jiff::Span> {
    jiff::Span::new().try_days(days).ok()
}
