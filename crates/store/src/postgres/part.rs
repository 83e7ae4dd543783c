//! The connections for what lies together: a pool for reads, and a few that write commit groups. A database on one server is one part.
//! A distributed one has a part for each worker, so that a worker that hangs or is slow keeps nobody else's connections, and one for
//! what concerns all accounts.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::future::try_join_all;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::connector::Connector;
use super::failure;
use super::options::{PostgresOptions, STRIPES_PER_NODE};
use super::plan_cache::PlanCache;
use super::query::Query;
use super::queue::Queue;
use super::reach::{Reach, lost};
use super::session::Session;
use super::writer::Writer;
use crate::batch::Batch;
use crate::driver::CommitCounts;
use crate::error::{Commit, StoreError};
use crate::group::Work;
use crate::placement::Placement;
use crate::row::Row;
use crate::sql::DatabaseKind;

/// Largest node number: stripes still fit a 64-bit integer.
const NODE_STRIPE_MAX: i64 = 1 << 40;

/// What the connections of a part are made from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) options: Arc<PostgresOptions>,
    pub(super) connector: Connector,
    pub(super) placement: Placement,
    pub(super) plan_cache: PlanCache,
    pub(super) commits: Arc<CommitCounts>,
}

/// The connections of one part.
pub(super) struct Part {
    pub(super) reach: Arc<Reach>,
    pool: Pool,
    queue: Arc<Queue>,
    writers: Mutex<Vec<JoinHandle<()>>>,
}

/// Ends the writers of a part that is dropped without being closed.
impl Drop for Part {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Part {
    /// Connects all writers before the first one works, so that a wrong address fails at the start.
    pub(super) async fn open(source: &Source) -> Result<Self, StoreError> {
        let (part, writers) = Self::prepare(source)?;
        let sessions =
            try_join_all(writers.iter().map(Writer::connect)).await.map_err(failure::not_opened)?;
        part.start(writers.into_iter().zip(sessions.into_iter().map(Some)));
        Ok(part)
    }

    /// A part whose server is away: its writers connect once they can.
    pub(super) fn open_lost(source: &Source) -> Result<Self, StoreError> {
        let (part, writers) = Self::prepare(source)?;
        part.start(writers.into_iter().map(|writer| (writer, None)));
        Ok(part)
    }

    fn prepare(source: &Source) -> Result<(Self, Vec<Writer>), StoreError> {
        let pool = pool(source)?;
        let (queue, reach) = (Arc::new(Queue::default()), Arc::new(Reach::new()));
        let writers = writers(source, &queue, &reach)?;
        Ok((Self { reach, pool, queue, writers: Mutex::default() }, writers))
    }

    fn start(&self, writers: impl Iterator<Item = (Writer, Option<Session>)>) {
        let started = writers.map(|(writer, session)| tokio::spawn(writer.run(session)));
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).extend(started);
    }

    pub(super) async fn apply(&self, batch: Batch) -> Result<Commit, StoreError> {
        let (work, answer) = Work::bind(DatabaseKind::Postgres, batch)?;
        if self.reach.is_lost() {
            return Err(lost());
        }
        self.queue.push(work)?;
        // A writer that ended without an answer may have committed.
        answer.await.unwrap_or(Ok(Commit::Unknown))
    }

    /// A connection of the pool.
    pub(super) async fn reader(&self) -> Result<Object, StoreError> {
        self.pool.get().await.map_err(StoreError::unavailable)
    }

    /// The rows of a query, waited for no longer than the part can be reached.
    pub(super) async fn rows(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let client = self.reader().await?;
        let rows = self.reach.during(query.run(&client)).await;
        rows.unwrap_or_else(|| Err(given_up(client)))
    }

    /// The rows of two queries, sent together.
    pub(super) async fn rows_of_both(
        &self,
        first: &Query,
        second: &Query,
    ) -> Result<(Vec<Row>, Vec<Row>), StoreError> {
        let client = self.reader().await?;
        let both = self.reach.during(Query::run_both(first, second, &client)).await;
        both.unwrap_or_else(|| Err(given_up(client)))
    }

    pub(super) async fn close(&self) {
        self.queue.close();
        let writers = std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in writers {
            if let Err(error) = writer.await {
                tracing::error!(%error, "a writer panicked");
            }
        }
        self.pool.close();
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("pool", &self.pool.status())
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

/// The end of a connection that still waits for its answer, so that nobody else has it.
fn given_up(client: Object) -> StoreError {
    drop(Object::take(client));
    lost()
}

/// The connections for reads. A query that writes is a bug on either database. The server ends a query that takes too
/// long, so that it does not keep its connection from everybody else. Every query finds its rows by an index; the
/// planner, which takes the spans of a total for many, would join them by hash and read all those of the account.
fn pool(source: &Source) -> Result<Pool, StoreError> {
    let Source { options, connector, plan_cache, .. } = source;
    let timeout_ms = options.read_timeout.as_millis().max(1);
    let settings = format!(
        "SET default_transaction_read_only = on; SET enable_hashjoin = off; SET enable_mergejoin = off;
         SET statement_timeout = {timeout_ms}; {}",
        plan_cache.setting()
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

fn writers(source: &Source, queue: &Arc<Queue>, reach: &Arc<Reach>) -> Result<Vec<Writer>, StoreError> {
    let options = &source.options;
    let count = i64::try_from(options.writers).unwrap_or(i64::MAX);
    if !(1..=STRIPES_PER_NODE).contains(&count) {
        return Err(StoreError::Configuration(format!("there must be 1 to {STRIPES_PER_NODE} writers")));
    }
    if !(0..=NODE_STRIPE_MAX).contains(&options.node_stripe) {
        return Err(StoreError::Configuration(format!("a node has a number from 0 to {NODE_STRIPE_MAX}")));
    }
    let connected = Arc::new(AtomicUsize::new(0));
    let turns = Arc::new(Semaphore::new(options.writers.div_ceil(2)));
    let writers = (0..count)
        .map(|index| Writer {
            source: source.clone(),
            stripe: options.node_stripe * STRIPES_PER_NODE + index,
            queue: Arc::clone(queue),
            turns: Arc::clone(&turns),
            connected: Arc::clone(&connected),
            reach: Arc::clone(reach),
        })
        .collect();
    Ok(writers)
}
