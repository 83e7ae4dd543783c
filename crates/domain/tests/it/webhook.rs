use regente_domain::purchase::PurchaseStatus;
use regente_domain::webhook::{EventFilter, EventName, Family};

mod schedule;

fn names(family: Family) -> Vec<&'static str> {
    EventName::WORDS.iter().filter(|(_, name)| name.family() == family).map(|(word, _)| *word).collect()
}

/// Every name of `docs/webhooks.md#events`.
#[test]
fn every_documented_event_can_be_asked_for() {
    let transactions = [
        "pending",
        "pre_authorized",
        "authorized",
        "failed",
        "canceled",
        "voided",
        "charged_back",
        "dispute",
        "dispute_closed",
        "refund_pending",
        "revert_void",
        "probe_void",
    ];
    let sellers = [
        "active",
        "inactive",
        "pending",
        "partial",
        "blocked",
        "registration_review.opened",
        "registration_review.reminder",
        "registration_review.submitted",
        "registration_review.approved",
        "registration_review.rejected",
        "registration_review.expired",
        "registration_review.canceled",
    ];
    let subscriptions = [
        "created",
        "trial_started",
        "activated",
        "updated",
        "paused",
        "resumed",
        "unpaid",
        "expired",
        "cycle_failed",
        "canceled",
    ];
    let families = [
        (Family::Transaction, transactions.as_slice()),
        (Family::Seller, &sellers),
        (Family::Subscription, &subscriptions),
        (Family::Purchase, &["paid", "failed", "cancelled"]),
        (Family::Session, &["created", "paid", "canceled", "voided", "disabled"]),
    ];
    for (family, events) in families {
        let expected: Vec<String> = events.iter().map(|event| format!("{}.{event}", family.word())).collect();
        assert_eq!(names(family), expected);
    }
    let counted: usize = families.iter().map(|(_, events)| events.len()).sum();
    assert_eq!(EventName::WORDS.len(), counted, "and nothing else");
    assert!(
        ["transaction.*", "Transaction.pending", "ping", "", "purchase.pending"]
            .iter()
            .all(|word| EventFilter::parse(word).is_none())
    );
}

#[test]
fn everything_does_not_mean_extensions() {
    for (_, name) in EventName::WORDS.iter().copied() {
        let is_ours = matches!(name.family(), Family::Purchase | Family::Session);
        assert_eq!(EventFilter::Everything.wants(name), !is_ours, "{}", name.word());
        assert!(EventFilter::parse(name.word()).unwrap().wants(name));
    }
}

#[test]
fn the_end_of_a_purchase_has_an_event() {
    for status in [PurchaseStatus::Paid, PurchaseStatus::Failed, PurchaseStatus::Cancelled] {
        let name = status.event();
        assert!(name.is_some());
        assert_eq!(name, EventName::parse(&format!("purchase.{}", status.word())));
    }
    assert_eq!(PurchaseStatus::Pending.event(), None);
}
