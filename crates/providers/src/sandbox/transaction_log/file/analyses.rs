//! The SQL of the log of risk analyses: a table of its own in the file of the transaction log. Releases before this one
//! leave the table alone, so the file keeps its format.

use regente_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use uuid::Uuid;

use super::super::{AnalysisEntry, TransactionLogError};

const CREATE: &str = "
CREATE TABLE IF NOT EXISTS analyses (
    key BLOB NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID";

const PUT: &str =
    "INSERT INTO analyses (key, at, record) VALUES (:key, :at, :record) ON CONFLICT (key) DO NOTHING";

const FIND: &str = "SELECT key, at, record FROM analyses WHERE key = :key";

const ALL: &str = "SELECT key, at, record FROM analyses ORDER BY key";

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(CREATE)
}

/// Adds the entry unless its key has one, and returns the entry of the key.
pub(super) fn put(
    connection: &Connection,
    entry: &AnalysisEntry,
) -> Result<AnalysisEntry, TransactionLogError> {
    let record = serde_json::to_string(&entry.record);
    let record = record.map_err(|error| TransactionLogError::Entry(error.to_string()))?;
    connection.prepare_cached(PUT)?.execute(named_params! {
        ":key": entry.key.as_bytes(),
        ":at": entry.at.as_millis(),
        ":record": record,
    })?;
    find(connection, entry.key)?.ok_or_else(|| TransactionLogError::Entry("it vanished".to_owned()))
}

pub(super) fn find(connection: &Connection, key: Uuid) -> Result<Option<AnalysisEntry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(FIND)?;
    let raw = statement.query_row(named_params! { ":key": key.as_bytes() }, read).optional()?;
    raw.map(understand).transpose()
}

pub(super) fn all(connection: &Connection) -> Result<Vec<AnalysisEntry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(ALL)?;
    let raw: Vec<RawEntry> = statement.query_map([], read)?.collect::<Result<_, _>>()?;
    raw.into_iter().map(understand).collect()
}

/// A row as it is stored: key, time, record.
type RawEntry = ([u8; 16], i64, String);

fn read(row: &Row<'_>) -> rusqlite::Result<RawEntry> {
    Ok((row.get("key")?, row.get("at")?, row.get("record")?))
}

fn understand((key, at, record): RawEntry) -> Result<AnalysisEntry, TransactionLogError> {
    let record = serde_json::from_str(&record);
    let record = record.map_err(|error| TransactionLogError::Entry(error.to_string()))?;
    Ok(AnalysisEntry { key: Uuid::from_bytes(key), at: Timestamp::from_millis(at), record })
}
