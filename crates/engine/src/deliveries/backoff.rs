//! Keys that this node backs off from because another node changed their rows first. Without a backoff two nodes that reach
//! for the same rows again and again would keep refusing each other's batches. The rows decide who does the work; a backoff
//! only saves effort, and a node that died is waited for no longer than [`BACK_OFF_FOR`].

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::MachineTime;

/// How long this node leaves a key to the node that was first.
const BACK_OFF_FOR: Duration = Duration::from_secs(2);

/// The keys and since when this node backs off from them.
pub(super) struct Backoff<K>(Mutex<HashMap<K, MachineTime>>);

impl<K> Default for Backoff<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Backoff<K> {
    /// Backs off from `key` for [`BACK_OFF_FOR`], beginning at `now`.
    pub(super) fn begin(&self, key: K, now: MachineTime) {
        let mut keys = self.keys();
        keys.retain(|_, since| now.since(*since) < BACK_OFF_FOR);
        keys.insert(key, now);
    }

    /// Whether this node backs off from `key` at `now`.
    pub(super) fn applies_to(&self, key: &K, now: MachineTime) -> bool {
        self.keys().get(key).is_some_and(|since| now.since(*since) < BACK_OFF_FOR)
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<K, MachineTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
