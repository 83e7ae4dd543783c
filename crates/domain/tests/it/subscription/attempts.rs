//! Outcomes that are late, unknown or told twice.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{
    BegunAttempt, Behind, CycleStatus, Interval, Made, NewCycle, Next, Outcome, Repair, SubscriptionStatus,
};

use super::story::{BEGIN, NO_FUNDS, Says, Story, declined, under_way};
use super::{id, plan};

#[test]
fn while_an_outcome_is_unknown_nothing_is_charged() {
    let mut story = under_way(&[Says::Nothing]);
    story.until("2026-10-15");
    assert_eq!(story.diary, ["2026-07-31 created (created)", "2026-07-31 charge 1.1 initial 29900"]);
    let waiting = [(1, CycleStatus::Pending), (2, CycleStatus::Scheduled), (3, CycleStatus::Scheduled)];
    assert_eq!(story.statuses(), waiting, "none is forgotten");
    // It is known at last: the others follow in order.
    story.answer_to(1, 1, &Outcome::Approved);
    story.catch_up();
    let expected = [
        "2026-10-15 activated (active)",
        "2026-10-15 charge 2.1 subsequent 29900",
        "2026-10-15 charge 3.1 subsequent 29900",
    ];
    assert_eq!(story.diary[2..], expected);
}

#[test]
fn an_attempt_begins_only_when_it_is_due() {
    let mut story = under_way(&[Says::Nothing]);
    let made = Made::Charge(id(77));
    let begun = BegunAttempt { id: id(78), made };
    let cycle_id = story.cycle(1).id;
    let try_once_more =
        |story: &Story| story.subscription.begin(&story.read(), cycle_id, begun, &story.rules, story.now);
    assert_eq!(try_once_more(&story), Ok(None), "one is under way");
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(try_once_more(&story), Ok(None), "the next one is due tomorrow");
    story.down_until("2026-08-01T06:00:00Z");
    assert!(try_once_more(&story).unwrap().is_some());
}

#[test]
fn an_outcome_counts_once() {
    for (says, later) in [
        (Says::Yes, Outcome::Approved),
        (Says::Yes, Outcome::Unanswered),
        (NO_FUNDS, declined(DeclinedCode::LostCard)),
        (NO_FUNDS, Outcome::Unanswered),
        (Says::Gone, Outcome::Approved),
    ] {
        let story = under_way(&[says]);
        let of = (story.cycle(1).id, 1);
        let told = |story: &Story| {
            story.subscription.end_attempt(&story.cycles, of, &later, &story.rules, story.now)
        };
        assert_eq!(told(&story), Ok(None), "{says:?} {later:?}");
    }
    let story = under_way(&[Says::Yes]);
    for unknown in [(story.cycle(1).id, 2), (id(99), 1)] {
        let told = story.subscription.end_attempt(
            &story.cycles,
            unknown,
            &Outcome::Approved,
            &story.rules,
            story.now,
        );
        assert_eq!(told, Ok(None));
    }
}

#[test]
fn a_payment_that_its_provider_takes_back_is_charged_again() {
    let mut story = under_way(&[Says::Yes]);
    story.until("2026-08-04");
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(story.statuses(), [(1, CycleStatus::Retrying)]);
    assert_eq!(story.subscription.agreement, None, "the series has not begun");
    // The time to the next attempt counts from the one that was taken back.
    story.until("2026-09-01");
    let expected = [
        "2026-07-31 activated (active)",
        "2026-08-04 charge 1.2 initial 29900",
        "2026-08-31 charge 2.1 subsequent 29900",
    ];
    assert_eq!(story.diary[2..], expected);
    assert_eq!(story.statuses(), [(1, CycleStatus::Authorized), (2, CycleStatus::Authorized)]);
}

#[test]
fn the_last_payment_that_is_taken_back_leaves_the_subscription_unpaid() {
    let mut story = under_way(&[Says::Yes]);
    story.until("2026-08-04");
    story.answer_to(1, 1, &declined(DeclinedCode::LostCard));
    assert_eq!(story.statuses(), [(1, CycleStatus::Failed)]);
    assert_eq!(story.diary.last().unwrap(), "2026-08-04 unpaid (unpaid)");
}

