//! Classifies SQLite errors.

use rusqlite::{Error, ErrorCode, ffi};

use crate::error::{RefusalKind, StoreError};
use crate::group::{BoundStep, Failure};

/// Classifies an error of a step of a batch: whether it affects the batch or its group.
pub(super) fn of_step(step: &BoundStep, error: Error) -> Failure {
    match constraint(&error) {
        Some(kind) => step.refuse(kind),
        None => match store_error(step.sql.name(), error) {
            unavailable @ StoreError::Unavailable(_) => Failure::Everybody(unavailable),
            own @ (StoreError::Programming(_)
            | StoreError::Corrupt(_)
            | StoreError::Overloaded
            | StoreError::Locked(_)
            | StoreError::Configuration(_)
            | StoreError::Schema(_)) => Failure::Own(Err(own)),
        },
    }
}

/// Classifies an error that is not a constraint.
pub(super) fn store_error(statement: &str, error: Error) -> StoreError {
    abort_if_sync_failed(&error);
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OperationInterrupted,
        ) => StoreError::unavailable(error),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt(format!("{statement}: {error}"))
        }
        _ => StoreError::Programming(format!("{statement}: {error}")),
    }
}

fn constraint(error: &Error) -> Option<RefusalKind> {
    let Error::SqliteFailure(failure, words) = error else { return None };
    if failure.code != ErrorCode::ConstraintViolation {
        return None;
    }
    Some(match failure.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            RefusalKind::Unique
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => RefusalKind::ForeignKey,
        // A value of the wrong type for a strict column is a bug, not a broken rule of the data.
        ffi::SQLITE_CONSTRAINT_DATATYPE => return None,
        _ => RefusalKind::Constraint(words.clone().unwrap_or_default()),
    })
}

/// Ends the process after a failed sync. The content of the disk is unknown then: the kernel may have dropped the
/// pages and would report success the next time. A new start reads what is on the disk.
fn abort_if_sync_failed(error: &Error) {
    let Error::SqliteFailure(failure, _) = error else { return };
    if matches!(failure.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC) {
        tracing::error!(%error, "the disk failed to sync; the state is unknown, the process ends");
        std::process::abort();
    }
}
