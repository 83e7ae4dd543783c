//! What a pause does to cycles and to attempts that are under way.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{
    AfterRetries, CycleStatus, Interval, NewSubscription, Next, Outcome, Refusal, SubscriptionStatus, Update,
};

use super::story::{BEGIN, NO_FUNDS, Says, Story, declined};
use super::{day, plan, times};

fn paid_once() -> Story {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.catch_up();
    story
}

#[test]
fn what_falls_due_in_a_pause_is_not_billed_later() {
    let mut story = paid_once();
    story.until("2026-08-15");
    story.pause().unwrap();
    story.until("2026-11-15");
    assert_eq!(story.subscription.next_due_on(story.now), Some(day("2026-11-30")));
    story.resume().unwrap();
    story.until("2026-12-01");
    let expected = [
        "2026-08-15 paused (paused)",
        "2026-11-15 resumed (active)",
        "2026-11-30 charge 5.1 subsequent 29900",
    ];
    assert_eq!(story.diary[3..], expected);
}

/// A cycle is missed when its time of billing is in the pause, not its day.
#[test]
fn a_pause_that_ends_before_the_time_of_billing_skips_nothing() {
    for (resumed, number) in [("2026-08-31T02:59:59Z", 2), ("2026-08-31T06:00:00Z", 3)] {
        let mut story = paid_once();
        story.until("2026-08-30T23:00:00Z");
        story.pause().unwrap();
        story.until(resumed);
        story.resume().unwrap();
        assert_eq!(story.subscription.next_number, number, "{resumed}");
    }
}

/// It is charged with the resumption on that day; later it was missed as any other.
#[test]
fn what_is_set_in_a_pause_to_begin_today_begins_when_it_is_resumed() {
    for (resumed, charged) in [
        ("2026-08-10T21:00:00Z", "2026-08-10 charge 1.1 initial 29900"),
        ("2026-08-11T21:00:00Z", "2026-09-10 charge 2.1 initial 29900"),
    ] {
        let later = NewSubscription { start_at: Some(day("2026-08-20")), ..plan(Interval::Monthly) };
        let mut story = Story::begin(later, BEGIN);
        story.pause().unwrap();
        story.until("2026-08-10T20:00:00Z");
        story.update(&Update { start_at: Some(day("2026-08-10")), ..Update::default() }).unwrap();
        let next = story.subscription.next_due_on(story.now);
        assert_eq!(next, Some(day("2026-08-10")));
        story.until(resumed);
        story.resume().unwrap();
        story.until("2026-09-11");
        let first = story.diary.iter().find(|line| line.contains("charge")).unwrap();
        assert_eq!(first, charged);
    }
}

#[test]
fn a_cycle_that_fell_due_before_the_pause_is_made_first() {
    let mut story = paid_once();
    story.down_until("2026-08-31T12:00:00Z");
    assert_eq!(story.pause(), Err(Refusal::Behind));
    assert_eq!(story.subscription.next(&story.read(), story.now), Next::Step);
    story.work();
    story.pause().unwrap();
    assert_eq!(story.subscription.next(&story.read(), story.now), Next::Rest, "it waits");
    story.until("2026-09-15");
    story.resume().unwrap();
    story.catch_up();
    assert_eq!(story.diary.last().unwrap(), "2026-09-15 charge 2.1 subsequent 29900", "it was due before");
}

#[test]
fn an_approval_during_a_pause_counts() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Nothing]);
    story.catch_up();
    story.pause().unwrap();
    story.answer_to(1, 1, &Outcome::Approved);
    story.resume().unwrap();
    let expected =
        ["2026-07-31 paused (paused)", "2026-07-31 activated (paused)", "2026-07-31 resumed (active)"];
    assert_eq!(story.diary[2..], expected);
}

#[test]
fn a_refusal_during_a_pause_waits_for_the_resumption() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Nothing]);
    story.catch_up();
    story.pause().unwrap();
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(story.cycle(1).status, CycleStatus::Retrying);
    story.until("2026-08-20");
    assert_eq!(story.cycle(1).attempts.len(), 1);
    story.resume().unwrap();
    story.until("2026-08-21");
    let expected = [
        "2026-07-31 paused (paused)",
        "2026-08-20 resumed (created)",
        "2026-08-20 charge 1.2 initial 29900",
        "2026-08-20 activated (active)",
    ];
    assert_eq!(story.diary[2..], expected, "back to what it was: nothing was paid");
}

