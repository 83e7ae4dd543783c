//! The only source of randomness and ids: seeded in tests for repeatable runs, otherwise from the operating system.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use regente_domain::id::Id;
use regente_domain::time::Timestamp;
use uuid::{Builder, Uuid};

/// Ids keep growing while the clock steps back by less than this; after a larger step they follow the clock.
const CLOCK_STEP_BACK_MAX: Duration = Duration::from_secs(10);
/// Lines of ids that grow side by side: that of the deployment's time and those of accounts with clocks of their own.
const LINES_MAX: usize = 64;

/// The source of randomness. Clones share it.
#[derive(Clone)]
pub struct Chance(Arc<Mutex<Source>>);

struct Source {
    random: ChaCha20Rng,
    /// The latest used one first.
    lines: VecDeque<Line>,
}

/// Ids that grow, each from the one before. Times that are no further apart than [`CLOCK_STEP_BACK_MAX`] share a line: an
/// account whose clock is that close to another's may get ids that are ahead of its own time by as much.
#[derive(Clone, Copy)]
struct Line {
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
        Self(Arc::new(Mutex::new(Source { random, lines: VecDeque::new() })))
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
        let apart_max = CLOCK_STEP_BACK_MAX.as_millis();
        let is_near = |line: &Line| u128::from(line.last_millis.abs_diff(now_millis)) <= apart_max;
        let line = match self.lines.iter().position(is_near).and_then(|at| self.lines.remove(at)) {
            Some(line) => line.next(now_millis),
            None => Line { last_millis: now_millis, ordinal: 0 },
        };
        self.lines.push_front(line);
        self.lines.truncate(LINES_MAX);
        (line.last_millis, line.ordinal)
    }
}

impl Line {
    /// The place of the next id.
    fn next(self, now_millis: i64) -> Self {
        if self.last_millis < now_millis {
            Self { last_millis: now_millis, ordinal: 0 }
        } else if self.ordinal < 0x0fff {
            Self { ordinal: self.ordinal + 1, ..self }
        } else {
            Self { last_millis: self.last_millis + 1, ordinal: 0 }
        }
    }
}
