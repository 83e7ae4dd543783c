//! The SQL of the log of authentications: a table of its own in the file of the transaction log. Releases before this
//! one leave the table alone, so the file keeps its format.

use regente_domain::charge::authentication::Purpose;
use regente_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, named_params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::authentications::{AuthenticatedAt, Decision, TestCard};
use super::super::{AuthenticationEntry, Record, TransactionLogError};
use super::rows;
use crate::outcome::Finding;

const CREATE: &str = "
CREATE TABLE IF NOT EXISTS authentications (
    key BLOB NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID";

const PUT: &str =
    "INSERT INTO authentications (key, at, record) VALUES (:key, :at, :record) ON CONFLICT (key) DO NOTHING";

const UPDATE: &str = "UPDATE authentications SET record = :record WHERE key = :key";

const FIND: &str = "SELECT key, at, record FROM authentications WHERE key = :key";

const CONCLUDE: &str = "UPDATE entries SET finding = :finding WHERE key = :key";

/// The members without a column.
#[derive(Serialize, Deserialize)]
struct Members {
    place: AuthenticatedAt,
    card: TestCard,
    purpose: Purpose,
    decision: Option<Decision>,
}

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(CREATE)
}

/// Adds the entry unless its key has one, and returns the entry of the key.
pub(super) fn put(
    connection: &Connection,
    entry: &AuthenticationEntry,
) -> Result<AuthenticationEntry, TransactionLogError> {
    connection.prepare_cached(PUT)?.execute(named_params! {
        ":key": entry.key.as_bytes(),
        ":at": entry.at.as_millis(),
        ":record": record(entry)?,
    })?;
    find(connection, entry.key)?.ok_or_else(|| TransactionLogError::Entry("it vanished".to_owned()))
}

pub(super) fn find(
    connection: &Connection,
    key: Uuid,
) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(FIND)?;
    let raw = statement.query_row(named_params! { ":key": key.as_bytes() }, read).optional()?;
    raw.map(understand).transpose()
}

/// Notes the cardholder's answer, unless there is one, and ends the authorization that waited for it, in one commit.
pub(super) fn decide(
    connection: &mut Connection,
    key: Uuid,
    decision: Decision,
    concluded: &Finding,
) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(entry) = find(&transaction, key)? else { return Ok(None) };
    if entry.decision.is_some() {
        return Ok(Some(entry));
    }
    let decided = AuthenticationEntry { decision: Some(decision), ..entry };
    transaction.execute(UPDATE, named_params! { ":key": key.as_bytes(), ":record": record(&decided)? })?;
    let waits = rows::find(&transaction, key)?.is_some_and(|entry| match entry.record {
        Record::Answered(answered) => matches!(answered.finding, Finding::Pending(_)),
        Record::ProbedBeforeArrival => false,
    });
    if waits {
        let finding = text(concluded)?;
        transaction.execute(CONCLUDE, named_params! { ":key": key.as_bytes(), ":finding": finding })?;
    }
    transaction.commit()?;
    Ok(Some(decided))
}

fn record(entry: &AuthenticationEntry) -> Result<String, TransactionLogError> {
    let AuthenticationEntry { place, card, purpose, decision, .. } = *entry;
    text(&Members { place, card, purpose, decision })
}

fn text(value: &impl Serialize) -> Result<String, TransactionLogError> {
    serde_json::to_string(value).map_err(|error| TransactionLogError::Entry(error.to_string()))
}

/// A row as it is stored: key, time, record.
type RawEntry = ([u8; 16], i64, String);

fn read(row: &Row<'_>) -> rusqlite::Result<RawEntry> {
    Ok((row.get("key")?, row.get("at")?, row.get("record")?))
}

fn understand((key, at, record): RawEntry) -> Result<AuthenticationEntry, TransactionLogError> {
    let members = serde_json::from_str(&record);
    let Members { place, card, purpose, decision } =
        members.map_err(|error| TransactionLogError::Entry(error.to_string()))?;
    let (key, at) = (Uuid::from_bytes(key), Timestamp::from_millis(at));
    Ok(AuthenticationEntry { key, at, place, card, purpose, decision })
}
