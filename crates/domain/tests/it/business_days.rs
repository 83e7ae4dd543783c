use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use proptest::prelude::*;
use regente_domain::business_days::Calendar;

const NATIONAL: Calendar = Calendar::NATIONAL;

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// All weekdays of a year without banking, from the calendars that FEBRABAN publishes.
fn weekdays_off(year: i16) -> Vec<String> {
    let first = Date::new(year, 1, 1).unwrap();
    first
        .series(1.day())
        .take_while(|day| day.year() == year)
        .filter(|day| {
            !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) && !NATIONAL.is_business_day(*day)
        })
        .map(|day| day.strftime("%m-%d").to_string())
        .collect()
}

#[test]
fn the_calendars_of_some_years() {
    for (year, off) in [
        // 20 November is no national holiday yet; 31 December is a Sunday, so banks close on Friday 29.
        (2023, "02-20 02-21 04-07 04-21 05-01 06-08 09-07 10-12 11-02 11-15 12-25 12-29"),
        (2024, "01-01 02-12 02-13 03-29 05-01 05-30 11-15 11-20 12-25 12-31"),
        (2025, "01-01 03-03 03-04 04-18 04-21 05-01 06-19 11-20 12-25 12-31"),
        (2026, "01-01 02-16 02-17 04-03 04-21 05-01 06-04 09-07 10-12 11-02 11-20 12-25 12-31"),
        (2027, "01-01 02-08 02-09 03-26 04-21 05-27 09-07 10-12 11-02 11-15 12-31"),
        // The last weekday of the year is 29 December.
        (2028, "02-28 02-29 04-14 04-21 05-01 06-15 09-07 10-12 11-02 11-15 11-20 12-25 12-29"),
    ] {
        assert_eq!(weekdays_off(year).join(" "), off, "{year}");
    }
}

#[test]
fn the_next_business_day() {
    for (from, to) in [
        ("2026-11-23", "2026-11-23"),
        // A holiday on Friday, then the weekend.
        ("2026-11-20", "2026-11-23"),
        ("2026-02-14", "2026-02-18"),
        // The last business day of the year, New Year, a weekend.
        ("2026-12-31", "2027-01-04"),
        ("2023-12-29", "2024-01-02"),
    ] {
        assert_eq!(NATIONAL.on_or_after(day(from)), day(to), "{from}");
    }
}

#[test]
fn business_days_are_added() {
    for (from, count, to) in [
        ("2026-11-18", 0, "2026-11-18"),
        ("2026-11-18", 1, "2026-11-19"),
        ("2026-11-18", 2, "2026-11-23"),
        ("2026-11-21", 0, "2026-11-23"),
        ("2026-11-21", 3, "2026-11-26"),
        ("2026-12-29", 3, "2027-01-05"),
    ] {
        assert_eq!(NATIONAL.add(day(from), count), day(to), "{from} + {count}");
    }
}

#[test]
fn an_operator_adds_holidays() {
    let with = |days: &[&str]| Calendar::with_holidays(days.iter().map(|text| day(text)).collect());
    // A Thursday and a Friday.
    let calendar = with(&["2026-11-26", "2026-11-27"]).unwrap();
    assert_eq!(calendar.on_or_after(day("2026-11-26")), day("2026-11-30"));
    assert_eq!(calendar.after(day("2026-11-25")), day("2026-11-30"));
    assert_eq!(calendar.add(day("2026-11-25"), 2), day("2026-12-01"));
    // National holidays stay.
    assert_eq!(calendar.after(day("2026-11-19")), day("2026-11-23"));
    assert_eq!(with(&[]), Some(NATIONAL));
    for wrong in [["2026-11-27", "2026-11-26"], ["2026-11-26", "2026-11-26"]] {
        assert_eq!(with(&wrong), None);
    }
}

#[test]
fn the_calendar_ends_and_nothing_hangs() {
    assert_eq!(NATIONAL.on_or_after(Date::MAX), Date::MAX);
    assert_eq!(NATIONAL.add(Date::MAX, 3), Date::MAX);
    assert!(NATIONAL.is_business_day(NATIONAL.on_or_after(Date::MIN)));
}

proptest! {
    #[test]
    fn added_days_are_business_days_and_none_is_left_out(offset in 0_i64..20_000, count in 0_u16..40) {
        let from = day("2024-01-01").checked_add(offset.days()).unwrap();
        let to = NATIONAL.add(from, count);
        prop_assert!(NATIONAL.is_business_day(to));
        let between = from.series(1.day()).take_while(|day| *day <= to).filter(|day| NATIONAL.is_business_day(*day)).count();
        prop_assert_eq!(between, usize::from(count) + 1);
    }
}
