//! The parts of the database: which one has an account, and whether it can be reached.
//!
//! Of a distributed database each worker is a part, which is looked at every second. While one cannot be reached, its accounts are
//! refused at once, and what looks over all accounts looks over the others: a query that needs every worker would wait for that one.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::join_all;
use regente_domain::id::{ClientId, Id};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_postgres::Row;
use uuid::Uuid;

use super::failure;
use super::link::Link;
use super::options::PostgresOptions;
use super::part::{Part, Source};
use super::reach;
use super::shards::Shards;
use super::worker::{Route, Worker};
use crate::error::StoreError;
use crate::value::Value;

/// How often each worker is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Where the shards of the tables of accounts lie: all these tables are divided alike.
const SHARDS: &str = "
    SELECT shardmaxvalue::int4, groupid, nodename, nodeport, isactive AND hasmetadata AND metadatasynced
    FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
    WHERE logicalrelid = 'jobs'::regclass AND shardstate = 1 AND noderole = 'primary'";
/// Every server has them whole, the coordinator too.
const ACCOUNTS: &str = "SELECT id FROM clients";

/// The parts of a database.
pub(super) struct Parts {
    /// What has no account, and what looks over all of them. The only part of a database on one server.
    pub(super) everywhere: Arc<Part>,
    /// What every server has whole.
    whole: Option<Arc<Part>>,
    /// Of a distributed database, with the task that looks at them.
    workers: Option<(Arc<Workers>, JoinHandle<()>)>,
}

/// The workers of a distributed database.
struct Workers {
    source: Source,
    everywhere: Arc<Part>,
    whole: Arc<Part>,
    coordinator: Link,
    shards: RwLock<Shards<Arc<Worker>>>,
    /// The accounts of those that can be reached; absent while all can.
    reachable: RwLock<Option<Arc<Vec<Value>>>>,
}

impl Parts {
    pub(super) async fn open(source: Source, is_distributed: bool) -> Result<Self, StoreError> {
        let everywhere = Arc::new(Part::open(&source).await?);
        if !is_distributed {
            return Ok(Self { everywhere, whole: None, workers: None });
        }
        let few = PostgresOptions { writers: 1, pool_size: 1, ..(*source.options).clone() };
        let whole = Arc::new(Part::open(&Source { options: Arc::new(few), ..source.clone() }).await?);
        let workers = Arc::new(Workers {
            coordinator: Link::new(&source.connector),
            source,
            everywhere: Arc::clone(&everywhere),
            whole: Arc::clone(&whole),
            shards: RwLock::new(Shards::new(vec![])),
            reachable: RwLock::new(None),
        });
        workers.find_shards().await?;
        workers.require_one()?;
        workers.find_reachable().await?;
        let watching = Arc::clone(&workers);
        let watcher = tokio::spawn(async move { watching.watch().await });
        Ok(Self { everywhere, whole: Some(whole), workers: Some((workers, watcher)) })
    }

    /// Whether workers of a distributed database are parts of their own.
    pub(super) const fn are_several(&self) -> bool {
        self.workers.is_some()
    }

    fn workers(&self) -> Option<&Workers> {
        self.workers.as_ref().map(|(workers, _)| &**workers)
    }

    /// The part that has an account; without one, that of all.
    pub(super) fn of(&self, client_id: Option<ClientId>) -> Arc<Part> {
        let worker = client_id.and_then(|client_id| self.workers()?.of(client_id));
        worker.map_or_else(|| Arc::clone(&self.everywhere), |worker| Arc::clone(&worker.part))
    }

    /// The part that writes what every server has whole; `None` on one server. Such a commit takes as long as the slowest of them, so no
    /// other shares it or waits for it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] while one of them cannot be reached.
    pub(super) fn whole(&self) -> Result<Option<&Part>, StoreError> {
        match &self.whole {
            Some(_) if !self.lost().is_empty() => Err(reach::lost()),
            whole => Ok(whole.as_deref()),
        }
    }

