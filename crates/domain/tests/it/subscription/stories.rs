//! Whole lives of subscriptions, as their diaries tell them.

use regente_domain::decline::DeclinedCode;
use regente_domain::subscription::{
    AfterRetries, AttemptStatus, CycleStatus, Interval, NewSubscription, Payment, SubscriptionStatus,
};

use super::story::{BEGIN, NO_FUNDS, Says, Story};
use super::{card, day, plan, times};

/// A life: what the plan is, what providers say, until when, and what the diary has then.
struct Life {
    name: &'static str,
    plan: NewSubscription,
    says: Vec<Says>,
    after: AfterRetries,
    until: &'static str,
    diary: &'static [&'static str],
    ends: SubscriptionStatus,
}

fn lives() -> Vec<Life> {
    let monthly =
        NewSubscription { start_at: Some(day("2026-08-10")), cycles: times(3), ..plan(Interval::Monthly) };
    let endless = NewSubscription { cycles: None, ..monthly.clone() };
    let of = |name, plan: &NewSubscription, says: &[Says], until, diary, ends| Life {
        name,
        plan: plan.clone(),
        says: says.to_vec(),
        after: AfterRetries::Unpaid,
        until,
        diary,
        ends,
    };
    vec![
        of(
            "three months",
            &monthly,
            &[],
            "2027-01-01",
            &[
                "2026-07-31 created (created)",
                "2026-08-10 charge 1.1 initial 29900",
                "2026-08-10 activated (active)",
                "2026-09-10 charge 2.1 subsequent 29900",
                "2026-10-10 charge 3.1 subsequent 29900",
                "2026-10-10 expired (expired)",
            ],
            SubscriptionStatus::Expired,
        ),
        of(
            "once, today",
            &NewSubscription { start_at: None, cycles: times(1), ..monthly.clone() },
            &[],
            "2026-08-01",
            &[
                "2026-07-31 created (created)",
                "2026-07-31 charge 1.1 initial 29900",
                "2026-07-31 activated (active)",
                "2026-07-31 expired (expired)",
            ],
            SubscriptionStatus::Expired,
        ),
        of(
            "a trial of two weeks",
            &NewSubscription { start_at: None, trial_end: Some(day("2026-08-14")), ..endless.clone() },
            &[],
            "2026-10-01",
            &[
                "2026-07-31 trial_started (trialing)",
                "2026-08-14 charge 1.1 initial 29900",
                "2026-08-14 activated (active)",
                "2026-09-14 charge 2.1 subsequent 29900",
            ],
            SubscriptionStatus::Active,
        ),
        of(
            "billing begins after the trial",
            &NewSubscription {
                start_at: Some(day("2026-08-20")),
                trial_end: Some(day("2026-08-14")),
                ..endless.clone()
            },
            &[],
            "2026-08-19",
            &["2026-07-31 trial_started (trialing)"],
            SubscriptionStatus::Created,
        ),
        of(
            "refused by default on the days 0, 1, 4, 9 and 16",
            &endless,
            &[NO_FUNDS; 5],
            "2026-12-31",
            &[
                "2026-07-31 created (created)",
                "2026-08-10 charge 1.1 initial 29900",
                "2026-08-11 charge 1.2 initial 29900",
                "2026-08-14 charge 1.3 initial 29900",
                "2026-08-19 charge 1.4 initial 29900",
                "2026-08-26 charge 1.5 initial 29900",
                "2026-08-26 unpaid (unpaid)",
            ],
            SubscriptionStatus::Unpaid,
        ),
        of(
            "approved at the third attempt",
            &monthly,
            &[Says::Yes, NO_FUNDS, NO_FUNDS, Says::Yes],
            "2026-10-01",
            &[
                "2026-07-31 created (created)",
                "2026-08-10 charge 1.1 initial 29900",
                "2026-08-10 activated (active)",
                "2026-09-10 charge 2.1 subsequent 29900",
                "2026-09-11 charge 2.2 subsequent 29900",
                "2026-09-14 charge 2.3 subsequent 29900",
            ],
            SubscriptionStatus::Active,
        ),
        Life {
            after: AfterRetries::Canceled,
            ..of(
                "canceled after the last attempt",
                &endless,
                &[Says::Yes, NO_FUNDS, NO_FUNDS, NO_FUNDS, NO_FUNDS, NO_FUNDS],
                "2026-12-31",
                &[
                    "2026-07-31 created (created)",
                    "2026-08-10 charge 1.1 initial 29900",
                    "2026-08-10 activated (active)",
                    "2026-09-10 charge 2.1 subsequent 29900",
                    "2026-09-11 charge 2.2 subsequent 29900",
                    "2026-09-14 charge 2.3 subsequent 29900",
                    "2026-09-19 charge 2.4 subsequent 29900",
                    "2026-09-26 charge 2.5 subsequent 29900",
                    "2026-09-26 canceled (canceled)",
                ],
                SubscriptionStatus::Canceled,
            )
        },
        of(
            "a lost card ends the attempts",
            &endless,
            &[Says::Yes, NO_FUNDS, Says::No(DeclinedCode::LostCard)],
            "2026-12-31",
            &[
                "2026-07-31 created (created)",
                "2026-08-10 charge 1.1 initial 29900",
                "2026-08-10 activated (active)",
                "2026-09-10 charge 2.1 subsequent 29900",
                "2026-09-11 charge 2.2 subsequent 29900",
                "2026-09-11 unpaid (unpaid)",
            ],
            SubscriptionStatus::Unpaid,
        ),
        of(
            "a card that is gone is announced each time",
            &endless,
            &[Says::Gone, NO_FUNDS, Says::Gone],
            "2026-08-15",
            &[
                "2026-07-31 created (created)",
                "2026-08-10 no charge 1.1 initial 29900",
                "2026-08-10 cycle_failed 404 (created)",
                "2026-08-11 charge 1.2 initial 29900",
                "2026-08-14 no charge 1.3 initial 29900",
                "2026-08-14 cycle_failed 404 (created)",
            ],
            SubscriptionStatus::Created,
        ),
        of(
            "a card that stays away",
            &NewSubscription { start_at: None, ..endless },
            &[Says::Gone; 5],
            "2026-12-31",
            &[
                "2026-07-31 created (created)",
                "2026-07-31 no charge 1.1 initial 29900",
                "2026-07-31 cycle_failed 404 (created)",
                "2026-08-01 no charge 1.2 initial 29900",
                "2026-08-01 cycle_failed 404 (created)",
                "2026-08-04 no charge 1.3 initial 29900",
                "2026-08-04 cycle_failed 404 (created)",
                "2026-08-09 no charge 1.4 initial 29900",
                "2026-08-09 cycle_failed 404 (created)",
                "2026-08-16 no charge 1.5 initial 29900",
                "2026-08-16 cycle_failed 404 (created)",
                "2026-08-16 unpaid (unpaid)",
            ],
            SubscriptionStatus::Unpaid,
        ),
    ]
}

