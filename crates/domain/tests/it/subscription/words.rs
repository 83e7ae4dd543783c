use regente_domain::subscription::{
    AttemptStatus, CycleStatus, Interval, Item, ItemRisk, SubscriptionStatus, sum,
};
use serde_json::json;

use super::{cents, day, item};

#[test]
fn the_words_are_those_of_the_interface() {
    fn words<T>(of: &[(&'static str, T)]) -> String {
        of.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
    }
    assert_eq!(words(SubscriptionStatus::WORDS), "created active paused canceled unpaid expired trialing");
    assert_eq!(words(CycleStatus::WORDS), "scheduled pending authorized failed retrying canceled");
    assert_eq!(words(AttemptStatus::WORDS), "pending authorized failed");
    assert_eq!(words(Interval::WORDS), "daily weekly monthly quarterly yearly biennial triennial");
    assert_eq!(words(ItemRisk::WORDS), "Low High");
    let for_tests: Vec<_> =
        Interval::WORDS.iter().filter(|(_, interval)| interval.is_for_the_sandbox()).collect();
    assert_eq!(for_tests, [&("daily", Interval::Daily)]);
}

#[test]
fn an_item_is_kept_as_it_was_sent() {
    let sent = json!({
        "name": "Ticket", "amount": 5000, "quantity": 2, "description": "Front row", "sku": "T-1",
        "categoryId": "shows", "locality": "Recife", "genre": "rock", "risk": "High", "date": "2026-12-31", "type": 3,
        "tickets": { "quantityFull": 2, "convenienceFeeValue": 1.5 }, "location": { "city": "Recife" },
    });
    let kept: Item = serde_json::from_value(sent.clone()).unwrap();
    assert_eq!((kept.risk, kept.date, kept.kind), (Some(ItemRisk::High), Some(day("2026-12-31")), Some(3)));
    assert_eq!(serde_json::to_value(&kept).unwrap(), sent);
    let least = json!({ "name": "Plan", "amount": 29900, "quantity": 1 });
    let kept: Item = serde_json::from_value(least.clone()).unwrap();
    assert_eq!(serde_json::to_value(&kept).unwrap(), least);
}

#[test]
fn the_amount_is_the_sum_of_the_items() {
    assert_eq!(sum(&[item(29_900, 1), item(50, 3)]), Some(cents(30_050)));
    assert_eq!(sum(&[]), Some(cents(0)));
    assert_eq!(sum(&[item(1 << 52, 1), item(1 << 52, 1)]), None, "more than an amount can be");
    assert_eq!(item(1 << 52, i64::MAX).total(), None);
}
