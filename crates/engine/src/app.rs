//! What every flow and every job is given: the store, the vault, the providers, the clocks, chance and the settings.
//! Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;

use regente_providers::provider::Providers;
use regente_store::Store;

use crate::calls::circuits::Circuits;
use crate::calls::in_flight::InFlight;
use crate::calls::merchants::Merchants;
use crate::calls::repeats::Repeats;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::error::Error;
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
    /// What charges are routed by, remembered for a few seconds.
    pub merchants: Merchants,
    /// Whether callers repeat their idempotency keys lately.
    pub repeats: Repeats,
    /// Provider calls of this process that have not ended.
    pub in_flight: InFlight,
    /// The providers that have stopped answering.
    pub circuits: Circuits,
    /// How the interface answers an error, for answers that are kept before anybody fetches them.
    pub answer_to: fn(Error) -> Answer,
}

/// An answer as it is kept for a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the interface calls the kind of this answer: its HTTP status.
    pub status: u16,
    /// The body.
    pub bytes: Vec<u8>,
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
