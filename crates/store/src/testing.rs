//! What the test suites of this crate and of the server share: fresh databases of both kinds. Never in production.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use regente_domain::time::Timestamp;
use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::error::StoreError;
use crate::postgres::PostgresOptions;
use crate::sql::{DatabaseKind, Sql};
use crate::sqlite::SqliteOptions;
use crate::store::{Store, StoreOptions};

/// The time at which test databases are migrated.
pub const TEST_TIME: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// Connections that the test server allows.
const CONNECTIONS_MAX: u32 = 300;
/// How often a free port may be taken by somebody else before the server starts on it.
const START_ATTEMPTS: u32 = 5;

/// A fresh database, gone when this is dropped.
#[derive(Debug)]
pub enum TestDatabase {
    /// A file in a folder of its own.
    Sqlite(TempDir),
    /// A database of the shared server, by its address.
    Postgres(String),
}

impl TestDatabase {
    /// A folder for an SQLite file, which is made when it is opened.
    pub fn fresh_sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A migrated database of the shared server.
    pub async fn fresh_postgres() -> Self {
        Self::Postgres(TestPostgres::shared().fresh_database().await)
    }

    /// A fresh database of either kind.
    pub async fn fresh(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self::fresh_sqlite(),
            DatabaseKind::Postgres => Self::fresh_postgres().await,
        }
    }

    /// How to open it: few readers, since many tests run at once.
    pub fn options(&self) -> StoreOptions {
        match self {
            Self::Sqlite(folder) => {
                let mut options = SqliteOptions::new(folder.path().join("regente.db"));
                options.readers = 2;
                StoreOptions::Sqlite(options)
            }
            Self::Postgres(url) => {
                let mut options = PostgresOptions::new(url);
                options.pool_size = 4;
                options.writers = 2;
                StoreOptions::Postgres(options)
            }
        }
    }

    /// The store on it, migrated.
    pub async fn open(&self) -> Store {
        let store = Store::open(self.options()).await.expect("a test database opens");
        store.migrate(TEST_TIME).await.expect("a test database is migrated");
        store
    }
}

/// A PostgreSQL server of this test process alone.
#[derive(Debug)]
pub struct TestPostgres {
    port: u16,
    databases: AtomicU64,
    /// Ends the server when this process ends, however it ends: it waits for the end of its input.
    _watchdog: Child,
}

