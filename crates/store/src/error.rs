//! What can go wrong in the storage, and the three answers of a commit.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use crate::sql::Sql;

/// Why a call of the store failed. Its text never contains that of its source: the chain is logged once, at the
/// boundary.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written and a later try may succeed: disk full, file read-only, connection lost before the
    /// commit, pool exhausted, store closed. The caller answers 503.
    #[error("the database is not available")]
    Unavailable(#[source] Arc<dyn Error + Send + Sync>),
    /// As many changes as may be under way are under way. The caller answers 503 before it writes anything.
    #[error("too many changes are under way")]
    Overloaded,
    /// A statement, its arguments or its use is wrong: a bug.
    #[error("a statement is wrong: {0}")]
    Programming(String),
    /// What is stored cannot be what was written.
    #[error("stored data cannot be read: {0}")]
    Corrupt(String),
    /// Another process has the database file open; the path is that of the lock file.
    #[error("the database is in use by another process, which holds {}", .0.display())]
    Locked(PathBuf),
    /// The database cannot be opened as it is configured.
    #[error("the database cannot be opened: {0}")]
    Configuration(String),
    /// The schema is not one that this release can work with.
    #[error("the schema does not fit this release: {0}")]
    Schema(String),
}

impl StoreError {
    /// Unavailable because of `source`.
    pub(crate) fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(Arc::from(source.into()))
    }

    /// Unavailable because the store was closed.
    pub(crate) fn closed() -> Self {
        Self::unavailable("the store is closed")
    }
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a batch may be refused, or its fate unknown"]
pub enum Commit {
    /// All of it is written and synced.
    Applied,
    /// None of it is written, because of one statement.
    Refused(Refusal),
    /// The connection was lost during the commit: read back before deciding anything.
    Unknown,
}

/// Which statement refused a batch, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the statement, as [`Sql::name`](crate::Sql::name) gives it.
    pub statement: &'static str,
    /// What was wrong.
    pub why: RefusalKind,
}

impl Refusal {
    /// Whether this statement refused the batch. Names are unique among all statements.
    pub fn is(&self, statement: &Sql) -> bool {
        self.statement == statement.name()
    }
}

/// Why a statement refused its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It touched another number of rows than it must: a guard did not hold, a version was lost.
    RowCount {
        /// The rows that it must touch.
        expected: u64,
        /// The rows that it touched.
        actual: u64,
    },
    /// A row with the same key exists.
    Unique,
    /// A row that it refers to does not exist, or a row that it removes is referred to.
    ForeignKey,
    /// Another constraint, by the database's own words for it.
    Constraint(String),
}
