//! The two clocks. Business time is what records carry and what is due by; it belongs to an account. Machine time
//! measures: deadlines, waits, rate limits. Only this file may ask the machine.
//!
//! The system's business time is the database's (`following.rs`), so that it is the same on every node. In between, it
//! goes on with the machine's monotonic clock: a jump of the machine's clock does not move it.
//!
//! Whoever works for an account asks for its time with [`Clock::of`]; what belongs to the deployment itself
//! (housekeeping, backups, operators' commands that name no account) asks with [`Clock::deployment`]. The two are the
//! same unless the account has a clock of its own, which is ahead of the deployment's or behind it, or stands. In the
//! sandbox its owner moves it (`account_clocks.rs` stores it, `accounts.rs` here follows what is stored); tests also set it
//! ([`Clock::set_of`]). What is due is found by the deployment's time for all accounts without one ([`Clock::times`],
//! [`Clock::with_own_clocks`]), and for each of the others by its own, which costs a few more queries for each of them in
//! every look.

#![allow(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]

mod accounts;
mod following;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use regente_domain::account_clock::Running;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::accounts::Accounts;

pub use self::accounts::FOLLOWED_WITHIN;
use self::accounts::OwnClocks;

/// Both clocks. Clones share them.
#[derive(Clone, Debug)]
pub struct Clock {
    business: Business,
    own: Arc<OwnClocks>,
    started: Instant,
}

/// A business time, and the accounts whose time it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountTime {
    /// Whose.
    pub accounts: Accounts,
    /// The time.
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
enum Business {
    System(Arc<Wall>),
    Manual(Arc<Manual>),
}

/// The time of day that a process goes by.
#[derive(Debug)]
struct Wall {
    /// What the time of day was when the clock was started, in milliseconds since 1970.
    at_start_millis: AtomicI64,
}

