//! The errors of the store, and the three answers of a commit.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a call of the store failed. Its text does not include that of its source: the boundary logs the whole chain
/// once.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written and a retry may succeed: disk full, file read-only, connection lost before the commit,
    /// pool exhausted, store closed. The caller answers 503.
    #[error("the database is not available")]
    Unavailable(#[source] Arc<dyn Error + Send + Sync>),
    /// The limit of concurrent changes is reached. The caller answers 503 before it writes anything.
    #[error("too many changes are under way")]
    Overloaded,
    /// A statement, its arguments or its use is wrong: a bug.
    #[error("a statement is wrong: {0}")]
    Programming(String),
    /// Stored data is invalid.
    #[error("stored data cannot be read: {0}")]
    Corrupt(String),
    /// Another process has the database file open; the path is that of the lock file.
    #[error("the database is in use by another process, which holds {}", .0.display())]
    Locked(PathBuf),
    /// The database cannot be opened as it is configured.
    #[error("the database cannot be opened: {0}")]
    Configuration(String),
    /// This release cannot work with the schema.
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
    /// The commit was not answered, or with an error that proves no rollback: read the data back before deciding.
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

/// Why a statement refused its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It changed the wrong number of rows: a guard failed or the version has moved on.
    RowCount {
        /// The number of rows it must change.
        expected: u64,
        /// The number of rows it changed.
        actual: u64,
    },
    /// A row with the same key exists.
    Unique,
    /// A row that it refers to does not exist, or another row refers to the one it deletes.
    ForeignKey,
    /// Another constraint, in the database's words.
    Constraint(String),
}
