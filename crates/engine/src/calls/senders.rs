//! What this process knows of those who send notifications: the account of each provider, and how many were refused
//! lately.

use moka::sync::Cache;
use regente_domain::id::{ClientId, ProviderId};

use super::PROVIDERS_MAX;
use super::refusals::Refusals;
use crate::clock::MachineTime;

/// The providers that notifications came for.
#[derive(Debug)]
pub struct Senders {
    accounts: Cache<ProviderId, ClientId>,
    refused: Refusals,
}

impl Default for Senders {
    fn default() -> Self {
        Self { accounts: Cache::new(PROVIDERS_MAX), refused: Refusals::default() }
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
        self.refused.count(provider_id, now)
    }
}
