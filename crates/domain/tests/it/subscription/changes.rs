//! What merchants change, and when it acts.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{
    CycleStatus, Interval, NewSubscription, Outcome, Refusal, Subscription, SubscriptionStatus, Update,
};

use super::story::{BEGIN, NO_FUNDS, Says, Story, declined};
use super::{at, card, cents, day, id, item, plan, times};

fn later() -> NewSubscription {
    NewSubscription { start_at: Some(day("2026-08-10")), ..plan(Interval::Monthly) }
}

fn price(amount: i64) -> Update {
    Update { items: Some(vec![item(amount, 1)]), ..Update::default() }
}

#[test]
fn a_new_price_acts_from_the_next_cycle_on() {
    let mut story = Story::begin(later(), BEGIN).answered([NO_FUNDS, NO_FUNDS]);
    story.until("2026-08-12");
    story.update(&price(10_000)).unwrap();
    story.until("2026-09-11");
    let expected = [
        "2026-08-12 updated (created)",
        "2026-08-14 charge 1.3 initial 29900",
        "2026-08-14 activated (active)",
        "2026-09-10 charge 2.1 subsequent 10000",
    ];
    assert_eq!(story.diary[3..], expected);
}

#[test]
fn a_new_price_during_an_attempt_does_not_change_it() {
    let mut story = Story::begin(later(), BEGIN).answered([Says::Nothing]);
    story.until("2026-08-11");
    story.update(&price(10_000)).unwrap();
    assert_eq!(story.cycle(1).terms.amount, cents(29_900));
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(
        story.subscription.order(story.cycle(1)).terms.amount,
        cents(29_900),
        "nor the next of its cycle"
    );
}

/// The cycle of the 10th is late, but the price of the 10th was the former one.
#[test]
fn a_cycle_that_is_late_has_the_price_of_its_day() {
    let mut story = Story::begin(later(), BEGIN);
    story.down_until("2026-08-11");
    assert_eq!(story.update(&price(10_000)), Err(Refusal::Behind));
    story.work();
    story.update(&price(10_000)).unwrap();
    story.catch_up();
    assert_eq!(story.diary[2], "2026-08-11 charge 1.1 initial 29900");
}

#[test]
fn every_term_acts_from_the_next_cycle_on() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Nothing]);
    story.catch_up();
    let update = Update {
        name: Some("Basic".to_owned()),
        merchant_id: Some(id(33)),
        reference_key: Some(Some("SUB-1".to_owned())),
        items: Some(vec![item(500, 2)]),
        card_id: Some(card(1)),
        installments: Some(3),
        ..Update::default()
    };
    story.update(&update).unwrap();
    let order = story.subscription.order(story.cycle(1));
    assert_eq!(
        (order.terms.merchant_id, order.terms.installments, order.terms.amount),
        (id(3), 1, cents(29_900))
    );
    story.answer_to(1, 1, &Outcome::Approved);
    story.down_until("2026-08-31T06:00:00Z").work();
    let order = story.subscription.order(story.cycle(2));
    assert_eq!(
        (order.terms.merchant_id, order.terms.installments, order.terms.amount),
        (id(33), 3, cents(1_000))
    );
    assert_eq!(order.card_id, card(1));
    let kept = &story.subscription;
    assert_eq!((kept.name.as_str(), kept.reference_key.as_deref()), ("Basic", Some("SUB-1")));
}

#[test]
fn a_change_of_nothing_is_none() {
    let mut story = Story::begin(later(), BEGIN);
    story.update(&Update::default()).unwrap();
    story.update(&price(29_900)).unwrap();
    story.update(&Update { start_at: Some(day("2026-08-10")), ..Update::default() }).unwrap();
    assert_eq!(story.diary[1..], ["2026-07-31 nothing changed"; 3]);
    assert_eq!(story.subscription.version, 1);
}

#[test]
fn the_first_due_date_moves_before_the_first_cycle() {
    let start = |text| Update { start_at: Some(day(text)), ..Update::default() };
    let mut story = Story::begin(later(), BEGIN);
    assert_eq!(story.update(&start("2026-07-30")), Err(Refusal::StartInThePast));
    story.update(&start("2026-09-30")).unwrap();
    story.until("2026-08-20T10:00:00Z");
    assert_eq!(story.cycles, []);
    story.update(&start("2026-08-20")).unwrap();
    story.catch_up();
    let expected = [
        "2026-08-20 updated (created)",
        "2026-08-20 charge 1.1 initial 29900",
        "2026-08-20 activated (active)",
    ];
    assert_eq!(story.diary[2..], expected, "today: at once");
    let refused = story.update(&start("2026-09-01"));
    assert_eq!(refused, Err(Refusal::AlreadyStarted));
    assert_eq!(Refusal::AlreadyStarted.business_code(), Some("subscription_invalid_state"));
    assert_eq!(Refusal::StartInThePast.business_code(), None);
    assert_eq!(story.subscription.next_due_on(story.now), Some(day("2026-09-20")));
}

#[test]
fn a_trial_keeps_its_end_when_the_start_moves() {
    let trial = NewSubscription { trial_end: Some(day("2026-08-14")), ..later() };
    let mut story = Story::begin(trial, BEGIN);
    assert_eq!(story.subscription.schedule.start_at(), day("2026-08-14"), "billing begins after the trial");
    story.update(&Update { start_at: Some(day("2026-08-01")), ..Update::default() }).unwrap();
    story.until("2026-08-13");
    assert_eq!((story.cycles.len(), story.subscription.status()), (0, SubscriptionStatus::Trialing));
    story.update(&Update { start_at: Some(day("2026-09-01")), ..Update::default() }).unwrap();
    story.until("2026-08-31");
    assert_eq!((story.cycles.len(), story.subscription.status()), (0, SubscriptionStatus::Created));
}

