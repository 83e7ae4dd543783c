//! Checks the bounds of settings, and parses addresses and paths.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use regente_domain::circuit::CALLS_SEEN;
use regente_providers::sandbox::http;
use tracing_subscriber::EnvFilter;

use super::layers::ConfigError;
use super::{Config, Secret, durations};

/// The most writing connections of PostgreSQL: each needs a stripe of the counters.
const POSTGRES_WRITERS_MAX: usize = 16;
/// A longer pause would delay every change that arrives with others.
const COMMITS_APART_US_MAX: u64 = 100_000;
/// The most nodes of PostgreSQL.
const POSTGRES_NODES_MAX: u64 = 1 << 40;
/// A smaller limit would refuse ordinary requests.
const BODY_BYTES_MIN: usize = 16 * 1024;
/// The longest time of a call, a charge, a connection or a pause of a provider, in milliseconds: ten minutes. A longer
/// one is probably a mistake, such as a wrong unit.
const PATIENCE_MS_MAX: u64 = 10 * 60 * 1000;
/// The longest drain of a process, in milliseconds: one hour.
const DRAIN_MS_MAX: u64 = 60 * 60 * 1000;
/// The shortest grace, in milliseconds. The caller of a provider writes the outcome within it, before the reconcile job
/// probes.
const GRACE_MS_MIN: u64 = 100;
/// The longest grace, in milliseconds: one day.
const GRACE_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// The word for a transaction log that is lost when the process ends.
pub const SANDBOX_BOOKS_IN_MEMORY: &str = "memory";

/// The kind and place of the database.
#[derive(Clone)]
pub enum DatabaseAddress {
    /// An embedded file.
    Sqlite(PathBuf),
    /// A server; the address may hold a password.
    Postgres(Secret),
}

/// Where the simulator keeps its transaction log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Memory,
    /// In a file of its own.
    File(PathBuf),
}

impl DatabaseAddress {
    /// Reads `sqlite:<path>` or `postgres://…`.
    ///
    /// # Errors
    /// The rule that the text breaks; the text is not repeated, since it may hold a password.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            if path.is_empty() {
                return Err("must name a file after `sqlite:`");
            }
            return Ok(Self::Sqlite(PathBuf::from(path)));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(Secret::new(text.to_owned())));
        }
        Err("must be `sqlite:<path>` or `postgres://user:password@host:port/name`")
    }

    /// The folder of an embedded database.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) => Some(match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                Some(_) | None => Path::new("."),
            }),
            Self::Postgres(_) => None,
        }
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(_) => f.write_str("postgres://(hidden)"),
        }
    }
}

impl Config {
    /// The database's address, from the setting or from its file.
    ///
    /// # Errors
    /// The file cannot be read, or holds no address.
    pub fn database_address(&self) -> Result<DatabaseAddress, ConfigError> {
        let (key, text) = match (&self.database.url, &self.database.url_file) {
            (Some(url), _) => ("database.url", url.clone()),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path).map_err(|error| {
                    ConfigError::one(format!("`database.url_file` {}: {error}", path.display()))
                })?;
                ("database.url_file", Secret::new(text.trim().to_owned()))
            }
            (None, None) => return Err(ConfigError::one("`database.url` is not set")),
        };
        DatabaseAddress::parse(text.expose()).map_err(|rule| ConfigError::one(format!("`{key}` {rule}")))
    }

    /// Where the simulator keeps its transaction log.
    pub fn sandbox_books(&self) -> Place {
        match self.sandbox.books.as_deref() {
            Some(SANDBOX_BOOKS_IN_MEMORY) => Place::Memory,
            Some(path) => Place::File(PathBuf::from(path)),
            None => Place::File(self.data_dir.join("sandbox-books.db")),
        }
    }

    /// The address to listen on.
    ///
    /// # Errors
    /// It is no address; impossible after the configuration was loaded.
    pub fn listen_address(&self) -> Result<SocketAddr, ConfigError> {
        self.server.listen.parse().map_err(|_| ConfigError::one(format!("`server.listen` {LISTEN_RULE}")))
    }

    /// The URL, without a path, at which a process of this machine reaches a server that listens at `address`. For a
    /// wildcard address that is the loopback address.
    pub fn local_url(&self, address: SocketAddr) -> String {
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let scheme = if self.server.tls_certificate_file.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
    }

    /// The address of the metrics, if there is one.
    ///
    /// # Errors
    /// It is no address; impossible after the configuration was loaded.
    pub fn metrics_address(&self) -> Result<Option<SocketAddr>, ConfigError> {
        let address = self.metrics.listen.as_deref().map(str::parse).transpose();
        address.map_err(|_| ConfigError::one(format!("`metrics.listen` {LISTEN_RULE}")))
    }
}

const LISTEN_RULE: &str = "must be an IP address and a port, such as 127.0.0.1:8080";

