//! How many pages may listen at once to what becomes of a payment: in all, to one session, and from one address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use regente_domain::id::SessionId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::rates::Network;

/// Most streams of one process; whoever comes then asks again and again instead.
const STREAMS_MAX: usize = 1_000;
/// Most streams of one session, so that one link does not take those of all others.
const STREAMS_OF_SESSION_MAX: usize = 200;
/// Most streams of one address: buyers behind one address of a provider of access are many, those at one shop in the same minutes
/// are not.
const STREAMS_OF_ADDRESS_MAX: usize = 100;

/// Counts the streams of a process.
#[derive(Debug)]
pub struct Streams {
    free: Arc<Semaphore>,
    held: Arc<Mutex<HashMap<Holder, usize>>>,
}

/// Whose streams are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// Those that tell of a session.
    Session(SessionId),
    /// Those of an address.
    Address(Network),
}

impl Holder {
    const fn streams_max(self) -> usize {
        match self {
            Self::Session(_) => STREAMS_OF_SESSION_MAX,
            Self::Address(_) => STREAMS_OF_ADDRESS_MAX,
        }
    }
}

/// The place of a stream among those of its holder; it is free again when this is dropped.
#[derive(Debug)]
pub struct StreamSlot {
    holder: Holder,
    held: Arc<Mutex<HashMap<Holder, usize>>>,
}

impl Default for Streams {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(STREAMS_MAX)), held: Arc::default() }
    }
}

impl Streams {
    /// A place among those of the process; `None` when all are taken.
    pub fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// A place among those of `holder`; `None` when all are taken.
    pub fn place_of(&self, holder: Holder) -> Option<StreamSlot> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.entry(holder).or_default();
        if *count >= holder.streams_max() {
            return None;
        }
        *count += 1;
        Some(StreamSlot { holder, held: Arc::clone(&self.held) })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = held.entry(self.holder) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}
