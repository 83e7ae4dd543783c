//! Prepares the statements of one connection, found by the address of their [`Sql`], and converts their values.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement};

use crate::row::Row;
use crate::sql::{DatabaseKind, Sql};
use crate::value::Value;

/// The prepared statements of a connection.
pub(super) struct Statements<'c> {
    connection: &'c Connection,
    prepared: HashMap<usize, Statement<'c>>,
}

impl<'c> Statements<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, prepared: HashMap::new() }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// Runs a statement that writes, and returns the number of changed rows.
    pub(super) fn execute(&mut self, sql: &'static Sql, values: &[Value]) -> Result<u64, rusqlite::Error> {
        let statement = self.bound(sql, values)?;
        let rows = statement.raw_execute()?;
        Ok(u64::try_from(rows).unwrap_or(u64::MAX))
    }

    /// Runs a query.
    pub(super) fn query(&mut self, sql: &'static Sql, values: &[Value]) -> Result<Vec<Row>, rusqlite::Error> {
        let statement = self.bound(sql, values)?;
        if !statement.readonly() {
            return Err(rusqlite::Error::InvalidQuery);
        }
        let columns = sql
            .translated(DatabaseKind::Sqlite)
            .columns
            .get_or_init(|| Arc::from(statement.column_names().map(str::to_owned).collect::<Vec<_>>()));
        let mut answer = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let values = (0..columns.len()).map(|at| Ok(read(row.get_ref(at)?)));
            answer.push(Row::new(
                sql.name(),
                Arc::clone(columns),
                values.collect::<Result<_, rusqlite::Error>>()?,
            ));
        }
        Ok(answer)
    }

    fn bound(&mut self, sql: &'static Sql, values: &[Value]) -> Result<&mut Statement<'c>, rusqlite::Error> {
        let statement = match self.prepared.entry(sql.address()) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                new.insert(self.connection.prepare(sql.text(DatabaseKind::Sqlite))?)
            }
        };
        for (at, value) in values.iter().enumerate() {
            statement.raw_bind_parameter(at + 1, value)?;
        }
        Ok(statement)
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Json(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
            Self::Uuid(uuid) => ValueRef::Blob(uuid.as_bytes()),
        }))
    }
}

/// Reads a column. Text that is not UTF-8 was not written by us and is returned as bytes, which no caller accepts.
pub(super) fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        // The schema has no floating point numbers; returned as text, which readers of numbers refuse.
        ValueRef::Real(real) => real.to_string().into(),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => text.to_owned().into(),
            Err(_) => Value::Blob(text.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
