//! What this process knows of those who send notifications: the account of each provider, and how many were refused
//! lately, so that a flood of forged ones is a line a minute in the log.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::sync::Cache;
use regente_domain::id::{ClientId, ProviderId};

use crate::clock::MachineTime;

/// Most providers that are remembered; some hundred bytes each.
const PROVIDERS_MAX: u64 = 100_000;
/// How often refused notifications of one provider are logged.
const LOGGED_EVERY: Duration = Duration::from_secs(60);

/// The providers that notifications came for.
#[derive(Debug)]
pub struct Senders {
    accounts: Cache<ProviderId, ClientId>,
    refused: Cache<ProviderId, Arc<Mutex<Refused>>>,
}

/// Refused notifications of one provider.
#[derive(Debug, Default)]
struct Refused {
    logged_at: Option<MachineTime>,
    since_then: u64,
}

impl Default for Senders {
    fn default() -> Self {
        Self { accounts: Cache::new(PROVIDERS_MAX), refused: Cache::new(PROVIDERS_MAX) }
    }
}

impl Senders {
    /// The account of a provider, if it is known here. It never changes.
    pub fn account_of(&self, provider_id: ProviderId) -> Option<ClientId> {
        self.accounts.get(&provider_id)
    }

    /// Remembers the account of a provider.
    pub fn remember(&self, provider_id: ProviderId, client_id: ClientId) {
        self.accounts.insert(provider_id, client_id);
    }

    /// Counts a refused notification. Returns the number to log, at most once a minute: this one and those since the
    /// last time.
    pub fn refused(&self, provider_id: ProviderId, now: MachineTime) -> Option<u64> {
        let refused = self.refused.get_with(provider_id, Arc::default);
        let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.since_then += 1;
        if refused.logged_at.is_some_and(|logged_at| now.since(logged_at) < LOGGED_EVERY) {
            return None;
        }
        refused.logged_at = Some(now);
        Some(std::mem::take(&mut refused.since_then))
    }
}
