//! Computes when a delivery is retried, and sets how long deliveries, events, keys and listeners last. Operators may
//! set other values.

use std::time::Duration;

use super::Version;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const WAITS_1_1: [Duration; 6] =
    [times(5, MINUTE), times(45, MINUTE), times(6, HOUR), DAY, times(2, DAY), times(4, DAY)];
const WAITS_1_0: [Duration; 5] =
    [times(5, MINUTE), times(45, MINUTE), times(6, HOUR), times(2, DAY), times(4, DAY)];

/// Jitter: by how much a wait may be shorter or longer than the schedule, in thousandths, so that an endpoint that
/// recovers does not get every retry at once.
pub const JITTER_PER_MILLE: u32 = 100;
/// The longest wait that an endpoint may ask for.
pub const RETRY_AFTER_MAX: Duration = DAY;

/// Timeout of the first attempt.
pub const FIRST_ANSWER_MAX: Duration = Duration::from_secs(30);
/// Timeout of each later attempt.
pub const RETRY_ANSWER_MAX: Duration = Duration::from_secs(5);

/// How long after the longest timeout an attempt counts as lost with its process.
pub const LOST_GRACE: Duration = Duration::from_secs(30);
/// When to retry an event or a delivery that this release cannot read.
pub const POSTPONED_FOR: Duration = times(5, MINUTE);

/// How long a delivery and its attempts are kept after it ended.
pub const DELIVERY_KEPT_FOR: Duration = times(45, DAY);
/// How long an event is kept.
pub const EVENT_KEPT_FOR: Duration = times(400, DAY);

/// How long both keys sign after a rotation: time for the merchant to install the new one.
pub const KEY_OVERLAP: Duration = times(7, DAY);
/// The longest time for which both keys may sign.
pub const KEY_OVERLAP_MAX: Duration = times(90, DAY);

/// How long a listener may stay silent before it ends. A restarted developer command takes less.
pub const LISTENER_AWAITED_FOR: Duration = times(2, MINUTE);
/// How long a listener is kept after it ended: a node that has just read it may still create a delivery for it.
pub const LISTENER_KEPT_FOR: Duration = times(10, MINUTE);

impl Version {
    /// The waits between attempts.
    pub const fn waits(self) -> &'static [Duration] {
        match self {
            Self::V1_0 => &WAITS_1_0,
            Self::V1_1 => &WAITS_1_1,
        }
    }
}

/// The wait from the end of attempt number `tries` (from 1) to the next one; `None` after the last. `drawn` is a
/// random number up to twice [`JITTER_PER_MILLE`]. The endpoint's own wait counts when it is longer.
pub fn wait_after(
    waits: &[Duration],
    tries: u32,
    asked_for: Option<Duration>,
    drawn: u32,
) -> Option<Duration> {
    let at = usize::try_from(tries).ok()?.checked_sub(1)?;
    let scheduled = *waits.get(at)?;
    let per_mille = 1000 - JITTER_PER_MILLE + drawn.min(2 * JITTER_PER_MILLE);
    let drawn = scheduled * per_mille / 1000;
    Some(asked_for.map_or(drawn, |asked_for| drawn.max(asked_for.min(RETRY_AFTER_MAX))))
}

const fn times(how_many: u64, unit: Duration) -> Duration {
    Duration::from_secs(how_many * unit.as_secs())
}
