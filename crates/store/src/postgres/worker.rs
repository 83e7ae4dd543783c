//! A worker of a distributed database: the connections for its accounts, and whether it answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use regente_domain::id::ClientId;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::connector::Connector;
use super::failure;
use super::part::{Part, Source};
use super::plan_cache::PlanCache;
use crate::error::StoreError;
use crate::value::Value;

/// How long a worker may take to answer a look.
pub(super) const LOOK_MAX: Duration = Duration::from_secs(2);
/// How many looks in a row a worker fails before it counts as lost.
const FAILED_LOOKS: u32 = 2;

/// A read that the server of an account answers.
pub(super) const LOOK: &str = "SELECT id FROM jobs WHERE client_id = $1 LIMIT 1";
/// The number of the server that is connected to, and how many shards it knows.
const IDENTITY: &str = "
    SELECT groupid, (SELECT COUNT(*) FROM pg_dist_shard WHERE logicalrelid = to_regclass('jobs'))
    FROM pg_dist_local_group";

#[derive(Debug)]
pub(super) struct Worker {
    /// Its number in the extension's catalogs (`groupid`).
    pub(super) number: i32,
    pub(super) part: Arc<Part>,
    /// Each way to it, which all must be open: statements over all accounts go through the coordinator.
    ways: Vec<Way>,
    failed_looks: AtomicU32,
}

impl Worker {
    /// A worker whose statements the coordinator passes on, with an account id of its own. One that is away is lost from the start.
    pub(super) async fn through_coordinator(
        number: i32,
        coordinator: &Source,
        example: ClientId,
    ) -> Result<Self, StoreError> {
        let part = Part::open(coordinator).await?;
        let worker = Self::new(number, part, vec![Way::new(&coordinator.connector)]);
        if let Err(error) = worker.answers(example).await {
            worker.lose(&error);
        }
        Ok(worker)
    }

    /// The same for a worker that is connected to.
    pub(super) async fn straight(
        number: i32,
        coordinator: &Source,
        (host, port): (&str, u16),
        example: ClientId,
    ) -> Result<Self, StoreError> {
        let connector = coordinator.connector.to(host, port)?;
        let mut source = Source { connector: connector.clone(), ..coordinator.clone() };
        let ways = vec![Way::new(&coordinator.connector), Way::new(&connector)];
        let asked = timeout(source.options.connect_timeout, ask(&connector, example)).await;
        match asked.map_err(StoreError::unavailable).flatten() {
            Ok(Asked { number: found, shards: 1.., plan_cache }) if found == number => {
                if plan_cache == PlanCache::Off {
                    tracing::warn!(
                        number,
                        "this worker's release of the extension would keep a plan for each execution of a statement, so it plans each \
                         one; a later release costs less processor"
                    );
                }
                source.plan_cache = plan_cache;
                Ok(Self::new(number, Part::open(&source).await?, ways))
            }
            Ok(_) => Err(StoreError::Configuration(format!(
                "{host}:{port} is not worker {number} of the database, or does not know its tables; where the coordinator's \
                 addresses lead elsewhere from here, set `database.postgres_connect_to_workers = false`"
            ))),
            Err(error) => {
                // What it allows is not known.
                source.plan_cache = PlanCache::Off;
                let worker = Self::new(number, Part::open_lost(&source)?, ways);
                worker.lose(&error);
                Ok(worker)
            }
        }
    }

    fn new(number: i32, part: Part, ways: Vec<Way>) -> Self {
        Self { number, part: Arc::new(part), ways, failed_looks: AtomicU32::new(0) }
    }

    /// Whether it is lost by this look, which reads of an account that it has.
    pub(super) async fn look(&self, client_id: ClientId) -> bool {
        match self.answers(client_id).await {
            Ok(()) => {
                self.failed_looks.store(0, Ordering::Relaxed);
                if self.part.reach.is_lost() {
                    tracing::info!(number = self.number, "a worker of the database is reached again");
                    self.part.reach.find();
                }
                false
            }
            Err(error) => {
                let failed = self.failed_looks.fetch_add(1, Ordering::Relaxed) + 1;
                let is_lost = failed >= FAILED_LOOKS && !self.part.reach.is_lost();
                if is_lost {
                    self.lose(&error);
                }
                is_lost
            }
        }
    }

    async fn answers(&self, client_id: ClientId) -> Result<(), StoreError> {
        for way in &self.ways {
            way.answers(client_id).await?;
        }
        Ok(())
    }

    fn lose(&self, error: &StoreError) {
        let (number, error) = (self.number, error as &dyn std::error::Error);
        tracing::error!(
            number,
            error,
            "a worker of the database cannot be reached: its accounts are refused"
        );
        self.part.reach.lose();
    }
}

/// A way to a worker, with a connection of its own: those of the pool may all be busy.
struct Way {
    connector: Connector,
    connection: Mutex<Option<Client>>,
}

impl Way {
    fn new(connector: &Connector) -> Self {
        Self { connector: connector.clone(), connection: Mutex::new(None) }
    }

    /// Reads from the server of an account. A connection that fails or hangs is closed.
    async fn answers(&self, client_id: ClientId) -> Result<(), StoreError> {
        let mut connection = self.connection.lock().await;
        let known = connection.take().filter(|known| !known.is_closed());
        let asked = async {
            let client = match known {
                Some(known) => known,
                None => self.connector.connect().await?.0,
            };
            client.query_opt(LOOK, &[&Value::from(client_id)]).await?;
            Ok(client)
        };
        match timeout(LOOK_MAX, asked).await {
            Ok(Ok(client)) => {
                *connection = Some(client);
                Ok(())
            }
            Ok(Err(error)) => Err(failed(error)),
            Err(elapsed) => Err(StoreError::unavailable(elapsed)),
        }
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").finish_non_exhaustive()
    }
}

/// What a server says that is taken for a worker.
struct Asked {
    number: i32,
    /// How many shards of a table of accounts it knows, wherever they lie.
    shards: i64,
    plan_cache: PlanCache,
}

async fn ask(connector: &Connector, example: ClientId) -> Result<Asked, StoreError> {
    let identity = async {
        let (client, _moving) = connector.connect().await?;
        let row = client.query_one(IDENTITY, &[]).await?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    };
    let (number, shards) = identity.await.map_err(failed)?;
    // A server that knows no tables cannot read of them.
    let plan_cache = match shards {
        0 => PlanCache::Off,
        _ => PlanCache::of(connector, example).await?,
    };
    Ok(Asked { number, shards, plan_cache })
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    failure::store_error("workers", error)
}
