//! The settings of an operator as they are written, in increasing precedence: TOML file, environment, flags. After
//! this module every value is parsed and within its bounds.
//!
//! The name of a value contains its unit. The default stands beside the field. An unknown name is an error. No payment
//! rule is defined here.

mod check;
mod convert;
mod layers;
mod listing;
mod outbound;
mod production;
mod secret;
mod simulator;

use std::path::PathBuf;

use regente_providers::request::Mode;
use serde::{Deserialize, Serialize};

pub use check::{DatabaseAddress, Place, SANDBOX_BOOKS_IN_MEMORY};
pub use convert::{DEV_KEK_MARK, KekSource};
pub use layers::{ConfigError, Flag, Loaded, Sources};
pub use production::{TooWeak, mode_open_to_others};
pub use secret::Secret;
pub use simulator::Simulator;

/// All settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `sandbox` or `production`. Default `sandbox`.
    #[serde(with = "mode_word")]
    pub mode: Mode,
    /// The folder of all data that has no setting of its own. Default `regente-data`, in the working directory.
    pub data_dir: PathBuf,
    /// The HTTP server.
    pub server: ServerConfig,
    /// The database.
    pub database: DatabaseConfig,
    /// Keys.
    pub vault: VaultConfig,
    /// The simulator.
    pub sandbox: SandboxConfig,
    /// Lifetimes and rate limits of the API.
    pub limits: LimitsConfig,
    /// How charges are carried out.
    pub charges: ChargesConfig,
    /// Purchases, which are paid with several cards.
    pub purchases: PurchasesConfig,
    /// Which providers are asked.
    pub routing: RoutingConfig,
    /// Calls to addresses given by users.
    pub outbound: OutboundConfig,
    /// How events are delivered.
    pub webhooks: WebhooksConfig,
    /// The log.
    pub log: LogConfig,
    /// Metrics.
    pub metrics: MetricsConfig,
}

/// `server.…`: the HTTP server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address and port; port 0 is any free one. Default `127.0.0.1:8080`.
    pub listen: String,
    /// The longest time from the first byte of a connection, or the end of the previous answer, to the last header of a
    /// request. Default 30 000.
    pub header_timeout_ms: u64,
    /// Most open connections; a further one is answered 503. Default 10 000.
    pub connections_max: usize,
    /// Largest JSON body, in bytes. Default 1 048 576.
    pub body_bytes_max: usize,
    /// How long requests and jobs may take to finish after a signal to stop. Default 30 000.
    pub drain_timeout_ms: u64,
    /// How long the server still accepts requests after a signal to stop, while `/health/ready` already fails, so that
    /// a load balancer notices. Default 0.
    pub drain_notice_ms: u64,
    /// The certificate with its chain, in PEM; with it the server speaks HTTPS instead of HTTP. Read again when it
    /// changes. Default none.
    pub tls_certificate_file: Option<PathBuf>,
    /// The certificate's private key, in PEM, readable by its owner alone. Default none.
    pub tls_key_file: Option<PathBuf>,
}

/// `database.…`
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseConfig {
    /// `sqlite:<path>` or `postgres://user:password@host:port/name`. Default `sqlite:<data_dir>/regente.db`.
    pub url: Option<Secret>,
    /// A file that holds the address instead.
    pub url_file: Option<PathBuf>,
    /// Most changes under way at once; a further request is answered 503. Default 4 096.
    pub admitted_max: usize,
    /// Acknowledge every write and drop it, and answer reads from memory: the ceiling that benchmarks compare storage
    /// with. Refused in production mode. Default false.
    #[cfg(feature = "bench-without-storage")]
    pub discard_writes: bool,
    /// SQLite: number of reading threads. Default 4.
    pub sqlite_readers: usize,
    /// SQLite: microseconds between the starts of two commits while several changes arrive at once, at most 100 000;
    /// changes that arrive meanwhile share a sync. Default 500.
    pub sqlite_commits_apart_us: u64,
    /// SQLite: length in bytes past which the write-ahead log starts anew. Default 268 435 456.
    pub sqlite_wal_bytes_max: u64,
    /// PostgreSQL: connections for reads. Default 16.
    pub postgres_pool_size: usize,
    /// PostgreSQL: how long a read waits for a connection. Default 2 000.
    pub postgres_pool_wait_ms: u64,
    /// PostgreSQL: connections that write; half of them run statements at a time. Default 2.
    pub postgres_writers: usize,
    /// PostgreSQL: this node's number, different on every node that shares the database. Default 0.
    pub postgres_node_stripe: u64,
    /// PostgreSQL: `mixed`, or `by_client` for a database that is distributed by client. Default `mixed`.
    pub postgres_commit_groups: CommitGroupsWord,
    /// PostgreSQL: how long one commit may take before its connection is closed. Default 20 000.
    pub postgres_commit_timeout_ms: u64,
    /// PostgreSQL: how long connecting may take. Default 5 000.
    pub postgres_connect_timeout_ms: u64,
}

