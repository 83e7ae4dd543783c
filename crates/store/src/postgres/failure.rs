//! Classifies PostgreSQL errors.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::WrongType;

use super::values::NotStorable;
use crate::error::{RefusalKind, StoreError};
use crate::group::{BoundStep, Failure};

/// Classifies an error of a step of a batch: whether it affects the batch or its group.
pub(super) fn of_step(step: &BoundStep, error: Error) -> Failure {
    if let Some(kind) = error.as_db_error().and_then(constraint) {
        return step.refuse(kind);
    }
    of_statement(step.sql.name(), error)
}

/// Classifies an error that is not a constraint of one batch.
pub(super) fn of_statement(statement: &str, error: Error) -> Failure {
    if error.as_db_error().is_some_and(is_race) {
        return Failure::Race(StoreError::unavailable(error));
    }
    match store_error(statement, error) {
        unavailable @ StoreError::Unavailable(_) => Failure::Everybody(unavailable),
        own @ (StoreError::Programming(_)
        | StoreError::Corrupt(_)
        | StoreError::Overloaded
        | StoreError::Locked(_)
        | StoreError::Configuration(_)
        | StoreError::Schema(_)) => Failure::Own(Err(own)),
    }
}

/// Maps an error to one that tells the caller whether to retry.
pub(super) fn store_error(statement: &str, error: Error) -> StoreError {
    let Some(database) = error.as_db_error() else {
        let ours =
            error.source().is_some_and(|source| source.is::<WrongType>() || source.is::<NotStorable>());
        // Any other error of the driver without one of the server concerns the connection.
        return if ours {
            StoreError::Programming(format!("{statement}: {}", with_source(&error)))
        } else {
            StoreError::unavailable(error)
        };
    };
    let code = database.code();
    let passing = ["08", "40", "53", "55", "57", "58"].iter().any(|class| code.code().starts_with(class));
    if passing || *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return StoreError::unavailable(error);
    }
    let words = format!("{statement}: {} {}", code.code(), database.message());
    if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
        StoreError::Corrupt(words)
    } else {
        StoreError::Programming(words)
    }
}

/// Whether the server found no room on its disk.
pub(super) fn is_disk_full(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable(source) => {
            let of_server = source.downcast_ref::<Error>();
            of_server.is_some_and(|error| error.code() == Some(&SqlState::DISK_FULL))
        }
        StoreError::Programming(_)
        | StoreError::Corrupt(_)
        | StoreError::Overloaded
        | StoreError::Locked(_)
        | StoreError::Configuration(_)
        | StoreError::Schema(_) => false,
    }
}

/// Classifies an error of a query. The connections for reads refuse to write.
pub(super) fn of_read(statement: &str, error: Error) -> StoreError {
    if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
        return StoreError::Programming(format!("{statement}: a read must not change anything"));
    }
    store_error(statement, error)
}

/// Whether an error of `COMMIT` proves a rollback. An ordinary error does. One that ends the connection does not: it
/// may come after the commit, while the server waits for its replicas. Nor does an error about a connection, a shutdown,
/// the system or the server's own state: a distributed server may have committed before it failed to say so.
pub(super) fn proves_rollback(error: &Error) -> bool {
    error.as_db_error().is_some_and(|database| {
        let is_ordinary = database.parsed_severity() == Some(Severity::Error);
        is_ordinary && !["08", "57", "58", "XX"].iter().any(|class| database.code().code().starts_with(class))
    })
}

/// Whether it is a deadlock, a serialization failure or a lock timeout.
fn is_race(error: &DbError) -> bool {
    [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE, SqlState::LOCK_NOT_AVAILABLE]
        .contains(error.code())
}

fn constraint(error: &DbError) -> Option<RefusalKind> {
    let code = error.code();
    if *code == SqlState::UNIQUE_VIOLATION {
        Some(RefusalKind::Unique)
    } else if *code == SqlState::FOREIGN_KEY_VIOLATION {
        Some(RefusalKind::ForeignKey)
    } else if code.code().starts_with("23") {
        Some(RefusalKind::Constraint(error.constraint().unwrap_or_else(|| error.message()).to_owned()))
    } else {
        None
    }
}

fn with_source(error: &Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Classifies an error of the first connection: a retry does not help against a wrong password or database.
pub(super) fn not_opened(error: Error) -> StoreError {
    match error.as_db_error() {
        Some(database) if ["28", "3D"].iter().any(|class| database.code().code().starts_with(class)) => {
            StoreError::Configuration(database.message().to_owned())
        }
        Some(_) | None => StoreError::unavailable(error),
    }
}
