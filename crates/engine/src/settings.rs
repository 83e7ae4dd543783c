//! The operator's settings for requests and jobs: parsed, bounded and complete. `config.rs` reads them from file,
//! environment and flags. The domain has the defaults.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::business_days::Calendar;
use regente_domain::charge::{reconciliation, reservation};
use regente_domain::money::Amount;
use regente_domain::provider_type::Simulators;
use regente_domain::{circuit, credential, idempotency, purchase, rates, report, routing, token};

mod webhooks;

pub use webhooks::{DAY_SECONDS, EndpointUse, WebhookSettings};

pub use regente_providers::request::Mode;

/// The settings that requests and jobs use.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sandbox or production.
    pub mode: Mode,
    /// Whether the simulated provider types can be registered and asked.
    pub simulators: Simulators,
    /// How long the answer of an idempotency key is stored (`docs/interface/conventions.md#idempotency`).
    pub idempotency_retention: Duration,
    /// How long a card or CVV token is valid (`docs/interface/tokens-and-cards.md#tokens`).
    pub token_life: Duration,
    /// The longest validity of a client token, and that of `expires: 0` (`docs/interface/auth.md#client-tokens`).
    pub client_token_life_max: Duration,
    /// After this long a charge tries no further provider (`docs/interface/routing.md#budget`).
    pub charge_budget: Duration,
    /// When a circuit opens; `None` disables circuits.
    pub circuits: Option<circuit::Bounds>,
    /// How long rates of approval are kept (`docs/interface/rates.md`).
    pub rates_retention: Duration,
    /// A call that has not ended this long after its deadline counts as lost with its process: the reconcile job probes
    /// it.
    pub reconcile_grace: Duration,
    /// How long a reservation lives before it is voided (`docs/interface/charges.md#reservations`).
    pub reservation_life: Duration,
    /// The smallest amount of one card of a purchase (`docs/interface/purchases.md#creating`).
    pub purchase_payment_min: Amount,
    /// Waits between look-ups of an unknown outcome. After the last one the operator is alerted
    /// (`docs/interface/charges.md#unknown-outcomes`).
    pub reconcile_waits: Vec<Duration>,
    /// How long credentials and merchants are cached: a key revoked on another node works for this long.
    pub cache_life: Duration,
    /// How many jobs of subscriptions a process begins in a second at most, so that a backlog leaves room for those who wait for an
    /// answer; `None` is no limit. A cycle that is charged has two of them.
    pub subscription_jobs_per_second: Option<NonZeroU32>,
    /// Rows of one file of a report.
    pub report_rows_per_file: usize,
    /// The address at which others reach this service, without a slash at its end; absent where they cannot.
    pub base_url: Option<Arc<str>>,
    /// The days on which banks work: for payouts, prepayment and boletos.
    pub calendar: Calendar,
    /// How events are delivered.
    pub webhooks: WebhookSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Sandbox,
            simulators: Simulators::Used,
            idempotency_retention: idempotency::RETENTION,
            token_life: token::LIFE,
            client_token_life_max: credential::CLIENT_TOKEN_LIFE_MAX,
            charge_budget: routing::BUDGET,
            circuits: Some(circuit::Bounds::default()),
            rates_retention: rates::KEPT_FOR,
            reconcile_grace: reconciliation::GRACE,
            reservation_life: reservation::RESERVED_FOR,
            purchase_payment_min: purchase::PAYMENT_MIN,
            reconcile_waits: reconciliation::WAITS.to_vec(),
            cache_life: Duration::from_secs(5),
            subscription_jobs_per_second: NonZeroU32::new(100),
            report_rows_per_file: report::ROWS_PER_FILE,
            base_url: None,
            calendar: Calendar::NATIONAL,
            webhooks: WebhookSettings::default(),
        }
    }
}
