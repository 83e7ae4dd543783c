//! Durations as settings: whole units, and lists of waits.

use std::time::Duration;

use regente_engine::settings::DAY_SECONDS;

/// The most waits in a list.
const WAITS_MAX: usize = 100;
/// The longest wait of a list, in seconds: 30 days.
const WAIT_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;

/// Parses waits in seconds, separated by commas; `None` when one is invalid or out of bounds, or when there are too
/// many.
pub(super) fn waits(text: &str) -> Option<Vec<Duration>> {
    let seconds = text.split(',').map(|wait| wait.trim().parse().ok());
    let is_wait = |seconds: &u64| (1..=WAIT_SECONDS_MAX).contains(seconds);
    let waits: Option<Vec<Duration>> =
        seconds.map(|seconds| seconds.filter(is_wait).map(Duration::from_secs)).collect();
    waits.filter(|waits| waits.len() <= WAITS_MAX)
}

/// The text that [`waits`] parses.
pub(super) fn waits_text(waits: &[Duration]) -> String {
    waits.iter().map(|wait| wait.as_secs().to_string()).collect::<Vec<_>>().join(",")
}

/// The rule for a list of waits.
pub(super) fn waits_rule() -> String {
    format!("must be 1 to {WAITS_MAX} waits of 1 to {WAIT_SECONDS_MAX} seconds, such as 5,30,120")
}

pub(super) fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * DAY_SECONDS)
}

pub(super) fn whole_days(duration: Duration) -> u32 {
    u32::try_from(duration.as_secs() / DAY_SECONDS).unwrap_or(u32::MAX)
}

pub(super) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
