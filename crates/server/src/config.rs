//! The settings of an operator as they are written, in increasing precedence: TOML file, environment, flags. After
//! this module every value is parsed and within its bounds.
//!
//! The name of a value contains its unit. The default stands beside the field. An unknown name is an error. No payment
//! rule is defined here. Each section has a file with its settings and their conversion into the options of the product.

mod apple_pay;
mod bounds;
mod calendar;
mod card_testing;
mod check;
mod dashboard;
mod database;
mod durations;
mod fields;
mod layers;
mod listing;
mod outbound;
mod own_provider;
mod product;
mod production;
mod providers;
mod reports;
mod secret;
mod server;
mod simulator;
mod smtp;
mod this_machine;
mod vault;
mod webhooks;

use std::path::PathBuf;

use regente_providers::request::Mode;
use serde::{Deserialize, Serialize};

pub use apple_pay::{ApplePayConfig, TEST_ROOT_MARK, TestKeyFiles};
pub use calendar::CalendarConfig;
pub use card_testing::CardTestingConfig;
pub use check::{DatabaseAddress, SANDBOX_BOOKS_IN_MEMORY, TransactionLogLocation};
pub use dashboard::DashboardConfig;
pub use database::DatabaseConfig;
pub use fields::FieldsConfig;
pub use layers::{ConfigError, Flag, Loaded, Sources};
pub use outbound::OutboundConfig;
pub use own_provider::{OwnProvider, OwnProviderConfig};
pub use product::{ChargesConfig, LimitsConfig, PurchasesConfig, RoutingConfig};
pub use production::{TooWeak, mode_open_to_others};
pub use providers::{ProviderAddresses, ProvidersConfig};
pub use reports::{ReportStorage, ReportsConfig};
pub use secret::{Secret, WrittenIn, WrittenSecret};
pub use server::{LogConfig, LogFormat, MetricsConfig, ServerConfig};
pub use simulator::{SandboxConfig, Simulator};
pub use smtp::{SmtpConfig, SmtpTls};
pub use vault::{DEV_KEK_MARK, KekSource, VaultConfig};
pub use webhooks::WebhooksConfig;

/// All settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `sandbox` or `production`. Default `sandbox`.
    #[serde(with = "mode_word")]
    pub mode: Mode,
    /// The secrets that were written as settings, instead of into files of their own.
    #[serde(skip)]
    pub written_secrets: Vec<WrittenSecret>,
    /// The folder of all data that has no setting of its own. Default `regente-data`, in the working directory.
    pub data_dir: PathBuf,
    /// The HTTP server.
    pub server: ServerConfig,
    /// The card fields of the browser library.
    pub fields: FieldsConfig,
    /// The pages for members.
    pub dashboard: DashboardConfig,
    /// The database.
    pub database: DatabaseConfig,
    /// Keys.
    pub vault: VaultConfig,
    /// The simulator.
    pub sandbox: SandboxConfig,
    /// Lifetimes and rate limits of the API.
    pub limits: LimitsConfig,
    /// Limits on public keys.
    pub card_testing: CardTestingConfig,
    /// Whose Apple Pay tokens are opened.
    pub apple_pay: ApplePayConfig,
    /// How charges are carried out.
    pub charges: ChargesConfig,
    /// Purchases, which are paid with several cards.
    pub purchases: PurchasesConfig,
    /// Which providers are asked.
    pub routing: RoutingConfig,
    /// Calls to payment providers.
    pub providers: ProvidersConfig,
    /// The operator's own processor.
    pub own_provider: OwnProviderConfig,
    /// The days on which banks work.
    pub calendar: CalendarConfig,
    /// Calls to addresses given by users.
    pub outbound: OutboundConfig,
    /// How events are delivered.
    pub webhooks: WebhooksConfig,
    /// Where the files of reports are.
    pub reports: ReportsConfig,
    /// Where mail is handed over.
    pub smtp: SmtpConfig,
    /// The log.
    pub log: LogConfig,
    /// Metrics.
    pub metrics: MetricsConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: Mode::Sandbox,
            written_secrets: Vec::new(),
            data_dir: PathBuf::from("regente-data"),
            server: ServerConfig::default(),
            fields: FieldsConfig::default(),
            dashboard: DashboardConfig::default(),
            database: DatabaseConfig::default(),
            vault: VaultConfig::default(),
            sandbox: SandboxConfig::default(),
            limits: LimitsConfig::default(),
            card_testing: CardTestingConfig::default(),
            apple_pay: ApplePayConfig::default(),
            charges: ChargesConfig::default(),
            purchases: PurchasesConfig::default(),
            routing: RoutingConfig::default(),
            providers: ProvidersConfig::default(),
            own_provider: OwnProviderConfig::default(),
            calendar: CalendarConfig::default(),
            outbound: OutboundConfig::default(),
            webhooks: WebhooksConfig::default(),
            reports: ReportsConfig::default(),
            smtp: SmtpConfig::default(),
            log: LogConfig::default(),
            metrics: MetricsConfig::default(),
        }
    }
}

/// Reads and writes the mode as a word.
mod mode_word {
    use regente_providers::request::Mode;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match mode {
            Mode::Sandbox => "sandbox",
            Mode::Production => "production",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "sandbox" => Ok(Mode::Sandbox),
            "production" => Ok(Mode::Production),
            _ => Err(de::Error::custom("must be `sandbox` or `production`")),
        }
    }
}
