//! Options of a PostgreSQL database.

use std::time::Duration;

use super::connector;
use crate::admission::Room;
use crate::commit_groups::CommitGroups;
use crate::error::StoreError;

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
    /// Which batches share a commit; `None` for those of one client where the tables are distributed by client, and any elsewhere.
    pub commit_groups: Option<CommitGroups>,
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
            commit_groups: None,
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

    /// Which batches share a commit: a transaction on a distributed database is cheap only where all its rows lie on one server.
    pub(super) fn groups(&self, is_distributed: bool) -> CommitGroups {
        let usual = if is_distributed { CommitGroups::ByClient } else { CommitGroups::Mixed };
        self.commit_groups.unwrap_or(usual)
    }

    /// How many writers run statements at once: half of them, while the others wait for their commits, so that groups
    /// are large. With groups by client all may, since the database runs them in different places.
    pub(super) fn turns(&self, groups: CommitGroups) -> usize {
        match groups {
            CommitGroups::Mixed => self.writers.div_ceil(2),
            CommitGroups::ByClient => self.writers,
        }
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
