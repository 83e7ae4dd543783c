//! Whether a provider is worth asking. After too many calls without an answer its circuit opens and routes leave it out
//! for a while; then one charge at a time tries it again. Pure: machine time comes in, as the time since some start.
//! What became of a payment is never decided here, only whom to ask next.

use std::num::NonZeroU32;
use std::time::Duration;

/// The latest calls that are looked at.
pub const CALLS_SEEN: u32 = 10;
/// A circuit opens after so many calls without an answer among [`CALLS_SEEN`], unless the operator says otherwise.
pub const FAILURES: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// How long it stays open at first.
pub const OPEN_FOR: Duration = Duration::from_secs(30);
/// The longest that it stays open, after circuit probes that failed.
pub const OPEN_FOR_MAX: Duration = Duration::from_secs(10 * 60);
/// Calls say nothing of a provider any more when none has followed them for so long.
pub const FORGOTTEN_AFTER: Duration = Duration::from_secs(5 * 60);

const SEEN_MASK: u16 = (1 << CALLS_SEEN) - 1;

/// When circuits open, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Calls without an answer that open a circuit; more than [`CALLS_SEEN`] never do.
    pub failures: NonZeroU32,
    /// How long it stays open at first. Each failed circuit probe doubles it, up to [`OPEN_FOR_MAX`].
    pub open_for: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { failures: FAILURES, open_for: OPEN_FOR }
    }
}

/// What one call says of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It answered. A refusal is the answer of a healthy provider.
    Answer,
    /// It did not answer, or failed: also when a probe then proved that nothing had happened.
    Nothing,
}

/// What a route may make of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitState {
    /// It answers, as far as is known.
    Closed,
    /// It did not answer, and this charge may try it. Nobody else may until the circuit probe has an answer or is given back.
    Probe(CircuitProbe),
    /// It does not answer.
    Open,
}

/// The right to try a provider whose circuit was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitProbe {
    half_open_since: Duration,
}

/// The circuit of one provider. A call speaks of the state in which it was begun: what was asked before a circuit
/// opened or closed says nothing of the time after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circuit {
    /// The provider is asked.
    Closed {
        /// Since when.
        since: Duration,
        /// The latest calls, the latest in the lowest bit; 1 had no answer.
        seen: u16,
        /// When the latest of them was heard of.
        heard_at: Duration,
    },
    /// The provider is left out.
    Open {
        /// Since when.
        since: Duration,
        /// For how long.
        wait: Duration,
    },
    /// One charge at a time may try it.
    HalfOpen {
        /// Since when.
        since: Duration,
        /// For how long the circuit was open before.
        wait: Duration,
        /// Whether a charge tries it now.
        slot: Slot,
    },
}

/// The place of the one charge that may try a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The next charge may.
    Free,
    /// A charge does.
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

    /// What a route that is chosen at `now` makes of the provider. A circuit probe is taken by asking for it.
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

    /// The charge that held `circuit probe` has ended; where it did not come to ask, the next one may.
    #[must_use]
    pub fn give_back(self, circuit_probe: CircuitProbe) -> Self {
        match self {
            Self::HalfOpen { since, wait, slot: Slot::Taken } if since == circuit_probe.half_open_since => {
                Self::HalfOpen { since, wait, slot: Slot::Free }
            }
            Self::Closed { .. } | Self::Open { .. } | Self::HalfOpen { .. } => self,
        }
    }

    /// The circuit after a call that was begun at `begun` and heard of at `now`.
    #[must_use]
    pub fn hear(self, heard: Heard, begun: Duration, now: Duration, bounds: &Bounds) -> Self {
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
            (Self::Open { .. } | Self::HalfOpen { .. }, Heard::Answer) => Self::closed(now),
            (Self::Open { .. }, Heard::Nothing) => self,
            (Self::HalfOpen { wait, .. }, Heard::Nothing) => {
                let longer = wait.saturating_mul(2).min(OPEN_FOR_MAX.max(bounds.open_for));
                Self::Open { since: now, wait: longer }
            }
        }
    }

    /// Whether routes leave the provider out, or only try it.
    pub const fn is_closed(&self) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::Open { .. } | Self::HalfOpen { .. } => false,
        }
    }

    /// Whether nothing would be lost if the circuit were forgotten.
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

const fn remember(seen: u16, heard: Heard) -> u16 {
    let latest = match heard {
        Heard::Answer => 0,
        Heard::Nothing => 1,
    };
    ((seen << 1) | latest) & SEEN_MASK
}
