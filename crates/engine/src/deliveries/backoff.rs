//! Keys that this node backs off from because another node changed their rows first, or because their rows cannot be
//! reached. Without a backoff, two nodes that work on the same rows would keep refusing each other's batches. The rows
//! decide who does the work; the backoff only saves effort and ends after [`BACK_OFF_FOR`], even if the other node died.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::MachineTime;

/// How long this node leaves a key alone.
const BACK_OFF_FOR: Duration = Duration::from_secs(2);

/// The keys, each with the time when the backoff began.
pub(crate) struct Backoff<K>(Mutex<HashMap<K, MachineTime>>);

impl<K> Default for Backoff<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Backoff<K> {
    /// Starts to back off from `key`.
    pub(crate) fn begin(&self, key: K, now: MachineTime) {
        let mut keys = self.keys();
        keys.retain(|_, since| now.since(*since) < BACK_OFF_FOR);
        keys.insert(key, now);
    }

    /// Whether this node still backs off from `key`.
    pub(crate) fn applies_to(&self, key: &K, now: MachineTime) -> bool {
        self.keys().get(key).is_some_and(|since| now.since(*since) < BACK_OFF_FOR)
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<K, MachineTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
