//! Converts settings into the options of the product's parts.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use regente_domain::circuit;
use regente_domain::money::Amount;
use regente_engine::settings::Settings;
use regente_engine::vault::Kek;
use regente_providers::sandbox::{CvvRule, SandboxOptions};
use regente_store::{CommitGroups, PostgresOptions, SqliteOptions, StoreOptions};
use zeroize::Zeroizing;

use super::layers::ConfigError;
use super::{CommitGroupsWord, Config, DatabaseAddress};
use crate::http::limits::{HttpLimits, RateLimits};

/// The line that marks a key file made by `regente dev`; production refuses such a file.
pub const DEV_KEK_MARK: &str = "# Made by `regente dev` for a sandbox.";

/// Where the key-encryption key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KekSource {
    /// The setting `vault.kek`.
    Value,
    /// The file of `vault.kek_file`.
    File {
        /// Which one.
        path: PathBuf,
        /// Whether it carries [`DEV_KEK_MARK`].
        made_by_dev: bool,
    },
}

/// The most waits in a list.
const WAITS_MAX: usize = 100;
/// The longest wait of a list, in seconds: 30 days.
const WAIT_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;

/// Parses waits in seconds, separated by commas; `None` when one is invalid or out of bounds, or when there are too
/// many.
pub(super) fn waits(text: &str) -> Option<Vec<Duration>> {
    let seconds = text.split(',').map(|wait| wait.trim().parse().ok());
    let is_wait = |seconds: &u64| (1..=WAIT_SECONDS_MAX).contains(seconds);
    let waits: Option<Vec<Duration>> =
        seconds.map(|seconds| seconds.filter(is_wait).map(Duration::from_secs)).collect();
    waits.filter(|waits| waits.len() <= WAITS_MAX)
}

/// The text that [`waits`] parses.
pub(super) fn waits_text(waits: &[Duration]) -> String {
    waits.iter().map(|wait| wait.as_secs().to_string()).collect::<Vec<_>>().join(",")
}

/// The rule for a list of waits.
pub(super) fn waits_rule() -> String {
    format!("must be 1 to {WAITS_MAX} waits of 1 to {WAIT_SECONDS_MAX} seconds, such as 5,30,120")
}

impl Config {
    /// Reads the key-encryption key. Lines of its file that begin with `#` are comments.
    ///
    /// # Errors
    /// It is not set, its file cannot be read, or it is no key. The content is not repeated.
    pub fn kek(&self) -> Result<(Kek, KekSource), ConfigError> {
        if let Some(text) = &self.vault.kek {
            let kek = Kek::parse(text.expose())
                .map_err(|error| ConfigError::one(format!("`vault.kek`: {error}")))?;
            return Ok((kek, KekSource::Value));
        }
        let Some(path) = &self.vault.kek_file else {
            return Err(ConfigError::one(
                "there is no key-encryption key: set `vault.kek_file` (`regente vault new-kek FILE` makes one)",
            ));
        };
        let wrong = |what: String| ConfigError::one(format!("`vault.kek_file` {}: {what}", path.display()));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(wrong(
                    "there is no such file; `regente vault new-kek FILE` makes one".to_owned(),
                ));
            }
            Err(error) => return Err(wrong(error.to_string())),
        };
        let made_by_dev = text.lines().any(|line| line == DEV_KEK_MARK);
        let key = text.lines().map(str::trim).filter(|line| !line.starts_with('#') && !line.is_empty());
        let key = Zeroizing::new(key.collect::<Vec<_>>().concat());
        let kek = Kek::parse(&key).map_err(|error| wrong(error.to_string()))?;
        Ok((kek, KekSource::File { path: path.clone(), made_by_dev }))
    }

    /// The limits on callers' requests.
    pub fn http_limits(&self) -> HttpLimits {
        let limits = &self.limits;
        HttpLimits {
            rates: RateLimits {
                public_key_tokens_per_second: NonZeroU32::new(limits.public_key_tokens_per_second),
                secret_key_requests_per_second: NonZeroU32::new(limits.secret_key_requests_per_second),
            },
            body_bytes_max: self.server.body_bytes_max,
        }
    }

    /// The settings of the engine.
    pub fn settings(&self) -> Settings {
        let limits = &self.limits;
        Settings {
            reservation_life: Settings::default().reservation_life,
            mode: self.mode,
            idempotency_retention: Duration::from_secs(limits.idempotency_retention_seconds),
            token_life: Duration::from_secs(limits.card_token_life_seconds),
            client_token_life_max: Duration::from_secs(limits.client_token_life_seconds_max),
            charge_budget: Duration::from_millis(self.charges.budget_ms),
            circuits: NonZeroU32::new(self.routing.circuit_failures).map(|failures| circuit::Bounds {
                failures,
                open_for: Duration::from_millis(self.routing.circuit_open_ms),
            }),
            reconcile_grace: Duration::from_millis(self.charges.reconcile_grace_ms),
            purchase_payment_min: i64::try_from(self.purchases.min_payment_amount)
                .ok()
                .and_then(Amount::new)
                .unwrap_or_default(),
            reconcile_waits: waits(&self.charges.reconcile_waits_seconds).unwrap_or_default(),
            cache_life: Duration::from_millis(limits.cache_ms),
            webhooks: self.webhook_settings(),
        }
    }

    /// The database and the options of its use.
    ///
    /// # Errors
    /// As [`Config::database_address`].
    pub fn store_options(&self) -> Result<StoreOptions, ConfigError> {
        let database = &self.database;
        Ok(match self.database_address()? {
            DatabaseAddress::Sqlite(path) => StoreOptions::Sqlite(SqliteOptions {
                readers: database.sqlite_readers,
                commits_apart: Duration::from_micros(database.sqlite_commits_apart_us),
                wal_bytes_max: database.sqlite_wal_bytes_max,
                admitted_max: database.admitted_max,
                ..SqliteOptions::new(path)
            }),
            DatabaseAddress::Postgres(url) => StoreOptions::Postgres(PostgresOptions {
                pool_size: database.postgres_pool_size,
                pool_wait: Duration::from_millis(database.postgres_pool_wait_ms),
                writers: database.postgres_writers,
                node_stripe: i64::try_from(database.postgres_node_stripe).unwrap_or(i64::MAX),
                commit_groups: match database.postgres_commit_groups {
                    CommitGroupsWord::Mixed => CommitGroups::Mixed,
                    CommitGroupsWord::ByClient => CommitGroups::ByClient,
                },
                group_timeout: Duration::from_millis(database.postgres_commit_timeout_ms),
                connect_timeout: Duration::from_millis(database.postgres_connect_timeout_ms),
                admitted_max: database.admitted_max,
                ..PostgresOptions::new(url.expose())
            }),
        })
    }

    /// The options of the simulator; `card_hash_key` keys its hashes.
    pub fn sandbox_options(&self, card_hash_key: Zeroizing<Vec<u8>>) -> SandboxOptions {
        SandboxOptions {
            deadline: Duration::from_millis(self.sandbox.deadline_ms),
            cvv_on_charge: if self.sandbox.cvv_on_charge { CvvRule::Applied } else { CvvRule::Ignored },
            ..SandboxOptions::new(self.sandbox.seed, card_hash_key)
        }
    }
}