#[test]
fn lives_as_their_diaries_tell_them() {
    for life in lives() {
        let mut story = Story::begin(life.plan, BEGIN).answered(life.says);
        story.rules.after_retries = life.after;
        story.until(life.until);
        assert_eq!(story.diary, life.diary, "{}", life.name);
        assert_eq!(story.subscription.status(), life.ends, "{}", life.name);
    }
}

/// A weekly cycle falls due while the one before is still tried again.
#[test]
fn retries_never_delay_the_next_cycle() {
    let mut story =
        Story::begin(plan(Interval::Weekly), BEGIN).answered([Says::Yes, NO_FUNDS, NO_FUNDS, NO_FUNDS]);
    story.until("2026-08-25");
    let expected = [
        "2026-07-31 created (created)",
        "2026-07-31 charge 1.1 initial 29900",
        "2026-07-31 activated (active)",
        "2026-08-07 charge 2.1 subsequent 29900",
        "2026-08-08 charge 2.2 subsequent 29900",
        "2026-08-11 charge 2.3 subsequent 29900",
        "2026-08-14 charge 3.1 subsequent 29900",
        "2026-08-16 charge 2.4 subsequent 29900",
        "2026-08-21 charge 4.1 subsequent 29900",
    ];
    assert_eq!(story.diary, expected);
}

