//! Limits the look-ups that cardholders cause who come back from a challenge. Nobody needs a key for that, and each look-up
//! is a call to a provider: without a limit, whoever holds the address of one challenge could make this process call
//! without end.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moka::sync::Cache;
use regente_domain::id::TransactionRequestId;

use crate::return_address::GOOD_FOR;

/// Most look-ups of one challenge that returning browsers cause in one process. Whoever comes more often is led on without
/// one: the reconcile job looks up by itself.
pub const LOOK_UPS_MAX: u32 = 10;
/// Most challenges that are remembered; some hundred bytes each.
const CHALLENGES_MAX: u64 = 100_000;

/// What a browser has brought with it.
pub type Returned = BTreeMap<String, String>;

/// The challenges from which cardholders have come back.
#[derive(Debug)]
pub struct Returns(Cache<TransactionRequestId, Arc<Mutex<LookUps>>>);

/// The look-ups of one challenge.
#[derive(Debug, Default)]
struct LookUps {
    is_running: bool,
    begun: u32,
    /// What was brought and has been answered. Nothing at all is never among it: a cardholder who has not answered yet brings
    /// the same nothing as one who has.
    tried: HashSet<Returned>,
}

impl Default for Returns {
    fn default() -> Self {
        // No address is good for longer, so a challenge that is forgotten cannot be looked up again.
        let remembered_for: Duration = GOOD_FOR;
        Self(Cache::builder().max_capacity(CHALLENGES_MAX).time_to_live(remembered_for).build())
    }
}

impl Returns {
    /// Begins a look-up; `None` while another one of this challenge runs, after [`LOOK_UPS_MAX`] of them, and for what was
    /// brought before and answered.
    pub fn begin(&self, challenge: TransactionRequestId, returned: &Returned) -> Option<LookUpPermit> {
        let look_ups = self.0.get_with(challenge, Arc::default);
        {
            let mut look_ups = locked(&look_ups);
            if look_ups.is_running || look_ups.begun >= LOOK_UPS_MAX || look_ups.tried.contains(returned) {
                return None;
            }
            look_ups.is_running = true;
            look_ups.begun += 1;
        }
        Some(LookUpPermit { look_ups })
    }
}

/// A look-up that runs. It ends when this is dropped.
#[derive(Debug)]
pub struct LookUpPermit {
    look_ups: Arc<Mutex<LookUps>>,
}

impl LookUpPermit {
    /// What was brought has been answered, so that it is not sent again.
    pub fn answered(&self, returned: Returned) {
        if !returned.is_empty() {
            locked(&self.look_ups).tried.insert(returned);
        }
    }
}

impl Drop for LookUpPermit {
    fn drop(&mut self) {
        locked(&self.look_ups).is_running = false;
    }
}

fn locked(look_ups: &Mutex<LookUps>) -> MutexGuard<'_, LookUps> {
    look_ups.lock().unwrap_or_else(PoisonError::into_inner)
}
