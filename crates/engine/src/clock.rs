//! The two clocks. Business time is what records carry and what is due by; tests move it. Machine time measures:
//! leases, deadlines, rate limits. Only this file may ask the machine.

#![allow(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use regente_domain::time::Timestamp;

/// Both clocks. Cheap to clone.
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
    /// By how much machine time is ahead of the machine's.
    machine_ahead_millis: AtomicU64,
}

/// A point in machine time: only differences mean something. Never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachineTime(Duration);

impl MachineTime {
    /// The time that passed since `earlier`.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Since the process started its clock.
    pub const fn elapsed(self) -> Duration {
        self.0
    }
}

impl Clock {
    /// The machine's clocks.
    pub fn system() -> Self {
        Self { business: Business::System, started: Instant::now() }
    }

    /// Business time stands at `start` and moves only by [`Clock::advance`]; machine time is the machine's, and can be
    /// moved ahead of it.
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

    /// Machine time, for measuring inside this process.
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

    /// Moves a manual clock forward; the system's clock is not ours to move, so it stays.
    pub fn advance(&self, by: Duration) {
        match &self.business {
            Business::System => {}
            Business::Manual(manual) => {
                manual.millis.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
            }
        }
    }

    /// Moves the machine time of a manual clock forward, and only that; the system's stays.
    pub fn advance_machine(&self, by: Duration) {
        match &self.business {
            Business::System => {}
            Business::Manual(manual) => {
                let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
                manual.machine_ahead_millis.fetch_add(millis, Ordering::SeqCst);
            }
        }
    }

    /// Sets a manual clock to `time`; the system's stays.
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
