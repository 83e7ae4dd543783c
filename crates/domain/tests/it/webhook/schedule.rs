use std::time::Duration;

use regente_domain::webhook::Version;
use regente_domain::webhook::schedule::{JITTER_PER_MILLE, wait_after};

/// What is drawn when the wait is to be the scheduled one.
const IN_THE_MIDDLE: u32 = JITTER_PER_MILLE;

#[test]
fn deliveries_are_tried_again_for_a_week_or_more() {
    for (version, seconds) in [
        (Version::V1_0, &[300, 2_700, 21_600, 172_800, 345_600][..]),
        (Version::V1_1, &[300, 2_700, 21_600, 86_400, 172_800, 345_600]),
    ] {
        let tries = 1..;
        for (tries, seconds) in tries.zip(seconds.iter().copied().map(Some).chain([None])) {
            let wait = wait_after(version.waits(), tries, None, IN_THE_MIDDLE);
            assert_eq!(wait.map(|wait| wait.as_secs()), seconds, "{version:?} {tries}");
        }
        assert_eq!(wait_after(version.waits(), 0, None, IN_THE_MIDDLE), None);
    }
}

#[test]
fn a_wait_is_a_tenth_shorter_or_longer_at_most() {
    let waits = [Duration::from_secs(1_000)];
    for (drawn, seconds) in [(0, 900), (IN_THE_MIDDLE, 1_000), (200, 1_100), (u32::MAX, 1_100)] {
        assert_eq!(wait_after(&waits, 1, None, drawn).unwrap().as_secs(), seconds, "{drawn}");
    }
}

#[test]
fn an_endpoint_may_ask_for_more_time_up_to_a_day() {
    let waits = [Duration::from_secs(1_000)];
    for (asked_for, seconds) in [(10, 1_000), (5_000, 5_000), (1_000_000, 86_400)] {
        let asked_for = Some(Duration::from_secs(asked_for));
        assert_eq!(wait_after(&waits, 1, asked_for, IN_THE_MIDDLE).unwrap().as_secs(), seconds);
    }
}
