//! Bounds how many changes are under way at once, and with them the writer's queue and memory. Each account has a share
//! of the places, so that one whose provider hangs leaves room for the others; workers have places of their own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regente_domain::id::ClientId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;

/// The places for changes that callers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Limit of concurrent changes.
    pub places_max: usize,
    /// The most places of one account, in percent of those that the other accounts leave.
    pub account_percent: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { places_max: 4096, account_percent: 80 }
    }
}

/// Places of the workers, beside those of callers: jobs, reconciliation and webhooks go on when callers have taken all of
/// theirs. It is more than the number of jobs and look-ups that may wait for a provider at once.
pub const WORKER_PLACES: usize = 256;

/// A permit for one change. It is taken before the intent is written and held until the outcome is written, so that
/// an outcome never finds the queue full. Dropping it frees the permit.
#[derive(Debug)]
pub struct Admission {
    _place: AdmissionSlot,
}

#[derive(Debug)]
enum AdmissionSlot {
    OfAccount { _place: AccountPlace },
    OfWorker { _permit: OwnedSemaphorePermit },
}

/// Hands out the permits.
#[derive(Debug)]
pub(crate) struct Gate {
    accounts: Arc<Accounts>,
    workers: Arc<Semaphore>,
    refused: AtomicU64,
}

impl Gate {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            accounts: Arc::new(Accounts { room, taken: Mutex::default() }),
            workers: Arc::new(Semaphore::new(WORKER_PLACES)),
            refused: AtomicU64::new(0),
        }
    }

    pub(crate) fn admit(&self, client_id: ClientId) -> Result<Admission, StoreError> {
        if self.workers.is_closed() {
            return Err(StoreError::closed());
        }
        match self.accounts.take(client_id) {
            Some(place) => Ok(Admission { _place: AdmissionSlot::OfAccount { _place: place } }),
            None => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Err(StoreError::Overloaded)
            }
        }
    }

    pub(crate) async fn admit_waiting(&self) -> Result<Admission, StoreError> {
        match Arc::clone(&self.workers).acquire_owned().await {
            Ok(permit) => Ok(Admission { _place: AdmissionSlot::OfWorker { _permit: permit } }),
            Err(_closed) => Err(StoreError::closed()),
        }
    }

    /// The number of permits for callers, how many are taken, and how often none was left.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let taken = self.accounts.taken().all;
        (self.accounts.room.places_max as u64, taken as u64, self.refused.load(Ordering::Relaxed))
    }

    pub(crate) fn close(&self) {
        self.workers.close();
    }
}

/// The places of callers.
#[derive(Debug)]
struct Accounts {
    room: Room,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Only accounts that have taken a place.
    of_account: HashMap<ClientId, usize>,
}

impl Accounts {
    fn take(self: &Arc<Self>, client_id: ClientId) -> Option<AccountPlace> {
        let mut taken = self.taken();
        let own = taken.of_account.get(&client_id).copied().unwrap_or(0);
        let free = self.room.places_max.saturating_sub(taken.all);
        let share = ((own + free) * self.room.account_percent).div_ceil(100);
        if free == 0 || own >= share {
            return None;
        }
        taken.all += 1;
        taken.of_account.insert(client_id, own + 1);
        Some(AccountPlace { accounts: Arc::clone(self), client_id })
    }

    fn give_back(&self, client_id: ClientId) {
        let mut taken = self.taken();
        taken.all -= 1;
        match taken.of_account.get_mut(&client_id) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => _ = taken.of_account.remove(&client_id),
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place of an account; dropping it gives it back.
#[derive(Debug)]
struct AccountPlace {
    accounts: Arc<Accounts>,
    client_id: ClientId,
}

impl Drop for AccountPlace {
    fn drop(&mut self) {
        self.accounts.give_back(self.client_id);
    }
}
