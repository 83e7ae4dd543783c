//! How a PostgreSQL database is used.

use std::time::Duration;

use crate::admission::ADMITTED_MAX_DEFAULT;

/// How a PostgreSQL database is used. [`PostgresOptions::new`] gives the defaults.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`. With `sslmode=require` or `sslmode=verify-full` the connection
    /// is by TLS, and the server's certificate and name are verified either way, against the certificates of the
    /// machine (or of `SSL_CERT_FILE`).
    pub url: String,
    /// Connections for reads.
    pub pool_size: usize,
    /// How long a read waits for a connection.
    pub pool_wait: Duration,
    /// Connections that write, each with one commit at a time.
    pub writers: usize,
    /// This node's number among those that share the database, 0 to 2^40: nodes with different numbers never wait
    /// for one another's counters.
    pub node_stripe: i64,
    /// Which batches share a commit.
    pub commit_groups: CommitGroups,
    /// The most batches that share a commit.
    pub group_max: usize,
    /// How long a commit group may take before its connection is given up.
    pub group_timeout: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// The most changes that may be under way at once.
    pub admitted_max: usize,
}

/// Which batches share a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitGroups {
    /// Any: the fewest commits on one server.
    Mixed,
    /// Those of one client: for a database that is distributed by client, where a transaction may touch one alone.
    ByClient,
}

/// Stripes of counters that one node has, and so the most writers.
pub(crate) const STRIPES_PER_NODE: i64 = 16;

impl PostgresOptions {
    /// The defaults: 16 connections for reads (waited for 2 s), 2 that write (fewer writers make larger commit groups),
    /// mixed groups of at most 128 batches that may take 20 s, 5 s to connect.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            pool_size: 16,
            pool_wait: Duration::from_secs(2),
            writers: 2,
            node_stripe: 0,
            commit_groups: CommitGroups::Mixed,
            group_max: 128,
            group_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(5),
            admitted_max: ADMITTED_MAX_DEFAULT,
        }
    }

    /// How many writers run statements at once: half of them, while the others wait for the sync of their commits, so that
    /// groups are large. A database that is distributed by client runs the groups of its clients in different places.
    pub(super) fn turns(&self) -> usize {
        match self.commit_groups {
            CommitGroups::Mixed => self.writers.div_ceil(2),
            CommitGroups::ByClient => self.writers,
        }
    }
}

/// Without the address: it holds a password.
impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("pool_size", &self.pool_size)
            .field("writers", &self.writers)
            .field("node_stripe", &self.node_stripe)
            .field("commit_groups", &self.commit_groups)
            .finish_non_exhaustive()
    }
}
