//! The table of states, written down once more by hand.

use regente_domain::subscription::{Activation, AfterRetries, SubscriptionStatus, Transition, Trigger};

/// Every trigger with its column.
const TRIGGERS: [(&str, Trigger); 10] = [
    ("trial over", Trigger::TrialEnded),
    ("first payment", Trigger::Paid(Activation::Awaited)),
    ("payment", Trigger::Paid(Activation::Done)),
    ("retries over", Trigger::RetriesEnded(AfterRetries::Unpaid)),
    ("retries over, cancel", Trigger::RetriesEnded(AfterRetries::Canceled)),
    ("cycles over", Trigger::CyclesEnded),
    ("pause", Trigger::Pause),
    ("resume, never paid", Trigger::Resume(Activation::Awaited)),
    ("resume", Trigger::Resume(Activation::Done)),
    ("cancel", Trigger::Cancel),
];

/// From, trigger, to and event. What is not here is refused.
const ALLOWED: [(&str, &str, &str, &str); 30] = [
    ("trialing", "trial over", "created", ""),
    ("trialing", "cancel", "canceled", "subscription.canceled"),
    ("created", "first payment", "active", "subscription.activated"),
    ("created", "payment", "active", "subscription.activated"),
    ("created", "retries over", "unpaid", "subscription.unpaid"),
    ("created", "retries over, cancel", "canceled", "subscription.canceled"),
    ("created", "cycles over", "expired", "subscription.expired"),
    ("created", "pause", "paused", "subscription.paused"),
    ("created", "cancel", "canceled", "subscription.canceled"),
    ("active", "first payment", "active", ""),
    ("active", "payment", "active", ""),
    ("active", "retries over", "unpaid", "subscription.unpaid"),
    ("active", "retries over, cancel", "canceled", "subscription.canceled"),
    ("active", "cycles over", "expired", "subscription.expired"),
    ("active", "pause", "paused", "subscription.paused"),
    ("active", "cancel", "canceled", "subscription.canceled"),
    ("paused", "first payment", "paused", "subscription.activated"),
    ("paused", "payment", "paused", ""),
    ("paused", "retries over", "unpaid", "subscription.unpaid"),
    ("paused", "retries over, cancel", "canceled", "subscription.canceled"),
    ("paused", "resume, never paid", "created", "subscription.resumed"),
    ("paused", "resume", "active", "subscription.resumed"),
    ("paused", "cancel", "canceled", "subscription.canceled"),
    ("unpaid", "first payment", "active", "subscription.activated"),
    ("unpaid", "payment", "active", "subscription.activated"),
    ("unpaid", "retries over", "unpaid", ""),
    ("unpaid", "retries over, cancel", "unpaid", ""),
    ("unpaid", "resume, never paid", "unpaid", ""),
    ("unpaid", "resume", "unpaid", ""),
    ("unpaid", "cancel", "canceled", "subscription.canceled"),
];

fn told(transition: Option<Transition>) -> Option<(&'static str, &'static str)> {
    transition.map(|to| (to.to.word(), to.event.map_or("", |event| event.word())))
}

#[test]
fn every_status_meets_every_trigger() {
    let mut met = 0;
    for (from, status) in SubscriptionStatus::WORDS {
        for (name, trigger) in TRIGGERS {
            let row = ALLOWED.iter().find(|(of, on, _, _)| of == from && *on == name);
            let expected = row.map(|(_, _, to, event)| (*to, *event));
            met += usize::from(row.is_some());
            assert_eq!(told(status.on(trigger)), expected, "{from}: {name}");
        }
    }
    assert_eq!(met, ALLOWED.len());
}

#[test]
fn a_live_subscription_is_updated_in_its_status() {
    for (word, status) in SubscriptionStatus::WORDS {
        let is_live = !["canceled", "expired"].contains(word);
        let expected = is_live.then_some((*word, "subscription.updated"));
        assert_eq!(told(status.on(Trigger::Update)), expected, "{word}");
    }
}
