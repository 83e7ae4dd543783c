//! Options of a PostgreSQL database.

use std::time::Duration;

use super::connector;
use crate::admission::Room;
use crate::error::StoreError;
use crate::placement::Placement;

/// Options of a PostgreSQL database. [`PostgresOptions::new`] gives the defaults.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`. With `sslmode=require` or `sslmode=verify-full` the connection
    /// uses TLS and verifies the server's certificate and name, against the certificates of the machine (or of
    /// `SSL_CERT_FILE`).
    pub url: String,
    /// Number of connections for reads.
    pub pool_size: usize,
    /// How long a read waits for a connection.
    pub pool_wait: Duration,
    /// Number of connections that write, each with one commit at a time.
    pub writers: usize,
    /// This node's number among the nodes of the database, 0 to 2^40. Nodes with different numbers never wait for
    /// each other's counters.
    pub node_stripe: i64,
    /// How the rows of accounts lie; `None` as the database says.
    pub placement: Option<Placement>,
    /// Whether what is of an account goes straight to the worker that has it, where the tables are distributed.
    pub connects_to_workers: bool,
    /// Most batches of one commit.
    pub group_max: usize,
    /// How long a commit group may take before its connection is dropped.
    pub group_timeout: Duration,
    /// How long a statement of a read may take before the server ends it.
    pub read_timeout: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// The places for concurrent changes.
    pub room: Room,
}

/// What protects a connection on its way to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// It does not leave this machine: a local socket or a loopback address.
    Local,
    /// TLS with a verified certificate.
    Encrypted,
    /// Nothing: whoever is on the way can read the password and the data.
    Plain,
}

/// Counter stripes of one node, and so the most writers.
pub(crate) const STRIPES_PER_NODE: i64 = 16;

impl PostgresOptions {
    /// The defaults: 16 connections for reads (wait of 2 s, 30 s for a statement), 2 for writes (fewer writers make
    /// larger commit groups), groups of at most 128 batches and 20 s, 5 s to connect.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            pool_size: 16,
            pool_wait: Duration::from_secs(2),
            writers: 2,
            node_stripe: 0,
            placement: None,
            connects_to_workers: true,
            group_max: 128,
            group_timeout: Duration::from_secs(20),
            read_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            room: Room::default(),
        }
    }

    /// What protects the connection on its way to the server.
    ///
    /// # Errors
    /// [`StoreError::Configuration`]: the address cannot be read.
    pub fn transport(&self) -> Result<Transport, StoreError> {
        connector::transport(&self.url)
    }

    pub(super) fn placement(&self, is_distributed: bool) -> Placement {
        let found = if is_distributed { Placement::ByClient } else { Placement::OneServer };
        self.placement.unwrap_or(found)
    }
}

/// Hides the address, which holds a password.
impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("pool_size", &self.pool_size)
            .field("writers", &self.writers)
            .field("node_stripe", &self.node_stripe)
            .finish_non_exhaustive()
    }
}
