//! The store on PostgreSQL, on one server or distributed over several.

mod connector;
mod distribute;
mod failure;
mod layout;
mod link;
mod migrate;
pub(crate) mod moving;
mod options;
mod part;
mod parts;
mod plan_cache;
mod query;
mod queue;
mod reach;
mod session;
mod shards;
mod stages;
mod values;
mod worker;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::Object;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

pub use distribute::Distributing;
pub use layout::{Layout, Server};
pub use options::{PostgresOptions, Transport};
#[cfg(feature = "testing")]
pub(crate) use shards::hash as hash_of_account;

use self::connector::Connector;
use self::part::Source;
use self::parts::Parts;
use self::plan_cache::PlanCache;
use self::query::Query;
use crate::batch::Batch;
use crate::driver::{Common, StoreSize};
use crate::error::{Commit, StoreError};
use crate::migrate::{Applied, MIGRATIONS, Migration};
use crate::moving::mark::{self, Moving};
use crate::row::Row;
use crate::sql::Sql;
use crate::value::Args;

const DATABASE_SIZE: &str = "SELECT pg_database_size(current_database())";
/// The size on all servers that can be reached.
const DISTRIBUTED_SIZE: &str = "
    SELECT SUM(result::int8)::int8
    FROM run_command_on_all_nodes('SELECT pg_database_size(current_database())') WHERE success";

/// A store on a PostgreSQL server. Cheap to clone.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

struct Inner {
    common: Common,
    connector: Connector,
    parts: Parts,
    /// What was measured last, for while a worker is lost.
    last_size: Mutex<StoreSize>,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore")
            .field("everywhere", &self.inner.parts.everywhere)
            .finish_non_exhaustive()
    }
}

impl PostgresStore {
    pub(crate) async fn open(options: PostgresOptions) -> Result<Self, StoreError> {
        let options = Arc::new(options);
        let connector = Connector::new(&options)?;
        let is_distributed = {
            let (client, _moving) = connector.connect().await.map_err(failure::not_opened)?;
            distribute::is_distributed(&client).await?
        };
        let common = Common::new(options.room);
        let source = Source {
            placement: options.placement(is_distributed),
            plan_cache: PlanCache::Kept,
            options,
            connector: connector.clone(),
            commits: Arc::clone(&common.commits),
        };
        let parts = Parts::open(source, is_distributed).await?;
        Ok(Self { inner: Arc::new(Inner { common, connector, parts, last_size: Mutex::default() }) })
    }

    pub(crate) async fn apply(&self, batch: Batch) -> Result<Commit, StoreError> {
        let parts = &self.inner.parts;
        if batch.writes_whole()
            && let Some(whole) = parts.whole()?
        {
            return whole.apply(batch).await;
        }
        parts.of(Some(batch.client_id())).apply(batch).await
    }

    /// Applies a batch about tables that have no accounts.
    pub(crate) async fn apply_everywhere(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.inner.parts.everywhere.apply(batch).await
    }

    pub(crate) async fn rows(&self, sql: &'static Sql, args: Args) -> Result<Vec<Row>, StoreError> {
        let (parts, client_id) = (&self.inner.parts, args.client_id());
        let accounts = if client_id.is_none() { parts.reachable() } else { None };
        parts.of(client_id).rows(&Query::new(sql, args, accounts)?).await
    }

    pub(crate) async fn rows_of_both(
        &self,
        first: (&'static Sql, Args),
        second: (&'static Sql, Args),
    ) -> Result<(Vec<Row>, Vec<Row>), StoreError> {
        let part = self.inner.parts.of(first.1.client_id());
        let (first, second) = (Query::new(first.0, first.1, None)?, Query::new(second.0, second.1, None)?);
        part.rows_of_both(&first, &second).await
    }

    /// A connection of the pool.
    pub(crate) async fn reader(&self) -> Result<Object, StoreError> {
        self.inner.parts.everywhere.reader().await
    }

    /// Whether the server of an account can be reached, as far as is known.
    pub(crate) fn can_reach(&self, client_id: ClientId) -> bool {
        self.inner.parts.can_reach(client_id)
    }

    pub(crate) fn is_distributed(&self) -> bool {
        self.inner.parts.are_several()
    }

    /// The workers that cannot be reached.
    pub(crate) fn lost_workers(&self) -> Vec<i32> {
        self.inner.parts.lost()
    }

    pub(crate) fn leaves_accounts_out(&self) -> bool {
        self.inner.parts.reachable().is_some()
    }

    /// The workers that are lost, slow, or have no room on the disk.
    pub(crate) fn failing_workers(&self) -> Vec<i32> {
        self.inner.parts.failing()
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

    /// What a move has to do with this database.
    pub(crate) async fn moving(&self) -> Result<Option<Moving>, StoreError> {
        moving::moving(&*self.reader().await?).await
    }

    /// Removes a mark of a move.
    pub(crate) async fn drop_mark(&self, mark: &'static str) -> Result<(), StoreError> {
        let (client, task) = self.connect().await?;
        let ended = client.batch_execute(mark).await;
        drop(client);
        // The task has logged how it ended.
        drop(task.await);
        ended.map_err(|error| failure::store_error(mark::TABLE, error))
    }

    pub(crate) async fn size(&self) -> Result<StoreSize, StoreError> {
        let size = match (self.inner.parts.are_several(), self.lost_workers().is_empty()) {
            (false, _) => DATABASE_SIZE,
            (true, true) => DISTRIBUTED_SIZE,
            // The extension would wait for it.
            (true, false) => return Ok(*self.inner.last_size.lock().unwrap_or_else(PoisonError::into_inner)),
        };
        let row = self.reader().await?.query_one(size, &[]).await;
        let bytes: i64 = row
            .and_then(|row| row.try_get(0))
            .map_err(|error| failure::store_error("pg_database_size", error))?;
        let size = StoreSize { database_bytes: bytes.try_into().unwrap_or(0), wal_bytes: None };
        *self.inner.last_size.lock().unwrap_or_else(PoisonError::into_inner) = size;
        Ok(size)
    }

    pub(crate) async fn close(&self) {
        self.inner.parts.close().await;
    }

    pub(crate) fn common(&self) -> &Common {
        &self.inner.common
    }
}
