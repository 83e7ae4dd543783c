//! The settings of the database, and their conversion into the options of the store.

use std::path::PathBuf;
use std::time::Duration;

use regente_store::{PostgresOptions, Room, SqliteOptions, StoreOptions};
use serde::{Deserialize, Serialize};

use super::durations::whole_millis;
use super::layers::ConfigError;
use super::{Config, DatabaseAddress, Secret};

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
    /// The most of them for one account, in percent of what the other accounts leave. Default 80.
    pub admitted_account_percent: usize,
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
    /// PostgreSQL: how long one commit may take before its connection is closed. Default 20 000.
    pub postgres_commit_timeout_ms: u64,
    /// PostgreSQL: how long a statement of a read may take before the server ends it. Default 30 000.
    pub postgres_read_timeout_ms: u64,
    /// PostgreSQL: whether production mode, too, connects over a network without TLS. Default false.
    pub postgres_allow_plain: bool,
    /// PostgreSQL: how long connecting may take. Default 5 000.
    pub postgres_connect_timeout_ms: u64,
    /// PostgreSQL distributed over several servers: whether to connect to the worker of an account at the address that the coordinator
    /// has for it, rather than to have the coordinator pass each statement on. Default true.
    pub postgres_connect_to_workers: bool,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        let sqlite = SqliteOptions::new("");
        let postgres = PostgresOptions::new("");
        Self {
            url: None,
            url_file: None,
            admitted_max: sqlite.room.places_max,
            admitted_account_percent: sqlite.room.account_percent,
            #[cfg(feature = "bench-without-storage")]
            discard_writes: false,
            sqlite_readers: sqlite.readers,
            sqlite_commits_apart_us: u64::try_from(sqlite.commits_apart.as_micros()).unwrap_or(u64::MAX),
            sqlite_wal_bytes_max: sqlite.wal_bytes_max,
            postgres_pool_size: postgres.pool_size,
            postgres_pool_wait_ms: whole_millis(postgres.pool_wait),
            postgres_writers: postgres.writers,
            postgres_node_stripe: 0,
            postgres_commit_timeout_ms: whole_millis(postgres.group_timeout),
            postgres_read_timeout_ms: whole_millis(postgres.read_timeout),
            postgres_allow_plain: false,
            postgres_connect_timeout_ms: whole_millis(postgres.connect_timeout),
            postgres_connect_to_workers: postgres.connects_to_workers,
        }
    }
}

impl Config {
    /// The database and the options of its use.
    ///
    /// # Errors
    /// As [`Config::database_address`].
    pub fn store_options(&self) -> Result<StoreOptions, ConfigError> {
        let database = &self.database;
        let room =
            Room { places_max: database.admitted_max, account_percent: database.admitted_account_percent };
        Ok(match self.database_address()? {
            DatabaseAddress::Sqlite(path) => StoreOptions::Sqlite(SqliteOptions {
                readers: database.sqlite_readers,
                commits_apart: Duration::from_micros(database.sqlite_commits_apart_us),
                wal_bytes_max: database.sqlite_wal_bytes_max,
                room,
                ..SqliteOptions::new(path)
            }),
            DatabaseAddress::Postgres(url) => StoreOptions::Postgres(PostgresOptions {
                pool_size: database.postgres_pool_size,
                pool_wait: Duration::from_millis(database.postgres_pool_wait_ms),
                writers: database.postgres_writers,
                node_stripe: i64::try_from(database.postgres_node_stripe).unwrap_or(i64::MAX),
                group_timeout: Duration::from_millis(database.postgres_commit_timeout_ms),
                read_timeout: Duration::from_millis(database.postgres_read_timeout_ms),
                connect_timeout: Duration::from_millis(database.postgres_connect_timeout_ms),
                connects_to_workers: database.postgres_connect_to_workers,
                room,
                ..PostgresOptions::new(url.expose())
            }),
        })
    }
}
