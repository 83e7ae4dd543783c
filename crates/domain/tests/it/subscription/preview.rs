use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{
    CancellationChange, Interval, NewSubscription, Subscription, Upcoming, Update,
};

use super::story::{BEGIN, Says, Story};
use super::{at, cents, day, item, plan, times};

fn told(cycles: impl Iterator<Item = Upcoming>) -> Vec<(u32, String, i64)> {
    cycles.map(|next| (next.number, next.due_on.to_string(), next.amount.minor_units())).collect()
}

#[test]
fn a_plan_is_shown_before_it_is_made() {
    let now = at(BEGIN);
    let new = NewSubscription { items: vec![item(100, 3)], ..plan(Interval::Monthly) };
    let made = Subscription::create(new, now).unwrap().subscription;
    let year = told(made.upcoming(now).take(12));
    assert_eq!(year.len(), 12);
    assert_eq!(year[0], (1, "2026-07-31".to_owned(), 300));
    assert_eq!(year[7], (8, "2027-02-28".to_owned(), 300));
    assert_eq!(year[11], (12, "2027-06-30".to_owned(), 300));
    let moments: Vec<_> = made.upcoming(now).take(2).map(|next| next.bills_at).collect();
    assert_eq!(moments[0], now, "today: at once");
    assert!(moments[1] >= at("2026-08-31T03:00:00Z") && moments[1] < at("2026-08-31T06:00:00Z"));
}

#[test]
fn it_stops_at_the_last_cycle_and_at_an_end_that_was_set() {
    let thrice = NewSubscription { cycles: times(3), ..plan(Interval::Weekly) };
    let mut story = Story::begin(thrice, BEGIN);
    let ahead = |story: &Story| told(story.subscription.upcoming(story.now).take(12)).len();
    assert_eq!(ahead(&story), 3);
    story.catch_up();
    assert_eq!(ahead(&story), 2);
    let set = CancellationChange::Set { on: Some(day("2026-08-14")), reason: None };
    story.update(&Update { cancellation: Some(set), ..Update::default() }).unwrap();
    assert_eq!(ahead(&story), 1, "on the day of the end nothing is charged");
    assert_eq!(story.subscription.next_due_on(story.now), Some(day("2026-08-07")));
    story.cancel().unwrap();
    assert_eq!((ahead(&story), story.subscription.next_due_on(story.now)), (0, None));
}

#[test]
fn it_is_what_comes() {
    let trial = NewSubscription {
        start_at: Some(day("2028-02-29")),
        trial_end: Some(day("2027-01-31")),
        cycles: times(5),
        ..plan(Interval::Yearly)
    };
    let mut story = Story::begin(trial, BEGIN);
    let shown = told(story.subscription.upcoming(story.now));
    story.until("2040-01-01");
    let came: Vec<_> = story
        .cycles
        .iter()
        .map(|cycle| (cycle.number, cycle.due_on.to_string(), cycle.terms.amount.minor_units()))
        .collect();
    assert_eq!(shown, came);
    assert_eq!(shown.len(), 5);
}

#[test]
fn what_waits_is_shown_as_if_it_went_on_now() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::No(DeclinedCode::LostCard)]);
    story.until("2026-10-15");
    let first = |story: &Story| told(story.subscription.upcoming(story.now).take(1));
    assert_eq!(first(&story), [(4, "2026-10-31".to_owned(), 29_900)]);
    assert_eq!(story.subscription.amount, cents(29_900));
    // Overdue, because nothing was done: it comes.
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.catch_up();
    story.down_until("2026-10-15");
    assert_eq!(first(&story), [(2, "2026-08-31".to_owned(), 29_900)]);
}
