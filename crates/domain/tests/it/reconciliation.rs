use std::time::Duration;

use regente_domain::charge::reconciliation::{WAITS, due_again, next_look, next_look_at_denied};

#[test]
fn a_provider_is_asked_less_and_less_often_for_three_days() {
    for (looks, seconds) in [(0, Some(5)), (1, Some(30)), (11, Some(86_400)), (12, None), (-1, None)] {
        assert_eq!(next_look(&WAITS, looks), seconds.map(Duration::from_secs), "{looks}");
    }
    assert!(WAITS.is_sorted());
    let days = WAITS.iter().sum::<Duration>().as_secs() / (24 * 60 * 60);
    assert_eq!(days, 3);
}

#[test]
fn the_last_look_is_made_again_unless_it_ends_within_minutes() {
    let waits = [Duration::from_secs(1), Duration::from_secs(2)];
    assert_eq!([0, 1, 2].map(|looks| due_again(&waits, looks).as_secs()), [1, 2, 300]);
}

#[test]
fn what_a_provider_denies_is_looked_at_for_a_day() {
    let waits = |denied_for| next_look_at_denied(Duration::from_secs(denied_for)).map(|wait| wait.as_secs());
    assert_eq!([0, 119, 120, 3_600].map(waits), [Some(120), Some(1), Some(3_480), Some(82_800)]);
    assert_eq!(waits(86_400), None);
}
