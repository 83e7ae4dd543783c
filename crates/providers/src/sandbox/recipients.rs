//! Whom the simulator notifies of what happens to a call after its answer: a payer pays, a refund is carried out. It is in
//! memory, like the outbox: what is forgotten, a probe finds.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::{Plans, Recipient};
use crate::request::Call;

/// Most calls that are remembered; the oldest is forgotten first.
const CALLS_MAX: usize = 200_000;

/// Whom to notify of one call.
#[derive(Clone)]
pub(super) struct Notified {
    pub recipient: Recipient,
    /// The fault plans that the call brought along.
    pub plans: Arc<Plans>,
}

impl Notified {
    pub(super) fn of(call: &Call, recipient: Recipient) -> Self {
        let plans = Plans::read(&call.options, call.test_overrides.as_ref()).unwrap_or_default();
        Self { recipient, plans: Arc::new(plans) }
    }
}

/// The recipients by the keys of their calls.
#[derive(Default)]
pub(super) struct Recipients(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_key: HashMap<Uuid, Notified>,
    oldest_first: VecDeque<Uuid>,
}

impl Recipients {
    pub(super) fn remember(&self, key: Uuid, notified: Notified) {
        let mut known = self.known();
        if known.by_key.insert(key, notified).is_none() {
            known.oldest_first.push_back(key);
        }
        if known.oldest_first.len() > CALLS_MAX
            && let Some(oldest) = known.oldest_first.pop_front()
        {
            known.by_key.remove(&oldest);
        }
    }

    pub(super) fn of(&self, key: Uuid) -> Option<Notified> {
        self.known().by_key.get(&key).cloned()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
