//! What an operator may set, past the door: parsed, bounded, complete. `config.rs` reads it from file, environment
//! and flags; everything else only takes it. What an operator does not set is as the domain says.

use std::time::Duration;

use regente_domain::charge::{reconciliation, reservation};
use regente_domain::money::Amount;
use regente_domain::{circuit, credential, idempotency, purchase, routing, token};

mod webhooks;

pub use webhooks::{DAY_SECONDS, EndpointUse, WebhookSettings};

pub use regente_providers::request::Mode;

/// The settings that requests and jobs are served by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sandbox or production.
    pub mode: Mode,
    /// How long a finished answer is kept for its idempotency key (`docs/interface/conventions.md#idempotency`).
    pub idempotency_retention: Duration,
    /// How long a card or CVV token lives (`docs/interface/tokens-and-cards.md#tokens`).
    pub token_life: Duration,
    /// The longest life of a client token, and the one that `expires: 0` gives
    /// (`docs/interface/auth.md#client-tokens`).
    pub client_token_life_max: Duration,
    /// No new provider is tried after this long (`docs/interface/routing.md#budget`).
    pub charge_budget: Duration,
    /// When a provider that does not answer is left out; `None` never leaves one out.
    pub circuits: Option<circuit::Bounds>,
    /// A call that has not ended this long after its deadline was lost with its process: the reconcile job asks.
    pub reconcile_grace: Duration,
    /// How long a reservation stands before it is voided (`docs/interface/charges.md#reservations`).
    pub reservation_life: Duration,
    /// The least that one card of a purchase may be charged (`docs/interface/purchases.md#creating`).
    pub purchase_payment_min: Amount,
    /// Waits between the looks at an unknown outcome. After the last one the operator is alerted
    /// (`docs/interface/charges.md#unknown-outcomes`).
    pub reconcile_waits: Vec<Duration>,
    /// How long a credential that was found valid, and a merchant with its providers, are trusted without asking the
    /// database again: a key revoked at another node works for so long.
    pub cache_life: Duration,
    /// How events are delivered.
    pub webhooks: WebhookSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Sandbox,
            idempotency_retention: idempotency::RETENTION,
            token_life: token::LIFE,
            client_token_life_max: credential::CLIENT_TOKEN_LIFE_MAX,
            charge_budget: routing::BUDGET,
            circuits: Some(circuit::Bounds::default()),
            reconcile_grace: reconciliation::GRACE,
            reservation_life: reservation::RESERVED_FOR,
            purchase_payment_min: purchase::PAYMENT_MIN,
            reconcile_waits: reconciliation::WAITS.to_vec(),
            cache_life: Duration::from_secs(5),
            webhooks: WebhookSettings::default(),
        }
    }
}
