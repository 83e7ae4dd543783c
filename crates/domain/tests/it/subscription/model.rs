//! Another calendar, written without a library: days are counted by hand.

use jiff::civil::Date;

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
