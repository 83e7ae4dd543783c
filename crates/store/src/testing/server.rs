//! The PostgreSQL server of the tests: started on first use, ended with the process.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use tokio_postgres::Client;

use super::administrator::{Administrator, connected};
use super::cluster::Cluster;
use super::proxy::Proxy;
use super::{ReservedPort, TEST_TIME, folder, run_script};
use crate::postgres::PostgresOptions;
use crate::store::{Store, StoreOptions};

const WORKER_OF: &str = "
    SELECT groupid FROM pg_dist_placement
    WHERE shardid = get_shard_id_for_distribution_column('jobs', $1::text::uuid)";

const MOVE_WORKER: &str = "
    SELECT citus_update_node(nodeid, '127.0.0.1', $2, force => true) FROM pg_dist_node WHERE groupid = $1";

/// Connections that the test server allows.
const CONNECTIONS_MAX: u32 = 300;

/// A PostgreSQL server for this test process only.
#[derive(Debug)]
pub struct TestPostgres {
    port: ReservedPort,
    /// The folder of its data, log and socket.
    folder: PathBuf,
    durability: Durability,
    databases: AtomicU64,
    /// Databases whose tests have ended. Whoever needs a new one drops them, so that a run leaves no thousands.
    ended: Mutex<Vec<String>>,
    administrator: Administrator,
    /// What makes the copy of a template a copy of files: read and written page by page it takes ten times the processor.
    by_files: OnceLock<&'static str>,
    /// Ends the server when this process ends in any way: it waits for the end of its input.
    _watchdog: Child,
}

/// A database of the shared server, or of the shared cluster, which goes some time after its test has ended.
#[derive(Debug)]
pub struct FreshDatabase {
    url: String,
    /// `None` for a database that somebody else drops.
    name: Option<String>,
    /// Whether it is one of the cluster.
    is_distributed: bool,
}

impl FreshDatabase {
    /// A database that this process need not drop.
    pub const fn at(url: String) -> Self {
        Self { url, name: None, is_distributed: false }
    }

    pub(super) const fn of_cluster(url: String, name: String) -> Self {
        Self { url, name: Some(name), is_distributed: true }
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The number of the worker that has an account, where the database is distributed.
    ///
    /// # Panics
    /// Where it is not.
    pub async fn worker_of(&self, client_id: &str) -> i32 {
        let worker = connected(&self.url).await.query_one(WORKER_OF, &[&client_id]).await;
        worker.expect("the database is distributed").get(0)
    }

    /// Tells the coordinator that a worker is reached without a proxy from now on.
    ///
    /// # Panics
    /// Where the database is not distributed.
    pub async fn move_worker(&self, number: i32) {
        let port = Cluster::shared().expect("the database is distributed").port_of(number);
        let moved = connected(&self.url).await.execute(MOVE_WORKER, &[&number, &i32::from(port)]).await;
        moved.expect("the coordinator has such a worker");
    }

    /// Lets a worker keep this database in a folder from now on, which its server owns.
    ///
    /// # Panics
    /// Where the database is not distributed, or the folder is not empty.
    pub async fn put_worker_on(&self, number: i32, folder: &Path) {
        let name = self.name.as_ref().expect("nobody keeps it");
        Cluster::shared().expect("the database is distributed").put_on(number, name, folder).await;
    }

    /// Removes this database from a worker that kept it in a folder, which may go then.
    ///
    /// # Panics
    /// Where the database is not distributed.
    pub async fn leave_worker(&self, number: i32) {
        let name = self.name.as_ref().expect("nobody keeps it");
        Cluster::shared().expect("the database is distributed").remove_from(number, name).await;
    }

    /// Its address; the database stays as long as the server.
    pub fn keep(mut self) -> String {
        self.name = None;
        std::mem::take(&mut self.url)
    }
}

impl Drop for FreshDatabase {
    fn drop(&mut self) {
        match (self.name.take(), Cluster::shared()) {
            (Some(name), Some(cluster)) if self.is_distributed => cluster.ended(name),
            (Some(name), _) => TestPostgres::shared().ended.lock().expect("nobody panics with it").push(name),
            (None, _) => {}
        }
    }
}

impl TestPostgres {
    /// The shared server, started on first use.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<TestPostgres> = OnceLock::new();
        SHARED.get_or_init(|| {
            let server = Self::start(Durability::None);
            server.make_template();
            server
        })
    }

    /// Creates a migrated database of the shared server, or of the cluster if the tests run on one.
    pub async fn fresh_database() -> FreshDatabase {
        if let Some(cluster) = Cluster::shared() {
            return cluster.fresh_database().await;
        }
        let server = Self::shared();
        let name = server.next_name();
        let ended = std::mem::take(&mut *server.ended.lock().expect("nobody panics with it"));
        let drops = ended.iter().map(|ended| format!("DROP DATABASE {ended} WITH (FORCE)"));
        let by_files = server.by_files.get().expect("the template is made");
        let create = format!("CREATE DATABASE {name} TEMPLATE regente_template {by_files}");
        server.administrator.run(drops.chain([create]).collect()).await;
        FreshDatabase { url: server.url(&name), name: Some(name), is_distributed: false }
    }