#[test]
fn another_interval_keeps_the_next_due_date() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.catch_up();
    story.update(&Update { interval: Some(Interval::Quarterly), ..Update::default() }).unwrap();
    story.until("2027-03-01");
    let due: Vec<String> = story.cycles.iter().map(|cycle| cycle.due_on.to_string()).collect();
    assert_eq!(due, ["2026-07-31", "2026-08-31", "2026-11-30", "2027-02-28"]);
}

#[test]
fn another_interval_in_a_pause_keeps_the_next_future_date() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.until("2026-08-15");
    story.pause().unwrap();
    story.until("2026-11-15");
    story.update(&Update { interval: Some(Interval::Weekly), ..Update::default() }).unwrap();
    assert_eq!(story.subscription.next_due_on(story.now), Some(day("2026-11-30")));
    story.resume().unwrap();
    story.until("2026-12-10");
    let due: Vec<(u32, String)> =
        story.cycles.iter().map(|cycle| (cycle.number, cycle.due_on.to_string())).collect();
    let expected =
        [(1, "2026-07-31"), (5, "2026-11-30"), (6, "2026-12-07")].map(|(n, text)| (n, text.to_owned()));
    assert_eq!(due, expected);
}

#[test]
fn the_number_of_cycles_changes() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([Says::Yes, Says::Nothing]);
    story.until("2026-09-01");
    let cycles = |number| Update { cycles: Some(times(number)), ..Update::default() };
    assert_eq!(story.update(&cycles(1)), Err(Refusal::FewerCyclesThanMade(2)));
    story.update(&cycles(2)).unwrap();
    assert_eq!(story.subscription.schedule.end_at(), Some(day("2026-08-31")));
    assert_eq!(story.subscription.next_due_on(story.now), None);
    story.update(&cycles(3)).unwrap();
    story.update(&cycles(2)).unwrap();
    story.answer_to(2, 1, &Outcome::Approved);
    assert_eq!(story.diary.last().unwrap(), "2026-09-01 expired (expired)");
    // Nothing is under way: it is over with the change.
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    story.until("2026-09-01");
    story.update(&cycles(2)).unwrap();
    assert_eq!(story.diary[4..], ["2026-09-01 updated (active)", "2026-09-01 expired (expired)"]);
}

/// The plan was over but for an attempt that is unknown; it is prolonged two months later.
#[test]
fn cycles_that_were_not_planned_are_not_billed_later() {
    let once = NewSubscription { cycles: times(1), ..plan(Interval::Monthly) };
    let mut story = Story::begin(once, BEGIN).answered([Says::Nothing]);
    story.until("2026-10-15");
    story.update(&Update { cycles: Some(None), ..Update::default() }).unwrap();
    assert_eq!(story.subscription.next_due_on(story.now), Some(day("2026-10-31")));
    assert_eq!(story.subscription.next_number, 4);
}

#[test]
fn what_has_ended_is_not_changed() {
    let mut story = Story::begin(later(), BEGIN);
    story.cancel().unwrap();
    let refused = story.update(&Update { start_at: Some(day("2020-01-01")), ..price(1) });
    assert_eq!(
        refused,
        Err(Refusal::InvalidState(SubscriptionStatus::Canceled)),
        "the state is looked at first"
    );
    let once = NewSubscription { cycles: times(1), ..plan(Interval::Monthly) };
    let mut story = Story::begin(once, BEGIN);
    story.catch_up();
    assert_eq!(story.update(&price(1)), Err(Refusal::InvalidState(SubscriptionStatus::Expired)));
}

#[test]
fn what_cannot_be_created() {
    let now = at(BEGIN);
    let refused = |new| Subscription::create(new, now).map(|_| ());
    let on = |text| Some(day(text));
    assert_eq!(
        refused(NewSubscription { start_at: on("2026-07-30"), ..later() }),
        Err(Refusal::StartInThePast)
    );
    assert_eq!(
        refused(NewSubscription { trial_end: on("2026-07-31"), ..later() }),
        Err(Refusal::TrialNotAhead)
    );
    let dear = NewSubscription { items: vec![item(1 << 52, 2)], ..later() };
    assert_eq!(refused(dear), Err(Refusal::AmountTooHigh));
    let mut story = Story::begin(later(), BEGIN);
    assert_eq!(
        story.update(&Update { items: Some(vec![item(1 << 52, 2)]), ..Update::default() }),
        Err(Refusal::AmountTooHigh)
    );
    assert_eq!(refused(NewSubscription { start_at: on("2026-07-31"), ..later() }), Ok(()));
    assert_eq!(refused(NewSubscription { trial_end: on("2026-08-01"), ..later() }), Ok(()));
}

#[test]
fn a_change_is_later_than_the_one_before() {
    let mut story = Story::begin(later(), BEGIN);
    story.now = at("2026-07-31T13:00:00Z");
    story.update(&price(1)).unwrap();
    assert_eq!(story.subscription.updated_at, at("2026-07-31T13:36:40.119Z"), "the clock has jumped back");
    assert_eq!(story.statuses(), [] as [(u32, CycleStatus); 0]);
}
