//! An SQLite file as the source or the target of a move. It is opened by one connection, beside no store.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use regente_domain::time::Timestamp;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::connection::FileLock;
use super::statements::read;
use super::{SqliteOptions, connection, failure, migrate};
use crate::error::StoreError;
use crate::migrate::{Applied, MIGRATIONS};
use crate::moving::mark::{self, Moving};
use crate::moving::table::{Catalogue, Outline, Table, Values};
use crate::sql::DatabaseKind;
use crate::value::Value;

const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
const COLUMNS: &str = "SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid";
const HAS_TABLE: &str = "SELECT COUNT(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
/// Pages of the log after which it is copied into the file.
const LOG_PAGES: u32 = 4096;
/// Prepared statements that are kept: a few for each table.
const STATEMENTS_MAX: usize = 512;

/// An open file. Clones are the same.
#[derive(Clone)]
pub(crate) struct SqliteEnd(Arc<Opened>);

struct Opened {
    connection: Mutex<Connection>,
    /// Held as long as the connection; a backup needs none.
    _lock: Option<FileLock>,
    /// The file of a source that is no backup.
    source: Option<SqliteOptions>,
}

impl SqliteEnd {
    /// Opens a database that is moved, in one read transaction, and keeps servers away.
    pub(crate) async fn source(options: SqliteOptions) -> Result<Self, StoreError> {
        Self::open(move || {
            let lock = connection::lock(&options.path)?;
            Ok((connection::open_reader(&options)?, Some(lock), Some(options)))
        })
        .await?
        .in_one_snapshot()
        .await
    }

    /// Opens a backup, which nobody changes.
    pub(crate) async fn backup(path: PathBuf) -> Result<Self, StoreError> {
        Self::open(move || Ok((open_unchanging(&path)?, None, None))).await?.in_one_snapshot().await
    }

    /// Opens a database that is moved to, or makes it, and keeps servers away.
    pub(crate) async fn target(options: SqliteOptions) -> Result<Self, StoreError> {
        Self::open(move || {
            let lock = connection::lock(&options.path)?;
            let connection = connection::open_writer(&options)?;
            // No other thread copies the log here.
            run(&connection, &format!("PRAGMA wal_autocheckpoint = {LOG_PAGES}"))?;
            Ok((connection, Some(lock), None))
        })
        .await
    }

    async fn open(
        open: impl FnOnce() -> Result<(Connection, Option<FileLock>, Option<SqliteOptions>), StoreError>
        + Send
        + 'static,
    ) -> Result<Self, StoreError> {
        let opened = tokio::task::spawn_blocking(open).await;
        let (connection, lock, source) = opened.unwrap_or_else(|_panicked| Err(StoreError::closed()))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(Self(Arc::new(Opened { connection: Mutex::new(connection), _lock: lock, source })))
    }

    /// Keeps servers from a source whose rows are all in the target; nothing where it is a backup.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        let Some(options) = self.0.source.clone() else { return Ok(()) };
        self.on(move |reading| {
            run(reading, "COMMIT")?;
            run(&connection::open_writer(&options)?, mark::LEAVE)
        })
        .await
    }

    async fn in_one_snapshot(self) -> Result<Self, StoreError> {
        // The first read after it begins the snapshot.
        self.on(|connection| run(connection, "BEGIN; SELECT COUNT(*) FROM sqlite_schema")).await?;
        Ok(self)
    }

    async fn on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let opened = Arc::clone(&self.0);
        let worked = tokio::task::spawn_blocking(move || {
            work(&opened.connection.lock().unwrap_or_else(PoisonError::into_inner))
        });
        worked.await.unwrap_or_else(|_panicked| Err(StoreError::closed()))
    }

    pub(crate) async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        self.on(migrate::applied).await
    }

    pub(crate) async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.on(move |connection| migrate::migrate(connection, MIGRATIONS, now)).await
    }

    pub(crate) async fn catalogue(&self) -> Result<Catalogue, StoreError> {
        self.on(|connection| {
            let tables = described(connection).map_err(|error| failure::store_error("catalogue", error))?;
            let columns = |columns: Vec<(String, String, i64)>| {
                columns.into_iter().map(|(name, declared, _)| (name, declared)).collect()
            };
            Ok(tables.into_iter().map(|(table, found)| (table, columns(found))).collect())
        })
        .await
    }

    /// The rows that one of the table's statements finds.
    pub(crate) async fn rows(
        &self,
        table: &Arc<Table>,
        sql: String,
        values: Values,
    ) -> Result<Vec<Values>, StoreError> {
        let table = Arc::clone(table);
        self.on(move |connection| {
            let found = query(connection, &sql, &values);
            let found = found.map_err(|error| failure::store_error(&table.name, error))?;
            found.into_iter().map(|row| in_kinds(&table, row)).collect()
        })
        .await
    }

    /// Adds rows by statements with their values, with the mark, in one transaction.
    pub(crate) async fn write(
        &self,
        table: &Arc<Table>,
        statements: Vec<(String, Values)>,
        mark: String,
    ) -> Result<(), StoreError> {
        let table = Arc::clone(table);
        self.on(move |connection| {
            let written = (|| {
                let transaction = connection.unchecked_transaction()?;
                for (sql, values) in &statements {
                    transaction.prepare_cached(sql)?.execute(params_from_iter(values))?;
                }
                transaction.execute(mark::set(DatabaseKind::Sqlite), [&table.name, &mark])?;
                transaction.commit()
            })();
            written.map_err(|error| failure::store_error(&table.name, error))
        })
        .await
    }

    /// The marks of a move that was begun.
    pub(crate) async fn marks(&self) -> Result<Option<Vec<(String, String)>>, StoreError> {
        self.on(|connection| {
            let read = || {
                if !is_marked(connection)? {
                    return Ok(None);
                }
                let mut statement = connection.prepare(mark::ALL)?;
                let marks = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                marks.collect::<rusqlite::Result<_>>().map(Some)
            };
            read().map_err(|error| failure::store_error(mark::TABLE, error))
        })
        .await
    }

    /// Begins a move of a source.
    pub(crate) async fn begin(&self, source: String) -> Result<(), StoreError> {
        self.on(move |connection| {
            let begin = || {
                let transaction = connection.unchecked_transaction()?;
                transaction.execute_batch(mark::make(DatabaseKind::Sqlite))?;
                transaction.execute(mark::set(DatabaseKind::Sqlite), [mark::OF_SOURCE, &source])?;
                transaction.commit()
            };
            begin().map_err(|error| failure::store_error(mark::TABLE, error))
        })
        .await
    }
}