    /// The accounts that what looks over all of them is limited to; `None` while there is no limit.
    pub(super) fn reachable(&self) -> Option<Arc<Vec<Value>>> {
        read(&self.workers()?.reachable).clone()
    }

    pub(super) fn can_reach(&self, client_id: ClientId) -> bool {
        let worker = self.workers().and_then(|workers| workers.of(client_id));
        worker.is_none_or(|worker| !worker.is_lost())
    }

    /// The numbers of the workers that cannot be reached, be it by the coordinator alone.
    pub(super) fn lost(&self) -> Vec<i32> {
        self.numbers_of(Worker::is_left_out)
    }

    /// The numbers of the workers of which some accounts are refused or wait for long: that are lost, slow, or have no room on the disk.
    pub(super) fn failing(&self) -> Vec<i32> {
        self.numbers_of(Worker::is_failing)
    }

    fn numbers_of(&self, belongs: impl Fn(&Worker) -> bool) -> Vec<i32> {
        let Some(workers) = self.workers() else { return vec![] };
        let all = workers.all();
        all.iter().filter(|worker| belongs(worker)).map(|worker| worker.number).collect()
    }

    pub(super) async fn close(&self) {
        if let Some((workers, watcher)) = &self.workers {
            watcher.abort();
            for worker in workers.all() {
                worker.close().await;
            }
            workers.coordinator.close().await;
        }
        if let Some(whole) = &self.whole {
            whole.close().await;
        }
        self.everywhere.close().await;
    }
}

/// Ends the look at the workers, which would keep their connections.
impl Drop for Parts {
    fn drop(&mut self) {
        if let Some((_, watcher)) = &self.workers {
            watcher.abort();
        }
    }
}

/// Where a shard lies.
struct Place {
    /// The last hash of an account of the shard.
    last_hash: i32,
    worker: i32,
    route: Route,
}

impl Place {
    /// Of a row of [`SHARDS`]. The coordinator has to pass on what is of a worker that does not know where all tables lie.
    fn of(row: &Row, connects_to_workers: bool) -> Result<Self, tokio_postgres::Error> {
        let port: i32 = row.try_get(3)?;
        let route = match connects_to_workers && row.try_get(4)? {
            // The extension takes no other ports.
            true => Route::Straight(row.try_get(2)?, port.try_into().unwrap_or_default()),
            false => Route::ThroughCoordinator,
        };
        Ok(Self { last_hash: row.try_get(0)?, worker: row.try_get(1)?, route })
    }
}

impl Workers {
    fn of(&self, client_id: ClientId) -> Option<Arc<Worker>> {
        read(&self.shards).of(client_id).cloned()
    }

    /// Each worker with shards, once.
    fn all(&self) -> Vec<Arc<Worker>> {
        let shards = read(&self.shards);
        let by_number: BTreeMap<i32, &Arc<Worker>> =
            shards.servers().map(|worker| (worker.number, worker)).collect();
        by_number.into_values().cloned().collect()
    }

