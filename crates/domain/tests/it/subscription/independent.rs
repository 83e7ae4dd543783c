//! The calendar of subscriptions, compared with an independent one: `due_dates.txt` holds 500 subscriptions with the due dates of seven of
//! their cycles each, by the `relativedelta` of python-dateutil 2.9 (the first due date, plus so many times the interval).

use regente_domain::subscription::{Interval, Schedule};

use super::day;

const DUE_DATES: &str = include_str!("due_dates.txt");

#[test]
fn the_due_dates_are_those_of_an_independent_calendar() {
    let mut compared = 0;
    for line in DUE_DATES.lines() {
        let mut words = line.split(' ');
        let (start, interval) = (day(words.next().unwrap()), Interval::parse(words.next().unwrap()).unwrap());
        let schedule = Schedule::new(start, interval, None);
        for word in words {
            let (number, due_on) = word.split_once(':').unwrap();
            assert_eq!(
                schedule.due_on(number.parse().unwrap()),
                Some(day(due_on)),
                "cycle {number} of {line}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 3500);
}
