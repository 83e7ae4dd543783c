//! The only source of randomness and ids: seeded in tests for repeatable runs, otherwise from the operating system.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use regente_domain::id::Id;
use regente_domain::time::Timestamp;
use uuid::{Builder, Uuid};

/// Ids keep growing while the clock steps back by less than this; after a larger step they follow the clock.
const CLOCK_STEP_BACK_MAX: Duration = Duration::from_secs(10);

/// The source of randomness. Clones share it.
#[derive(Clone)]
pub struct Chance(Arc<Mutex<Source>>);

struct Source {
    random: ChaCha20Rng,
    last_millis: i64,
    ordinal: u16,
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no randomness")]
pub struct NoRandomness(#[source] rand::rngs::SysError);

impl Chance {
    /// Seeds from the operating system.
    pub fn system() -> Result<Self, NoRandomness> {
        Ok(Self::from_rng(ChaCha20Rng::try_from_rng(&mut SysRng).map_err(NoRandomness)?))
    }

    /// Gives the same sequence for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self::from_rng(ChaCha20Rng::seed_from_u64(seed))
    }

    fn from_rng(random: ChaCha20Rng) -> Self {
        Self(Arc::new(Mutex::new(Source { random, last_millis: 0, ordinal: 0 })))
    }

    /// Fills `bytes` with randomness suitable for keys and nonces.
    pub fn fill(&self, bytes: &mut [u8]) {
        self.source().random.fill_bytes(bytes);
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// A number below `bound`, which must be at least 1.
    pub fn below(&self, bound: u64) -> u64 {
        self.source().random.next_u64() % bound.max(1)
    }

    /// A time-ordered id (UUID version 7): later ids sort after earlier ones, even within a millisecond.
    pub fn id<T>(&self, now: Timestamp) -> Id<T> {
        let mut source = self.source();
        let (millis, ordinal) = source.advance(now.as_millis());
        let mut tail = [0_u8; 10];
        source.random.fill_bytes(&mut tail);
        tail[..2].copy_from_slice(&ordinal.to_be_bytes());
        Id::new(Builder::from_unix_timestamp_millis(u64::try_from(millis).unwrap_or(0), &tail).into_uuid())
    }

    /// An unguessable id (UUID version 4).
    pub fn secret_id<T>(&self) -> Id<T> {
        Id::new(self.uuid())
    }

    /// A random UUID (version 4).
    pub fn uuid(&self) -> Uuid {
        Builder::from_random_bytes(self.bytes()).into_uuid()
    }

    fn source(&self) -> std::sync::MutexGuard<'_, Source> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    /// The millisecond of the next id and its number within that millisecond (12 bits).
    fn advance(&mut self, now_millis: i64) -> (i64, u16) {
        let step_back = self.last_millis.saturating_sub(now_millis);
        let step_back_max = i64::try_from(CLOCK_STEP_BACK_MAX.as_millis()).unwrap_or(i64::MAX);
        if step_back < 0 || step_back > step_back_max {
            self.last_millis = now_millis;
            self.ordinal = 0;
        } else if self.ordinal < 0x0fff {
            self.ordinal += 1;
        } else {
            self.last_millis += 1;
            self.ordinal = 0;
        }
        (self.last_millis, self.ordinal)
    }
}