/// Which batches share a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitGroupsWord {
    /// Any.
    Mixed,
    /// Those of one client.
    ByClient,
}

/// `vault.…`: the key-encryption key, 32 random bytes as 64 hexadecimal digits or in base64.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VaultConfig {
    /// The key itself.
    pub kek: Option<Secret>,
    /// The file that holds it, readable by its owner alone. Default `<data_dir>/kek` in sandbox mode, none in
    /// production.
    pub kek_file: Option<PathBuf>,
}

/// `sandbox.…`: the simulated provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// Fixes what the simulator leaves to chance. Default 0.
    pub seed: u64,
    /// How long a caller waits for the simulator. Default 2 000.
    pub deadline_ms: u64,
    /// Whether the security code decides charges too. Default true.
    pub cvv_on_charge: bool,
    /// The file of the simulator's transaction log, or `memory`. Default `<data_dir>/sandbox-books.db`.
    pub books: Option<String>,
    /// A file with the simulator's own fault plan, a JSON array. Default none.
    pub faults_file: Option<PathBuf>,
    /// `http://host:port` of a `regente sandbox-provider`, which then keeps the transaction log for all nodes. Default
    /// none: the simulator runs in this process.
    pub url: Option<String>,
    /// The secret that the simulator shares with its callers.
    pub key: Option<Secret>,
    /// A file that holds it instead.
    pub key_file: Option<PathBuf>,
    /// `regente sandbox-provider`: address and port; port 0 is any free one. Default `127.0.0.1:8081`.
    pub listen: String,
}

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
}

/// `outbound.…`: which addresses given by users may be called, such as those of webhooks. Addresses in networks that
/// are not public are refused, in every spelling, when they are given and at every call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutboundConfig {
    /// Whether `http://` is allowed beside `https://`. Default true in sandbox mode, false in production.
    pub allow_http: bool,
    /// Allowed ports, separated by commas, or `any`. Default `80,443,8080,8443`.
    pub ports: String,
    /// Allowed networks that are not public, separated by commas, such as `10.1.0.0/16` for an intranet or a
    /// development machine. Every port is allowed where the address is numeric. Default none.
    pub allowed_networks: Option<String>,
}

/// `webhooks.…`: how events are delivered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebhooksConfig {
    /// The waits between attempts, separated by commas; after the last one a delivery is a dead letter, kept for a
    /// replay. Default `300,2700,21600,86400,172800,345600`, a week.
    pub waits_seconds: String,
    /// The same for webhooks of version 1.0. Default `300,2700,21600,172800,345600`.
    pub waits_1_0_seconds: String,
    /// How long the first attempt waits for its answer. Default 30 000.
    pub first_answer_ms: u64,
    /// How long each later attempt waits. Default 5 000.
    pub retry_answer_ms: u64,
    /// Most attempts under way at once, to all endpoints. Default 1 024.
    pub concurrent_max: usize,
    /// Most attempts under way at once to one endpoint. Default 8.
    pub concurrent_per_endpoint_max: usize,
    /// How many dead letters in a row switch a webhook off; 0 never does. Default 0.
    pub disable_after: u32,
    /// How long a delivery that has ended, also a lost one, is listed with its attempts and can be replayed. Default
    /// 45.
    pub delivery_retention_days: u32,
    /// How long it is kept that an object changed, when and by whom; never shorter than its deliveries. Default 400.
    pub event_retention_days: u32,
    /// Whether one webhook at most may be registered for an endpoint, instead of one for each event. Default false.
    pub unique_endpoint: bool,
}

/// `log.…`: the log, on standard error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// `human` or `json`. Default `human`.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,regente=debug`. Default `info`.
    pub level: String,
}

/// `metrics.…`: the page for Prometheus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MetricsConfig {
    /// Address and port of `/metrics`, separate from the API's. Default none: nothing is measured.
    pub listen: Option<String>,
}

