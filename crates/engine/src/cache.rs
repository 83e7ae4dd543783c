//! What the database has answered a moment ago, trusted for a few seconds without asking it again.

use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{Clock, MachineTime};

/// Answers by their question. What this node changes it forgets at once; what another node changes is noticed when it
/// has become too old (`limits.cache_ms`).
pub struct Cache<K, V> {
    known: moka::sync::Cache<K, Known<V>>,
    clock: Clock,
    /// How long an answer is trusted.
    life: Duration,
    /// Counts changes: what was asked before one is not trusted after it.
    generation: AtomicU64,
}

/// When something was asked.
#[derive(Clone, Copy, Debug)]
pub struct ReadStarted {
    at: MachineTime,
    generation: u64,
}

#[derive(Clone)]
struct Known<V> {
    answer: V,
    started: ReadStarted,
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Nothing is known yet, and at most `answers_max` answers ever will be.
    pub fn new(answers_max: u64, clock: Clock, life: Duration) -> Self {
        let known = moka::sync::Cache::new(answers_max);
        Self { known, clock, life, generation: AtomicU64::new(0) }
    }

    /// Trusts nothing that was asked before: after a change.
    pub fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// What is known and may be trusted.
    pub fn get(&self, question: &K) -> Option<V> {
        let Known { answer, started } = self.known.get(question)?;
        let age = self.clock.machine().since(started.at);
        let is_fresh = age < self.life && started.generation == self.generation.load(Ordering::SeqCst);
        is_fresh.then_some(answer)
    }

    /// Taken before the question: a change that comes in between makes the answer worthless.
    pub fn ask(&self) -> ReadStarted {
        ReadStarted { at: self.clock.machine(), generation: self.generation.load(Ordering::SeqCst) }
    }

    /// Remembers an answer.
    pub fn keep(&self, question: K, answer: V, started: ReadStarted) {
        self.known.insert(question, Known { answer, started });
    }
}

impl<K, V> fmt::Debug for Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache({} known)", self.known.entry_count())
    }
}
