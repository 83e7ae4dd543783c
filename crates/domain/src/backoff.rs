//! Computes the backoff of work that failed: how long it waits before the next try, and when it is given up.

use std::time::Duration;

/// A wait that doubles with each failure in a row, up to a longest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The wait after the first failure.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// After this many failures in a row, what may end is given up.
    pub attempts_max: i64,
}

/// The backoff of jobs.
pub const JOBS: Retry =
    Retry { first: Duration::from_secs(5), longest: Duration::from_secs(60 * 60), attempts_max: 20 };

/// The backoff of giving a payment back whose refunds come back.
pub const REFUNDS: Retry = Retry {
    first: Duration::from_secs(60 * 60),
    longest: Duration::from_secs(24 * 60 * 60),
    attempts_max: 4,
};

impl Retry {
    /// The wait after `attempts` failures in a row, counted from 1.
    pub fn wait(self, attempts: i64) -> Duration {
        let doublings = attempts.saturating_sub(1).clamp(0, 31);
        let factor = u32::try_from(1_i64 << doublings).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.longest)
    }

    /// Whether `attempts` failures in a row are the most allowed.
    pub const fn is_over(self, attempts: i64) -> bool {
        attempts >= self.attempts_max
    }
}
