//! The calendar against another one, which counts days by hand.

use jiff::civil::Date;
use regente_domain::id::SubscriptionId;
use regente_domain::subscription::{Interval, Schedule, billed_at};
use regente_domain::utc_day::{day_of, start_of};

use super::model::{days_later, months_later};
use super::{at, day, id, times};

fn dates(schedule: &Schedule, numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    numbers.into_iter().map(|number| schedule.due_on(number).unwrap().to_string()).collect()
}

#[test]
fn what_is_clamped_returns_to_its_day() {
    let cases: [(&str, Interval, &[&str]); 9] = [
        (
            "2026-01-31",
            Interval::Monthly,
            &["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"],
        ),
        ("2028-01-30", Interval::Monthly, &["2028-01-30", "2028-02-29", "2028-03-30"]),
        ("2026-08-10", Interval::Monthly, &["2026-08-10", "2026-09-10", "2026-10-10"]),
        ("2026-11-30", Interval::Quarterly, &["2026-11-30", "2027-02-28", "2027-05-30", "2027-08-30"]),
        (
            "2028-02-29",
            Interval::Yearly,
            &["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"],
        ),
        ("2028-02-29", Interval::Biennial, &["2028-02-29", "2030-02-28", "2032-02-29"]),
        (
            "2028-02-29",
            Interval::Triennial,
            &["2028-02-29", "2031-02-28", "2034-02-28", "2037-02-28", "2040-02-29"],
        ),
        ("2028-02-24", Interval::Weekly, &["2028-02-24", "2028-03-02", "2028-03-09"]),
        ("2028-02-28", Interval::Daily, &["2028-02-28", "2028-02-29", "2028-03-01"]),
    ];
    for (start, interval, expected) in cases {
        let schedule = Schedule::new(day(start), interval, None);
        let found = dates(&schedule, 1..=u32::try_from(expected.len()).unwrap());
        assert_eq!(found, expected, "{start} {}", interval.word());
    }
}

#[test]
fn four_hundred_years_of_every_interval_are_those_of_the_other_calendar() {
    let starts = ["2026-01-31", "2028-02-29", "2026-04-30", "2025-12-29", "2026-08-10", "2026-03-01"];
    let intervals = [
        (Interval::Monthly, 1),
        (Interval::Quarterly, 3),
        (Interval::Yearly, 12),
        (Interval::Biennial, 24),
        (Interval::Triennial, 36),
    ];
    for start in starts.map(day) {
        for (interval, months) in intervals {
            let schedule = Schedule::new(start, interval, None);
            let mut before: Option<Date> = None;
            for number in 1..=u32::try_from(4_800 / months).unwrap() {
                let due_on = schedule.due_on(number).unwrap();
                let intervals = i64::from(number - 1);
                assert_eq!(due_on, months_later(start, intervals * months), "{start} {number}");
                assert!(before.is_none_or(|before| before < due_on), "{start} {number}");
                before = Some(due_on);
            }
        }
        for (interval, days) in [(Interval::Weekly, 7), (Interval::Daily, 1)] {
            let schedule = Schedule::new(start, interval, None);
            for number in 1..=3_000 {
                let expected = days_later(start, i64::from(number - 1) * days);
                assert_eq!(schedule.due_on(number), Some(expected), "{start} {number}");
            }
        }
    }
}

#[test]
fn the_last_cycle_ends_it() {
    let year = Schedule::new(day("2026-08-10"), Interval::Monthly, times(12));
    assert_eq!(year.end_at(), Some(day("2027-07-10")));
    assert_eq!([0, 1, 12, 13].map(|number| year.has(number)), [false, true, true, false]);
    // None is left, so another interval moves nothing; should more be wanted later, it counts from where the next one would have been due.
    let over = year.with_interval(Interval::Weekly, 13);
    assert_eq!(over.end_at(), Some(day("2027-07-10")));
    assert_eq!(over.with_cycles(times(14)).end_at(), Some(day("2027-08-17")));
    let endless = year.with_cycles(None);
    assert_eq!(endless.end_at(), None);
    assert!(endless.has(1_200));
}

