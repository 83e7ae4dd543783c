//! Another calendar, written without a library: days are counted by hand. And dice.

use jiff::civil::Date;
use regente_domain::subscription::Interval;

use crate::splitmix::splitmix64;

/// Whether a year has a 29 February (Gregorian calendar).
fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn civil(year: i64, month: i64, day: i64) -> Date {
    Date::new(year.try_into().unwrap(), month.try_into().unwrap(), day.try_into().unwrap()).unwrap()
}

fn parts(date: Date) -> (i64, i64, i64) {
    (date.year().into(), date.month().into(), date.day().into())
}

/// The same day so many months later, or the last one of a shorter month.
pub(super) fn months_later(start: Date, months: i64) -> Date {
    let (year, month, day) = parts(start);
    let total = year * 12 + month - 1 + months;
    let (year, month) = (total / 12, total % 12 + 1);
    civil(year, month, day.min(days_of_month(year, month)))
}

/// So many days later.
pub(super) fn days_later(start: Date, mut days: i64) -> Date {
    let (mut year, mut month, mut day) = parts(start);
    while days > 0 {
        let left = days_of_month(year, month) - day;
        if days <= left {
            return civil(year, month, day + days);
        }
        days -= left + 1;
        (year, month, day) = if month == 12 { (year + 1, 1, 1) } else { (year, month + 1, 1) };
    }
    civil(year, month, day)
}

/// The due dates of a subscription whose interval changes: each is counted from the last change.
pub(super) struct Calendar {
    interval: Interval,
    /// The number from which the interval holds.
    from: u32,
    anchor: Date,
    /// Months between the anchor and the due date of that number.
    months: i64,
    /// Due dates before it.
    past: Vec<Date>,
}

impl Calendar {
    pub(super) fn new(start: Date, interval: Interval) -> Self {
        Self { interval, from: 1, anchor: start, months: 0, past: Vec::new() }
    }

    pub(super) fn due_on(&self, number: u32) -> Date {
        if number < self.from {
            return self.past[usize::try_from(number - 1).unwrap()];
        }
        let intervals = i64::from(number - self.from);
        match per(self.interval) {
            (0, days) => days_later(months_later(self.anchor, self.months), intervals * days),
            (months, _) => months_later(self.anchor, self.months + intervals * months),
        }
    }

    /// Another interval, from `number` on.
    pub(super) fn change(&mut self, interval: Interval, number: u32) {
        let due_on = self.due_on(number);
        self.past = (1..number).map(|number| self.due_on(number)).collect();
        if number > self.from {
            match per(self.interval) {
                (0, _) => (self.anchor, self.months) = (due_on, 0),
                (months, _) => self.months += i64::from(number - self.from) * months,
            }
            self.from = number;
        }
        self.interval = interval;
    }
}

/// Months and days from one due date to the next.
fn per(interval: Interval) -> (i64, i64) {
    match interval {
        Interval::Daily => (0, 1),
        Interval::Weekly => (0, 7),
        Interval::Monthly => (1, 0),
        Interval::Quarterly => (3, 0),
        Interval::Yearly => (12, 0),
        Interval::Biennial => (24, 0),
        Interval::Triennial => (36, 0),
    }
}

pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(splitmix64(&mut self.0) % u64::try_from(n).unwrap()).unwrap()
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