    /// Reads where shards lie, and connects to workers that are new or have another address.
    async fn find_shards(&self) -> Result<(), StoreError> {
        let rows = self.coordinator.rows(SHARDS, &[]).await?;
        let is_straight = self.source.options.connects_to_workers;
        let places = rows.iter().map(|row| Place::of(row, is_straight));
        let places = places.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut workers: BTreeMap<i32, Arc<Worker>> =
            self.all().into_iter().map(|worker| (worker.number, worker)).collect();
        let shards = Shards::new(places.iter().map(|place| (place.last_hash, place)).collect());
        let is_new =
            |place: &Place| workers.get(&place.worker).is_none_or(|known| known.route != place.route);
        // One for each worker, which has many shards.
        let new: BTreeMap<i32, (ClientId, &Place)> = shards
            .examples()
            .filter(|(_, place)| is_new(place))
            .map(|(example, place)| (place.worker, (example, *place)))
            .collect();
        let opened = join_all(new.into_values().map(async |(example, place)| {
            Worker::open(place.worker, place.route.clone(), &self.source, example).await
        }));
        let (mut replaced, mut failed) = (Vec::new(), Ok(()));
        for opened in opened.await {
            match opened {
                Ok(worker) => replaced.extend(workers.insert(worker.number, Arc::new(worker))),
                // The others are used all the same.
                Err(error) => failed = Err(error),
            }
        }
        let of = |place: &Place| Some((place.last_hash, Arc::clone(workers.get(&place.worker)?)));
        let shards = Shards::new(places.iter().filter_map(of).collect());
        *self.shards.write().unwrap_or_else(PoisonError::into_inner) = shards;
        // A standby that has taken the place of a worker has another address: nothing more may reach the old one.
        replaced.iter().for_each(|worker| worker.retire());
        failed
    }

    /// That no worker can be used at the start is a matter of addresses or of passwords, rather than of servers that are away.
    fn require_one(&self) -> Result<(), StoreError> {
        let all = self.all();
        let are_lost = !all.is_empty() && all.iter().all(|worker| worker.is_lost());
        if self.source.options.connects_to_workers && are_lost {
            return Err(StoreError::unavailable(
                "no worker of the database can be used at the address that the coordinator has for it, as the log says; where \
                 these addresses lead elsewhere from here, set `database.postgres_connect_to_workers = false`",
            ));
        }
        Ok(())
    }

    async fn watch(&self) {
        loop {
            sleep(LOOK_EVERY).await;
            self.look().await;
        }
    }

    async fn look(&self) {
        let is_coordinator_asked = noted("where shards lie was not read", self.find_shards().await);
        let examples: BTreeMap<i32, (ClientId, Arc<Worker>)> = {
            let shards = read(&self.shards);
            shards.examples().map(|(id, worker)| (worker.number, (id, Arc::clone(worker)))).collect()
        };
        let looks = examples.values().map(|(id, worker)| worker.look(*id, is_coordinator_asked));
        if join_all(looks).await.into_iter().any(|is_lost| is_lost) {
            self.everywhere.reach.interrupt();
            self.whole.reach.interrupt();
        }
        noted("the accounts that can be reached were not read", self.find_reachable().await);
    }

    /// Limits what looks over all accounts to those of the workers that can be reached.
    async fn find_reachable(&self) -> Result<(), StoreError> {
        let reachable = if self.all().iter().any(|worker| worker.is_left_out()) {
            Some(Arc::new(self.reachable_accounts().await?))
        } else {
            None
        };
        *self.reachable.write().unwrap_or_else(PoisonError::into_inner) = reachable;
        Ok(())
    }

    async fn reachable_accounts(&self) -> Result<Vec<Value>, StoreError> {
        let rows = self.coordinator.rows(ACCOUNTS, &[]).await?;
        let ids = rows.iter().map(|row| row.try_get::<_, Value>(0));
        let mut accounts = ids.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        // The deployment has no row among the accounts.
        accounts.push(Value::Uuid(Uuid::nil()));
        let shards = read(&self.shards);
        accounts.retain(|account| match account {
            Value::Uuid(id) => shards.of(Id::new(*id)).is_none_or(|worker| !worker.is_left_out()),
            Value::Null | Value::Int(_) | Value::Text(_) | Value::Json(_) | Value::Blob(_) => false,
        });
        Ok(accounts)
    }
}

/// Whether it succeeded; if not, the log says why. The next look tries again.
fn noted(what: &'static str, result: Result<(), StoreError>) -> bool {
    if let Err(error) = &result {
        tracing::warn!(error = error as &dyn std::error::Error, "{what}");
    }
    result.is_ok()
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    failure::store_error("workers", error)
}
