//! The days on which Brazilian banks work, everywhere in the country. Holidays of states and cities are left out: where a payer's
//! bank stands is not known. An operator adds what is not known here, such as a holiday that a new law makes.
//!
//! Sources: Laws 662/1949 (as of 10.607/2002), 6.802/1980 and 14.759/2023 for the national holidays; Resolution CMN
//! 4.880/2020 for Carnival, Good Friday, Corpus Christi, and for the last business day of the year, on which banks
//! neither serve the public nor clear (FEBRABAN announces it each December).

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

/// Holidays of the same day each year: month, day, and the first year.
const FIXED: [(i8, i8, i16); 9] = [
    (1, 1, 1949),
    (4, 21, 1949),
    (5, 1, 1949),
    (9, 7, 1949),
    (10, 12, 1980),
    (11, 2, 2002),
    (11, 15, 1949),
    (11, 20, 2024),
    (12, 25, 1949),
];

/// Holidays that move with Easter: Monday and Tuesday of Carnival, Good Friday, Corpus Christi.
const DAYS_FROM_EASTER: [i64; 4] = [-48, -47, -2, 60];

/// The days on which banks work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    /// Further holidays, in their order.
    extra: Vec<Date>,
}

impl Calendar {
    /// The national calendar alone.
    pub const NATIONAL: Self = Self { extra: Vec::new() };

    /// The national calendar with further holidays; `None` unless each lies after the one before it.
    pub fn with_holidays(extra: Vec<Date>) -> Option<Self> {
        extra.is_sorted_by(|one, next| one < next).then_some(Self { extra })
    }

    /// Whether banks work on this day.
    pub fn is_business_day(&self, day: Date) -> bool {
        clears_reserves(day) && !is_last_of_year(day) && self.extra.binary_search(&day).is_err()
    }

    /// The day itself when it is a business day, otherwise the next one.
    pub fn on_or_after(&self, day: Date) -> Date {
        let mut day = day;
        while !self.is_business_day(day) && day < Date::MAX {
            day = following(day);
        }
        day
    }

    /// The first business day after a day.
    pub fn after(&self, day: Date) -> Date {
        self.on_or_after(following(day))
    }

    /// The business day that is `count` business days later; 0 is [`Self::on_or_after`].
    pub fn add(&self, day: Date, count: u16) -> Date {
        (0..count).fold(self.on_or_after(day), |day, _| self.after(day))
    }
}

/// Neither weekend nor holiday: the banks' reserves move, the last business day of the year included.
fn clears_reserves(day: Date) -> bool {
    let is_weekend = matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    let is_fixed = FIXED.iter().any(|&(month, of_month, since)| {
        (month, of_month) == (day.month(), day.day()) && day.year() >= since
    });
    !is_weekend && !is_fixed && !moves_with_easter(day)
}

fn moves_with_easter(day: Date) -> bool {
    easter(day.year())
        .is_some_and(|easter| DAYS_FROM_EASTER.iter().any(|&days| easter.saturating_add(days.days()) == day))
}

fn easter(year: i16) -> Option<Date> {
    let sunday = computus::gregorian(year.into()).ok()?;
    Date::new(year, i8::try_from(sunday.month).ok()?, i8::try_from(sunday.day).ok()?).ok()
}

fn is_last_of_year(day: Date) -> bool {
    day.month() == 12
        && clears_reserves(day)
        && (day.day() + 1..=31)
            .all(|later| !clears_reserves(day.saturating_add(i64::from(later - day.day()).days())))
}

fn following(day: Date) -> Date {
    day.saturating_add(1.day())
}
