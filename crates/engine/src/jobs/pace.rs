//! How many pieces of work may begin in a time: a backlog of cheap pieces would otherwise take all that the machine has.

use std::num::NonZeroU32;
use std::time::Duration;

/// So much of the rate may be saved up: many begin together, since each look asks the database.
const SAVED_MAX: Duration = Duration::from_millis(200);

/// Lets pieces begin at a bounded rate. Times are machine time, from the start of the process.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time of one piece.
    every: Duration,
    /// Up to here all is used.
    used_up_to: Duration,
}

impl Pace {
    /// At most so many pieces a second.
    pub fn of(per_second: NonZeroU32) -> Self {
        Self { every: Duration::from_secs(1) / per_second.get(), used_up_to: Duration::ZERO }
    }

    /// How many pieces may begin at `now`: none until half of what can be saved is there.
    pub fn room(&self, now: Duration) -> usize {
        if !self.wait(now).is_zero() {
            return 0;
        }
        let pieces = now.saturating_sub(self.unused_from(now)).as_nanos() / self.every.as_nanos().max(1);
        usize::try_from(pieces).unwrap_or(usize::MAX)
    }

    /// The time from `now` until pieces may begin.
    pub fn wait(&self, now: Duration) -> Duration {
        (self.unused_from(now) + (SAVED_MAX / 2).max(self.every)).saturating_sub(now)
    }

    /// A piece has begun at `now`.
    pub fn use_up_one(&mut self, now: Duration) {
        self.used_up_to = self.unused_from(now) + self.every;
    }

    fn unused_from(&self, now: Duration) -> Duration {
        self.used_up_to.max(now.saturating_sub(SAVED_MAX.max(self.every)))
    }
}