/// The settings whose values have the right type and break a rule, each with the rule.
pub(super) fn problems(config: &Config) -> Vec<(&'static str, String)> {
    let Config {
        server,
        database,
        sandbox,
        limits,
        charges,
        purchases,
        routing,
        outbound,
        webhooks,
        log,
        ..
    } = config;
    let mut problems = Vec::new();
    let mut must = |holds: bool, key: &'static str, rule: &str| {
        if !holds {
            problems.push((key, rule.to_owned()));
        }
    };
    must(config.listen_address().is_ok(), "server.listen", LISTEN_RULE);
    must(config.metrics_address().is_ok(), "metrics.listen", LISTEN_RULE);
    let is_pair = server.tls_certificate_file.is_some() == server.tls_key_file.is_some();
    must(is_pair, "server.tls_key_file", "and `server.tls_certificate_file` must be set together");
    let filter = EnvFilter::try_new(&log.level);
    must(filter.is_ok(), "log.level", "must be a level, or directives such as `info,regente=debug`");
    if let Some(Err(rule)) = database.url.as_ref().map(|url| DatabaseAddress::parse(url.expose())) {
        must(false, "database.url", rule);
    }
    let writers = (1..=POSTGRES_WRITERS_MAX).contains(&database.postgres_writers);
    must(writers, "database.postgres_writers", &format!("must be 1 to {POSTGRES_WRITERS_MAX}"));
    let are_close = database.sqlite_commits_apart_us <= COMMITS_APART_US_MAX;
    must(are_close, "database.sqlite_commits_apart_us", &format!("must be 0 to {COMMITS_APART_US_MAX}"));
    let is_node = database.postgres_node_stripe <= POSTGRES_NODES_MAX;
    must(is_node, "database.postgres_node_stripe", &format!("must be 0 to {POSTGRES_NODES_MAX}"));
    let is_enough = server.body_bytes_max >= BODY_BYTES_MIN;
    must(is_enough, "server.body_bytes_max", &format!("must be {BODY_BYTES_MIN} or more"));
    let is_enough = server.body_budget_bytes / 2 >= server.body_bytes_max;
    must(is_enough, "server.body_budget_bytes", "must be twice `server.body_bytes_max` or more");
    let has_waits = durations::waits(&charges.reconcile_waits_seconds).is_some();
    must(has_waits, "charges.reconcile_waits_seconds", &durations::waits_rule());
    for (key, waits) in [
        ("webhooks.waits_seconds", &webhooks.waits_seconds),
        ("webhooks.waits_1_0_seconds", &webhooks.waits_1_0_seconds),
    ] {
        must(durations::waits(waits).is_some(), key, &durations::waits_rule());
    }
    must(outbound.ports().is_some(), "outbound.ports", "must be ports with commas between them, or `any`");
    must(
        outbound.networks().is_some(),
        "outbound.allowed_networks",
        "must be networks with commas between them, such as 10.1.0.0/16,fd00::/8",
    );
    let is_seen = routing.circuit_failures <= CALLS_SEEN;
    must(is_seen, "routing.circuit_failures", &format!("must be 0 to {CALLS_SEEN}"));
    must(sandbox.books.as_deref() != Some(""), "sandbox.books", "must be a file or `memory`");
    must(sandbox.listen.parse::<SocketAddr>().is_ok(), "sandbox.listen", LISTEN_RULE);
    must(
        sandbox.url.as_deref().is_none_or(|url| http::address(url).is_ok()),
        "sandbox.url",
        "must be http://host:port",
    );
    must(
        (1..=100).contains(&database.admitted_account_percent),
        "database.admitted_account_percent",
        "must be 1 to 100",
    );
    let positive: [(&'static str, u64); 13] = [
        ("server.connections_max", server.connections_max as u64),
        ("database.admitted_max", database.admitted_max as u64),
        ("database.sqlite_readers", database.sqlite_readers as u64),
        ("database.sqlite_wal_bytes_max", database.sqlite_wal_bytes_max),
        ("database.postgres_pool_size", database.postgres_pool_size as u64),
        ("limits.idempotency_retention_seconds", limits.idempotency_retention_seconds),
        ("limits.card_token_life_seconds", limits.card_token_life_seconds),
        ("limits.client_token_life_seconds_max", limits.client_token_life_seconds_max),
        ("purchases.min_payment_amount", purchases.min_payment_amount),
        ("webhooks.concurrent_max", webhooks.concurrent_max as u64),
        ("webhooks.concurrent_per_endpoint_max", webhooks.concurrent_per_endpoint_max as u64),
        ("webhooks.delivery_retention_days", u64::from(webhooks.delivery_retention_days)),
        ("webhooks.event_retention_days", u64::from(webhooks.event_retention_days)),
    ];
    for (key, value) in positive {
        must(value > 0, key, "must be greater than 0");
    }
    for (key, millis, bounds) in times(config) {
        let rule = format!("must be {} to {} milliseconds", bounds.start(), bounds.end());
        must(bounds.contains(&millis), key, &rule);
    }
    problems
}

/// The settings in milliseconds with their bounds.
fn times(config: &Config) -> [(&'static str, u64, RangeInclusive<u64>); 12] {
    let Config { server, database, sandbox, charges, routing, webhooks, .. } = config;
    let patience = || 1..=PATIENCE_MS_MAX;
    [
        ("server.header_timeout_ms", server.header_timeout_ms, patience()),
        ("server.drain_timeout_ms", server.drain_timeout_ms, 1..=DRAIN_MS_MAX),
        ("server.drain_notice_ms", server.drain_notice_ms, 0..=DRAIN_MS_MAX),
        ("database.postgres_pool_wait_ms", database.postgres_pool_wait_ms, patience()),
        ("database.postgres_commit_timeout_ms", database.postgres_commit_timeout_ms, patience()),
        ("database.postgres_connect_timeout_ms", database.postgres_connect_timeout_ms, patience()),
        ("sandbox.deadline_ms", sandbox.deadline_ms, patience()),
        ("charges.budget_ms", charges.budget_ms, patience()),
        ("charges.reconcile_grace_ms", charges.reconcile_grace_ms, GRACE_MS_MIN..=GRACE_MS_MAX),
        ("routing.circuit_open_ms", routing.circuit_open_ms, patience()),
        ("webhooks.first_answer_ms", webhooks.first_answer_ms, patience()),
        ("webhooks.retry_answer_ms", webhooks.retry_answer_ms, patience()),
    ]
}