fn is_marked(connection: &Connection) -> rusqlite::Result<bool> {
    has(connection, mark::TABLE)
}

/// What a move has to do with this database.
pub(super) fn moving(connection: &Connection) -> rusqlite::Result<Option<Moving>> {
    Ok(match (is_marked(connection)?, has(connection, mark::LEFT)?) {
        (true, _) => Some(Moving::Here),
        (false, true) => Some(Moving::MovedAway),
        (false, false) => None,
    })
}

fn has(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    connection.query_row(HAS_TABLE, [table], |row| row.get(0))
}

/// The tables of this release: those that its migrations make of nothing.
pub(crate) fn outlines() -> Result<Vec<Outline>, StoreError> {
    let schema = |error| failure::store_error("outlines", error);
    let connection = Connection::open_in_memory().map_err(schema)?;
    migrate::migrate_quietly(&connection, MIGRATIONS, Timestamp::from_millis(0))?;
    let tables = described(&connection).map_err(schema)?;
    let outline = |(name, columns): (String, Vec<(String, String, i64)>)| {
        let mut key: Vec<_> = columns.iter().filter(|(_, _, place)| *place > 0).collect();
        key.sort_by_key(|(_, _, place)| *place);
        let key = key.into_iter().map(|(name, ..)| name.clone()).collect();
        Outline { name, key, columns: columns.into_iter().map(|(name, ..)| name).collect() }
    };
    Ok(tables.into_iter().map(outline).collect())
}

type Described = (String, Vec<(String, String, i64)>);

/// Each table with its columns: name, type, place in the primary key from 1 on.
fn described(connection: &Connection) -> rusqlite::Result<Vec<Described>> {
    let names: Vec<String> =
        connection.prepare(TABLES)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut columns = connection.prepare(COLUMNS)?;
    names
        .into_iter()
        .map(|table| {
            let found = columns.query_map([&table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let found = found.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok((table, found))
        })
        .collect()
}

fn query(connection: &Connection, sql: &str, values: &[Value]) -> rusqlite::Result<Vec<Values>> {
    let mut statement = connection.prepare_cached(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((0..width).map(|at| Ok(read(row.get_ref(at)?))).collect::<rusqlite::Result<_>>()?);
    }
    Ok(found)
}

fn in_kinds(table: &Table, row: Values) -> Result<Values, StoreError> {
    let columns = table.columns.iter().zip(row);
    let values = columns.map(|(column, value)| {
        let unfit =
            || StoreError::Corrupt(format!("{}.{} holds another kind of value", table.name, column.name));
        column.kind.of_sqlite(value).ok_or_else(unfit)
    });
    values.collect()
}

fn run(connection: &Connection, script: &str) -> Result<(), StoreError> {
    connection.execute_batch(script).map_err(|error| failure::store_error("move", error))
}

/// A file that nobody changes is read without a file beside it, also on a disk that is read-only.
fn open_unchanging(path: &Path) -> Result<Connection, StoreError> {
    let wrong = |why: String| StoreError::Configuration(format!("{}: {why}", path.display()));
    if connection::wal_path(path).exists() {
        return Err(wrong(
            "it has a write-ahead log beside it, so it is a database in use and no backup".to_owned(),
        ));
    }
    let mut name = path.display().to_string();
    for (sign, code) in [("%", "%25"), ("?", "%3f"), ("#", "%23")] {
        name = name.replace(sign, code);
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)
        .map_err(|error| wrong(error.to_string()))
}
