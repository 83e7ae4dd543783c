//! Admission of changes: a bounded number is under way, so the writer's queue is bounded and memory too.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;

/// The default bound of changes that are under way at once.
pub const ADMITTED_MAX_DEFAULT: usize = 4096;

/// The place of one change among those under way. Taken before the intent and held until the outcome is written,
/// so that an outcome never finds the queue full. Dropping it gives the place back.
#[derive(Debug)]
pub struct Admission {
    _permit: OwnedSemaphorePermit,
}

/// Gives out the places.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn new(admitted_max: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(admitted_max.clamp(1, Semaphore::MAX_PERMITS))) }
    }

    pub(crate) fn admit(&self) -> Result<Admission, StoreError> {
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Ok(Admission { _permit: permit }),
            Err(tokio::sync::TryAcquireError::NoPermits) => Err(StoreError::Overloaded),
            Err(tokio::sync::TryAcquireError::Closed) => Err(StoreError::closed()),
        }
    }

    pub(crate) async fn admit_waiting(&self) -> Result<Admission, StoreError> {
        match Arc::clone(&self.places).acquire_owned().await {
            Ok(permit) => Ok(Admission { _permit: permit }),
            Err(_closed) => Err(StoreError::closed()),
        }
    }

    pub(crate) fn close(&self) {
        self.places.close();
    }
}
