//! A table as it is moved, and the statements that read and write any table on either database. They are made of the
//! names in the catalogue of the database, never of data, and so cannot be declared with [`sql!`](crate::sql!).

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::sql::DatabaseKind;
use crate::value::Value;

/// The column that names the account of a row.
const ACCOUNT_COLUMN: &str = "client_id";
/// The table of the accounts, whose own id is that of the account.
const ACCOUNTS: &str = "clients";
/// Rows without an account that others refer to; they are written first.
const FIRST: [&str; 2] = ["data_keys", ACCOUNTS];

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Text,
    Json,
    Bytes,
    Uuid,
}

/// Every kind, with its type in SQLite and in PostgreSQL.
const TYPES: [(Kind, &str, &str); 5] = [
    (Kind::Int, "INTEGER", "bigint"),
    (Kind::Text, "TEXT", "text"),
    (Kind::Json, "TEXT", "jsonb"),
    (Kind::Bytes, "BLOB", "bytea"),
    (Kind::Uuid, "BLOB", "uuid"),
];

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// A table without the kinds of its columns, as this release makes it.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    /// The columns of its primary key, in order.
    pub(crate) key: Vec<String>,
}

/// The columns of a database with their declared types, by table.
pub(crate) type Catalogue = BTreeMap<String, BTreeMap<String, String>>;

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    /// The places of the columns of its primary key.
    pub(crate) key: Vec<usize>,
    /// The place of the column that names the account of a row.
    pub(crate) account: Option<usize>,
}

/// One row: a value for each column, in the order of the table.
pub(crate) type Values = Vec<Value>;

