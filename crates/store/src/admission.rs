//! Bounds how many changes are under way at once, and with them the writer's queue and memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;

/// Default limit of concurrent changes.
pub const ADMITTED_MAX_DEFAULT: usize = 4096;

/// A permit for one change. It is taken before the intent is written and held until the outcome is written, so that
/// an outcome never finds the queue full. Dropping it frees the permit.
#[derive(Debug)]
pub struct Admission {
    _permit: OwnedSemaphorePermit,
}

/// Hands out the permits.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    places_max: usize,
    refused: AtomicU64,
}

impl Gate {
    pub(crate) fn new(admitted_max: usize) -> Self {
        let places_max = admitted_max.clamp(1, Semaphore::MAX_PERMITS);
        Self { places: Arc::new(Semaphore::new(places_max)), places_max, refused: AtomicU64::new(0) }
    }

    pub(crate) fn admit(&self) -> Result<Admission, StoreError> {
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Ok(Admission { _permit: permit }),
            Err(tokio::sync::TryAcquireError::NoPermits) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Err(StoreError::Overloaded)
            }
            Err(tokio::sync::TryAcquireError::Closed) => Err(StoreError::closed()),
        }
    }

    pub(crate) async fn admit_waiting(&self) -> Result<Admission, StoreError> {
        match Arc::clone(&self.places).acquire_owned().await {
            Ok(permit) => Ok(Admission { _permit: permit }),
            Err(_closed) => Err(StoreError::closed()),
        }
    }

    /// The number of permits, how many are taken, and how often none was left.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let taken = self.places_max.saturating_sub(self.places.available_permits());
        (self.places_max as u64, taken as u64, self.refused.load(Ordering::Relaxed))
    }

    pub(crate) fn close(&self) {
        self.places.close();
    }
}
