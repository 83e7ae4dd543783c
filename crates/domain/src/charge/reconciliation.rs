//! When the provider is asked what became of a request whose outcome is unknown, and when nobody asks any more.

use std::time::Duration;

/// Waits between one look and the next: soon and often first, since most providers come back within minutes, then for three
/// days, which covers a weekend. Operators may set others.
pub const WAITS: [Duration; 12] = {
    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }
    [
        seconds(5),
        seconds(30),
        seconds(120),
        seconds(600),
        seconds(1_800),
        seconds(3_600),
        seconds(7_200),
        seconds(14_400),
        seconds(28_800),
        seconds(43_200),
        seconds(86_400),
        seconds(86_400),
    ]
};

/// A call that has not ended so long after its deadline was lost with its process: the provider is asked.
pub const GRACE: Duration = Duration::from_secs(30);

/// By when the last look must have ended, or it is made again.
pub const LAST_LOOK_WITHIN: Duration = Duration::from_secs(300);

/// How long to wait after so many looks without an answer; `None` when the schedule is over and an operator must look.
pub fn next_look(waits: &[Duration], looks: i64) -> Option<Duration> {
    waits.get(usize::try_from(looks).ok()?).copied()
}

/// When a look that begins now is due again, should nobody write down how it ended.
pub fn due_again(waits: &[Duration], looks: i64) -> Duration {
    next_look(waits, looks).unwrap_or(LAST_LOOK_WITHIN)
}
