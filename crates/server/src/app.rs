//! What every request is given: the engine, and what belongs to the interface alone. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::id::ClientId;
use regente_engine::app as engine;
use regente_engine::cache::Cache;
use regente_engine::clock::Clock;
use regente_engine::error::Error;
use regente_providers::sandbox::TransactionLog;
use regente_store::credentials::{Credential, CredentialDigest};
use regente_store::{Batch, Commit};

use crate::api::limits::{HttpLimits, RateLimiter};

/// Credentials that are remembered; about 300 bytes each.
const CREDENTIALS_CACHED_MAX: u64 = 50_000;

/// The application.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// What the product does.
    pub engine: engine::App,
    /// The transaction log of the simulator, where this process keeps it.
    pub simulator_log: Option<TransactionLog>,
    /// How much callers may ask for.
    pub limits: HttpLimits,
    /// Who is calling, remembered for a few seconds.
    pub credentials: Credentials,
    /// How often public keys may make tokens.
    pub token_limiter: RateLimiter,
    /// How often secret keys may ask.
    pub secret_key_limiter: RateLimiter,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Applies a change of what is remembered, and has it forgotten then. A caller who hangs up in between keeps it from
    /// neither.
    pub async fn change(&self, batch: Batch, forget: fn(&Self)) -> Result<Commit, Error> {
        let app = self.clone();
        let change = async move {
            let commit = app.store.apply(batch).await;
            forget(&app);
            Ok(commit?)
        };
        self.in_flight.run(change).await
    }
}

impl Deref for App {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Deref for Parts {
    type Target = engine::App;
    fn deref(&self) -> &engine::App {
        &self.engine
    }
}

/// Credentials that were found valid a moment ago. To be forgotten after a revocation, or a change of a client's status.
pub type Credentials = Cache<(ClientId, CredentialDigest), Arc<Credential>>;

/// None yet; each is trusted for this long.
pub fn no_credentials(clock: Clock, life: Duration) -> Credentials {
    Cache::new(CREDENTIALS_CACHED_MAX, clock, life)
}