impl TestPostgres {
    /// The server, started at the first call.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<TestPostgres> = OnceLock::new();
        SHARED.get_or_init(|| {
            let server = Self::start();
            server.make_template();
            server
        })
    }

    /// Makes a migrated database and returns its address.
    pub async fn fresh_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.administer(&format!("CREATE DATABASE {name} TEMPLATE regente_template")).await;
        self.url(&name)
    }

    /// Makes an empty database and returns its address.
    pub async fn empty_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.administer(&format!("CREATE DATABASE {name}")).await;
        self.url(&name)
    }

    /// Runs a statement as the owner of the server, such as `pg_terminate_backend`.
    pub async fn administer(&self, statement: &str) {
        let (client, connection) =
            tokio_postgres::connect(&self.url("postgres"), NoTls).await.expect("the test server answers");
        let moving = tokio::spawn(connection);
        client.batch_execute(statement).await.expect("the test server obeys");
        drop(client);
        drop(moving.await);
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    fn start() -> Self {
        let binaries = binaries();
        let account = Account::of_this_process();
        let folder =
            tempfile::Builder::new().prefix("regente-postgres-").tempdir().expect("a temporary folder");
        account.give(folder.path());
        let data = folder.path().join("data");
        let initdb = account.command(&binaries.join("initdb")).arg("-D").arg(&data).args(INITDB).output();
        let initdb = initdb.expect("initdb runs");
        assert!(initdb.status.success(), "initdb: {}", String::from_utf8_lossy(&initdb.stderr));
        // From here on the watchdog removes the folder.
        let folder = folder.keep();
        let watchdog = watchdog(&account, &binaries, &folder);
        for _ in 0..START_ATTEMPTS {
            let port = free_port();
            let settings = format!(
                "-p {port} -k {} -c listen_addresses=127.0.0.1 -c max_connections={CONNECTIONS_MAX} -c fsync=off \
                 -c full_page_writes=off -c shared_buffers=64MB -c autovacuum=off",
                folder.display()
            );
            let started = account
                .command(&binaries.join("pg_ctl"))
                .args(["-w", "-s", "-l"])
                .arg(folder.join("log"))
                .arg("-D")
                .arg(&data)
                .arg("-o")
                .arg(settings)
                .arg("start")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if started.is_ok_and(|status| status.success()) {
                return Self { port, databases: AtomicU64::new(0), _watchdog: watchdog };
            }
        }
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        drop(watchdog.wait_with_output());
        panic!("the test server did not start: {log}");
    }

    /// A migrated database that all others are copied from. In a thread, because this may be called inside a runtime.
    fn make_template(&self) {
        let making = async {
            self.administer("CREATE DATABASE regente_template").await;
            let mut options = PostgresOptions::new(self.url("regente_template"));
            options.writers = 1;
            let store = Store::open(StoreOptions::Postgres(options)).await.expect("the template opens");
            store.migrate(TEST_TIME).await.expect("the template is migrated");
            store.close().await;
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

/// Everybody who reaches the port of the machine itself may come in: there is nothing in it.
const INITDB: [&str; 6] = ["-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"];

/// The account under which the server runs: it refuses to run as root.
enum Account {
    Own,
    Postgres,
}

impl Account {
    fn of_this_process() -> Self {
        let own = Command::new("id").arg("-u").output().expect("id runs");
        if own.stdout.trim_ascii() == b"0" { Self::Postgres } else { Self::Own }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = match self {
            Self::Own => Command::new(program),
            Self::Postgres => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]).arg(program);
                command
            }
        };
        // The account may not be allowed to see the folder that the tests run in.
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    fn give(&self, folder: &Path) {
        match self {
            Self::Own => {}
            Self::Postgres => {
                let given = Command::new("chown").arg("postgres").arg(folder).status();
                assert!(given.is_ok_and(|status| status.success()), "chown {}", folder.display());
            }
        }
    }
}

/// A shell in a process group of its own, so that neither a signal to the tests nor their crash ends it first.
fn watchdog(account: &Account, binaries: &Path, folder: &Path) -> Child {
    let stop = account.command(&binaries.join("pg_ctl"));
    let stop: Vec<_> = std::iter::once(stop.get_program()).chain(stop.get_args()).collect();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(
        "folder=$1; shift; cat >/dev/null; \"$@\" -D \"$folder/data\" -m immediate -s stop; rm -rf \"$folder\"",
    );
    shell.arg("watchdog").arg(folder).args(stop);
    shell.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell.spawn().expect("a shell runs")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Where the server's programs are: the newest version of the usual folder, or what `pg_config` says.
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
    let told = Command::new("pg_config").arg("--bindir").output().expect("PostgreSQL is installed");
    PathBuf::from(String::from_utf8_lossy(&told.stdout).trim())
}

/// Runs statements that are not in the catalogue: tables of a test, faults.
///
/// # Errors
/// What the database says.
pub async fn run_script(store: &Store, script: &str) -> Result<(), StoreError> {
    match store {
        Store::Sqlite(store) => {
            let script = script.to_owned();
            store
                .exclusively(move |connection| {
                    connection
                        .execute_batch(&script)
                        .map_err(|error| StoreError::Programming(error.to_string()))
                })
                .await
        }
        Store::Postgres(store) => {
            let (client, _moving) = store.connect().await?;
            let done = client.batch_execute(script).await;
            done.map_err(|error| StoreError::Programming(with_source(&error)))
        }
    }
}

/// Writes a table of a test in the words of the migrations (`{uuid}`, `{json}`, …).
///
/// # Errors
/// What the database says.
pub async fn run_schema(store: &Store, schema: &'static str) -> Result<(), StoreError> {
    let migration = crate::migrate::Migration { version: 0, name: "test", text: schema };
    run_script(store, &migration.render(store.database_kind())).await
}

/// Applies made-up migrations, each a version, a name and a text, instead of those of the product.
///
/// # Errors
/// As [`Store::migrate`].
pub async fn migrate_to(
    store: &Store,
    migrations: &[(i64, &'static str, &'static str)],
) -> Result<(), StoreError> {
    let migrations: Vec<_> = migrations
        .iter()
        .map(|&(version, name, text)| crate::migrate::Migration { version, name, text })
        .collect();
    let migrations: &'static [_] = migrations.leak();
    match store {
        Store::Sqlite(store) => store.migrate_to(migrations, TEST_TIME).await,
        Store::Postgres(store) => store.migrate_to(migrations, TEST_TIME).await,
    }
}

/// Whether the database understands a statement, and has what it speaks of.
///
/// # Errors
/// What the database says.
pub async fn prepare(store: &Store, sql: &'static Sql) -> Result<(), StoreError> {
    let text = sql.text(store.database_kind());
    match store {
        Store::Sqlite(store) => {
            store
                .exclusively(move |connection| {
                    let prepared = connection.prepare(text).map(drop);
                    prepared.map_err(|error| StoreError::Programming(format!("{sql:?}: {error}")))
                })
                .await
        }
        Store::Postgres(store) => {
            let prepared = store.reader().await?.prepare(text).await;
            let statement = prepared
                .map_err(|error| StoreError::Programming(format!("{sql:?}: {}", with_source(&error))))?;
            let known = ["int8", "text", "jsonb", "bytea", "uuid"];
            match statement.params().iter().position(|wanted| !known.contains(&wanted.name())) {
                None => Ok(()),
                Some(at) => Err(StoreError::Programming(format!(
                    "{sql:?}: :{} is taken for {}; write CAST(:{} AS BIGINT) or the like",
                    sql.argument_names(DatabaseKind::Postgres)[at],
                    statement.params()[at].name(),
                    sql.argument_names(DatabaseKind::Postgres)[at],
                ))),
            }
        }
    }
}

/// A setting of the SQLite connection that writes, which is a number.
///
/// # Errors
/// What the database says; [`StoreError::Programming`] on PostgreSQL.
pub async fn writer_pragma(store: &Store, name: &'static str) -> Result<i64, StoreError> {
    let Store::Sqlite(store) = store else {
        return Err(StoreError::Programming("only SQLite has pragmas".to_owned()));
    };
    store
        .exclusively(move |connection| {
            let value = connection.pragma_query_value(None, name, |row| row.get(0));
            value.map_err(|error| StoreError::Programming(error.to_string()))
        })
        .await
}

/// How the database would find the rows of a statement, as text of its own.
///
/// # Errors
/// What the database says.
pub async fn query_plan(store: &Store, sql: &'static Sql) -> Result<String, StoreError> {
    let text = sql.text(store.database_kind());
    match store {
        Store::Sqlite(store) => {
            store
                .exclusively(move |connection| {
                    let explain = |connection: &rusqlite::Connection| {
                        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}"))?;
                        let details = statement.query_map([], |row| row.get::<_, String>(3))?;
                        details.collect::<Result<Vec<_>, _>>()
                    };
                    let details =
                        explain(connection).map_err(|error| StoreError::Programming(error.to_string()))?;
                    Ok(details.join("\n"))
                })
                .await
        }
        Store::Postgres(store) => {
            let client = store.reader().await?;
            let names = sql.argument_names(DatabaseKind::Postgres);
            let nulls = vec!["NULL"; names.len()].join(", ");
            let arguments = if names.is_empty() { String::new() } else { format!("({nulls})") };
            let script = format!(
                "SET plan_cache_mode = force_generic_plan; PREPARE explained AS {text};
                 EXPLAIN EXECUTE explained{arguments}; DEALLOCATE explained; RESET plan_cache_mode"
            );
            let messages = client.simple_query(&script).await;
            let messages = messages.map_err(|error| StoreError::Programming(with_source(&error)))?;
            let mut lines = Vec::new();
            for message in &messages {
                if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                    lines.extend(row.get(0));
                }
            }
            Ok(lines.join("\n"))
        }
    }
}

fn with_source(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