#[test]
fn a_cycle_shows_its_status_and_its_history() {
    let start = NewSubscription { start_at: Some(day("2026-08-10")), ..plan(Interval::Monthly) };
    let mut story = Story::begin(start, BEGIN).answered([Says::Gone, NO_FUNDS, Says::Nothing]);
    assert_eq!(story.statuses(), [], "nothing is made before it is due");
    story.down_until("2026-08-10T06:00:00Z");
    story.work();
    let scheduled = story.cycle(1);
    assert_eq!((scheduled.status, scheduled.due_on), (CycleStatus::Scheduled, day("2026-08-10")));
    story.work();
    assert_eq!(story.cycle(1).status, CycleStatus::Pending, "no charge was made, but was tried");
    story.until("2026-08-11T06:00:00Z");
    assert_eq!(story.cycle(1).status, CycleStatus::Retrying);
    story.until("2026-08-14T06:00:00Z");
    let cycle = story.cycle(1);
    assert_eq!(
        (cycle.status, cycle.next_attempt_at),
        (CycleStatus::Retrying, None),
        "the third is under way"
    );
    let history: Vec<_> =
        cycle.attempts.iter().map(|of| (of.number, of.charge_id.is_some(), of.state.status())).collect();
    assert_eq!(
        history,
        [
            (1, false, AttemptStatus::Failed),
            (2, true, AttemptStatus::Failed),
            (3, true, AttemptStatus::Pending)
        ]
    );
    let text = serde_json::to_string(cycle).unwrap();
    assert_eq!(serde_json::from_str::<regente_domain::subscription::Cycle>(&text).unwrap(), *cycle);
}

#[test]
fn each_attempt_has_a_key_of_its_own_that_stays() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN).answered([NO_FUNDS]);
    story.catch_up();
    let cycle = story.cycle(1).clone();
    let order = story.subscription.order(&cycle);
    assert_eq!(order.key, format!("{}-2", cycle.id));
    assert_eq!(order.key, story.subscription.order(&cycle).key);
    assert_eq!(cycle.key_of_attempt(1), format!("{}-1", cycle.id));
    assert!(order.key.len() <= 255 && order.key.bytes().all(|byte| byte.is_ascii_graphic()));
}

/// What the network knows of the series is known of the card that was charged first.
#[test]
fn a_series_begins_once_and_refers_to_the_first_charge_of_its_card() {
    let mut story = Story::begin(plan(Interval::Monthly), BEGIN);
    let order = |story: &Story, number| {
        let order = story.subscription.order(story.cycle(number));
        (order.recurrence.word(), order.follows, order.card_id)
    };
    story.work();
    assert_eq!(order(&story, 1), ("initial", None, card(0)));
    story.work();
    let first = story.cycle(1).attempts[0].charge_id;
    story.down_until("2026-08-31T06:00:00Z").work();
    assert_eq!(order(&story, 2), ("subsequent", first, card(0)));
    story.subscription.payment = Payment { card_id: card(1), installments: 1 };
    assert_eq!(order(&story, 2), ("subsequent", None, card(1)), "the first charge was of another card");
    story.work();
    let second = story.cycle(2).attempts[0].charge_id;
    story.down_until("2026-09-30T06:00:00Z").work();
    assert_eq!(order(&story, 3), ("subsequent", second, card(1)));
}
