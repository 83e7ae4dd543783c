//! What was missed while the service was down, in order.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{CycleStatus, Interval, NewSubscription, Next};

use super::story::{BEGIN, NO_FUNDS, Says, Story, declined};
use super::{at, day, plan};

#[test]
fn days_that_were_missed_are_charged_one_after_the_other() {
    let mut story = Story::begin(plan(Interval::Daily), BEGIN);
    story.catch_up();
    story.down_until("2026-08-03T12:00:00Z");
    let mut done = Vec::new();
    while let next @ (Next::Step | Next::Charge(_)) = story.subscription.next(&story.read(), story.now) {
        done.push(matches!(next, Next::Charge(_)));
        story.work();
    }
    assert_eq!(done, [false, true, false, true, false, true], "each is made and charged before the next");
    let expected = [
        "2026-08-03 charge 2.1 subsequent 29900",
        "2026-08-03 charge 3.1 subsequent 29900",
        "2026-08-03 charge 4.1 subsequent 29900",
    ];
    assert_eq!(story.diary[3..], expected);
    let due: Vec<String> = story.cycles.iter().map(|cycle| cycle.due_on.to_string()).collect();
    assert_eq!(due, ["2026-07-31", "2026-08-01", "2026-08-02", "2026-08-03"]);
}

#[test]
fn what_was_missed_waits_for_the_attempt_that_is_under_way() {
    let mut story = Story::begin(plan(Interval::Daily), BEGIN).answered([Says::Yes, Says::Nothing]);
    story.catch_up();
    story.down_until("2026-08-03T12:00:00Z").catch_up();
    let scheduled = CycleStatus::Scheduled;
    assert_eq!(story.statuses()[1..], [(2, CycleStatus::Pending), (3, scheduled), (4, scheduled)]);
    story.answer_to(2, 1, &declined(DeclinedCode::LostCard));
    story.catch_up();
    assert_eq!(story.statuses()[1..], [(2, CycleStatus::Failed), (3, scheduled), (4, scheduled)]);
    assert_eq!(story.diary.last().unwrap(), "2026-08-03 unpaid (unpaid)");
    // Another card: what was due before goes on, the oldest first.
    story.resume().unwrap();
    story.catch_up();
    let paid = CycleStatus::Authorized;
    assert_eq!(story.statuses()[1..], [(2, paid), (3, paid), (4, paid)]);
}

/// A retry is older than what fell due after it.
#[test]
fn retries_and_cycles_come_in_the_order_of_their_time() {
    let mut story = Story::begin(plan(Interval::Weekly), BEGIN).answered([Says::Yes, NO_FUNDS, NO_FUNDS]);
    story.until("2026-08-08T12:00:00Z");
    story.down_until("2026-08-23").catch_up();
    let expected = [
        "2026-08-23 charge 2.3 subsequent 29900",
        "2026-08-23 charge 3.1 subsequent 29900",
        "2026-08-23 charge 4.1 subsequent 29900",
    ];
    assert_eq!(story.diary[5..], expected);
}

#[test]
fn an_outage_over_the_end_of_a_trial_loses_nothing() {
    let trial =
        NewSubscription { start_at: None, trial_end: Some(day("2026-08-14")), ..plan(Interval::Weekly) };
    let mut story = Story::begin(trial, BEGIN);
    story.down_until("2026-08-25").catch_up();
    let expected = [
        "2026-07-31 trial_started (trialing)",
        "2026-08-25 charge 1.1 initial 29900",
        "2026-08-25 activated (active)",
        "2026-08-25 charge 2.1 subsequent 29900",
    ];
    assert_eq!(story.diary, expected);
}

#[test]
fn it_says_until_when_nothing_is_to_do() {
    let start = NewSubscription { start_at: Some(day("2026-08-10")), ..plan(Interval::Monthly) };
    let mut story = Story::begin(start.clone(), BEGIN).answered([Says::Nothing]);
    let next = |story: &Story| story.subscription.next(&story.read(), story.now);
    let bills_at = story.subscription.bills_at(1).unwrap();
    assert_eq!(next(&story), Next::Wait(bills_at));
    assert!((at("2026-08-10T03:00:00Z")..at("2026-08-10T06:00:00Z")).contains(&bills_at));
    story.until("2026-08-11");
    assert_eq!(next(&story), Next::Wait(story.subscription.bills_at(2).unwrap()), "the next cycle");
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(next(&story), Next::Wait(story.cycle(1).next_attempt_at.unwrap()), "the next attempt");
    story.pause().unwrap();
    assert_eq!(next(&story), Next::Rest);

    let trial = NewSubscription { trial_end: Some(day("2026-08-14")), ..start };
    let story = Story::begin(trial, BEGIN);
    assert_eq!(next(&story), Next::Wait(at("2026-08-14T00:00:00Z")));
}

#[test]
fn a_day_at_a_time_and_all_at_once_are_the_same() {
    let says =
        [Says::Yes, NO_FUNDS, NO_FUNDS, Says::Yes, NO_FUNDS, Says::Gone, Says::No(DeclinedCode::LostCard)];
    let plan = NewSubscription { start_at: Some(day("2026-08-31")), ..plan(Interval::Monthly) };
    let mut at_once = Story::begin(plan.clone(), BEGIN).answered(says);
    at_once.until("2027-01-01");
    let mut by_days = Story::begin(plan, BEGIN).answered(says);
    let mut day = day("2026-07-31");
    while day < super::day("2027-01-01") {
        day = day.tomorrow().unwrap();
        by_days.until(&day.to_string());
    }
    assert_eq!(at_once.diary, by_days.diary);
    assert_eq!(at_once.cycles, by_days.cycles);
    assert_eq!(at_once.subscription, by_days.subscription);
    assert!(at_once.diary.len() > 8, "{:?}", at_once.diary);
}
