//! The store on SQLite: one file, one process, one thread that writes and several that read.

mod backup;
mod checkpoint;
mod connection;
mod failure;
mod integrity;
mod migrate;
pub(crate) mod moving;
mod options;
mod reader;
mod staged;
mod statements;
mod writer;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::Sender;
use regente_domain::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::oneshot;

pub use backup::{BackupError, Existing, Written};
pub use connection::{Contents, contents};
pub use integrity::Integrity;
pub use options::SqliteOptions;
pub use staged::{Replaced, Staged};

use self::checkpoint::Checkpoints;
use self::reader::{Query, ReadCommand};
use self::writer::Command;
use crate::batch::Batch;
use crate::driver::{Common, Emptied, StoreSize};
use crate::error::{Commit, StoreError};
use crate::group::Work;
use crate::migrate::{Applied, MIGRATIONS, Migration};
use crate::moving::mark::{self, Moving};
use crate::row::Row;
use crate::sql::{DatabaseKind, Sql};
use crate::value::Args;

/// A store on an SQLite file. Cheap to clone.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    common: Common,
    write: Sender<Command>,
    read: Sender<ReadCommand>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Whether a backup is running; only one may.
    snapshot_is_held: Arc<AtomicBool>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    pub(crate) async fn open(options: SqliteOptions) -> Result<Self, StoreError> {
        let opened = tokio::task::spawn_blocking(move || Self::open_blocking(&options)).await;
        opened.unwrap_or_else(|_panicked| Err(StoreError::closed()))
    }

    fn open_blocking(options: &SqliteOptions) -> Result<Self, StoreError> {
        let lock = connection::lock(&options.path)?;
        let write_connection = connection::open_writer(options)?;
        let snapshot_is_held = Arc::new(AtomicBool::new(false));
        let checkpointer = connection::open_checkpointer(options)?;
        let checkpoints = Checkpoints::start(options, checkpointer, Arc::clone(&snapshot_is_held))?;
        let (write, write_queue) = crossbeam_channel::unbounded();
        let (read, read_queue) = crossbeam_channel::unbounded();
        let mut threads = Vec::new();
        for _ in 0..options.readers.max(1) {
            let connection = connection::open_reader(options)?;
            let queue = read_queue.clone();
            threads.push(spawn("sqlite-reader", move || reader::run(&connection, &queue))?);
        }
        let of_writer = options.clone();
        let common = Common::new(options.room);
        let commits = Arc::clone(&common.commits);
        threads.push(spawn("sqlite-writer", move || {
            writer::run(write_connection, &write_queue, &of_writer, checkpoints, &commits, lock);
        })?);
        let inner = Inner {
            path: options.path.clone(),
            common,
            write,
            read,
            threads: Mutex::new(threads),
            snapshot_is_held,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) async fn apply(&self, batch: Batch) -> Result<Commit, StoreError> {
        let (work, answer) = Work::bind(DatabaseKind::Sqlite, batch)?;
        self.inner.write.send(Command::Apply(work)).map_err(|_ended| StoreError::closed())?;
        // A writer that ended without an answer may have committed.
        answer.await.unwrap_or(Ok(Commit::Unknown))
    }

    pub(crate) async fn rows(&self, sql: &'static Sql, args: Args) -> Result<Vec<Row>, StoreError> {
        let values = sql.bind(DatabaseKind::Sqlite, args)?;
        Ok(self.read(vec![(sql, values)]).await?.pop().unwrap_or_default())
    }

    pub(crate) async fn rows_of_both(
        &self,
        first: (&'static Sql, Args),
        second: (&'static Sql, Args),
    ) -> Result<(Vec<Row>, Vec<Row>), StoreError> {
        let bind = |(sql, args): (&'static Sql, Args)| Ok((sql, sql.bind(DatabaseKind::Sqlite, args)?));
        let mut rows = self.read(vec![bind(first)?, bind(second)?]).await?;
        let second = rows.pop().unwrap_or_default();
        Ok((rows.pop().unwrap_or_default(), second))
    }

    async fn read(&self, queries: Vec<Query>) -> Result<Vec<Vec<Row>>, StoreError> {
        let (answer, rows) = oneshot::channel();
        let command = ReadCommand::Rows { queries, answer };
        self.inner.read.send(command).map_err(|_ended| StoreError::closed())?;
        rows.await.unwrap_or_else(|_ended| Err(StoreError::closed()))
    }

    /// Runs something alone on the write connection, between two groups.
    pub(crate) async fn exclusively<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, result) = oneshot::channel();
        let command = Command::Exclusive(Box::new(move |connection| drop(answer.send(run(connection)))));
        self.inner.write.send(command).map_err(|_ended| StoreError::closed())?;
        result.await.unwrap_or_else(|_ended| Err(StoreError::closed()))
    }

    pub(crate) async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.migrate_to(MIGRATIONS, now).await
    }

    pub(crate) async fn migrate_to(
        &self,
        migrations: &'static [Migration],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.exclusively(move |connection| migrate::migrate(connection, migrations, now)).await
    }

    pub(crate) async fn applied_migrations(&self) -> Result<Vec<Applied>, StoreError> {
        self.exclusively(migrate::applied).await
    }

    /// What a move has to do with this database. While it is moved away its file is locked.
    pub(crate) async fn moving(&self) -> Result<Option<Moving>, StoreError> {
        let moving = |connection: &Connection| {
            moving::moving(connection).map_err(|error| failure::store_error(mark::TABLE, error))
        };
        self.exclusively(moving).await
    }

    /// Removes a mark of a move.
    pub(crate) async fn drop_mark(&self, mark: &'static str) -> Result<(), StoreError> {
        let end = move |connection: &Connection| {
            connection.execute_batch(mark).map_err(|error| failure::store_error(mark::TABLE, error))
        };
        self.exclusively(end).await
    }

    pub(crate) async fn size(&self) -> Result<StoreSize, StoreError> {
        let database = tokio::fs::metadata(&self.inner.path).await.map_err(StoreError::unavailable)?;
        // There is no log before the first write.
        let wal = tokio::fs::metadata(connection::wal_path(&self.inner.path)).await;
        Ok(StoreSize {
            database_bytes: database.len(),
            wal_bytes: Some(wal.map_or(0, |metadata| metadata.len())),
        })
    }

    pub(crate) async fn empty_log(&self) -> Result<Emptied, StoreError> {
        self.exclusively(checkpoint::empty_log).await
    }

    pub(crate) async fn close(&self) {
        let threads = std::mem::take(&mut *self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // Readers end first, so that the writer's last checkpoint waits for none.
        for _ in &threads {
            drop(self.inner.read.send(ReadCommand::Close));
        }
        drop(self.inner.write.send(Command::Close));
        let joined = tokio::task::spawn_blocking(move || {
            threads.into_iter().map(JoinHandle::join).filter(Result::is_err).count()
        });
        match joined.await {
            Ok(0) => {}
            Ok(panicked) => tracing::error!(panicked, "threads of the database panicked"),
            Err(error) => tracing::error!(%error, "waiting for the threads of the database failed"),
        }
    }

    pub(crate) fn common(&self) -> &Common {
        &self.inner.common
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map_err(StoreError::unavailable)
}