/// The tables of this release with the kinds of their columns, in the order of writing. Types of PostgreSQL tell the
/// kinds; SQLite declares fewer. Each database must have exactly these columns.
pub(crate) fn tables(
    outlines: Vec<Outline>,
    databases: &[(DatabaseKind, &Catalogue)],
) -> Result<Vec<Table>, StoreError> {
    let Some((_, typed)) = databases.iter().find(|(kind, _)| *kind == DatabaseKind::Postgres) else {
        return Err(StoreError::Programming("a move between two SQLite files".to_owned()));
    };
    let mut tables = outlines
        .into_iter()
        .map(|outline| {
            let table = table(outline, typed)?;
            for (kind, catalogue) in databases {
                table.must_be_in(catalogue, *kind)?;
            }
            Ok(table)
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    // Stable: the others stay in the order of their names.
    tables.sort_by_key(|table| FIRST.iter().position(|first| *first == table.name).unwrap_or(FIRST.len()));
    Ok(tables)
}

fn table(outline: Outline, typed: &Catalogue) -> Result<Table, StoreError> {
    let Outline { name, columns, key } = outline;
    let columns = columns
        .into_iter()
        .map(|column| {
            let declared = typed.get(&name).and_then(|columns| columns.get(&column));
            let kind = declared.and_then(|declared| TYPES.iter().find(|(_, _, known)| known == declared));
            match kind {
                Some((kind, ..)) => Ok(Column { name: column, kind: *kind }),
                None => Err(unfit(&name, &format!("column {column} is {declared:?}"))),
            }
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    let place = |wanted: &str| columns.iter().position(|column| column.name == wanted);
    let key = key.iter().filter_map(|column| place(column)).collect();
    let account = place(if name == ACCOUNTS { "id" } else { ACCOUNT_COLUMN });
    Ok(Table { name, columns, key, account })
}

fn unfit(table: &str, why: &str) -> StoreError {
    StoreError::Schema(format!("table {table}: {why}"))
}

impl Kind {
    fn declared(self, database: DatabaseKind) -> &'static str {
        let found = TYPES.iter().find(|(kind, ..)| *kind == self);
        found.map_or("", |(_, sqlite, postgres)| match database {
            DatabaseKind::Sqlite => sqlite,
            DatabaseKind::Postgres => postgres,
        })
    }

    /// A value of a column of this kind as SQLite holds it: it stores documents as text and ids as bytes.
    pub(crate) fn of_sqlite(self, value: Value) -> Option<Value> {
        match (self, value) {
            (_, Value::Null) => Some(Value::Null),
            (Self::Int, value @ Value::Int(_)) | (Self::Text, value @ Value::Text(_)) => Some(value),
            (Self::Bytes, value @ Value::Blob(_)) => Some(value),
            (Self::Json, Value::Text(text)) => Some(Value::Json(text.into_owned())),
            (Self::Uuid, Value::Blob(bytes)) => uuid::Uuid::from_slice(&bytes).ok().map(Value::Uuid),
            (
                Self::Int | Self::Text | Self::Json | Self::Bytes | Self::Uuid,
                Value::Int(_) | Value::Text(_) | Value::Json(_) | Value::Blob(_) | Value::Uuid(_),
            ) => None,
        }
    }
}

impl Table {
    fn must_be_in(&self, catalogue: &Catalogue, database: DatabaseKind) -> Result<(), StoreError> {
        let Some(found) = catalogue.get(&self.name) else {
            return Err(unfit(&self.name, &format!("{database} does not have it")));
        };
        for Column { name, kind } in &self.columns {
            if found.get(name).map(String::as_str) != Some(kind.declared(database)) {
                return Err(unfit(
                    &self.name,
                    &format!("column {name} of {database} is {:?}", found.get(name)),
                ));
            }
        }
        match found.keys().find(|name| !self.columns.iter().any(|column| column.name == **name)) {
            Some(more) => Err(unfit(&self.name, &format!("{database} has a column {more}"))),
            None => Ok(()),
        }
    }

    /// The values of the primary key of a row.
    pub(crate) fn key_of(&self, row: &[Value]) -> Values {
        self.key.iter().filter_map(|at| row.get(*at)).cloned().collect()
    }

    /// The account of a row; the nil id where it has none.
    pub(crate) fn account_of(&self, row: &[Value]) -> uuid::Uuid {
        match self.account.and_then(|at| row.get(at)) {
            Some(Value::Uuid(account)) => *account,
            Some(Value::Null | Value::Int(_) | Value::Text(_) | Value::Json(_) | Value::Blob(_)) | None => {
                uuid::Uuid::nil()
            }
        }
    }

    fn all(&self) -> String {
        list(self.columns.iter().map(|column| quoted(&column.name)))
    }

    fn key_columns(&self) -> impl Iterator<Item = String> {
        self.key.iter().filter_map(|at| self.columns.get(*at)).map(|column| quoted(&column.name))
    }

    /// Reads a page in the order of the key: the values of the key after which it begins, where it is not the first,
    /// and the number of rows.
    pub(crate) fn page(&self, database: DatabaseKind, is_first: bool) -> String {
        let (table, all, key) = (quoted(&self.name), self.all(), list(self.key_columns()));
        let after = if is_first { 0 } else { self.key.len() };
        let filter = if is_first {
            String::new()
        } else {
            format!(" WHERE ({key}) > ({})", list((1..=after).map(|at| parameter(database, at))))
        };
        let limit = parameter(database, after + 1);
        format!("SELECT {all} FROM {table}{filter} ORDER BY {key} LIMIT {limit}")
    }

    /// Reads the row with a key.
    pub(crate) fn find(&self, database: DatabaseKind) -> String {
        let equal = self.key_columns().zip(1..);
        let equal: Vec<String> =
            equal.map(|(column, at)| format!("{column} = {}", parameter(database, at))).collect();
        format!("SELECT {} FROM {} WHERE {}", self.all(), quoted(&self.name), equal.join(" AND "))
    }

    /// Adds so many rows; those that are there stay as they are.
    pub(crate) fn add(&self, database: DatabaseKind, rows: usize) -> String {
        let width = self.columns.len();
        let row = |row: usize| {
            let values = (1..=width).map(|at| parameter(database, row * width + at));
            format!("({})", list(values))
        };
        let (table, all) = (quoted(&self.name), self.all());
        format!("INSERT INTO {table} ({all}) VALUES {} ON CONFLICT DO NOTHING", list((0..rows).map(row)))
    }
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn parameter(database: DatabaseKind, number: usize) -> String {
    match database {
        DatabaseKind::Sqlite => format!("?{number}"),
        DatabaseKind::Postgres => format!("${number}"),
    }
}
