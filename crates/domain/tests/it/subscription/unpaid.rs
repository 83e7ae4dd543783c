//! Subscriptions that are unpaid, and cards that are replaced.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{CycleStatus, Outcome, SubscriptionStatus, Update, billed_at};

use super::story::{NO_FUNDS, Says, declined, under_way};
use super::{card, day, id};

#[test]
fn an_unpaid_subscription_tries_the_failed_cycle_with_another_card() {
    let mut story = under_way(&[Says::Yes, Says::No(DeclinedCode::ExpiredCard)]);
    story.until("2026-11-15T12:00:00Z");
    assert_eq!(story.diary.last().unwrap(), "2026-08-31 unpaid (unpaid)");
    story.update(&Update { card_id: Some(card(1)), ..Update::default() }).unwrap();
    story.until("2026-12-31T06:00:00Z");
    let expected = [
        "2026-11-15 updated (unpaid)",
        "2026-11-15 charge 2.2 subsequent 29900",
        "2026-11-15 activated (active)",
        "2026-11-30 charge 5.1 subsequent 29900",
        "2026-12-31 charge 6.1 subsequent 29900",
    ];
    assert_eq!(story.diary[5..], expected, "cycles 3 and 4 are not billed later");
    assert_eq!(story.cycle(5).due_on.to_string(), "2026-11-30");
}

#[test]
fn an_unpaid_subscription_is_tried_once_for_each_wish() {
    let mut story = under_way(&[Says::No(DeclinedCode::ExpiredCard), NO_FUNDS, NO_FUNDS]);
    story.resume().unwrap();
    story.resume().unwrap();
    story.until("2026-08-20");
    assert_eq!(story.cycle(1).attempts.len(), 2, "resumed twice before it was tried");
    assert_eq!(
        (story.cycle(1).status, story.subscription.status()),
        (CycleStatus::Failed, SubscriptionStatus::Unpaid)
    );
    story.update(&Update { name: Some("Basic".to_owned()), ..Update::default() }).unwrap();
    story.update(&Update { card_id: Some(card(0)), ..Update::default() }).unwrap();
    story.until("2026-08-21");
    assert_eq!(story.cycle(1).attempts.len(), 2, "nothing about the card is new");
    story.resume().unwrap();
    story.until("2026-08-22");
    let expected = [
        "2026-07-31 unpaid (unpaid)",
        "2026-07-31 charge 1.2 initial 29900",
        "2026-08-20 updated (unpaid)",
        "2026-08-20 nothing changed",
        "2026-08-21 charge 1.3 initial 29900",
    ];
    assert_eq!(story.diary[2..], expected, "unpaid is announced once");
}

/// Of two cycles one is unknown and the other has failed.
#[test]
fn another_cycle_that_is_paid_does_not_pay_the_failed_one() {
    let mut story = under_way(&[Says::Yes, Says::Nothing, Says::No(DeclinedCode::LostCard)]);
    story.until("2026-09-01");
    story.answer_to(2, 1, &Outcome::Unanswered);
    story.until("2026-10-01");
    story.answer_to(2, 1, &Outcome::Approved);
    assert_eq!(story.subscription.status(), SubscriptionStatus::Unpaid);
    story.resume().unwrap();
    story.catch_up();
    let expected = [
        "2026-09-30 unpaid (unpaid)",
        "2026-10-01 charge 3.2 subsequent 29900",
        "2026-10-01 activated (active)",
    ];
    assert_eq!(story.diary[5..], expected);
}

#[test]
fn a_card_that_was_given_meanwhile_is_tried() {
    let new_card = Update { card_id: Some(card(1)), ..Update::default() };
    // With attempts left, on the day of the next one.
    let mut story = under_way(&[Says::Nothing]);
    story.update(&new_card).unwrap();
    story.answer_to(1, 1, &declined(DeclinedCode::LostCard));
    assert_eq!(story.cycle(1).next_attempt_at, Some(billed_at(id(1), day("2026-08-01"))));
    // After the last one, at once.
    let mut story = under_way(&[NO_FUNDS, NO_FUNDS, NO_FUNDS, NO_FUNDS, Says::Nothing]);
    story.until("2026-08-20");
    story.update(&new_card).unwrap();
    story.answer_to(1, 5, &declined(DeclinedCode::InsufficientFunds));
    assert_eq!(story.subscription.status(), SubscriptionStatus::Created);
    story.catch_up();
    assert_eq!(
        story.diary[story.diary.len() - 2..],
        ["2026-08-20 charge 1.6 initial 29900", "2026-08-20 activated (active)"]
    );
    assert_eq!(story.cycle(1).attempts[5].card_id, card(1));
    // Once more, for an unpaid one.
    let mut story = under_way(&[Says::No(DeclinedCode::LostCard), Says::Nothing]);
    story.resume().unwrap();
    story.catch_up();
    story.update(&new_card).unwrap();
    story.answer_to(1, 2, &declined(DeclinedCode::LostCard));
    story.catch_up();
    assert_eq!(story.subscription.status(), SubscriptionStatus::Active);
}
