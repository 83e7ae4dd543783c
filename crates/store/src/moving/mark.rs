//! What the target keeps while a move is under way, in a table that is there for as long. It holds how far each table is
//! written, so that an interrupted move goes on there, and keeps servers from the unfinished database. At its end the source gets a
//! table that keeps servers from it: they would charge again what is charged at the target.

use serde::{Deserialize, Serialize};
use serde_json::Value as Document;
use uuid::Uuid;

use super::table::{Kind, Table, Values};
use crate::error::StoreError;
use crate::sql::DatabaseKind;
use crate::value::Value;

/// The table's name.
pub(crate) const TABLE: &str = "move_under_way";
/// The name of the mark that tells the source. No table has it.
pub(crate) const OF_SOURCE: &str = "";
/// All marks.
pub(crate) const ALL: &str = "SELECT name, doc FROM move_under_way";
/// Ends the move. The target may have been moved away before, and emptied.
pub(crate) const DROP: &str = "DROP TABLE move_under_way; DROP TABLE IF EXISTS moved_away";
/// The name of the table of a source that was moved away.
pub(crate) const LEFT: &str = "moved_away";
/// Keeps servers from the source. It may have been moved before.
pub(crate) const LEAVE: &str = "CREATE TABLE IF NOT EXISTS moved_away (doc TEXT)";
/// Lets them use it again.
pub(crate) const REOPEN: &str = "DROP TABLE moved_away";

/// What a move has to do with a database, which may not be served therefore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// A move to it has not ended, so that it does not hold everything.
    Here,
    /// A move from it is under way.
    Away,
    /// Everything of it was moved to another one.
    MovedAway,
}

/// How far a table is written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The key of the last row, with a JSON value for each column.
    pub(crate) after: Option<Vec<Document>>,
    pub(crate) rows: u64,
    pub(crate) is_done: bool,
}

/// Makes the table, in a transaction with the mark of the source.
pub(crate) fn make(database: DatabaseKind) -> &'static str {
    match database {
        DatabaseKind::Sqlite => {
            "CREATE TABLE move_under_way (name TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT"
        }
        DatabaseKind::Postgres => "CREATE TABLE move_under_way (name TEXT PRIMARY KEY, doc TEXT NOT NULL)",
    }
}

/// Sets a mark: its name and its text.
pub(crate) fn set(database: DatabaseKind) -> &'static str {
    match database {
        DatabaseKind::Sqlite => {
            "INSERT INTO move_under_way (name, doc) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET doc = excluded.doc"
        }
        DatabaseKind::Postgres => {
            "INSERT INTO move_under_way (name, doc) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET doc = excluded.doc"
        }
    }
}

impl Mark {
    pub(crate) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    pub(crate) fn read(text: &str) -> Result<Self, StoreError> {
        serde_json::from_str(text).map_err(|error| StoreError::Corrupt(format!("{TABLE}: {error}")))
    }

    /// The key after which the table goes on.
    pub(crate) fn key(&self, table: &Table) -> Result<Option<Values>, StoreError> {
        let Some(after) = &self.after else { return Ok(None) };
        let kinds = table.key.iter().filter_map(|at| table.columns.get(*at)).map(|column| column.kind);
        let key: Option<Values> =
            kinds.zip(after).map(|(kind, document)| value(kind, document.clone())).collect();
        let key = key.filter(|key| key.len() == table.key.len());
        key.map(Some).ok_or_else(|| StoreError::Corrupt(format!("{TABLE}: the key of {}", table.name)))
    }
}

/// A key as JSON: numbers, texts, ids as texts, and bytes as lists of numbers.
pub(crate) fn shown(key: &[Value]) -> Vec<Document> {
    let shown = key.iter().map(|value| match value {
        Value::Null => Document::Null,
        Value::Int(int) => Document::from(*int),
        Value::Text(text) => Document::from(&**text),
        Value::Json(text) => Document::from(text.as_str()),
        Value::Blob(bytes) => Document::from(bytes.as_slice()),
        Value::Uuid(id) => Document::from(id.to_string()),
    });
    shown.collect()
}

fn value(kind: Kind, document: Document) -> Option<Value> {
    match kind {
        Kind::Int => document.as_i64().map(Value::Int),
        Kind::Text => serde_json::from_value::<String>(document).ok().map(Value::from),
        Kind::Json => serde_json::from_value(document).ok().map(Value::Json),
        Kind::Bytes => serde_json::from_value(document).ok().map(Value::Blob),
        Kind::Uuid => serde_json::from_value::<Uuid>(document).ok().map(Value::Uuid),
    }
}
