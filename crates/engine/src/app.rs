//! The application context that tasks and jobs get: store, vault, providers, clocks, randomness and settings. Cheap to
//! clone.

use std::ops::Deref;
use std::sync::Arc;

use regente_providers::anti_fraud::AntiFraudProviders;
use regente_providers::authentication::AuthenticationServers;
use regente_providers::provider::Providers;
use regente_store::{Batch, Commit, Store};

use crate::apple_pay::ApplePayKeys;
use crate::bank::SharedBank;
use crate::calls::circuits::Circuits;
use crate::calls::in_flight::InFlight;
use crate::calls::learned::Learned;
use crate::calls::merchants::Merchants;
use crate::calls::refusals::Refusals;
use crate::calls::repeats::Repeats;
use crate::calls::returns::Returns;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::error::Error;
use crate::mail::Mailer;
use crate::outbound::Outbound;
use crate::report_files::ReportFiles;
use crate::return_address::ReturnAddresses;
use crate::settings::Settings;
use crate::vault::Vault;

/// A shared handle of [`Parts`].
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The database.
    pub store: Store,
    /// Data keys and encryption.
    pub vault: Vault,
    /// Payment providers.
    pub providers: Providers,
    /// 3DS servers.
    pub authentication: AuthenticationServers,
    /// Where cardholders come back after a challenge.
    pub return_addresses: ReturnAddresses,
    /// The Apple Pay keys of the accounts, where there are any.
    pub apple_pay: Option<ApplePayKeys>,
    /// Anti-fraud providers.
    pub anti_fraud: AntiFraudProviders,
    /// Calls to addresses that users have registered.
    pub outbound: Outbound,
    /// Business and machine time.
    pub clock: Clock,
    /// Randomness and ids.
    pub chance: Chance,
    /// Settings of the operator.
    pub settings: Settings,
    /// Merchants with their providers, cached for a few seconds.
    pub merchants: Merchants,
    /// What balances that learn know in this hour.
    pub learned: Learned,
    /// Whether callers have repeated idempotency keys in the last second.
    pub repeats: Repeats,
    /// The look-ups that cardholders who come back from a challenge have caused.
    pub returns: Returns,
    /// The providers in whose name notifications came that they did not sign.
    pub forged_notifications: Refusals,
    /// The providers that refuse their merchant's credentials.
    pub refused_credentials: Refusals,
    /// Flows and provider calls of this process that have not ended.
    pub in_flight: InFlight,
    /// The files of reports.
    pub report_files: ReportFiles,
    /// What hands mail over; `None` where no mail is sent.
    pub mailer: Option<Mailer>,
    /// The bank that pays receivers; `None` where they are paid by hand.
    pub bank: Option<SharedBank>,
    /// The circuits of the providers.
    pub circuits: Circuits,
    /// Renders an error as the API would, for answers that are stored before a caller fetches them.
    pub answer_to: fn(Error) -> Answer,
}

/// An answer that is stored for idempotent replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub bytes: Vec<u8>,
}

impl App {
    /// Creates the context from its parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Applies a change of a merchant or of what belongs to it, and forgets the merchants that are cached. Both happen even when
    /// the caller hangs up in between.
    pub(crate) async fn change_merchant(&self, batch: Batch) -> Result<Commit, Error> {
        let app = self.clone();
        let change = async move {
            let commit = app.store.apply(batch).await;
            app.merchants.forget();
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
