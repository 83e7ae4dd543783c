//! The SQL of the log of sellers: a table of its own in the file of the transaction log. Releases before this one leave
//! the table alone, so the file keeps its format.

use rusqlite::{Connection, OptionalExtension, named_params};
use uuid::Uuid;

use super::super::{SellerEntry, TransactionLogError};

const CREATE: &str = "
CREATE TABLE IF NOT EXISTS sellers (
    key BLOB NOT NULL PRIMARY KEY,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID";

const PUT: &str = "INSERT INTO sellers (key, record) VALUES (:key, :record) ON CONFLICT (key) DO NOTHING";

const REPLACE: &str = "UPDATE sellers SET record = :record WHERE key = :key";

const FIND: &str = "SELECT record FROM sellers WHERE key = :key";

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(CREATE)
}

/// Adds the entry unless its key has one, and returns the entry of the key.
pub(super) fn put(connection: &Connection, entry: &SellerEntry) -> Result<SellerEntry, TransactionLogError> {
    write(connection, PUT, entry)
}

/// Replaces the entry of the key, and returns it.
pub(super) fn replace(
    connection: &Connection,
    entry: &SellerEntry,
) -> Result<SellerEntry, TransactionLogError> {
    write(connection, REPLACE, entry)
}

fn write(
    connection: &Connection,
    sql: &str,
    entry: &SellerEntry,
) -> Result<SellerEntry, TransactionLogError> {
    let record = serde_json::to_string(&entry.known).map_err(unreadable)?;
    let params = named_params! { ":key": entry.key.as_bytes(), ":record": record };
    connection.prepare_cached(sql)?.execute(params)?;
    find(connection, entry.key)?.ok_or_else(|| TransactionLogError::Entry("it vanished".to_owned()))
}

pub(super) fn find(connection: &Connection, key: Uuid) -> Result<Option<SellerEntry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(FIND)?;
    let record: Option<String> =
        statement.query_row(named_params! { ":key": key.as_bytes() }, |row| row.get("record")).optional()?;
    let known = record.map(|record| serde_json::from_str(&record)).transpose().map_err(unreadable)?;
    Ok(known.map(|known| SellerEntry { key, known }))
}

fn unreadable(error: serde_json::Error) -> TransactionLogError {
    TransactionLogError::Entry(error.to_string())
}
