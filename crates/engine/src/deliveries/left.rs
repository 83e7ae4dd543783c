//! What is left to another node for a while, because that node was first: two that reach for the same rows again and again
//! would refuse each other. The rows decide, this only saves their effort; a node that dies is waited for no longer than
//! that while.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::MachineTime;

/// How long something is left.
const LEFT_FOR: Duration = Duration::from_secs(2);

/// What is left to others.
pub(super) struct Left<K>(Mutex<HashMap<K, MachineTime>>);

impl<K> Default for Left<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Left<K> {
    /// Leaves `what` from `now` on.
    pub(super) fn leave(&self, what: K, now: MachineTime) {
        let mut left = self.left();
        left.retain(|_, since| now.since(*since) < LEFT_FOR);
        left.insert(what, now);
    }

    /// Whether `what` is left to others.
    pub(super) fn has(&self, what: &K, now: MachineTime) -> bool {
        self.left().get(what).is_some_and(|since| now.since(*since) < LEFT_FOR)
    }

    fn left(&self) -> MutexGuard<'_, HashMap<K, MachineTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
