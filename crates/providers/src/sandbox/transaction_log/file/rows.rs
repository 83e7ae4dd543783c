//! The SQL of the simulator's transaction log, which has a database file of its own.

use std::path::Path;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, named_params};
use uuid::Uuid;

use crate::outcome::Finding;

use super::super::holdings::settle;
use super::super::{Answered, CardTrace, Deed, Entry, Order, Record, Stored, TransactionLogError};
use super::{Window, analyses, authentications, sellers};

/// Value of `application_id` ("SBOX"): another database is not mistaken for the log.
const APPLICATION: i64 = 0x5342_4f58;
/// Value of `user_version`: the format of the file.
const FORMAT: i64 = 4;
/// The format before, without disputes and charge backs.
const FORMAT_WITHOUT_REVERSALS: i64 = 3;
/// The format without payments of payers; a release that reads it would not understand them.
const FORMAT_WITHOUT_PAYMENTS: i64 = 2;
/// The first format, without captures and voids.
const FORMAT_WITHOUT_FOLLOW_UPS: i64 = 1;

/// A row is either an answered call or a probe that came before its call.
const CREATE: &str = "
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    operation TEXT,
    capture TEXT,
    authorization_key BLOB,
    amount INTEGER,
    currency TEXT,
    card_hash BLOB,
    card_last_four TEXT,
    finding TEXT,
    CHECK ((operation IS NULL) = (finding IS NULL))
) STRICT;
CREATE INDEX follow_ups ON entries (authorization_key) WHERE authorization_key IS NOT NULL";

/// Format 1 did not store whether an authorization captured or reserved. Nearly all captured; nothing could be done
/// with the others.
const ADD_FOLLOW_UPS: &str = "
ALTER TABLE entries ADD COLUMN capture TEXT;
ALTER TABLE entries ADD COLUMN authorization_key BLOB;
UPDATE entries SET capture = 'automatic' WHERE operation = 'authorization';
CREATE INDEX follow_ups ON entries (authorization_key) WHERE authorization_key IS NOT NULL";

const PUT: &str = "
INSERT INTO entries (key, at, operation, capture, authorization_key, amount, currency, card_hash, card_last_four, finding)
VALUES (:key, :at, :operation, :capture, :authorization_key, :amount, :currency, :card_hash, :card_last_four, :finding)
ON CONFLICT (key) DO NOTHING";

const CREATE_DIVISIONS: &str = "
CREATE TABLE IF NOT EXISTS divisions (key BLOB PRIMARY KEY, division TEXT NOT NULL) STRICT, WITHOUT ROWID";

const PUT_DIVISION: &str =
    "INSERT INTO divisions (key, division) VALUES (:key, :division) ON CONFLICT (key) DO NOTHING";

const FIND: &str = "
SELECT key, at, operation, capture, authorization_key, amount, currency, card_hash, card_last_four, finding,
    (SELECT d.division FROM divisions d WHERE d.key = entries.key) AS division
FROM entries
WHERE key = :key";

const HISTORY: &str = "
SELECT key, at, operation, capture, authorization_key, amount, currency, card_hash, card_last_four, finding,
    (SELECT d.division FROM divisions d WHERE d.key = entries.key) AS division
FROM entries
WHERE key = :key OR authorization_key = :key ORDER BY sequence";

const PAGE_OLDEST_FIRST: &str = "
SELECT sequence, key, at, operation, capture, authorization_key, amount, currency, card_hash, card_last_four, finding,
    (SELECT d.division FROM divisions d WHERE d.key = entries.key) AS division
FROM entries
WHERE sequence > :after
  AND (:key IS NULL OR key = :key)
  AND (:authorization_key IS NULL OR authorization_key = :authorization_key OR key = :authorization_key)
  AND (:since IS NULL OR at >= :since)
ORDER BY sequence LIMIT :limit";

const PAGE_NEWEST_FIRST: &str = "
SELECT sequence, key, at, operation, capture, authorization_key, amount, currency, card_hash, card_last_four, finding,
    (SELECT d.division FROM divisions d WHERE d.key = entries.key) AS division
FROM entries
WHERE sequence < :after
  AND (:key IS NULL OR key = :key)
  AND (:authorization_key IS NULL OR authorization_key = :authorization_key OR key = :authorization_key)
  AND (:since IS NULL OR at >= :since)
ORDER BY sequence DESC LIMIT :limit";

