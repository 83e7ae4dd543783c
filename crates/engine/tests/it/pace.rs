//! Pieces of work begin at a bounded rate.

use std::num::NonZeroU32;
use std::time::Duration;

use regente_engine::jobs::pace::Pace;

fn of(per_second: u32) -> Pace {
    Pace::of(NonZeroU32::new(per_second).unwrap())
}

/// How many pieces begin in so many seconds, if someone looks every millisecond and takes all that is allowed.
fn begun(pace: &mut Pace, from: Duration, seconds: u64) -> usize {
    let mut begun = 0;
    for millis in 0..seconds * 1_000 {
        let now = from + Duration::from_millis(millis);
        let room = pace.room(now);
        assert_eq!(room > 0, pace.wait(now).is_zero());
        (0..room).for_each(|_| pace.use_up_one(now));
        begun += room;
    }
    begun
}

#[test]
fn no_more_begin_than_the_rate_allows() {
    for per_second in [1, 3, 7, 200, 5_000, 50_000] {
        let (mut pace, rate) = (of(per_second), usize::try_from(per_second).unwrap());
        let most = 10 * rate + (rate / 5).max(1);
        let begun = begun(&mut pace, Duration::from_secs(60), 10);
        assert!(begun <= most && begun + (rate / 10).max(1) >= 10 * rate, "{begun} at {per_second} a second");
    }
}

#[test]
fn idle_time_is_not_saved_up() {
    let mut pace = of(100);
    assert_eq!(begun(&mut pace, Duration::from_secs(1), 1), 110);
    assert!(begun(&mut pace, Duration::from_secs(3_600), 1) <= 120);
}

#[test]
fn pieces_begin_together() {
    let (mut pace, now) = (of(100), Duration::from_secs(1));
    assert_eq!((pace.room(now), pace.wait(now)), (20, Duration::ZERO));
    (0..20).for_each(|_| pace.use_up_one(now));
    assert_eq!((pace.room(now), pace.wait(now)), (0, Duration::from_millis(100)));
    let later = now + Duration::from_millis(99);
    assert_eq!((pace.room(later), pace.wait(later)), (0, Duration::from_millis(1)));
    assert_eq!(pace.room(now + Duration::from_millis(100)), 10);
}