#[test]
fn a_last_refusal_during_a_pause_ends_it() {
    for (after, event, status) in [
        (AfterRetries::Unpaid, "2026-07-31 unpaid (unpaid)", SubscriptionStatus::Unpaid),
        (AfterRetries::Canceled, "2026-07-31 canceled (canceled)", SubscriptionStatus::Canceled),
    ] {
        let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Nothing]);
        story.rules.after_retries = after;
        story.catch_up();
        story.pause().unwrap();
        story.answer_to(1, 1, &declined(DeclinedCode::StolenCard));
        assert_eq!((story.diary.last().unwrap().as_str(), story.subscription.status()), (event, status));
    }
}

#[test]
fn retries_wait_for_the_resumption_too() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([NO_FUNDS, NO_FUNDS]);
    story.catch_up();
    story.pause().unwrap();
    story.until("2026-08-10T12:00:00Z");
    story.resume().unwrap();
    story.until("2026-08-20");
    let charges: Vec<_> = story.diary.iter().filter(|line| line.contains("charge")).collect();
    let expected = [
        "2026-07-31 charge 1.1 initial 29900",
        "2026-08-10 charge 1.2 initial 29900",
        "2026-08-13 charge 1.3 initial 29900",
    ];
    assert_eq!(charges, expected);
}

#[test]
fn a_pause_beyond_the_last_cycle_ends_it() {
    let twice = NewSubscription { cycles: times(2), ..plan(Interval::Monthly) };
    let mut story = Story::begin(twice.clone(), BEGIN);
    story.until("2026-08-15");
    story.pause().unwrap();
    story.until("2026-12-15");
    assert_eq!(story.subscription.next_due_on(story.now), None);
    story.resume().unwrap();
    assert_eq!(story.diary[4..], ["2026-12-15 resumed (active)", "2026-12-15 expired (expired)"]);

    let later = NewSubscription { start_at: Some(day("2026-08-10")), ..twice };
    let mut story = Story::begin(later, BEGIN);
    story.pause().unwrap();
    story.until("2026-12-15");
    story.resume().unwrap();
    assert_eq!(story.diary[2..], ["2026-12-15 resumed (created)", "2026-12-15 expired (expired)"]);
}

#[test]
fn the_last_payment_of_a_paused_subscription_ends_it_when_it_is_resumed() {
    let once = NewSubscription { cycles: times(1), ..plan(Interval::Monthly) };
    let mut story = Story::begin(once, BEGIN).answered([Says::Nothing]);
    story.catch_up();
    story.pause().unwrap();
    story.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(story.subscription.status(), SubscriptionStatus::Paused);
    story.resume().unwrap();
    assert_eq!(story.diary.last().unwrap(), "2026-07-31 expired (expired)");
}

#[test]
fn only_some_can_be_paused_and_resumed() {
    let trial = NewSubscription { trial_end: Some(day("2026-08-14")), ..plan(Interval::Monthly) };
    let mut story = Story::begin(trial, BEGIN);
    assert_eq!(story.pause(), Err(Refusal::InvalidState(SubscriptionStatus::Trialing)));
    assert_eq!(story.resume(), Err(Refusal::InvalidState(SubscriptionStatus::Trialing)));
    let mut story = paid_once();
    assert_eq!(story.resume(), Err(Refusal::InvalidState(SubscriptionStatus::Active)));
    story.pause().unwrap();
    assert_eq!(story.pause(), Err(Refusal::InvalidState(SubscriptionStatus::Paused)));
    story.cancel().unwrap();
    for refused in [story.pause(), story.resume(), story.cancel()] {
        assert_eq!(refused, Err(Refusal::InvalidState(SubscriptionStatus::Canceled)));
    }
    let refusal = Refusal::InvalidState(SubscriptionStatus::Canceled);
    assert_eq!(refusal.business_code(), Some("subscription_invalid_state"));
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::No(DeclinedCode::LostCard)]);
    story.catch_up();
    assert_eq!(story.pause(), Err(Refusal::InvalidState(SubscriptionStatus::Unpaid)));
}
