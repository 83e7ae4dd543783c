//! The state of every request: the engine and the parts that only the HTTP interface needs. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use regente_domain::id::ClientId;
use regente_engine::app as engine;
use regente_engine::cache::Cache;
use regente_engine::clock::Clock;
use regente_engine::error::Error;
use regente_providers::sandbox::{SimulatedServer, TransactionLog};
use regente_store::credentials::{Credential, CredentialDigest};

use crate::http::dashboard::Dashboard;
use crate::http::fields_origin::{FieldsOrigin, LegacyPages};
use crate::http::limits::{HttpLimits, Limiters};
use crate::human_check::HumanCheck;

/// The most credentials in the cache; about 300 bytes each.
const CREDENTIALS_CACHED_MAX: u64 = 50_000;

/// The application.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The engine.
    pub engine: engine::App,
    /// The transaction log of the simulator, where this process keeps it.
    pub simulator_log: Option<TransactionLog>,
    /// The simulated 3DS server with its pages, where payments are simulated.
    pub challenges: Option<SimulatedServer>,
    /// The origin of the card fields, where they have one of their own.
    pub fields_origin: Option<FieldsOrigin>,
    /// Whether the card fields serve pages that keep the card themselves.
    pub legacy_pages: LegacyPages,
    /// Whether there is a dashboard.
    pub dashboard: Dashboard,
    /// Tells buyers from programs, where a session asks for that.
    pub human_check: Box<dyn HumanCheck>,
    /// Limits on callers' requests.
    pub limits: HttpLimits,
    /// The cache of valid credentials, a few seconds long.
    pub credentials: Credentials,
    /// Counts requests against those limits.
    pub limiters: Limiters,
}

impl App {
    /// An application of these parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// The application that answers a request. Routes are put together once in a process, before there is an application, so
    /// what stands in front of them finds it in the request, where [`router_with`](crate::api::router::router_with) puts it.
    pub fn of(request: &Request) -> Self {
        request.extensions().get::<Self>().expect("the router adds the application to each request").clone()
    }

    /// Revokes a credential by `revocation` and then forgets those that are cached. Both happen even when the caller hangs up in
    /// between.
    pub async fn forgetting_credentials(
        &self,
        revocation: impl Future<Output = Result<(), Error>> + Send + 'static,
    ) -> Result<(), Error> {
        let app = self.clone();
        let change = async move {
            let revoked = revocation.await;
            // What is found is forgotten whatever the answer is: the outcome of its commit may be unknown.
            if !matches!(revoked, Err(Error::NotFound)) {
                app.credentials.forget();
            }
            revoked
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

/// The cache of valid credentials. Clear it after a revocation or a change of a client's status.
pub type Credentials = Cache<(ClientId, CredentialDigest), Arc<Credential>>;

/// An empty cache whose entries live for `life`.
pub fn no_credentials(clock: Clock, life: Duration) -> Credentials {
    Cache::new(CREDENTIALS_CACHED_MAX, clock, life)
}
