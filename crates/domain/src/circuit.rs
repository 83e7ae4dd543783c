//! Opens and closes the circuit of a provider. After too many calls without an answer it opens and routes skip the
//! provider; later one charge at a time probes it. Pure: machine time comes in, as the time since some start. A
//! circuit decides only which provider to ask, never the outcome of a payment.

use std::num::NonZeroU32;
use std::time::Duration;

/// How many of the latest calls count.
pub const CALLS_SEEN: u32 = 10;
/// Calls without an answer among [`CALLS_SEEN`] that open a circuit; operators may set another number.
pub const FAILURES: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// How long it stays open at first.
pub const OPEN_FOR: Duration = Duration::from_secs(30);
/// The longest time it stays open after failed circuit probes.
pub const OPEN_FOR_MAX: Duration = Duration::from_secs(10 * 60);
/// The record of calls expires after this long without a call.
pub const FORGOTTEN_AFTER: Duration = Duration::from_secs(5 * 60);

const SEEN_MASK: u16 = (1 << CALLS_SEEN) - 1;

/// When circuits open, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Calls without an answer that open a circuit; above [`CALLS_SEEN`] it never opens.
    pub failures: NonZeroU32,
    /// How long it stays open at first. Each failed circuit probe doubles it, up to [`OPEN_FOR_MAX`].
    pub open_for: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { failures: FAILURES, open_for: OPEN_FOR }
    }
}

/// What one call says about a provider's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallHealth {
    /// It answered. A refusal counts as an answer.
    Answer,
    /// It did not answer, or failed, even when a probe later confirmed that nothing happened.
    Nothing,
}

/// How a route treats the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitState {
    /// It answers: ask it.
    Closed,
    /// It did not answer before; this charge probes it. No other may until the circuit probe ends or is given back.
    Probe(CircuitProbe),
    /// It does not answer: skip it.
    Open,
}

/// The right to probe a provider whose circuit was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitProbe {
    half_open_since: Duration,
}

/// The circuit of one provider. A call counts only for the state in which it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circuit {
    /// Routes use the provider.
    Closed {
        /// Since when.
        since: Duration,
        /// The latest calls as bits, the latest in the lowest; 1 is a call without an answer.
        seen: u16,
        /// When the latest of them ended.
        heard_at: Duration,
    },
    /// Routes skip the provider.
    Open {
        /// Since when.
        since: Duration,
        /// How long it stays open.
        wait: Duration,
    },
    /// One charge at a time may probe it.
    HalfOpen {
        /// Since when.
        since: Duration,
        /// How long the circuit was open before.
        wait: Duration,
        /// Whether a charge is probing it now.
        slot: Slot,
    },
}

/// The one place for a circuit probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The next charge may probe.
    Free,
    /// A charge is probing.
    Taken,
}

impl Default for Circuit {
    fn default() -> Self {
        Self::closed(Duration::ZERO)
    }
}

impl Circuit {
    const fn closed(since: Duration) -> Self {
        Self::Closed { since, seen: 0, heard_at: since }
    }

    /// How a route chosen at `now` treats the provider. Reading [`CircuitState::Probe`] takes the circuit probe.
    pub fn state_at(self, now: Duration) -> (Self, CircuitState) {
        match self {
            Self::Closed { .. } => (self, CircuitState::Closed),
            Self::Open { since, wait } if now < since + wait => (self, CircuitState::Open),
            Self::Open { wait, .. } => Self::try_once(now, wait),
            Self::HalfOpen { since, wait, slot: Slot::Free } => Self::try_once(since, wait),
            Self::HalfOpen { slot: Slot::Taken, .. } => (self, CircuitState::Open),
        }
    }

    const fn try_once(since: Duration, wait: Duration) -> (Self, CircuitState) {
        let circuit_probe = CircuitProbe { half_open_since: since };
        (Self::HalfOpen { since, wait, slot: Slot::Taken }, CircuitState::Probe(circuit_probe))
    }

    /// The charge with `circuit_probe` has ended; if it did not call the provider, the next charge may probe.
    #[must_use]
    pub fn give_back(self, circuit_probe: CircuitProbe) -> Self {
        match self {
            Self::HalfOpen { since, wait, slot: Slot::Taken } if since == circuit_probe.half_open_since => {
                Self::HalfOpen { since, wait, slot: Slot::Free }
            }
            Self::Closed { .. } | Self::Open { .. } | Self::HalfOpen { .. } => self,
        }
    }

    /// The circuit after a call that began at `begun` and ended at `now`.
    #[must_use]
    pub fn hear(self, heard: CallHealth, begun: Duration, now: Duration, bounds: &Bounds) -> Self {
        if begun < self.since() {
            return self;
        }
        match (self, heard) {
            (Self::Closed { since, seen, heard_at }, heard) => {
                let is_stale = now.saturating_sub(heard_at) > FORGOTTEN_AFTER;
                let seen = remember(if is_stale { 0 } else { seen }, heard);
                if seen.count_ones() >= bounds.failures.get() {
                    return Self::Open { since: now, wait: bounds.open_for };
                }
                Self::Closed { since, seen, heard_at: now }
            }
            (Self::Open { .. } | Self::HalfOpen { .. }, CallHealth::Answer) => Self::closed(now),
            (Self::Open { .. }, CallHealth::Nothing) => self,
            (Self::HalfOpen { wait, .. }, CallHealth::Nothing) => {
                let longer = wait.saturating_mul(2).min(OPEN_FOR_MAX.max(bounds.open_for));
                Self::Open { since: now, wait: longer }
            }
        }
    }

    /// Whether routes use the provider without a probe.
    pub const fn is_closed(&self) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::Open { .. } | Self::HalfOpen { .. } => false,
        }
    }

    /// Whether dropping this record would lose nothing.
    pub fn is_forgettable(&self, now: Duration) -> bool {
        match self {
            Self::Closed { seen, heard_at, .. } => {
                *seen == 0 || now.saturating_sub(*heard_at) > FORGOTTEN_AFTER
            }
            Self::Open { .. } | Self::HalfOpen { .. } => false,
        }
    }

    const fn since(&self) -> Duration {
        match self {
            Self::Closed { since, .. } | Self::Open { since, .. } | Self::HalfOpen { since, .. } => *since,
        }
    }
}

const fn remember(seen: u16, heard: CallHealth) -> u16 {
    let latest = match heard {
        CallHealth::Answer => 0,
        CallHealth::Nothing => 1,
    };
    ((seen << 1) | latest) & SEEN_MASK
}
