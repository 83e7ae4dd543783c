//! Authentication of cardholders (3-D Secure): the requests to 3DS servers, their answers, and the registry of their
//! adapters. The domain decides what follows an answer.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::charge::authentication::{Authenticated, Found, Purpose};
use regente_domain::charge::instructions::Instructions;
use regente_domain::currency::Currency;
use regente_domain::id::AuthenticationSetupId;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use tokio::time::timeout;
use uuid::Uuid;

use crate::request::{CardDetails, TestOverrides};

pub(crate) mod proof;

pub use proof::Proof;
pub use regente_domain::charge::sent::{AddressData, Browser, CardHolderData, Mpi, ThreeDSecure};

/// The adapter of one 3DS server.
pub trait AuthenticationServer: Send + Sync {
    /// Prepares an authentication: the browser of the cardholder is to post the token to the address, so that the
    /// issuer learns about the device.
    fn set_up(&self, setup: Setup) -> BoxFuture<'_, DeviceCollection>;

    /// Asks for an authentication once per key; a repetition with the same key returns the same answer.
    fn enroll(&self, enrollment: Enrollment) -> BoxFuture<'_, Enrolled>;

    /// What became of a challenge; `None` while the cardholder has not answered it. Has no effect.
    fn validate(&self, validation: Validation) -> BoxFuture<'_, Option<Authenticated>>;

    /// How long a caller waits for each of them.
    fn deadline(&self) -> Duration;
}

/// A request to prepare an authentication.
#[derive(Debug)]
pub struct Setup {
    /// Our id of the setup.
    pub id: AuthenticationSetupId,
    /// When it is made, by the clock of the account.
    pub at: Timestamp,
    /// How long it is good for.
    pub life: Duration,
}

/// Where the browser sends what it knows of the device.
#[derive(Clone, Debug)]
pub struct DeviceCollection {
    /// The address.
    pub collect_url: String,
    /// The token that the browser posts to it.
    pub token: String,
}

/// A request to authenticate a cardholder.
#[derive(Debug)]
pub struct Enrollment {
    /// Our key of the authentication, the same on every repetition.
    pub key: Uuid,
    /// When it is made, by the clock of the account.
    pub at: Timestamp,
    /// The 3DS server.
    pub server: ProviderType,
    /// The setup, in which the browser may have sent what it knows of the device.
    pub setup_id: AuthenticationSetupId,
    /// What is asked for.
    pub purpose: Purpose,
    /// The amount to charge, in minor units.
    pub amount: Amount,
    /// ISO 4217 currency of `amount`.
    pub currency: Currency,
    /// The card, in the clear.
    pub card: CardDetails,
    /// What the merchant has sent about the cardholder and their browser.
    pub data: ThreeDSecure,
    /// Where the browser goes after a challenge.
    pub return_url: String,
    /// The merchant, as the cardholder knows them.
    pub merchant: String,
    /// Simulator overrides of this request.
    pub test_overrides: Option<TestOverrides>,
}

/// The answer to a request to authenticate.
#[derive(Clone, Debug)]
pub enum Enrolled {
    /// It is decided, without the cardholder.
    Decided(Authenticated),
    /// The issuer asks the cardholder.
    Challenge {
        /// What is known so far.
        authenticated: Authenticated,
        /// What the browser does.
        instructions: Instructions,
    },
}

/// A question about a challenge.
#[derive(Debug)]
pub struct Validation {
    /// The key of the authentication.
    pub key: Uuid,
    /// When it is asked, by the clock of the account.
    pub at: Timestamp,
    /// The 3DS server.
    pub server: ProviderType,
}

/// An adapter and the provider type that it serves.
pub type AuthenticationAdapter = (ProviderType, Box<dyn AuthenticationServer>);

/// The adapters of 3DS servers of this build, by provider type.
#[derive(Default)]
pub struct AuthenticationServers {
    preferred: Option<ProviderType>,
    adapters: HashMap<ProviderType, Box<dyn AuthenticationServer>>,
}

impl AuthenticationServers {
    /// Registers exactly these adapters; new setups go to the first.
    pub fn with(adapters: impl IntoIterator<Item = AuthenticationAdapter>) -> Self {
        let mut servers = Self::default();
        for (server, adapter) in adapters {
            servers.preferred.get_or_insert(server);
            servers.adapters.insert(server, adapter);
        }
        servers
    }

    /// The 3DS server for new setups; `None` where there is none.
    pub const fn preferred(&self) -> Option<ProviderType> {
        self.preferred
    }

    /// How long a 3DS server may take; zero without an adapter.
    pub fn deadline(&self, server: ProviderType) -> Duration {
        self.adapters.get(&server).map_or(Duration::ZERO, |adapter| adapter.deadline())
    }

    /// Prepares an authentication; `None` when the 3DS server does not answer in time.
    pub async fn set_up(&self, server: ProviderType, setup: Setup) -> Option<DeviceCollection> {
        let adapter = self.adapters.get(&server)?;
        timeout(adapter.deadline(), adapter.set_up(setup)).await.ok()
    }

    /// Asks for an authentication and waits no longer than the deadline of the 3DS server.
    pub async fn enroll(&self, enrollment: Enrollment) -> Enrolled {
        let unavailable = Enrolled::Decided(Authenticated::bare(Found::Unavailable));
        let Some(adapter) = self.adapters.get(&enrollment.server) else { return unavailable };
        timeout(adapter.deadline(), adapter.enroll(enrollment)).await.unwrap_or(unavailable)
    }

    /// Asks what became of a challenge and waits no longer than the deadline of the 3DS server. `None` while that is
    /// not known.
    pub async fn validate(&self, validation: Validation) -> Option<Authenticated> {
        let adapter = self.adapters.get(&validation.server)?;
        timeout(adapter.deadline(), adapter.validate(validation)).await.ok().flatten()
    }
}