/// The format of the log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text for people.
    Human,
    /// One JSON object a line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: Mode::Sandbox,
            data_dir: PathBuf::from("regente-data"),
            server: ServerConfig::default(),
            database: DatabaseConfig::default(),
            vault: VaultConfig::default(),
            sandbox: SandboxConfig::default(),
            limits: LimitsConfig::default(),
            charges: ChargesConfig::default(),
            purchases: PurchasesConfig::default(),
            routing: RoutingConfig::default(),
            outbound: OutboundConfig::default(),
            webhooks: WebhooksConfig::default(),
            log: LogConfig::default(),
            metrics: MetricsConfig::default(),
        }
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            header_timeout_ms: 30_000,
            connections_max: 10_000,
            body_bytes_max: crate::http::limits::BODY_BYTES_MAX,
            drain_timeout_ms: 30_000,
            drain_notice_ms: 0,
            tls_certificate_file: None,
            tls_key_file: None,
        }
    }
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        let sqlite = regente_store::SqliteOptions::new("");
        let postgres = regente_store::PostgresOptions::new("");
        Self {
            url: None,
            url_file: None,
            admitted_max: sqlite.admitted_max,
            #[cfg(feature = "bench-without-storage")]
            discard_writes: false,
            sqlite_readers: sqlite.readers,
            sqlite_commits_apart_us: u64::try_from(sqlite.commits_apart.as_micros()).unwrap_or(u64::MAX),
            sqlite_wal_bytes_max: sqlite.wal_bytes_max,
            postgres_pool_size: postgres.pool_size,
            postgres_pool_wait_ms: whole_millis(postgres.pool_wait),
            postgres_writers: postgres.writers,
            postgres_node_stripe: 0,
            postgres_commit_groups: CommitGroupsWord::Mixed,
            postgres_commit_timeout_ms: whole_millis(postgres.group_timeout),
            postgres_connect_timeout_ms: whole_millis(postgres.connect_timeout),
        }
    }
}

impl Default for SandboxConfig {
    fn default() -> Self {
        let deadline_ms = whole_millis(regente_providers::sandbox::DEADLINE);
        Self {
            seed: 0,
            deadline_ms,
            cvv_on_charge: true,
            books: None,
            faults_file: None,
            url: None,
            key: None,
            key_file: None,
            listen: "127.0.0.1:8081".to_owned(),
        }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let rates = crate::http::limits::RateLimits::default();
        let settings = regente_engine::settings::Settings::default();
        let per_second = |rate: Option<std::num::NonZeroU32>| rate.map_or(0, std::num::NonZeroU32::get);
        Self {
            idempotency_retention_seconds: settings.idempotency_retention.as_secs(),
            card_token_life_seconds: settings.token_life.as_secs(),
            client_token_life_seconds_max: settings.client_token_life_max.as_secs(),
            cache_ms: whole_millis(settings.cache_life),
            public_key_tokens_per_second: per_second(rates.public_key_tokens_per_second),
            secret_key_requests_per_second: per_second(rates.secret_key_requests_per_second),
        }
    }
}

impl Default for ChargesConfig {
    fn default() -> Self {
        let settings = regente_engine::settings::Settings::default();
        Self {
            budget_ms: whole_millis(settings.charge_budget),
            reconcile_grace_ms: whole_millis(settings.reconcile_grace),
            reconcile_waits_seconds: convert::waits_text(&settings.reconcile_waits),
        }
    }
}

impl Default for PurchasesConfig {
    fn default() -> Self {
        let settings = regente_engine::settings::Settings::default();
        Self { min_payment_amount: settings.purchase_payment_min.minor_units().unsigned_abs() }
    }
}

impl Default for RoutingConfig {
    fn default() -> Self {
        let bounds = regente_domain::circuit::Bounds::default();
        Self { circuit_failures: bounds.failures.get(), circuit_open_ms: whole_millis(bounds.open_for) }
    }
}

impl Default for OutboundConfig {
    fn default() -> Self {
        Self { allow_http: false, ports: "80,443,8080,8443".to_owned(), allowed_networks: None }
    }
}

impl Default for WebhooksConfig {
    fn default() -> Self {
        let settings = regente_engine::settings::WebhookSettings::default();
        Self {
            waits_seconds: convert::waits_text(&settings.waits),
            waits_1_0_seconds: convert::waits_text(&settings.waits_1_0),
            first_answer_ms: whole_millis(settings.first_answer_max),
            retry_answer_ms: whole_millis(settings.retry_answer_max),
            concurrent_max: settings.concurrent_max,
            concurrent_per_endpoint_max: settings.concurrent_per_endpoint_max,
            disable_after: settings.disable_after.map_or(0, std::num::NonZeroU32::get),
            delivery_retention_days: whole_days(settings.delivery_retention),
            event_retention_days: whole_days(settings.event_retention),
            unique_endpoint: false,
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Human, level: "info".to_owned() }
    }
}

fn whole_days(duration: std::time::Duration) -> u32 {
    u32::try_from(duration.as_secs() / regente_engine::settings::DAY_SECONDS).unwrap_or(u32::MAX)
}

fn whole_millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
