//! The distributed database of the tests: a coordinator and its workers, which `scripts/distributed` starts.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use futures_util::future::join_all;

use super::administrator::{Administrator, connected};
use super::proxy::Proxy;
use super::server::{FreshDatabase, KEEP_UNCOMPRESSED};
use super::{TEST_TIME, run_script};
use crate::postgres::PostgresOptions;
use crate::store::{Store, StoreOptions};

/// The variable with the ports of the servers, the coordinator's first, by spaces.
const PORTS: &str = "CLUSTER_PORTS";

/// Shards of each table, few of them: each is a file of a database that every test has for itself.
const SHARDS: u32 = 4;

/// The servers. A database has the same name on each of them.
#[derive(Debug)]
pub(super) struct Cluster {
    ports: Vec<u16>,
    administrators: Vec<Administrator>,
    databases: AtomicU64,
    ended: Mutex<Vec<String>>,
}

impl Cluster {
    /// The cluster that the tests run on; `None` where they run on one server.
    pub(super) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(|| std::env::var(PORTS).ok().map(|ports| Self::with_template(&ports))).as_ref()
    }

    /// Creates a database that is migrated and distributed.
    pub(super) async fn fresh_database(&self) -> FreshDatabase {
        let name = self.next_name();
        let ended = std::mem::take(&mut *self.ended.lock().expect("nobody panics with it"));
        let drops = ended.iter().map(|ended| format!("DROP DATABASE IF EXISTS {ended} WITH (FORCE)"));
        let drops: Vec<String> = drops.collect();
        // One stays with the cluster where the extension's own process does not leave it in time.
        join_all(self.administrators.iter().map(|administrator| administrator.attempt(drops.clone()))).await;
        let create = format!("CREATE DATABASE {name} TEMPLATE {} STRATEGY file_copy", template());
        self.everywhere(vec![create]).await;
        FreshDatabase::of_cluster(url(self.ports[0], &name), name)
    }

    /// Creates a database with the extension and its workers, and nothing else.
    pub(super) async fn empty_database(&self) -> FreshDatabase {
        let name = self.next_name();
        self.make(&name, &self.ports[1..]).await;
        FreshDatabase::of_cluster(url(self.ports[0], &name), name)
    }

    /// The same, whose workers are reached through proxies.
    pub(super) async fn empty_database_behind_proxies(&self) -> (FreshDatabase, Vec<Proxy>) {
        let name = self.next_name();
        let behind = self.ports[1..].iter().map(async |port| Proxy::before_port(*port).await);
        let (proxies, ports): (Vec<_>, Vec<_>) = join_all(behind).await.into_iter().unzip();
        self.make(&name, &ports).await;
        (FreshDatabase::of_cluster(url(self.ports[0], &name), name), proxies)
    }

    pub(super) fn port_of(&self, worker: i32) -> u16 {
        self.ports[usize::try_from(worker).expect("a number of a worker")]
    }

    /// Lets a worker keep what is made in a database from now on in a folder.
    pub(super) async fn put_on(&self, worker: i32, database: &str, folder: &Path) {
        let folder = folder.display();
        let worker = usize::try_from(worker).expect("a number of a worker");
        let statements = vec![
            format!("CREATE TABLESPACE {database} LOCATION '{folder}'"),
            format!("ALTER DATABASE {database} SET default_tablespace = {database}"),
        ];
        self.administrators[worker].run(statements).await;
    }

    /// Removes a database from a worker that keeps it in a folder.
    pub(super) async fn remove_from(&self, worker: i32, database: &str) {
        let worker = usize::try_from(worker).expect("a number of a worker");
        let statements =
            vec![format!("DROP DATABASE {database} WITH (FORCE)"), format!("DROP TABLESPACE {database}")];
        self.administrators[worker].run(statements).await;
    }

    /// Takes back a database whose test has ended.
    pub(super) fn ended(&self, name: String) {
        self.ended.lock().expect("nobody panics with it").push(name);
    }

    fn with_template(ports: &str) -> Self {
        let ports: Vec<u16> = ports.split_whitespace().map(|port| port.parse().expect("a port")).collect();
        let administrators = ports.iter().map(|port| Administrator::at(url(*port, "postgres"))).collect();
        let cluster = Self { ports, administrators, databases: AtomicU64::new(0), ended: Mutex::default() };
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(cluster.make_template());
            });
            made.join().expect("the template is made");
        });
        cluster
    }

    async fn make_template(&self) {
        let name = template();
        self.make(&name, &self.ports[1..]).await;
        let mut options = PostgresOptions::new(url(self.ports[0], &name));
        options.writers = 1;
        let store = Store::open(StoreOptions::Postgres(options)).await.expect("the template opens");
        store.migrate(TEST_TIME).await.expect("the template is migrated");
        run_script(&store, KEEP_UNCOMPRESSED).await.expect("the template keeps values as they are");
        store.distribute(&|_| ()).await.expect("the template is distributed");
        store.close().await;
        // Nobody may be connected to what is copied: neither the extension's own worker nor the connections that it keeps.
        let leave =
            format!("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'");
        self.everywhere(vec![format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"), leave]).await;
    }

    /// Creates a database whose workers the coordinator reaches at these ports.
    async fn make(&self, name: &str, workers: &[u16]) {
        self.everywhere(vec![
            format!("CREATE DATABASE {name}"),
            format!("ALTER DATABASE {name} SET citus.shard_count = {SHARDS}"),
        ])
        .await;
        for port in &self.ports {
            let client = connected(&url(*port, name)).await;
            client.batch_execute("CREATE EXTENSION citus").await.expect("the extension is installed");
        }
        let coordinator = connected(&url(self.ports[0], name)).await;
        let host = format!("SELECT citus_set_coordinator_host('127.0.0.1', {})", self.ports[0]);
        let nodes = workers.iter().map(|port| format!("SELECT citus_add_node('127.0.0.1', {port})"));
        for statement in [host].into_iter().chain(nodes) {
            coordinator.batch_execute(&statement).await.expect("the cluster takes its nodes");
        }
    }

    /// Runs statements on each server.
    async fn everywhere(&self, statements: Vec<String>) {
        join_all(self.administrators.iter().map(|administrator| administrator.run(statements.clone()))).await;
    }

    /// Processes of tests that follow one another have names of their own.
    fn next_name(&self) -> String {
        format!("test_{}_{}", std::process::id(), self.databases.fetch_add(1, Ordering::Relaxed))
    }
}

fn template() -> String {
    format!("template_{}", std::process::id())
}

fn url(port: u16, database: &str) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/{database}")
}
