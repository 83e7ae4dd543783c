//! What every request and every job is given: the store, the vault, the providers, the clocks, chance and the
//! settings. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;

use regente_providers::provider::Providers;
use regente_store::Store;

use crate::access::Credentials;
use crate::api::idempotency::Repeats;
use crate::api::limits::RateLimiter;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::flows::circuits::Circuits;
use crate::flows::in_flight::InFlight;
use crate::flows::route::Merchants;
use crate::outbound::Outbound;
use crate::settings::Settings;
use crate::vault::Vault;

/// The application.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The database.
    pub store: Store,
    /// Keys and what they seal.
    pub vault: Vault,
    /// Outbound calls.
    pub providers: Providers,
    /// Calls to addresses that users have given.
    pub outbound: Outbound,
    /// Business and machine time.
    pub clock: Clock,
    /// Randomness and ids.
    pub chance: Chance,
    /// What the operator set.
    pub settings: Settings,
    /// Who is calling, remembered for a few seconds.
    pub credentials: Credentials,
    /// What charges are routed by, remembered for a few seconds.
    pub merchants: Merchants,
    /// Whether callers repeat their idempotency keys lately.
    pub repeats: Repeats,
    /// How often public keys may make tokens.
    pub token_limiter: RateLimiter,
    /// How often secret keys may ask.
    pub secret_key_limiter: RateLimiter,
    /// Provider calls of this process that have not ended.
    pub in_flight: InFlight,
    /// The providers that have stopped answering.
    pub circuits: Circuits,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for App {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}
