//! The settings of what the product does with requests, charges and purchases, and their conversion.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::circuit;
use regente_domain::money::Amount;
use regente_engine::settings::Settings;
use serde::{Deserialize, Serialize};

use super::Config;
use super::durations::{days, waits, waits_text, whole_days, whole_millis};
use crate::http::limits::{HttpLimits, RateLimits};
use crate::http::peer::Proxies;
use crate::http::rates::Rate;

/// `limits.…`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// How long a finished answer is kept for its idempotency key. Default 86 400.
    pub idempotency_retention_seconds: u64,
    /// Lifetime of a card or CVV token. Default 7 200.
    pub card_token_life_seconds: u64,
    /// Longest lifetime of a client token. Default 31 536 000.
    pub client_token_life_seconds_max: u64,
    /// How long valid credentials and a merchant with its providers stay in the cache. A change made by another server
    /// takes effect after at most this long. Default 5 000.
    pub cache_ms: u64,
    /// Tokens that one public key may make per second from one address; 0 is no limit. Default 10.
    pub public_key_tokens_per_second: u32,
    /// Requests per second of one secret key; 0 is no limit. Default 0.
    pub secret_key_requests_per_second: u32,
    /// Requests per second of one public key from one address, and of one address for pages that demand no key; 0 is no
    /// limit. Default 50.
    pub page_requests_per_second: u32,
    /// Requests per minute from one address whose key is refused; after more than that the address waits for a minute,
    /// except with keys that were good before. 0 is no limit. Default 60 in production mode, 0 in sandbox mode.
    pub failed_authentications_per_minute: u32,
    /// Jobs of subscriptions that a process begins per second; a cycle that is charged has two. 0 is no limit. Default 200.
    pub subscription_jobs_per_second: u32,
}

/// `charges.…`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChargesConfig {
    /// How long after its start a charge may still try another provider. Default 60 000.
    pub budget_ms: u64,
    /// How long after its deadline a call without an outcome is given to the reconcile job, which probes the provider;
    /// at least 100. Default 30 000.
    pub reconcile_grace_ms: u64,
    /// The waits between probes of an unknown outcome, separated by commas; after the last one the request is given up
    /// until an operator retries it. Default `5,30,120,600,1800,3600,7200,14400,28800,43200,86400,86400`, three days.
    pub reconcile_waits_seconds: String,
}

/// `purchases.…`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PurchasesConfig {
    /// The smallest amount of one card of a purchase, in cents. Default 100.
    pub min_payment_amount: u64,
}

/// `routing.…`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingConfig {
    /// How many of the latest 10 calls to a provider may fail before its circuit opens: charges that have another
    /// provider skip it for a while. 0 never opens a circuit. Default 5.
    pub circuit_failures: u32,
    /// How long a circuit stays open before a charge probes the provider; each failed probe doubles this, up to ten
    /// minutes. Default 30 000.
    pub circuit_open_ms: u64,
    /// How long rates of approval are kept, in days. Default 400.
    pub rates_retention_days: u32,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let settings = Settings::default();
        Self {
            idempotency_retention_seconds: settings.idempotency_retention.as_secs(),
            card_token_life_seconds: settings.token_life.as_secs(),
            client_token_life_seconds_max: settings.client_token_life_max.as_secs(),
            cache_ms: whole_millis(settings.cache_life),
            public_key_tokens_per_second: 10,
            secret_key_requests_per_second: 0,
            page_requests_per_second: 50,
            failed_authentications_per_minute: 0,
            subscription_jobs_per_second: settings.subscription_jobs_per_second.map_or(0, NonZeroU32::get),
        }
    }
}

impl Default for ChargesConfig {
    fn default() -> Self {
        let settings = Settings::default();
        Self {
            budget_ms: whole_millis(settings.charge_budget),
            reconcile_grace_ms: whole_millis(settings.reconcile_grace),
            reconcile_waits_seconds: waits_text(&settings.reconcile_waits),
        }
    }
}

impl Default for PurchasesConfig {
    fn default() -> Self {
        let settings = Settings::default();
        Self { min_payment_amount: settings.purchase_payment_min.minor_units().unsigned_abs() }
    }
}

impl Default for RoutingConfig {
    fn default() -> Self {
        let bounds = circuit::Bounds::default();
        Self {
            circuit_failures: bounds.failures.get(),
            circuit_open_ms: whole_millis(bounds.open_for),
            rates_retention_days: whole_days(Settings::default().rates_retention),
        }
    }
}

impl Config {
    /// The limits on callers' requests.
    pub fn http_limits(&self) -> HttpLimits {
        let limits = &self.limits;
        HttpLimits {
            rates: RateLimits {
                public_key_tokens: Rate::per_second(limits.public_key_tokens_per_second),
                secret_key_requests: Rate::per_second(limits.secret_key_requests_per_second),
                page_requests: Rate::per_second(limits.page_requests_per_second),
                failed_authentications: Rate::per_minute(limits.failed_authentications_per_minute),
                review_answers: RateLimits::default().review_answers,
                failed_sign_ins: RateLimits::default().failed_sign_ins,
                failed_sign_ins_as: RateLimits::default().failed_sign_ins_as,
            },
            card_testing: self.card_testing_limits(),
            proxies: Proxies::new(self.server.proxies().unwrap_or_default()),
            body_bytes_max: self.server.body_bytes_max,
            body_budget_bytes: self.server.body_budget_bytes,
        }
    }

    /// The settings of the engine.
    pub fn settings(&self) -> Settings {
        let limits = &self.limits;
        Settings {
            reservation_life: Settings::default().reservation_life,
            mode: self.mode,
            simulators: self.simulators(),
            idempotency_retention: Duration::from_secs(limits.idempotency_retention_seconds),
            token_life: Duration::from_secs(limits.card_token_life_seconds),
            client_token_life_max: Duration::from_secs(limits.client_token_life_seconds_max),
            charge_budget: Duration::from_millis(self.charges.budget_ms),
            circuits: NonZeroU32::new(self.routing.circuit_failures).map(|failures| circuit::Bounds {
                failures,
                open_for: Duration::from_millis(self.routing.circuit_open_ms),
            }),
            rates_retention: days(self.routing.rates_retention_days),
            reconcile_grace: Duration::from_millis(self.charges.reconcile_grace_ms),
            purchase_payment_min: i64::try_from(self.purchases.min_payment_amount)
                .ok()
                .and_then(Amount::new)
                .unwrap_or_default(),
            reconcile_waits: waits(&self.charges.reconcile_waits_seconds).unwrap_or_default(),
            cache_life: Duration::from_millis(limits.cache_ms),
            subscription_jobs_per_second: NonZeroU32::new(limits.subscription_jobs_per_second),
            report_rows_per_file: Settings::default().report_rows_per_file,
            base_url: self.server.base_url.as_deref().map(Arc::from),
            calendar: self.calendar.calendar().unwrap_or_default(),
            webhooks: self.webhook_settings(),
        }
    }
}
