//! What an operator may set, past the door: parsed, bounded, complete. `config.rs` reads it from file, environment
//! and flags; everything else only takes it.

use std::time::Duration;

use regente_domain::circuit;
use regente_domain::money::Amount;

mod webhooks;

pub use webhooks::{DAY_SECONDS, EndpointUse, WebhookSettings};

pub use regente_providers::request::Mode;

/// Looks at an unknown outcome: soon and often first, since most providers come back within minutes, then for three
/// days, which covers a weekend.
const RECONCILE_WAITS_SECONDS: [u64; 12] =
    [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 86_400];

/// The usual least amount of an acquirer, BRL 1.00.
const PURCHASE_PAYMENT_MIN: Amount = match Amount::new(100) {
    Some(amount) => amount,
    None => Amount::ZERO,
};

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
            idempotency_retention: Duration::from_secs(24 * 60 * 60),
            token_life: Duration::from_secs(2 * 60 * 60),
            client_token_life_max: Duration::from_secs(31_536_000),
            charge_budget: regente_domain::routing::BUDGET,
            circuits: Some(circuit::Bounds::default()),
            reconcile_grace: Duration::from_secs(30),
            reservation_life: Duration::from_secs(7 * 24 * 60 * 60),
            purchase_payment_min: PURCHASE_PAYMENT_MIN,
            reconcile_waits: RECONCILE_WAITS_SECONDS.map(Duration::from_secs).to_vec(),
            cache_life: Duration::from_secs(5),
            webhooks: WebhookSettings::default(),
        }
    }
}