#[derive(Debug)]
struct Manual {
    millis: AtomicI64,
    /// Milliseconds by which each reading moves it on.
    tick_millis: AtomicI64,
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
        Self::system_showing(machine_timestamp())
    }

    /// The clock of a machine on which it is now `now`. It goes on with the machine's monotonic clock.
    pub fn system_showing(now: Timestamp) -> Self {
        let wall = Wall { at_start_millis: AtomicI64::new(now.as_millis()) };
        Self { business: Business::System(Arc::new(wall)), own: Arc::default(), started: Instant::now() }
    }

    /// A clock for tests: business time is `start` and moves only by [`Clock::advance`]; machine time follows the
    /// machine and can be moved ahead.
    pub fn manual(start: Timestamp) -> Self {
        let manual = Manual {
            millis: AtomicI64::new(start.as_millis()),
            tick_millis: AtomicI64::new(0),
            machine_ahead_millis: AtomicU64::new(0),
        };
        Self { business: Business::Manual(Arc::new(manual)), own: Arc::default(), started: Instant::now() }
    }

    /// The business time of an account.
    pub fn of(&self, client_id: ClientId) -> Timestamp {
        let deployment = self.deployment();
        self.own.of(client_id).map_or(deployment, |running| running.now(deployment))
    }

    /// The business time of what belongs to no account.
    pub fn deployment(&self) -> Timestamp {
        match &self.business {
            Business::System(wall) => wall.at(self.started.elapsed()),
            Business::Manual(manual) => {
                let tick_millis = manual.tick_millis.load(Ordering::SeqCst);
                Timestamp::from_millis(manual.millis.fetch_add(tick_millis, Ordering::SeqCst))
            }
        }
    }

    /// What the deployment's time is when that of an account is `at`; `None` when the account's clock stands before it, so
    /// that it does not come by itself.
    pub fn deployment_at(&self, client_id: ClientId, at: Timestamp) -> Option<Timestamp> {
        match self.own.of(client_id) {
            None => Some(at),
            Some(running) => running.deployment_at(at, self.deployment()),
        }
    }

    /// The accounts that have a clock of their own, by id.
    pub fn own_clocks(&self) -> Vec<ClientId> {
        self.own.accounts()
    }

    /// Whether the clock of an account is being advanced: what is due of it is then done by the job that advances it, and
    /// by nobody else.
    pub fn is_advancing(&self, client_id: ClientId) -> bool {
        matches!(self.own.of(client_id), Some(Running::Advancing { .. }))
    }

    /// Every business time that there is now, with its accounts.
    pub fn times(&self) -> Vec<AccountTime> {
        let own = self.own_clocks();
        let of_one = own.iter().map(|id| AccountTime { accounts: Accounts::One(*id), now: self.of(*id) });
        let mut times: Vec<_> = of_one.collect();
        times.insert(0, AccountTime { accounts: Accounts::AllBut(own), now: self.deployment() });
        times
    }

    /// The earliest of [`Clock::times`]: what is over by then is over for every account.
    pub fn earliest(&self) -> Timestamp {
        self.times().into_iter().map(|time| time.now).fold(self.deployment(), Timestamp::min)
    }

    /// Adds the accounts with clocks of their own to those that have something due by the deployment's time, by id. Whether
    /// they have anything due is then seen by their own time, as it must be: an account whose clock is behind was found too
    /// early.
    pub fn with_own_clocks(&self, found: Vec<ClientId>) -> Vec<ClientId> {
        let own = self.own_clocks();
        if own.is_empty() {
            return found;
        }
        found.into_iter().chain(own).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether it is the system's, which goes on by itself.
    pub fn is_system(&self) -> bool {
        match &self.business {
            Business::System(_) => true,
            Business::Manual(_) => false,
        }
    }

    /// Machine time, for measuring inside this process.
    pub fn machine(&self) -> MachineTime {
        let ahead = match &self.business {
            Business::System(_) => Duration::ZERO,
            Business::Manual(manual) => {
                Duration::from_millis(manual.machine_ahead_millis.load(Ordering::SeqCst))
            }
        };
        MachineTime(self.started.elapsed() + ahead)
    }

    /// Moves the business time of a manual clock forward; does nothing to the system's clock.
    pub fn advance(&self, by: Duration) {
        match &self.business {
            Business::System(_) => {}
            Business::Manual(manual) => {
                manual.millis.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
            }
        }
    }

    /// Lets each reading of a manual clock move it on by this, so that two readings are never the same; does nothing to the
    /// system's clock.
    pub fn tick(&self, by: Duration) {
        match &self.business {
            Business::System(_) => {}
            Business::Manual(manual) => {
                let by_millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
                manual.tick_millis.store(by_millis, Ordering::SeqCst);
            }
        }
    }

    /// Moves only the machine time of a manual clock forward; does nothing to the system's clock.
    pub fn advance_machine(&self, by: Duration) {
        match &self.business {
            Business::System(_) => {}
            Business::Manual(manual) => {
                let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
                manual.machine_ahead_millis.fetch_add(millis, Ordering::SeqCst);
            }
        }
    }

    /// Sets the business time of a manual clock; does nothing to the system's clock.
    pub fn set(&self, time: Timestamp) {
        match &self.business {
            Business::System(_) => {}
            Business::Manual(manual) => manual.millis.store(time.as_millis(), Ordering::SeqCst),
        }
    }

    /// Gives an account a clock of its own that shows `time` and goes on with the deployment's. A system's clock gives
    /// none.
    pub fn set_of(&self, client_id: ClientId, time: Timestamp) {
        match &self.business {
            Business::System(_) => {}
            Business::Manual(_) => {
                let ahead_millis = time.as_millis() - self.deployment().as_millis();
                self.own.set(client_id, Running::GoesOn { ahead_millis });
            }
        }
    }
}

impl Wall {
    /// The time of day, so long after the start.
    fn at(&self, since_start: Duration) -> Timestamp {
        let since_start = i64::try_from(since_start.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.at_start_millis.load(Ordering::SeqCst).saturating_add(since_start))
    }

    fn put_forward(&self, millis: i64) {
        self.at_start_millis.fetch_add(millis, Ordering::SeqCst);
    }
}

fn machine_timestamp() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}
