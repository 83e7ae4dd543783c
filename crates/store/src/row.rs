//! One row of an answer.

use std::sync::Arc;

use crate::error::StoreError;
use crate::sql::Sql;
use crate::value::{FromValue, Value};

/// One row of an answer; columns are read by name.
#[derive(Clone, Debug)]
pub struct Row {
    statement: &'static str,
    columns: Arc<[String]>,
    values: Vec<Value>,
}

impl Row {
    pub(crate) fn new(statement: &'static str, columns: Arc<[String]>, values: Vec<Value>) -> Self {
        Self { statement, columns, values }
    }

    /// Reads a column: `row.get::<ChargeId>("id")?`, `row.get::<&str>("doc")?`, `row.get::<Option<Timestamp>>("due")?`.
    /// In PostgreSQL, `SUM` of integers is not an integer: write `CAST(SUM(…) AS BIGINT)`.
    ///
    /// # Errors
    /// [`StoreError::Programming`] when there is no such column, [`StoreError::Corrupt`] when what it holds is not
    /// a `T`.
    pub fn get<'row, T: FromValue<'row>>(&'row self, column: &str) -> Result<T, StoreError> {
        let value = self
            .columns
            .iter()
            .position(|name| name == column)
            .and_then(|at| self.values.get(at))
            .ok_or_else(|| StoreError::Programming(format!("{}: no column {column}", self.statement)))?;
        T::from_value(value).ok_or_else(|| {
            StoreError::Corrupt(format!("{}: column {column} holds {}", self.statement, value.kind()))
        })
    }
}

/// The row of a query that finds at most one.
pub(crate) fn only(sql: &Sql, mut rows: Vec<Row>) -> Result<Option<Row>, StoreError> {
    match rows.len() {
        0 | 1 => Ok(rows.pop()),
        more => Err(StoreError::Programming(format!("{}: {more} rows instead of one", sql.name()))),
    }
}
