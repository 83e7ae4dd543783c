//! Whether callers repeat their idempotency keys lately. Only then is a key looked for before it is claimed: one that is
//! not new makes the whole commit group begin anew on PostgreSQL.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::MachineTime;

/// For how long after a repeated key others are looked for.
const REPEATS_LIKELY_FOR: Duration = Duration::from_secs(1);

/// When a key was repeated last.
#[derive(Debug, Default)]
pub struct Repeats {
    /// The machine time, in milliseconds, until which others are likely.
    likely_until: AtomicU64,
}

impl Repeats {
    /// A key was repeated.
    pub fn note(&self, now: MachineTime) {
        self.likely_until.store(millis(now.elapsed() + REPEATS_LIKELY_FOR), Ordering::Relaxed);
    }

    /// Whether more repeated keys are to be expected.
    pub fn are_likely(&self, now: MachineTime) -> bool {
        millis(now.elapsed()) < self.likely_until.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
