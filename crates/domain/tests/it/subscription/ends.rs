//! Ends: now, at the end of the period, and on a date.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{
    CancellationChange, CycleStatus, Interval, NewSubscription, Next, Outcome, Refusal, SubscriptionStatus,
    Update,
};

use super::story::{BEGIN, NO_FUNDS, Says, Story, declined};
use super::{day, plan, times};

fn ends(on: Option<&str>) -> Update {
    let change = CancellationChange::Set { on: on.map(day), reason: Some("Customer asked".to_owned()) };
    Update { cancellation: Some(change), ..Update::default() }
}

fn goes_on() -> Update {
    Update { cancellation: Some(CancellationChange::Undo), ..Update::default() }
}

fn monthly() -> Story {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.catch_up();
    story
}

#[test]
fn at_the_end_of_the_period_nothing_more_is_charged() {
    let mut story = monthly();
    story.update(&ends(None)).unwrap();
    let set = story.subscription.cancellation.clone().unwrap();
    assert_eq!((set.requested_on, set.effective_on), (None, day("2026-08-31")));
    assert_eq!(set.reason.as_deref(), Some("Customer asked"));
    assert_eq!(story.subscription.next_due_on(story.now), Some(day("2026-08-31")));
    story.until("2026-08-30T23:59:59Z");
    assert_eq!(story.subscription.status(), SubscriptionStatus::Active);
    story.until("2026-12-31");
    let expected = ["2026-07-31 updated (active)", "2026-08-31 canceled (canceled)"];
    assert_eq!(story.diary[3..], expected);
    assert_eq!(story.subscription.next_due_on(story.now), None);
}

#[test]
fn on_a_date_nothing_is_charged_any_more() {
    let mut story = monthly();
    story.update(&ends(Some("2026-09-30"))).unwrap();
    story.until("2026-12-31");
    let expected = [
        "2026-07-31 updated (active)",
        "2026-08-31 charge 2.1 subsequent 29900",
        "2026-09-30 canceled (canceled)",
    ];
    assert_eq!(story.diary[3..], expected, "it is a due date, too");
    let mut story = monthly();
    assert_eq!(story.update(&ends(Some("2026-07-30"))), Err(Refusal::CancellationInThePast));
    story.update(&ends(Some("2026-07-31"))).unwrap();
    story.catch_up();
    assert_eq!(story.diary.last().unwrap(), "2026-07-31 canceled (canceled)");
}

#[test]
fn a_trial_ends_at_its_end() {
    let trial = NewSubscription { trial_end: Some(day("2026-08-14")), ..plan(Interval::Monthly) };
    let mut story = Story::begin(trial.clone(), BEGIN);
    story.update(&ends(None)).unwrap();
    story.until("2026-12-31");
    let expected = [
        "2026-07-31 trial_started (trialing)",
        "2026-07-31 updated (trialing)",
        "2026-08-14 canceled (canceled)",
    ];
    assert_eq!(story.diary, expected);
    let mut story = Story::begin(trial, BEGIN);
    story.cancel().unwrap();
    assert_eq!(story.diary.last().unwrap(), "2026-07-31 canceled (canceled)");
}

#[test]
fn it_goes_on_when_the_end_is_taken_back() {
    let mut story = monthly();
    story.update(&ends(None)).unwrap();
    story.update(&goes_on()).unwrap();
    story.until("2026-09-01");
    assert_eq!(story.subscription.cancellation, None);
    assert_eq!(story.diary.last().unwrap(), "2026-08-31 charge 2.1 subsequent 29900");
}

#[test]
fn an_end_of_the_period_follows_the_schedule() {
    let later = NewSubscription { start_at: Some(day("2026-08-10")), ..plan(Interval::Monthly) };
    let mut story = Story::begin(later, BEGIN);
    story.update(&ends(None)).unwrap();
    story.update(&Update { start_at: Some(day("2026-09-10")), ..Update::default() }).unwrap();
    let effective_on = |story: &Story| story.subscription.cancellation.as_ref().unwrap().effective_on;
    assert_eq!(effective_on(&story), day("2026-09-10"));
    story.update(&ends(Some("2026-08-20"))).unwrap();
    story.update(&Update { start_at: Some(day("2026-10-10")), ..Update::default() }).unwrap();
    assert_eq!(effective_on(&story), day("2026-08-20"), "a day that was named stays");
}

#[test]
fn after_the_last_cycle_the_period_still_has_an_end() {
    let once = NewSubscription { cycles: times(1), ..plan(Interval::Monthly) };
    let mut story = Story::begin(once, BEGIN).answered([NO_FUNDS]);
    story.catch_up();
    story.update(&ends(None)).unwrap();
    assert_eq!(story.subscription.cancellation.as_ref().unwrap().effective_on, day("2026-08-31"));
}

#[test]
fn paused_and_unpaid_subscriptions_end_on_their_date() {
    let mut paused = monthly();
    paused.update(&ends(Some("2026-10-01"))).unwrap();
    paused.pause().unwrap();
    let mut unpaid =
        Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::No(DeclinedCode::LostCard)]);
    unpaid.catch_up();
    unpaid.update(&ends(Some("2026-10-01"))).unwrap();
    for story in [&mut paused, &mut unpaid] {
        story.until("2026-11-01");
        assert_eq!(story.diary.last().unwrap(), "2026-10-01 canceled (canceled)");
    }
}

#[test]
fn an_end_that_is_overdue_comes_before_a_change() {
    let mut story = monthly();
    story.update(&ends(Some("2026-08-20"))).unwrap();
    story.down_until("2026-09-15");
    assert_eq!(story.pause(), Err(Refusal::Behind));
    assert_eq!(story.cancel(), Err(Refusal::Behind));
    story.catch_up();
    assert_eq!(story.diary.last().unwrap(), "2026-09-15 canceled (canceled)");
    assert_eq!(story.cycles.len(), 1, "what fell due after the end is not charged");
}

#[test]
fn cycles_end_with_their_subscription() {
    let mut story = Story::begin(plan(Interval::Weekly), BEGIN).answered([Says::Yes, NO_FUNDS, NO_FUNDS]);
    story.until("2026-08-09");
    story.cancel().unwrap();
    assert_eq!(story.statuses(), [(1, CycleStatus::Authorized), (2, CycleStatus::Canceled)]);
    assert_eq!(story.cycle(2).next_attempt_at, None);
    assert_eq!(story.subscription.next(&story.read(), story.now), Next::Rest);
    // One that is due but not sent.
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.work();
    story.cancel().unwrap();
    assert_eq!(story.statuses(), [(1, CycleStatus::Canceled)]);
}

#[test]
fn what_is_under_way_at_the_end_still_counts() {
    let mut approved = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Nothing]);
    approved.catch_up();
    approved.cancel().unwrap();
    assert_eq!(approved.statuses(), [(1, CycleStatus::Pending)], "nobody knows");
    approved.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(approved.statuses(), [(1, CycleStatus::Authorized)]);
    assert_eq!(approved.subscription.status(), SubscriptionStatus::Canceled);

    let mut refused = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Nothing]);
    refused.catch_up();
    refused.cancel().unwrap();
    refused.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(refused.statuses(), [(1, CycleStatus::Failed)], "not tried again");
    for story in [approved, refused] {
        assert_eq!(
            story.diary.last().unwrap(),
            "2026-07-31 canceled (canceled)",
            "nothing is announced after it"
        );
    }
}
