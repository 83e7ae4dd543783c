//! Counts what is refused of each provider, so that a flood is a line a minute in the log.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::sync::Cache;
use regente_domain::id::ProviderId;

use crate::clock::MachineTime;

/// Most providers that are remembered; some hundred bytes each.
const PROVIDERS_MAX: u64 = 100_000;
/// How often refusals of one provider are logged.
const LOGGED_EVERY: Duration = Duration::from_secs(60);

/// What was refused lately, by provider.
#[derive(Debug)]
pub struct Refusals(Cache<ProviderId, Arc<Mutex<Refused>>>);

#[derive(Debug, Default)]
struct Refused {
    logged_at: Option<MachineTime>,
    since_then: u64,
}

impl Default for Refusals {
    fn default() -> Self {
        Self(Cache::new(PROVIDERS_MAX))
    }
}

impl Refusals {
    /// Counts a refusal. Returns the number to log, at most once a minute: this one and those since the last time.
    pub fn count(&self, provider_id: ProviderId, now: MachineTime) -> Option<u64> {
        let refused = self.0.get_with(provider_id, Arc::default);
        let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.since_then += 1;
        if refused.logged_at.is_some_and(|logged_at| now.since(logged_at) < LOGGED_EVERY) {
            return None;
        }
        refused.logged_at = Some(now);
        Some(std::mem::take(&mut refused.since_then))
    }
}
