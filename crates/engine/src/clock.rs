//! The two clocks. Records and due dates use business time, which tests can move. Leases, deadlines and rate limits use
//! machine time. Only this file reads the machine's clock.

#![allow(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use regente_domain::time::Timestamp;

/// Both clocks. Clones share them.
#[derive(Clone, Debug)]
pub struct Clock {
    business: Business,
    started: Instant,
}

#[derive(Clone, Debug)]
enum Business {
    System,
    Manual(Arc<Manual>),
}

#[derive(Debug)]
struct Manual {
    millis: AtomicI64,
    /// Milliseconds by which a test moved machine time ahead of the machine's clock.
    machine_ahead_millis: AtomicU64,
}

/// A point in machine time: only differences are meaningful. It never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachineTime(Duration);

impl MachineTime {
    /// The time that passed since `earlier`.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time since the process started its clock.
    pub const fn elapsed(self) -> Duration {
        self.0
    }
}

impl Clock {
    /// The machine's clock for both times.
    pub fn system() -> Self {
        Self { business: Business::System, started: Instant::now() }
    }

    /// A clock for tests: business time is `start` and moves only by [`Clock::advance`]; machine time follows the
    /// machine and can be moved ahead.
    pub fn manual(start: Timestamp) -> Self {
        let manual =
            Manual { millis: AtomicI64::new(start.as_millis()), machine_ahead_millis: AtomicU64::new(0) };
        Self { business: Business::Manual(Arc::new(manual)), started: Instant::now() }
    }

    /// Business time.
    pub fn now(&self) -> Timestamp {
        match &self.business {
            Business::System => machine_timestamp(),
            Business::Manual(manual) => Timestamp::from_millis(manual.millis.load(Ordering::SeqCst)),
        }
    }

    /// Machine time, for measurements inside this process.
    pub fn machine(&self) -> MachineTime {
        let ahead = match &self.business {
            Business::System => Duration::ZERO,
            Business::Manual(manual) => {
                Duration::from_millis(manual.machine_ahead_millis.load(Ordering::SeqCst))
            }
        };
        MachineTime(self.started.elapsed() + ahead)
    }

    /// Machine time as a timestamp, for leases that other processes read.
    pub fn machine_timestamp(&self) -> Timestamp {
        machine_timestamp()
    }

    /// Moves the business time of a manual clock forward; does nothing to the system's clock.
    pub fn advance(&self, by: Duration) {
        match &self.business {
            Business::System => {}
            Business::Manual(manual) => {
                manual.millis.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
            }
        }
    }

    /// Moves only the machine time of a manual clock forward; does nothing to the system's clock.
    pub fn advance_machine(&self, by: Duration) {
        match &self.business {
            Business::System => {}
            Business::Manual(manual) => {
                let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
                manual.machine_ahead_millis.fetch_add(millis, Ordering::SeqCst);
            }
        }
    }

    /// Sets the business time of a manual clock; does nothing to the system's clock.
    pub fn set(&self, time: Timestamp) {
        match &self.business {
            Business::System => {}
            Business::Manual(manual) => manual.millis.store(time.as_millis(), Ordering::SeqCst),
        }
    }
}

fn machine_timestamp() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}
