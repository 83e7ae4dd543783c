//! Caches answers of the database for a few seconds.

use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{Clock, MachineTime};

/// Answers by question. A change on this node invalidates all of them at once; a change on another node is seen when
/// the cached answer expires (`limits.cache_ms`).
pub struct Cache<K, V> {
    known: moka::sync::Cache<K, CacheEntry<V>>,
    clock: Clock,
    /// How long an answer is valid.
    life: Duration,
    /// Incremented by each change; answers read under an earlier generation are invalid.
    generation: AtomicU64,
}

/// When a read of the database began.
#[derive(Clone, Copy, Debug)]
pub struct ReadStarted {
    at: MachineTime,
    generation: u64,
}

#[derive(Clone)]
struct CacheEntry<V> {
    answer: V,
    started: ReadStarted,
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Creates an empty cache of at most `answers_max` answers.
    pub fn new(answers_max: u64, clock: Clock, life: Duration) -> Self {
        let known = moka::sync::Cache::new(answers_max);
        Self { known, clock, life, generation: AtomicU64::new(0) }
    }

    /// Invalidates all answers, after a change.
    pub fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// The cached answer, if it is still valid.
    pub fn get(&self, question: &K) -> Option<V> {
        let CacheEntry { answer, started } = self.known.get(question)?;
        let age = self.clock.machine().since(started.at);
        let is_fresh = age < self.life && started.generation == self.generation.load(Ordering::SeqCst);
        is_fresh.then_some(answer)
    }

    /// Whether there is an answer, valid or not.
    pub fn has_known(&self, question: &K) -> bool {
        self.known.contains_key(question)
    }

    /// Removes an answer that turned out wrong.
    pub fn remove(&self, question: &K) {
        self.known.invalidate(question);
    }

    /// Call it before reading the database: a change in between invalidates the answer.
    pub fn ask(&self) -> ReadStarted {
        ReadStarted { at: self.clock.machine(), generation: self.generation.load(Ordering::SeqCst) }
    }

    /// Caches an answer.
    pub fn keep(&self, question: K, answer: V, started: ReadStarted) {
        self.known.insert(question, CacheEntry { answer, started });
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
