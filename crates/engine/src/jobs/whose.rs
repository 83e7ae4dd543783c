//! Whose due work is looked for: usually that of every account, but an account whose clock is being advanced has its work
//! done by the job that advances it, in the order of time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use regente_domain::id::ClientId;
use regente_store::due::Found;

use super::runner::Did;
use crate::clock::Clock;

/// Whose work is looked for.
#[derive(Clone)]
pub(super) enum Whose {
    /// That of every account whose clock is not being advanced.
    Everybody,
    /// That of an account whose clock is being advanced; what is done is counted.
    Advancing(ClientId, Tally),
}

/// How often something was done, by what it was. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Tally(Arc<Mutex<BTreeMap<String, u64>>>);

impl Whose {
    /// The only account in question; `None` when others are.
    pub(super) fn account(&self) -> Option<Found> {
        match self {
            Self::Everybody => None,
            Self::Advancing(client_id, _) => Some(Found { clients: vec![*client_id], searched_to: None }),
        }
    }

    /// Whether somebody else does the work of an account.
    pub(super) fn leaves_out(&self, clock: &Clock, client_id: ClientId) -> bool {
        match self {
            Self::Everybody => clock.is_advancing(client_id),
            Self::Advancing(..) => false,
        }
    }

    /// Counts a piece that did something.
    pub(super) fn count(&self, what: &str, did: Did) {
        match (self, did) {
            (Self::Advancing(_, tally), Did::Something) => tally.add(what, 1),
            (Self::Advancing(..) | Self::Everybody, Did::Something | Did::Nothing) => {}
        }
    }
}

impl Tally {
    /// Counts something.
    pub(super) fn add(&self, what: &str, times: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(what.to_owned()).or_default() += times;
    }

    /// What was counted so far.
    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins anew.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