    /// Creates a database of the cluster without tables; `None` where the tests run on one server.
    pub async fn empty_distributed_database() -> Option<FreshDatabase> {
        match Cluster::shared() {
            Some(cluster) => Some(cluster.empty_database().await),
            None => None,
        }
    }

    /// The same, with a proxy before each worker.
    pub async fn empty_distributed_database_behind_proxies() -> Option<(FreshDatabase, Vec<Proxy>)> {
        match Cluster::shared() {
            Some(cluster) => Some(cluster.empty_database_behind_proxies().await),
            None => None,
        }
    }

    /// Creates an empty database and returns its address.
    pub async fn empty_database(&self) -> String {
        let name = self.next_name();
        self.administer(&format!("CREATE DATABASE {name}")).await;
        self.url(&name)
    }

    fn next_name(&self) -> String {
        format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs a statement as a superuser, such as `pg_terminate_backend`.
    pub async fn administer(&self, statement: &str) {
        self.administrator.run(vec![statement.to_owned()]).await;
    }

    /// A connection of a superuser, which ends with the client.
    async fn administrator(&self) -> Client {
        connected(&self.url("postgres")).await
    }

    fn url(&self, database: &str) -> String {
        url(self.port(), database)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Its first process, the parent of the others.
    pub fn process_id(&self) -> u32 {
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("the server runs");
        file.lines().next().and_then(|line| line.trim().parse().ok()).expect("a process id")
    }

    /// The folder of PostgreSQL's programs, such as `pgbench`.
    pub fn programs() -> PathBuf {
        binaries()
    }

    /// A server that syncs its commits, for measuring.
    pub fn durable() -> Self {
        Self::start(Durability::Full)
    }

    /// The id of its first process, the parent of the others.
    pub fn pid(&self) -> Option<u32> {
        let lines = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        lines.lines().next()?.trim().parse().ok()
    }

    /// A server that a test may stop.
    pub fn alone() -> Self {
        Self::start(Durability::None)
    }

    /// Ends the server at once, like a crash of its host; [`TestPostgres::start_again`] starts with its recovery.
    pub fn crash(&self) {
        let (account, binaries) = (Account::of_this_process(), binaries());
        let mut stop = account.command(&binaries.join("pg_ctl"));
        stop.arg("-D").arg(self.folder.join("data")).args(["-m", "immediate", "-s", "-w", "stop"]);
        assert!(stop.status().is_ok_and(|status| status.success()), "the test server stops");
    }

    /// Starts the server again at its former address.
    pub fn start_again(&self) {
        let (account, binaries) = (Account::of_this_process(), binaries());
        let started = start_at(self.port(), &account, &binaries, &self.folder, self.durability);
        assert!(started, "the test server starts again: {}", log_of(&self.folder));
    }

    fn start(durability: Durability) -> Self {
        let binaries = binaries();
        let account = Account::of_this_process();
        let folder = match durability {
            Durability::None => folder::in_memory("regente-postgres-"),
            Durability::Full => folder::on_disk("regente-postgres-"),
        };
        account.give(folder.path());
        let data = folder.path().join("data");
        let initdb = account.command(&binaries.join("initdb")).arg("-D").arg(&data).args(INITDB).output();
        let initdb = initdb.expect("initdb runs");
        assert!(initdb.status.success(), "initdb: {}", String::from_utf8_lossy(&initdb.stderr));
        // From here on the watchdog removes the folder.
        let folder = folder.keep();
        let watchdog = watchdog(&account, &binaries, &folder);
        let port = ReservedPort::any();
        if !start_at(port.number(), &account, &binaries, &folder, durability) {
            let log = log_of(&folder);
            drop(watchdog.wait_with_output());
            panic!("the test server did not start: {log}");
        }
        let administrator = Administrator::at(url(port.number(), "postgres"));
        Self {
            port,
            folder,
            durability,
            databases: AtomicU64::new(0),
            ended: Mutex::default(),
            administrator,
            by_files: OnceLock::new(),
            _watchdog: watchdog,
        }
    }

    /// Creates the migrated template of all databases, in a thread, because the caller may be inside a runtime.
    fn make_template(&self) {
        let making = async {
            self.administer("CREATE DATABASE regente_template").await;
            let mut options = PostgresOptions::new(self.url("regente_template"));
            options.writers = 1;
            let store = Store::open(StoreOptions::Postgres(options)).await.expect("the template opens");
            store.migrate(TEST_TIME).await.expect("the template is migrated");
            run_script(&store, KEEP_UNCOMPRESSED).await.expect("the template keeps values as they are");
            store.close().await;
            let version = self.administrator().await.query_one("SHOW server_version_num", &[]).await;
            let version: String = version.expect("the test server answers").get(0);
            // Older servers copy files always.
            let is_asked = version.parse::<u32>().is_ok_and(|version| version >= 150_000);
            self.by_files.set(if is_asked { "STRATEGY file_copy" } else { "" }).expect("it is made once");
        };
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(making);
            });
            made.join().expect("the template is made");
        });
    }
}

