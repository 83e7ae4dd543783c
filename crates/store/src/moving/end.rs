//! One end of a move: a database that is read or written by tables, of either kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::table::{Catalogue, Table, Values};
use crate::error::StoreError;
use crate::migrate::Applied;
use crate::postgres::moving::{PostgresEnd, Taken};
use crate::sql::DatabaseKind;
use crate::sqlite::moving::SqliteEnd;

/// Numbers of rows of one statement, the largest first: few texts to prepare, and fewer arguments than either database
/// takes.
const ROWS_OF_A_STATEMENT: [usize; 5] = [256, 64, 16, 4, 1];

/// An open database.
pub(super) enum End {
    Sqlite(SqliteEnd),
    Postgres(Box<PostgresEnd>),
}

impl End {
    pub(super) fn kind(&self) -> DatabaseKind {
        match self {
            Self::Sqlite(_) => DatabaseKind::Sqlite,
            Self::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    pub(super) async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        match self {
            Self::Sqlite(end) => end.applied().await,
            Self::Postgres(end) => end.applied().await,
        }
    }

    pub(super) async fn migrate(&mut self, now: Timestamp) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(end) => end.migrate(now).await,
            Self::Postgres(end) => end.migrate(now).await,
        }
    }

    pub(super) async fn catalogue(&self) -> Result<Catalogue, StoreError> {
        match self {
            Self::Sqlite(end) => end.catalogue().await,
            Self::Postgres(end) => end.catalogue().await,
        }
    }

    /// At most so many rows in the order of the key, after this one.
    pub(super) async fn page(
        &self,
        table: &Arc<Table>,
        after: Option<Values>,
        rows_max: usize,
    ) -> Result<Vec<Values>, StoreError> {
        let sql = table.page(self.kind(), after.is_none());
        let mut values = after.unwrap_or_default();
        values.push(i64::try_from(rows_max).unwrap_or(i64::MAX).into());
        self.rows(table, sql, values).await
    }

    /// The row with this key.
    pub(super) async fn find(&self, table: &Arc<Table>, key: Values) -> Result<Option<Values>, StoreError> {
        Ok(self.rows(table, table.find(self.kind()), key).await?.pop())
    }

    async fn rows(&self, table: &Arc<Table>, sql: String, values: Values) -> Result<Vec<Values>, StoreError> {
        match self {
            Self::Sqlite(end) => end.rows(table, sql, values).await,
            Self::Postgres(end) => end.rows(table, sql, values).await,
        }
    }

    /// Adds rows that are not there yet, and sets the mark of the table.
    pub(super) async fn write(
        &self,
        table: &Arc<Table>,
        rows: Vec<Values>,
        mark: String,
    ) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(end) => end.write(table, statements(table, self.kind(), rows), mark).await,
            Self::Postgres(end) => {
                let mut accounts: BTreeMap<Uuid, Vec<Values>> = BTreeMap::new();
                for row in rows {
                    accounts.entry(table.account_of(&row)).or_default().push(row);
                }
                let accounts = accounts
                    .into_iter()
                    .map(|(account, rows)| (account, statements(table, self.kind(), rows)));
                end.write(table, accounts.collect(), mark).await
            }
        }
    }

    pub(super) async fn marks(&self) -> Result<Option<Vec<(String, String)>>, StoreError> {
        match self {
            Self::Sqlite(end) => end.marks().await,
            Self::Postgres(end) => end.marks().await,
        }
    }

    pub(super) async fn begin(&self, source: String) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(end) => end.begin(source).await,
            Self::Postgres(end) => end.begin(source).await,
        }
    }

    /// Keeps servers from a source that was moved.
    pub(super) async fn leave(&self) -> Result<(), Taken> {
        match self {
            Self::Sqlite(end) => Ok(end.leave().await?),
            Self::Postgres(end) => end.leave().await,
        }
    }

    pub(super) async fn close(self) {
        match self {
            Self::Sqlite(end) => drop(end),
            Self::Postgres(end) => end.close().await,
        }
    }
}

/// The statements that add these rows, with their values.
fn statements(table: &Table, database: DatabaseKind, rows: Vec<Values>) -> Vec<(String, Values)> {
    let mut statements = Vec::new();
    let mut left = rows.into_iter();
    while let Some(count) = ROWS_OF_A_STATEMENT.into_iter().find(|count| *count <= left.len()) {
        statements.push((table.add(database, count), left.by_ref().take(count).flatten().collect()));
    }
    statements
}
