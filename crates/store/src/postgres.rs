//! The store on PostgreSQL: a pool for reads, and a few connections that write commit groups.

mod connector;
mod distribute;
mod failure;
mod layout;
mod migrate;
pub(crate) mod moving;
mod options;
mod queue;
mod session;
mod stages;
mod values;
mod writer;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::TryStreamExt;
use futures_util::future::{try_join, try_join_all};
use regente_domain::time::Timestamp;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Statement};

pub use distribute::Distributing;
pub use layout::{Layout, Server};
pub use options::{PostgresOptions, Transport};

use self::connector::Connector;
use self::options::STRIPES_PER_NODE;
use self::queue::Queue;
use self::writer::Writer;
use crate::batch::Batch;
use crate::driver::{Common, StoreSize};
use crate::error::{Commit, StoreError};
use crate::group::Work;
use crate::migrate::{Applied, MIGRATIONS, Migration};
use crate::moving::mark;
use crate::row::Row;
use crate::sql::{DatabaseKind, Sql};
use crate::value::{Args, Value};

/// Largest node number: stripes still fit a 64-bit integer.
const NODE_STRIPE_MAX: i64 = 1 << 40;
const DATABASE_SIZE: &str = "SELECT pg_database_size(current_database())";

/// A store on a PostgreSQL server. Cheap to clone.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

struct Inner {
    common: Common,
    connector: Connector,
    pool: Pool,
    queue: Arc<Queue>,
    writers: Mutex<Vec<JoinHandle<()>>>,
}

/// Ends the writers of a store that is dropped without being closed.
impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("pool", &self.inner.pool.status()).finish_non_exhaustive()
    }
}

impl PostgresStore {
    pub(crate) async fn open(options: PostgresOptions) -> Result<Self, StoreError> {
        let options = Arc::new(options);
        let connector = Connector::new(&options)?;
        let pool = pool(&options, &connector)?;
        let groups = match options.commit_groups {
            Some(groups) => groups,
            None => {
                let (client, _moving) = connector.connect().await.map_err(failure::not_opened)?;
                distribute::groups(&client).await?
            }
        };
        let queue = Arc::new(Queue::new(groups));
        let common = Common::new(options.room);
        let writers = start_writers(&options, &connector, &queue, &common).await?;
        let inner = Inner { common, connector, pool, queue, writers: Mutex::new(writers) };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) async fn apply(&self, batch: Batch) -> Result<Commit, StoreError> {
        let (work, answer) = Work::bind(DatabaseKind::Postgres, batch)?;
        self.inner.queue.push(work)?;
        // A writer that ended without an answer may have committed.
        answer.await.unwrap_or(Ok(Commit::Unknown))
    }

    pub(crate) async fn rows(&self, sql: &'static Sql, args: Args) -> Result<Vec<Row>, StoreError> {
        let client = self.reader().await?;
        let statement = prepared(&client, sql).await?;
        rows_of(&client, (sql, statement, args)).await
    }