fn url(port: u16, database: &str) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/{database}")
}

/// Whether the server started on a port.
fn start_at(port: u16, account: &Account, binaries: &Path, folder: &Path, durability: Durability) -> bool {
    let settings = format!(
        "-p {port} -k {} -c listen_addresses=127.0.0.1 -c max_connections={CONNECTIONS_MAX} {}",
        folder.display(),
        durability.settings()
    );
    let mut start = account.command(&binaries.join("pg_ctl"));
    start.args(["-w", "-s", "-l"]).arg(folder.join("log")).arg("-D").arg(folder.join("data"));
    start.arg("-o").arg(settings).arg("start").stdout(Stdio::null()).stderr(Stdio::null());
    start.status().is_ok_and(|status| status.success())
}

fn log_of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}

/// What a server keeps after a power cut.
#[derive(Clone, Copy, Debug)]
enum Durability {
    /// Nothing: tests do not cut the power.
    None,
    /// Every acknowledged commit.
    Full,
}

impl Durability {
    const fn settings(self) -> &'static str {
        match self {
            Self::None => {
                // Tests search the log of what was written while they ran, whatever checkpoints there were. Processes that start and
                // stop run each statement a few times, and the server would plan it anew each time.
                "-c fsync=off -c full_page_writes=off -c shared_buffers=64MB -c autovacuum=off \
                 -c wal_keep_size=256MB -c max_wal_size=128MB -c plan_cache_mode=force_generic_plan"
            }
            Self::Full => "-c synchronous_commit=on -c shared_buffers=512MB -c max_wal_size=4GB",
        }
    }
}

/// Tests search the server's files for card data. In a compressed value they would find none, and beside the bytes of the
/// compression four digits look like a value of their own.
pub(super) const KEEP_UNCOMPRESSED: &str = "
    DO $$
    DECLARE compressed record;
    BEGIN
        FOR compressed IN
            SELECT attrelid::regclass AS of_table, attname
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0
                AND NOT attisdropped AND attstorage IN ('x', 'm')
        LOOP
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE EXTERNAL', compressed.of_table,
                compressed.attname);
        END LOOP;
    END $$";

/// Any local process may connect, since the server holds no real data.
const INITDB: [&str; 6] = ["-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"];

/// The account that the server runs under: it refuses root.
enum Account {
    Own,
    Postgres { user_id: u32, group_id: u32 },
}

impl Account {
    fn of_this_process() -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self::Own;
        }
        let accounts = std::fs::read_to_string("/etc/passwd").expect("the accounts of this machine");
        let account = accounts.lines().find_map(|line| line.strip_prefix("postgres:"));
        let account = account.expect("the account `postgres`, which the package of PostgreSQL creates");
        // A password, the ids of the user and of its group, and further fields.
        let id = |field: usize| account.split(':').nth(field)?.parse().ok();
        let (user_id, group_id) = (id(1).expect("an id of a user"), id(2).expect("an id of a group"));
        Self::Postgres { user_id, group_id }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        match self {
            Self::Own => {}
            Self::Postgres { user_id, group_id } => {
                command.uid(*user_id).gid(*group_id);
            }
        }
        // The account may not have access to the working folder of the tests.
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    fn give(&self, folder: &Path) {
        match self {
            Self::Own => {}
            Self::Postgres { user_id, group_id } => {
                std::os::unix::fs::chown(folder, Some(*user_id), Some(*group_id))
                    .expect("root gives it away");
            }
        }
    }
}

/// A shell in its own process group, so that signals to the tests, or their crash, do not end it first.
fn watchdog(account: &Account, binaries: &Path, folder: &Path) -> Child {
    let mut shell = account.command(Path::new("sh"));
    shell.arg("-c").arg("cat >/dev/null; \"$2\" -D \"$1/data\" -m immediate -s stop; rm -rf \"$1\"");
    shell.arg("watchdog").arg(folder).arg(binaries.join("pg_ctl"));
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    shell.spawn().expect("a shell runs")
}

/// The folder of PostgreSQL's programs: the newest version in the usual folder, or the answer of `pg_config`.
fn binaries() -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = installed
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin")))
        })
        .max();
    if let Some((_, folder)) = newest {
        return folder;
    }
    let told = Command::new("pg_config").arg("--bindir").output();
    let told = told.expect("PostgreSQL is installed; `make tools` installs it");
    PathBuf::from(String::from_utf8_lossy(&told.stdout).trim())
}