/// It was active, so it is again, whatever becomes of the payment that began it.
#[test]
fn a_first_payment_that_is_taken_back_does_not_undo_the_activation() {
    for is_paid_again in [false, true] {
        let mut story = under_way(&[Says::Yes]);
        if is_paid_again {
            story.until("2026-09-01");
        }
        story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
        story.pause().unwrap();
        story.resume().unwrap();
        assert_eq!(story.subscription.status(), SubscriptionStatus::Active, "paid again: {is_paid_again}");
    }
}

#[test]
fn what_was_given_back_is_not_missed() {
    let mut story = under_way(&[NO_FUNDS, Says::Yes]);
    story.until("2026-08-04");
    story.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(story.statuses(), [(1, CycleStatus::Authorized)]);
    // The one that was given back is refused, too: the other one pays.
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(story.statuses(), [(1, CycleStatus::Authorized)]);
    story.answer_to(1, 2, &declined(DeclinedCode::TryAgain));
    assert_eq!(story.statuses(), [(1, CycleStatus::Retrying)]);
}

#[test]
fn a_payment_that_the_merchant_cancels_is_not_charged_again() {
    let mut story = under_way(&[Says::Nothing]);
    story.answer_to(1, 1, &Outcome::Canceled);
    assert_eq!(story.statuses(), [(1, CycleStatus::Canceled)]);
    story.until("2026-09-01");
    let expected = ["2026-08-31 charge 2.1 initial 29900", "2026-08-31 activated (active)"];
    assert_eq!(story.diary[2..], expected);
}

#[test]
fn a_lost_answer_does_not_end_a_subscription() {
    let mut story = under_way(&[Says::Yes, Says::Nothing]);
    story.until("2026-09-01");
    story.answer_to(2, 1, &Outcome::Unanswered);
    story.until("2026-11-01");
    let statuses =
        [CycleStatus::Authorized, CycleStatus::Pending, CycleStatus::Authorized, CycleStatus::Authorized];
    assert_eq!(story.statuses().into_iter().map(|(_, status)| status).collect::<Vec<_>>(), statuses);
    assert_eq!(story.cycle(2).attempts.len(), 1, "it is never tried again while it is unknown");
    // The outcome still counts.
    story.answer_to(2, 1, &declined(DeclinedCode::TryAgain));
    assert_eq!(story.cycle(2).status, CycleStatus::Retrying);
    story.catch_up();
    assert_eq!(story.cycle(2).status, CycleStatus::Authorized);
    assert_eq!(story.diary.last().unwrap(), "2026-11-01 charge 2.2 subsequent 29900");
}

/// Not even if its record says that another one is due.
#[test]
fn a_cycle_with_an_open_attempt_is_never_charged() {
    let mut story = under_way(&[Says::Yes, Says::Nothing]);
    story.until("2026-09-01");
    story.answer_to(2, 1, &Outcome::Unanswered);
    let mut cycle = story.cycle(2).clone();
    cycle.next_attempt_at = Some(story.now);
    let next = story.subscription.next(&[cycle], story.now);
    assert_eq!(next, Next::Wait(story.subscription.bills_at(3).unwrap()));
}

#[test]
fn a_lost_answer_to_the_first_charge_holds_the_series() {
    let mut story = under_way(&[Says::Nothing]);
    story.answer_to(1, 1, &Outcome::Unanswered);
    story.until("2026-09-15");
    assert_eq!(story.cycle(2).attempts, [], "two charges cannot both be the first");
    story.answer_to(1, 1, &declined(DeclinedCode::TryAgain));
    story.catch_up();
    let charges = story.diary.iter().filter(|line| line.contains("charge"));
    let expected = [
        "2026-07-31 charge 1.1 initial 29900",
        "2026-09-15 charge 1.2 initial 29900",
        "2026-09-15 charge 2.1 subsequent 29900",
    ];
    assert!(charges.eq(expected.iter()), "{:?}", story.diary);
}

