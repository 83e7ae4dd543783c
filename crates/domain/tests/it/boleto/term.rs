use jiff::civil::Date;
use regente_domain::boleto::{awaited_until, latest_due_date, usual_due_date};
use regente_domain::business_days::Calendar;
use regente_domain::local_day::{day_of, end_of};
use regente_domain::time::Timestamp;

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn a_day_of_sao_paulo_begins_three_hours_after_that_of_utc() {
    assert_eq!(day_of(at("2026-03-31T02:59:59.999Z")), day("2026-03-30"));
    assert_eq!(day_of(at("2026-03-31T03:00:00Z")), day("2026-03-31"));
    assert_eq!(end_of(day("2026-03-30")), at("2026-03-31T03:00:00Z"));
}

#[test]
fn summer_time_counts_while_there_was_any() {
    // From 2018-11-04 to 2019-02-17, for the last time. On the first day midnight did not exist.
    assert_eq!(day_of(at("2019-01-10T02:30:00Z")), day("2019-01-10"));
    assert_eq!(end_of(day("2019-01-10")), at("2019-01-11T02:00:00Z"));
    assert_eq!(end_of(day("2018-11-03")), at("2018-11-04T03:00:00Z"));
}

#[test]
fn due_dates() {
    assert_eq!(usual_due_date(day("2026-03-23")), day("2026-03-30"));
    assert_eq!(latest_due_date(day("2026-03-23")), day("2041-04-13"));
}

#[test]
fn a_boleto_is_awaited_for_three_business_days() {
    for (due, end) in [
        // Monday to Thursday.
        ("2026-03-30", "2026-04-03T03:00:00Z"),
        // A Saturday counts as the Monday after it.
        ("2026-03-28", "2026-04-03T03:00:00Z"),
        // Good Friday and a weekend lie between.
        ("2026-04-01", "2026-04-08T03:00:00Z"),
        // Carnival: Monday and Tuesday.
        ("2026-02-13", "2026-02-21T03:00:00Z"),
        // Christmas, the last business day of the year and New Year.
        ("2026-12-28", "2027-01-05T03:00:00Z"),
    ] {
        assert_eq!(awaited_until(&Calendar::NATIONAL, day(due)), at(end), "{due}");
    }
}
