//! Checks the file: reads every page on its own connection, for a bounded time.

use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::time::timeout;

use super::{SqliteStore, connection, failure};
use crate::error::StoreError;

/// The result of reading the whole database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// It is intact.
    Whole,
    /// It is damaged; the first error found.
    Damaged(String),
    /// The time was over before the end.
    NotFinished,
}

impl SqliteStore {
    /// Reads every page, for at most `time_max`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn quick_check(&self, time_max: Duration) -> Result<Integrity, StoreError> {
        let connection = connection::open(&self.inner.path)?;
        let interrupt = connection.get_interrupt_handle();
        let mut checking = tokio::task::spawn_blocking(move || quick_check(&connection));
        let checked = match timeout(time_max, &mut checking).await {
            Ok(checked) => checked,
            Err(_elapsed) => {
                interrupt.interrupt();
                checking.await
            }
        };
        checked.unwrap_or_else(|_panicked| Err(StoreError::closed()))
    }
}

fn quick_check(connection: &Connection) -> Result<Integrity, StoreError> {
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match found {
        Ok(found) if found == "ok" => Ok(Integrity::Whole),
        Ok(found) => Ok(Integrity::Damaged(found)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Ok(Integrity::NotFinished)
        }
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ) =>
        {
            Ok(Integrity::Damaged(error.to_string()))
        }
        Err(error) => Err(failure::store_error("quick_check", error)),
    }
}