/// A provider approves what it has refused, before and after another attempt.
#[test]
fn a_refusal_that_becomes_an_approval_pays_the_cycle() {
    let mut story = under_way(&[NO_FUNDS]);
    story.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(story.diary.last().unwrap(), "2026-07-31 activated (active)");
    assert_eq!((story.cycle(1).status, story.cycle(1).next_attempt_at), (CycleStatus::Authorized, None));
    story.until("2026-08-30");
    assert_eq!(story.cycle(1).attempts.len(), 1);

    let mut story = under_way(&[NO_FUNDS, Says::Yes]);
    story.until("2026-08-02");
    story.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(story.diary.last().unwrap(), "2026-08-02 give back a charge of 1");

    let mut story = under_way(&[NO_FUNDS, Says::Nothing]);
    story.until("2026-08-02");
    story.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(story.diary.last().unwrap(), "2026-08-02 activated (active)");
    story.answer_to(1, 2, &Outcome::Approved);
    assert_eq!(story.diary.last().unwrap(), "2026-08-02 give back a charge of 1");

    let mut story = under_way(&[Says::No(DeclinedCode::LostCard)]);
    assert_eq!(story.subscription.status(), SubscriptionStatus::Unpaid);
    story.answer_to(1, 1, &Outcome::Approved);
    assert_eq!(story.diary.last().unwrap(), "2026-07-31 activated (active)");
}

/// What fell due before a refusal is made before it counts: the refusal may be the last.
#[test]
fn a_step_that_is_due_comes_before_an_outcome() {
    let mut story = under_way(&[Says::Nothing]);
    story.down_until("2026-08-31T06:00:00Z");
    let of = (story.cycle(1).id, 1);
    let lost = declined(DeclinedCode::LostCard);
    let told = story.subscription.end_attempt(&story.cycles, of, &lost, &story.rules, story.now);
    assert_eq!(told, Err(Behind));
    assert_eq!(story.subscription.next(&story.read(), story.now), Next::Step);
    assert!(
        story
            .subscription
            .end_attempt(&story.cycles, of, &Outcome::Approved, &story.rules, story.now)
            .is_ok()
    );
    story.answer(of, &lost);
    assert_eq!(story.statuses(), [(1, CycleStatus::Failed), (2, CycleStatus::Scheduled)]);
    assert_eq!(story.subscription.next(&story.read(), story.now), Next::Rest, "an unpaid one is not charged");
}

#[test]
fn a_step_that_is_due_comes_before_a_charge_that_is_not_possible() {
    let mut story = Story::begin(plan(Interval::Daily), BEGIN);
    story.work();
    story.down_until("2026-08-02T12:00:00Z");
    let begin = |story: &Story, made| {
        let begun = BegunAttempt { id: id(78), made };
        story.subscription.begin(&story.read(), story.cycle(1).id, begun, &story.rules, story.now)
    };
    assert_eq!(begin(&story, Made::Nothing { error_code: 404, repair: Repair::Possible }), Err(Behind));
    assert!(begin(&story, Made::Charge(id(77))).unwrap().is_some());
    story.step();
    story.step();
    assert!(begin(&story, Made::Nothing { error_code: 404, repair: Repair::Possible }).unwrap().is_some());
}

/// After an outage the attempts that were missed do not come all at once.
#[test]
fn a_late_attempt_keeps_the_time_to_the_next() {
    let mut story = under_way(&[NO_FUNDS; 5]);
    story.down_until("2026-08-20T12:00:00Z").catch_up();
    story.until("2026-10-01");
    let charges: Vec<&str> =
        story.diary.iter().filter(|line| line.contains("charge 1.")).map(|line| &line[..10]).collect();
    assert_eq!(charges, ["2026-07-31", "2026-08-20", "2026-08-23", "2026-08-28", "2026-09-04"]);
}

#[test]
fn a_cycle_says_whether_a_jump_has_made_it() {
    let story = Story::begin(plan(Interval::Monthly), BEGIN);
    let made = |is_emulated| {
        let new = NewCycle { id: id(5), is_emulated };
        story.subscription.step(&[], new, story.now).unwrap().cycles[0].is_emulated
    };
    assert_eq!([true, false].map(made), [true, false]);
}
