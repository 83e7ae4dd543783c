//! Tracks whether callers repeat idempotency keys. Only then is a key looked up before it is claimed: a claim of a used
//! key makes PostgreSQL restart the whole commit group.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::MachineTime;

/// For how long after a repeated key further keys are looked up.
const REPEATS_LIKELY_FOR: Duration = Duration::from_secs(1);

/// When a key was last repeated.
#[derive(Debug, Default)]
pub struct Repeats {
    /// Machine time in milliseconds until which keys are looked up.
    likely_until: AtomicU64,
}

impl Repeats {
    /// Records that a key was repeated.
    pub fn note(&self, now: MachineTime) {
        self.likely_until.store(millis(now.elapsed() + REPEATS_LIKELY_FOR), Ordering::Relaxed);
    }

    /// Whether further repeated keys are likely.
    pub fn are_likely(&self, now: MachineTime) -> bool {
        millis(now.elapsed()) < self.likely_until.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