const ALL: &str = "
SELECT key, at, operation, capture, authorization_key, amount, currency, card_hash, card_last_four, finding,
    (SELECT d.division FROM divisions d WHERE d.key = entries.key) AS division
FROM entries
ORDER BY sequence";

const COUNT_TABLES: &str = "SELECT count(*) FROM sqlite_schema";

pub(super) fn open(path: &Path) -> Result<Connection, TransactionLogError> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tables: i64 = transaction.query_row(COUNT_TABLES, [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(CREATE)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    if application_of(&transaction)? == (APPLICATION, FORMAT_WITHOUT_FOLLOW_UPS) {
        transaction.execute_batch(ADD_FOLLOW_UPS)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    let (application, format) = application_of(&transaction)?;
    if application == APPLICATION && [FORMAT_WITHOUT_PAYMENTS, FORMAT_WITHOUT_REVERSALS].contains(&format) {
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    let state = application_of(&transaction)?;
    if state == (APPLICATION, FORMAT) {
        transaction.execute_batch(CREATE_DIVISIONS)?;
        authentications::create(&transaction)?;
        analyses::create(&transaction)?;
        sellers::create(&transaction)?;
    }
    transaction.commit()?;
    match state {
        (APPLICATION, FORMAT) => {}
        (APPLICATION, found) => {
            return Err(TransactionLogError::Format { found, expected: FORMAT });
        }
        _ => return Err(TransactionLogError::NotALog),
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Adds the entries whose keys have none, settled, in one commit, and returns the entry of each key.
pub(super) fn put(
    connection: &mut Connection,
    entries: &[&Entry],
) -> Result<Vec<Entry>, TransactionLogError> {
    // The transaction reads before it writes; taking the write lock at the write could fail without waiting.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut stored = Vec::with_capacity(entries.len());
    for entry in entries {
        let settled = match entry.authorization_key() {
            None => Entry::clone(entry),
            Some(authorization_key) => {
                settle(Entry::clone(entry), &history(&transaction, authorization_key)?)
            }
        };
        stored.push(match insert(&transaction, &settled)? {
            0 => find(&transaction, entry.key)?
                .ok_or_else(|| TransactionLogError::Entry("it vanished".to_owned()))?,
            _ => settled,
        });
    }
    transaction.commit()?;
    Ok(stored)
}

pub(super) fn find(connection: &Connection, key: Uuid) -> Result<Option<Entry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(FIND)?;
    let raw = statement.query_row(named_params! { ":key": key.as_bytes() }, RawEntry::read).optional()?;
    raw.map(RawEntry::understand).transpose()
}

/// An authorization with its captures and voids, in order.
pub(super) fn history(
    connection: &Connection,
    authorization_key: Uuid,
) -> Result<Vec<Entry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(HISTORY)?;
    let rows = statement.query_map(named_params! { ":key": authorization_key.as_bytes() }, RawEntry::read)?;
    let raw: Vec<RawEntry> = rows.collect::<Result<_, _>>()?;
    raw.into_iter().map(RawEntry::understand).collect()
}

pub(super) fn page(connection: &Connection, window: &Window) -> Result<Vec<Stored>, TransactionLogError> {
    let Window { filter, order, after, limit } = window;
    let (sql, from) = match order {
        Order::OldestFirst => (PAGE_OLDEST_FIRST, 0),
        Order::NewestFirst => (PAGE_NEWEST_FIRST, i64::MAX),
    };
    let after = after.map_or(from, |after| i64::try_from(after).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(sql)?;
    let arguments = named_params! {
        ":after": after,
        ":key": filter.key.as_ref().map(Uuid::as_bytes),
        ":authorization_key": filter.authorization_key.as_ref().map(Uuid::as_bytes),
        ":since": filter.since.map(Timestamp::as_millis),
        ":limit": i64::try_from(*limit).unwrap_or(i64::MAX),
    };
    let rows = statement.query_map(arguments, |row| Ok((row.get("sequence")?, RawEntry::read(row)?)))?;
    let raw: Vec<(i64, RawEntry)> = rows.collect::<Result<_, _>>()?;
    let understand = |(sequence, raw): (i64, RawEntry)| {
        let sequence = u64::try_from(sequence).unwrap_or_default();
        Ok(Stored { sequence, entry: raw.understand()? })
    };
    raw.into_iter().map(understand).collect()
}

pub(super) fn all(connection: &Connection) -> Result<Vec<Entry>, TransactionLogError> {
    let mut statement = connection.prepare_cached(ALL)?;
    let raw: Vec<RawEntry> = statement.query_map([], RawEntry::read)?.collect::<Result<_, _>>()?;
    raw.into_iter().map(RawEntry::understand).collect()
}

fn application_of(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let format = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, format))
}

fn insert(connection: &Connection, entry: &Entry) -> Result<usize, TransactionLogError> {
    let answered = entry.answered();
    let card = answered.and_then(|answered| answered.deed.card());
    let authorization_key = entry.authorization_key();
    let finding = answered.map(|answered| serde_json::to_string(&answered.finding)).transpose();
    let finding = finding.map_err(|error| TransactionLogError::Entry(error.to_string()))?;
    let division = answered.and_then(|answered| answered.division.as_deref()).map(serde_json::to_string);
    let division = division.transpose().map_err(|error| TransactionLogError::Entry(error.to_string()))?;
    let mut statement = connection.prepare_cached(PUT)?;
    let put = statement.execute(named_params! {
        ":key": entry.key.as_bytes(),
        ":at": entry.at.as_millis(),
        ":operation": answered.map(|answered| answered.deed.word()),
        ":capture": answered.and_then(|answered| capture_word(&answered.deed)),
        ":authorization_key": authorization_key.as_ref().map(Uuid::as_bytes),
        ":amount": answered.map(|answered| answered.amount.minor_units()),
        ":currency": answered.map(|answered| answered.currency.code()),
        ":card_hash": card.map(|card| &card.hash),
        ":card_last_four": card.map(|card| &card.last_four),
        ":finding": finding,
    })?;
    if let (1, Some(division)) = (put, division) {
        let mut statement = connection.prepare_cached(PUT_DIVISION)?;
        statement.execute(named_params! { ":key": entry.key.as_bytes(), ":division": division })?;
    }
    Ok(put)
}

/// A row as it is stored.
struct RawEntry {
    key: [u8; 16],
    at: i64,
    operation: Option<String>,
    capture: Option<String>,
    authorization_key: Option<[u8; 16]>,
    amount: Option<i64>,
    currency: Option<String>,
    card_hash: Option<Vec<u8>>,
    card_last_four: Option<String>,
    finding: Option<String>,
    division: Option<String>,
}

impl RawEntry {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get("key")?,
            at: row.get("at")?,
            operation: row.get("operation")?,
            capture: row.get("capture")?,
            authorization_key: row.get("authorization_key")?,
            amount: row.get("amount")?,
            currency: row.get("currency")?,
            card_hash: row.get("card_hash")?,
            card_last_four: row.get("card_last_four")?,
            finding: row.get("finding")?,
            division: row.get("division")?,
        })
    }

    fn understand(self) -> Result<Entry, TransactionLogError> {
        let key = Uuid::from_bytes(self.key);
        let at = Timestamp::from_millis(self.at);
        let record = if self.operation.is_some() {
            let answered = self.answered();
            let readable =
                answered.ok_or_else(|| TransactionLogError::Entry(format!("the answer for key {key}")));
            Record::Answered(Box::new(readable?))
        } else {
            Record::ProbedBeforeArrival
        };
        Ok(Entry { key, at, record })
    }

    fn answered(self) -> Option<Answered> {
        let deed = self.deed()?;
        let finding: Finding = serde_json::from_str(&self.finding?).ok()?;
        let (amount, currency) = (Amount::new(self.amount?)?, Currency::parse(&self.currency?)?);
        let division = self.division.as_deref().map(serde_json::from_str).transpose().ok()?;
        Some(Answered { deed, amount, currency, finding, division })
    }

    fn deed(&self) -> Option<Deed> {
        let card = self.card_hash.clone().zip(self.card_last_four.clone());
        Deed::of(
            self.operation.as_deref()?,
            self.capture.as_deref().and_then(capture_mode),
            card.map(|(hash, last_four)| CardTrace { hash, last_four }),
            self.authorization_key.map(Uuid::from_bytes),
        )
    }
}

/// Values of the column `capture`.
const CAPTURE_MODES: [(&str, CaptureMode); 2] =
    [("automatic", CaptureMode::Automatic), ("manual", CaptureMode::Manual)];

fn capture_word(deed: &Deed) -> Option<&'static str> {
    let capture = deed.capture()?;
    CAPTURE_MODES.iter().find(|(_, mode)| *mode == capture).map(|(word, _)| *word)
}

fn capture_mode(word: &str) -> Option<CaptureMode> {
    CAPTURE_MODES.iter().find(|(known, _)| *known == word).map(|(_, mode)| *mode)
}
