//! Checks settings, and parses addresses and paths.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use regente_providers::request::Mode;
use regente_providers::sandbox::http;
use tracing_subscriber::EnvFilter;
use url::Url;

use super::layers::ConfigError;
use super::secret::{self, SecretFile};
use super::{Config, Secret, bounds, durations};
use crate::http::fields_origin::FieldsOrigin;

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
pub enum TransactionLogLocation {
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
        let (value, file) = (self.database.url.as_ref(), self.database.url_file.as_deref());
        let text = secret::either(value, SecretFile::of("database.url_file", file))?;
        let text = text.ok_or_else(|| ConfigError::one("`database.url` is not set"))?;
        let key = if value.is_some() { "database.url" } else { "database.url_file" };
        DatabaseAddress::parse(&text).map_err(|rule| ConfigError::one(format!("`{key}` {rule}")))
    }

    /// For errors about a file that is missing: where it was looked for when that is the data folder, or nothing.
    pub fn looked_in(&self, file: &Path) -> String {
        if !file.starts_with(&self.data_dir) {
            return String::new();
        }
        let folder = std::path::absolute(&self.data_dir).unwrap_or_else(|_| self.data_dir.clone());
        format!(
            " (the data folder is {}; `--data-dir` names another, `--config` a file of settings)",
            folder.display()
        )
    }

    /// Where the simulator keeps its transaction log.
    pub fn sandbox_books(&self) -> TransactionLogLocation {
        match self.sandbox.books.as_deref() {
            Some(SANDBOX_BOOKS_IN_MEMORY) => TransactionLogLocation::Memory,
            Some(path) => TransactionLogLocation::File(PathBuf::from(path)),
            None => TransactionLogLocation::File(self.data_dir.join("sandbox-books.db")),
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

    /// The configuration of a server that listens at `address`: in sandbox mode the simulator finds it there, unless
    /// `server.base_url` says otherwise. Over HTTPS it is found under the name in its certificate alone.
    #[must_use]
    pub fn listening_at(mut self, address: SocketAddr) -> Self {
        match self.mode {
            Mode::Sandbox if self.server.tls_certificate_file.is_none() => {
                let url = self.local_url(address);
                self.server.base_url.get_or_insert(url);
            }
            Mode::Sandbox | Mode::Production => {}
        }
        self
    }

    /// The origin of the card fields, if they have one of their own. Their document calls `server.base_url`.
    pub fn fields_origin(&self) -> Option<FieldsOrigin> {
        let origin = |url: &str| Some(Url::parse(url).ok()?.origin().ascii_serialization());
        let api = self.server.base_url.clone()?;
        let api_origin = origin(&api)?;
        Some(FieldsOrigin { origin: origin(self.server.fields_base_url.as_deref()?)?, api, api_origin })
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

fn is_base_url(text: &str) -> bool {
    let plain = |url: &Url| url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    !text.ends_with('/')
        && Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && plain(&url))
}

/// The settings whose values have the right type and break a rule, each with the rule.
pub(super) fn problems(config: &Config) -> Vec<(&'static str, String)> {
    let Config { server, database, sandbox, apple_pay, charges, outbound, .. } = config;
    let Config { providers, own_provider, webhooks, reports, smtp, log, .. } = config;
    let mut problems = Vec::new();
    let mut must = |holds: bool, key: &'static str, rule: &str| {
        if !holds {
            problems.push((key, rule.to_owned()));
        }
    };
    must(config.listen_address().is_ok(), "server.listen", LISTEN_RULE);
    must(config.metrics_address().is_ok(), "metrics.listen", LISTEN_RULE);
    let is_base = server.base_url.as_deref().is_none_or(is_base_url);
    must(is_base, "server.base_url", "must be http:// or https:// with a host, without a slash at its end");
    let is_origin = |text: &str| is_base_url(text) && Url::parse(text).is_ok_and(|url| url.path() == "/");
    let fields = server.fields_base_url.as_deref();
    let rule = "must be http:// or https:// with a host and no path";
    must(fields.is_none_or(is_origin), "server.fields_base_url", rule);
    let origin = |text: &str| Url::parse(text).map(|url| url.origin()).ok();
    let is_shared =
        fields.zip(server.base_url.as_deref()).is_some_and(|(fields, api)| origin(fields) == origin(api));
    must(!is_shared, "server.fields_base_url", "must be another origin than that of `server.base_url`");
    let has_api = fields.is_none() || server.base_url.is_some() || config.mode == Mode::Sandbox;
    must(has_api, "server.fields_base_url", "needs `server.base_url`, which the fields call");
    let is_pair = server.tls_certificate_file.is_some() == server.tls_key_file.is_some();
    must(is_pair, "server.tls_key_file", "and `server.tls_certificate_file` must be set together");
    let is_pair = apple_pay.root_certificate_file.is_some() == apple_pay.merchants_dir.is_some();
    must(is_pair, "apple_pay.merchants_dir", "and `apple_pay.root_certificate_file` must be set together");
    let filter = EnvFilter::try_new(&log.level);
    must(filter.is_ok(), "log.level", "must be a level, or directives such as `info,regente=debug`");
    if let Some(Err(rule)) = database.url.as_ref().map(|url| DatabaseAddress::parse(url.expose())) {
        must(false, "database.url", rule);
    }
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
    must(
        config.calendar.calendar().is_some(),
        "calendar.extra_holidays",
        "must be days with commas between them, each after the one before, such as 2026-11-26,2026-12-24",
    );
    must(outbound.ports().is_some(), "outbound.ports", "must be ports with commas between them, or `any`");
    must(
        outbound.networks().is_some(),
        "outbound.allowed_networks",
        "must be networks with commas between them, such as 10.1.0.0/16,fd00::/8",
    );
    must(
        server.proxies().is_some(),
        "server.trusted_proxies",
        "must be addresses or networks with commas between them, such as 10.1.0.0/16,::1",
    );
    let is_proxy = providers.proxy.as_deref().is_none_or(is_base_url);
    must(is_proxy, "providers.proxy", "must be http:// or https:// with a host, without a slash at its end");
    for (key, url) in providers.moved() {
        must(is_base_url(url), key, "must be http:// or https:// with a host, without a slash at its end");
    }
    let is_url = own_provider.url.as_deref().is_none_or(is_base_url);
    must(is_url, "own_provider.url", "must be http:// or https:// with a host, without a slash at its end");
    let has_address = own_provider.url.is_none() || server.base_url.is_some() || config.mode == Mode::Sandbox;
    must(
        has_address,
        "own_provider.url",
        "needs `server.base_url`, with which the addresses of receipts begin",
    );
    must(
        own_provider.has_good_code(),
        "own_provider.code",
        "must be up to 32 upper-case letters, digits and `_`, and no other type's code",
    );
    must(sandbox.books.as_deref() != Some(""), "sandbox.books", "must be a file or `memory`");
    must(sandbox.listen.parse::<SocketAddr>().is_ok(), "sandbox.listen", LISTEN_RULE);
    must(
        sandbox.url.as_deref().is_none_or(|url| http::address(url).is_ok()),
        "sandbox.url",
        "must be http://host:port",
    );
    let is_url = reports.s3_endpoint.as_deref().is_none_or(is_base_url);
    must(
        is_url,
        "reports.s3_endpoint",
        "must be http:// or https:// with a host, without a slash at its end",
    );
    let rule = "must not begin with a slash, nor have `.` or `..` as a part";
    must(reports.has_good_prefix(), "reports.s3_prefix", rule);
    for key in reports.missing() {
        must(false, key, "must be set where `reports.storage` is `s3`");
    }
    must(smtp.has_good_server(), "smtp.server", "must be a host name or an IP address, without a port");
    let has_links = smtp.server.is_none() || server.base_url.is_some() || config.mode == Mode::Sandbox;
    must(has_links, "smtp.server", "needs `server.base_url`, to which the links in mails lead");
    must(smtp.has_good_sender(), "smtp.from", "must be an address or `Name <address>`, with `smtp.server`");
    must(smtp.has_whole_login(), "smtp.username", "and `smtp.password` must be set together");
    let rule = "must be domains with commas between them, such as example.com,example.org";
    must(smtp.domains().is_some(), "smtp.recipient_domains", rule);
    problems.extend(bounds::broken(config));
    problems
}