#[test]
fn the_calendar_ends_with_the_year_9999() {
    let schedule = Schedule::new(day("2026-08-10"), Interval::Triennial, None);
    assert_eq!(schedule.due_on(2_658).unwrap().year(), 9_997);
    assert_eq!(schedule.due_on(2_659), None);
    assert_eq!(schedule.due_on(u32::MAX), None);
    assert!(!schedule.has(u32::MAX));
    assert_eq!(schedule.with_interval(Interval::Weekly, u32::MAX), schedule, "there is no such cycle");
}

#[test]
fn another_interval_counts_from_the_next_due_date() {
    let start = Schedule::new(day("2026-01-31"), Interval::Monthly, None);
    // Cycle 2 is due on 28 February; the 31st is not forgotten.
    let quarterly = start.with_interval(Interval::Quarterly, 2);
    assert_eq!(dates(&quarterly, 2..=5), ["2026-02-28", "2026-05-31", "2026-08-31", "2026-11-30"]);
    let weekly = start.with_interval(Interval::Weekly, 2);
    assert_eq!(dates(&weekly, 2..=4), ["2026-02-28", "2026-03-07", "2026-03-14"]);
    // Changed back before a cycle was made, it is as it was.
    assert_eq!(dates(&weekly.with_interval(Interval::Monthly, 2), 2..=4), dates(&start, 2..=4));
    // After one, months count from the day that weeks have led to.
    let monthly = weekly.with_interval(Interval::Monthly, 4);
    assert_eq!(dates(&monthly, 4..=6), ["2026-03-14", "2026-04-14", "2026-05-14"]);
    assert_eq!(weekly.due_on(1), None, "a cycle that is made knows its own date");
    // Before the first cycle it is another plan.
    assert_eq!(dates(&start.with_interval(Interval::Yearly, 1), 1..=2), ["2026-01-31", "2027-01-31"]);
    assert_eq!(quarterly.with_interval(Interval::Quarterly, 4), quarterly);
}

#[test]
fn billing_is_spread_from_three_to_six() {
    let due_on = day("2026-08-10");
    let (first, last) = (at("2026-08-10T03:00:00Z"), at("2026-08-10T06:00:00Z"));
    let (mut early, mut late) = (0, 0);
    for n in 0..2_000 {
        let id: SubscriptionId = id(n);
        let bills_at = billed_at(id, due_on);
        assert!((first..last).contains(&bills_at), "{bills_at}");
        assert_eq!(
            billed_at(id, day("2026-08-11")).since(bills_at).as_secs(),
            86_400,
            "always at the same time"
        );
        if bills_at < at("2026-08-10T03:30:00Z") {
            early += 1
        }
        if bills_at >= at("2026-08-10T05:30:00Z") {
            late += 1
        }
    }
    // A sixth of them each.
    assert!((250..=420).contains(&early) && (250..=420).contains(&late), "{early} {late}");
}

#[test]
fn days_are_days_in_utc() {
    assert_eq!(day_of(at("2026-08-10T23:59:59.999Z")), day("2026-08-10"));
    assert_eq!(day_of(at("2026-08-10T22:00:00-03:00")), day("2026-08-11"));
    assert_eq!(start_of(day("2026-08-10")), at("2026-08-10T00:00:00Z"));
}

#[test]
fn a_schedule_is_stored_without_what_it_does_not_have() {
    let plain = Schedule::new(day("2026-01-31"), Interval::Monthly, None);
    let text = serde_json::to_string(&plain).unwrap();
    assert_eq!(text, r#"{"startAt":"2026-01-31","interval":"monthly"}"#);
    for kept in [plain, plain.with_cycles(times(3)), plain.with_interval(Interval::Weekly, 2)] {
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), kept);
    }
    assert!(
        serde_json::from_str::<Schedule>(r#"{"startAt":"2026-01-31","interval":"monthly","cycles":0}"#)
            .is_err()
    );
}