    pub(crate) async fn rows_of_both(
        &self,
        first: (&'static Sql, Args),
        second: (&'static Sql, Args),
    ) -> Result<(Vec<Row>, Vec<Row>), StoreError> {
        let client = self.reader().await?;
        // Both are prepared before either is sent: a statement that this connection does not know yet would otherwise come after
        // the other one.
        let first = (first.0, prepared(&client, first.0).await?, first.1);
        let second = (second.0, prepared(&client, second.0).await?, second.1);
        try_join(rows_of(&client, first), rows_of(&client, second)).await
    }

    /// A connection of the pool.
    pub(crate) async fn reader(&self) -> Result<Object, StoreError> {
        self.inner.pool.get().await.map_err(StoreError::unavailable)
    }

    /// A connection outside the pool, and the task that drives it.
    pub(crate) async fn connect(&self) -> Result<(Client, JoinHandle<()>), StoreError> {
        self.inner.connector.connect().await.map_err(StoreError::unavailable)
    }

    pub(crate) async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.migrate_to(MIGRATIONS, now).await
    }

    pub(crate) async fn migrate_to(
        &self,
        migrations: &'static [Migration],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (mut client, task) = self.connect().await?;
        let migrated = migrate::migrate(&mut client, migrations, now).await;
        drop(client);
        // The task has logged how it ended; waiting ensures that the lock is released.
        drop(task.await);
        migrated
    }

    pub(crate) async fn distribute(&self, told: &(dyn Fn(Distributing) + Sync)) -> Result<(), StoreError> {
        let (client, task) = self.connect().await?;
        let distributed = migrate::distribute_all(&client, told).await;
        drop(client);
        drop(task.await);
        distributed
    }

    pub(crate) async fn layout(&self) -> Result<Option<Layout>, StoreError> {
        let (client, _moving) = self.connect().await?;
        layout::layout(&client).await
    }

    pub(crate) async fn applied_migrations(&self) -> Result<Vec<Applied>, StoreError> {
        migrate::applied(&*self.reader().await?).await
    }

    /// Whether a move to this database is under way.
    pub(crate) async fn is_moved_to(&self) -> Result<bool, StoreError> {
        moving::is_marked(&*self.reader().await?).await
    }

    /// Ends the move to this database.
    pub(crate) async fn end_move(&self) -> Result<(), StoreError> {
        let (client, task) = self.connect().await?;
        let ended = client.batch_execute(mark::DROP).await;
        drop(client);
        // The task has logged how it ended.
        drop(task.await);
        ended.map_err(|error| failure::store_error(mark::TABLE, error))
    }

    pub(crate) async fn size(&self) -> Result<StoreSize, StoreError> {
        let row = self.reader().await?.query_one(DATABASE_SIZE, &[]).await;
        let bytes: i64 = row
            .and_then(|row| row.try_get(0))
            .map_err(|error| failure::store_error("pg_database_size", error))?;
        Ok(StoreSize { database_bytes: bytes.try_into().unwrap_or(0), wal_bytes: None })
    }

    pub(crate) async fn close(&self) {
        self.inner.queue.close();
        let writers = std::mem::take(&mut *self.inner.writers.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in writers {
            if let Err(error) = writer.await {
                tracing::error!(%error, "a writer panicked");
            }
        }
        self.inner.pool.close();
    }

    pub(crate) fn common(&self) -> &Common {
        &self.inner.common
    }
}

async fn prepared(
    client: &deadpool_postgres::ClientWrapper,
    sql: &'static Sql,
) -> Result<Statement, StoreError> {
    let prepared = client.prepare_cached(sql.text(DatabaseKind::Postgres)).await;
    prepared.map_err(|error| failure::of_read(sql.name(), error))
}

async fn rows_of(
    client: &deadpool_postgres::ClientWrapper,
    (sql, statement, args): (&'static Sql, Statement, Args),
) -> Result<Vec<Row>, StoreError> {
    let bound = sql.bind(DatabaseKind::Postgres, args)?;
    let not_read = |error| failure::of_read(sql.name(), error);
    values::check(sql, &bound, statement.params())?;
    let columns = sql.translated(DatabaseKind::Postgres).columns.get_or_init(|| {
        Arc::from(statement.columns().iter().map(|column| column.name().to_owned()).collect::<Vec<_>>())
    });
    let rows: Vec<tokio_postgres::Row> = match client.query_raw(&statement, &bound).await {
        Ok(rows) => rows.try_collect().await.map_err(not_read)?,
        Err(error) => return Err(not_read(error)),
    };
    rows.iter()
        .map(|row| {
            let values = (0..row.len()).map(|at| row.try_get::<_, Value>(at));
            let values = values.collect::<Result<_, _>>().map_err(not_read)?;
            Ok(Row::new(sql.name(), Arc::clone(columns), values))
        })
        .collect()
}

/// The connections for reads. A query that writes is a bug on either database. The server ends a query that takes too
/// long, so that it does not keep its connection from everybody else. Every query finds its rows by an index; the
/// planner, which takes the spans of a total for many, would join them by hash and read all those of the account.
fn pool(options: &PostgresOptions, connector: &Connector) -> Result<Pool, StoreError> {
    let timeout_ms = options.read_timeout.as_millis().max(1);
    let settings = format!(
        "SET default_transaction_read_only = on; SET enable_hashjoin = off; SET enable_mergejoin = off;
         SET statement_timeout = {timeout_ms}"
    );
    let manager = Manager::from_connect(
        connector.config(),
        connector.clone(),
        ManagerConfig { recycling_method: RecyclingMethod::Fast },
    );
    Pool::builder(manager)
        .max_size(options.pool_size.max(1))
        .wait_timeout(Some(options.pool_wait))
        .create_timeout(Some(options.connect_timeout))
        .post_create(Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
        }))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Configuration(error.to_string()))
}

/// Connects all writers before the first one works, so that a wrong address fails at the start.
async fn start_writers(
    options: &Arc<PostgresOptions>,
    connector: &Connector,
    queue: &Arc<Queue>,
    common: &Common,
) -> Result<Vec<JoinHandle<()>>, StoreError> {
    let count = i64::try_from(options.writers).unwrap_or(i64::MAX);
    if !(1..=STRIPES_PER_NODE).contains(&count) {
        return Err(StoreError::Configuration(format!("there must be 1 to {STRIPES_PER_NODE} writers")));
    }
    if !(0..=NODE_STRIPE_MAX).contains(&options.node_stripe) {
        return Err(StoreError::Configuration(format!("a node has a number from 0 to {NODE_STRIPE_MAX}")));
    }
    let connected = Arc::new(AtomicUsize::new(0));
    let turns = Arc::new(Semaphore::new(options.turns(queue.groups())));
    let writers: Vec<Writer> = (0..count)
        .map(|index| Writer {
            connector: connector.clone(),
            options: Arc::clone(options),
            stripe: options.node_stripe * STRIPES_PER_NODE + index,
            queue: Arc::clone(queue),
            turns: Arc::clone(&turns),
            connected: Arc::clone(&connected),
            commits: Arc::clone(&common.commits),
        })
        .collect();
    let sessions = try_join_all(writers.iter().map(Writer::connect)).await.map_err(failure::not_opened)?;
    Ok(writers.into_iter().zip(sessions).map(|(writer, session)| tokio::spawn(writer.run(session))).collect())
}
