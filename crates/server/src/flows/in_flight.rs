//! The provider calls of this process that have not ended. The reconcile job leaves them alone: whoever made the call
//! will write its outcome.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use regente_domain::id::TransactionRequestId;

/// The set of running calls. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<HashSet<TransactionRequestId>>>);

/// A running call; it leaves the set when this is dropped, however its task ends.
#[derive(Debug)]
pub struct Running {
    set: InFlight,
    id: TransactionRequestId,
}

impl InFlight {
    /// Enters a call, until the answer is dropped.
    pub fn enter(&self, id: TransactionRequestId) -> Running {
        self.lock().insert(id);
        Running { set: self.clone(), id }
    }

    /// Whether this process is still making the call.
    pub fn contains(&self, id: TransactionRequestId) -> bool {
        self.lock().contains(&id)
    }

    /// How many calls run.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<TransactionRequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.set.lock().remove(&self.id);
    }
}
