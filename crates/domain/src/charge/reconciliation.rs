//! The schedule of probes for requests with an unknown outcome, and when probing ends.

use std::time::Duration;

use super::analysis::Verdict;
use super::attempt::{Outcome, TransactionRequest};
use super::expiry;
use crate::time::Timestamp;

/// Waits between probes: short at first, since most providers recover within minutes, then up to three days, which
/// covers a weekend. Operators may set others.
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

/// A call that has not ended this long after its deadline was lost with its process: the provider is probed.
pub const GRACE: Duration = Duration::from_secs(30);

/// The last probe must end within this time, or it is repeated.
pub const LAST_LOOK_WITHIN: Duration = Duration::from_secs(300);

/// The wait after `looks` probes without an answer; `None` when the schedule is over and an operator must look.
pub fn next_look(waits: &[Duration], looks: i64) -> Option<Duration> {
    waits.get(usize::try_from(looks).ok()?).copied()
}

/// When a probe that begins now is repeated if its result is not recorded.
pub fn due_again(waits: &[Duration], looks: i64) -> Duration {
    next_look(waits, looks).unwrap_or(LAST_LOOK_WITHIN)
}

/// When the provider is asked again about a call that it has denied, counted from the denial. A provider whose records
/// lag behind denies a call for minutes; a day covers what its daily clearing brings to light.
pub const LOOKS_AT_DENIED: [Duration; 3] =
    [Duration::from_secs(120), Duration::from_secs(3_600), Duration::from_secs(86_400)];

/// The wait until the next look at a call that was denied this long ago; `None` when it is not looked at any more.
pub fn next_look_at_denied(denied_for: Duration) -> Option<Duration> {
    LOOKS_AT_DENIED.iter().find(|look| **look > denied_for).map(|look| *look - denied_for)
}

/// Whether a request that had ended is probed no more: its outcome is known, or the schedule is over. Until then the
/// payer may still pay, and the provider may still admit what it has denied.
pub fn is_over(request: &TransactionRequest, found: &Outcome, is_last: bool, now: Timestamp) -> bool {
    match (&request.outcome, found) {
        (Outcome::Pending(_), Outcome::Pending(_)) => is_last,
        // What was withdrawn or has expired may be on its way from the payer's bank.
        (Outcome::Pending(pending), Outcome::Declined(_)) if !pending.instructions.is_challenge() => is_last,
        (
            Outcome::Pending(_),
            Outcome::Open
            | Outcome::Accepted(_)
            | Outcome::Approved(_)
            | Outcome::Declined(_)
            | Outcome::NoEffect(_),
        ) => now >= expiry(request),
        (
            Outcome::NoEffect(_),
            Outcome::Open | Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::NoEffect(_),
        ) => is_last,
        (Outcome::NoEffect(_), Outcome::Approved(_) | Outcome::Declined(_)) => true,
        // A payer may hold instructions that nobody has seen: they may pay once more, whatever was found.
        (Outcome::Declined(_), _) => is_last,
        (Outcome::Analysed(_), Outcome::Analysed(found)) => found.verdict == Verdict::Pending && is_last,
        (Outcome::Pending(_) | Outcome::NoEffect(_), Outcome::Analysed(_)) | (Outcome::Analysed(_), _) => {
            false
        }
        (Outcome::Open | Outcome::Accepted(_) | Outcome::Approved(_), _) => false,
    }
}
