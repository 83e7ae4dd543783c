//! The SQL of the simulator's books. The file belongs to the simulator alone: it is not part of the product's database.

use std::path::Path;

use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, named_params};
use uuid::Uuid;

use crate::outcome::Finding;
use crate::request::OperationKind;

use super::super::{Answered, BooksError, CardTrace, Entry, Record};

/// What the file is, kept in its `application_id`, so that no other database is taken for the books ("SBOX").
const APPLICATION: i64 = 0x5342_4f58;
/// The format of the file, kept in its `user_version`.
const FORMAT: i64 = 1;

/// A row is either an answer with everything about it, or the mark of a probe that came first.
const CREATE: &str = "
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    operation TEXT,
    amount INTEGER,
    currency TEXT,
    card_hash BLOB,
    card_last_four TEXT,
    finding TEXT,
    CHECK ((operation IS NULL) = (finding IS NULL))
) STRICT";

const PUT: &str = "
INSERT INTO entries (key, at, operation, amount, currency, card_hash, card_last_four, finding)
VALUES (:key, :at, :operation, :amount, :currency, :card_hash, :card_last_four, :finding)
ON CONFLICT (key) DO NOTHING";

const FIND: &str = "
SELECT key, at, operation, amount, currency, card_hash, card_last_four, finding FROM entries WHERE key = :key";

const ALL: &str = "
SELECT key, at, operation, amount, currency, card_hash, card_last_four, finding FROM entries ORDER BY sequence";

const COUNT_TABLES: &str = "SELECT count(*) FROM sqlite_schema";

pub(super) fn open(path: &Path) -> Result<Connection, BooksError> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tables: i64 = transaction.query_row(COUNT_TABLES, [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(CREATE)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    let application: i64 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    transaction.commit()?;
    match (application, found) {
        (APPLICATION, FORMAT) => {}
        (APPLICATION, _) => {
            return Err(BooksError::Format { found, expected: FORMAT });
        }
        _ => return Err(BooksError::NotBooks),
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Adds the entries whose keys have none, in one commit, and returns for each the one that stands.
pub(super) fn put(connection: &mut Connection, entries: &[&Entry]) -> Result<Vec<Entry>, BooksError> {
    let transaction = connection.transaction()?;
    let mut standing = Vec::with_capacity(entries.len());
    for entry in entries {
        standing.push(match insert(&transaction, entry)? {
            0 => find(&transaction, entry.key)?.ok_or_else(|| BooksError::Entry("it vanished".to_owned()))?,
            _ => (*entry).clone(),
        });
    }
    transaction.commit()?;
    Ok(standing)
}

pub(super) fn find(connection: &Connection, key: Uuid) -> Result<Option<Entry>, BooksError> {
    let mut statement = connection.prepare_cached(FIND)?;
    let raw = statement.query_row(named_params! { ":key": key.as_bytes() }, RawEntry::read).optional()?;
    raw.map(RawEntry::understand).transpose()
}

pub(super) fn all(connection: &Connection) -> Result<Vec<Entry>, BooksError> {
    let mut statement = connection.prepare_cached(ALL)?;
    let raw: Vec<RawEntry> = statement.query_map([], RawEntry::read)?.collect::<Result<_, _>>()?;
    raw.into_iter().map(RawEntry::understand).collect()
}

fn insert(connection: &Connection, entry: &Entry) -> Result<usize, BooksError> {
    let answered = match &entry.record {
        Record::Answered(answered) => Some(answered),
        Record::ProbedBeforeArrival => None,
    };
    let finding = answered.map(|answered| serde_json::to_string(&answered.finding)).transpose();
    let finding = finding.map_err(|error| BooksError::Entry(error.to_string()))?;
    let mut statement = connection.prepare_cached(PUT)?;
    Ok(statement.execute(named_params! {
        ":key": entry.key.as_bytes(),
        ":at": entry.at.as_millis(),
        ":operation": answered.map(|answered| answered.operation.word()),
        ":amount": answered.map(|answered| answered.amount.minor_units()),
        ":currency": answered.map(|answered| answered.currency.code()),
        ":card_hash": answered.map(|answered| &answered.card.hash),
        ":card_last_four": answered.map(|answered| &answered.card.last_four),
        ":finding": finding,
    })?)
}

/// A row as it is stored.
struct RawEntry {
    key: [u8; 16],
    at: i64,
    operation: Option<String>,
    amount: Option<i64>,
    currency: Option<String>,
    card_hash: Option<Vec<u8>>,
    card_last_four: Option<String>,
    finding: Option<String>,
}

impl RawEntry {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get("key")?,
            at: row.get("at")?,
            operation: row.get("operation")?,
            amount: row.get("amount")?,
            currency: row.get("currency")?,
            card_hash: row.get("card_hash")?,
            card_last_four: row.get("card_last_four")?,
            finding: row.get("finding")?,
        })
    }

    fn understand(self) -> Result<Entry, BooksError> {
        let key = Uuid::from_bytes(self.key);
        let at = Timestamp::from_millis(self.at);
        let record = if self.operation.is_some() {
            let answered = self.answered();
            let readable = answered.ok_or_else(|| BooksError::Entry(format!("the answer for key {key}")));
            Record::Answered(Box::new(readable?))
        } else {
            Record::ProbedBeforeArrival
        };
        Ok(Entry { key, at, record })
    }

    fn answered(self) -> Option<Answered> {
        let finding: Finding = serde_json::from_str(&self.finding?).ok()?;
        Some(Answered {
            operation: OperationKind::parse(&self.operation?)?,
            amount: Amount::new(self.amount?)?,
            currency: Currency::parse(&self.currency?)?,
            card: CardTrace { hash: self.card_hash?, last_four: self.card_last_four? },
            finding,
        })
    }
}
