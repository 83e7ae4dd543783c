//! The places that are searched: every table value by value, every file byte by byte, the log, and all answers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use regente::telemetry;
use regente_store::testing::TestDatabase;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Registry, fmt};

/// A database as it is stored.
#[derive(Clone, Debug)]
pub enum Disk {
    /// The folder of the file, and all other files in it.
    Sqlite(PathBuf),
    /// The database's address, and the position in the server's write-ahead log at the start.
    Postgres { url: String, from: String },
}

impl Disk {
    pub fn of(database: &TestDatabase) -> Self {
        match database {
            TestDatabase::Sqlite(folder) => Self::Sqlite(folder.path().to_owned()),
            TestDatabase::Postgres(database) => Self::Postgres {
                url: database.url().to_owned(),
                from: ask(database.url(), "SELECT pg_walfile_name(pg_current_wal_lsn())"),
            },
        }
    }

    /// Every value of every table, each on its own line.
    pub fn values(&self) -> Vec<u8> {
        match self {
            Self::Sqlite(folder) => sqlite_values(&folder.join("regente.db")),
            // One INSERT for each row, as in a backup.
            Self::Postgres { url, .. } => with_bytes(&run("pg_dump", &["--inserts", url])),
        }
    }

    /// Every file: the database with its free pages, logs and copies; the simulator's transaction log; for a server,
    /// its tables and its write-ahead log.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut paths = Vec::new();
        match self {
            Self::Sqlite(folder) => walk(folder, &mut paths),
            Self::Postgres { url, from } => {
                ask(url, "CHECKPOINT");
                let data = PathBuf::from(ask(url, "SHOW data_directory"));
                let id = ask(url, "SELECT oid FROM pg_database WHERE datname = current_database()");
                walk(&data.join("base").join(id), &mut paths);
                let until = ask(url, "SELECT pg_walfile_name(pg_current_wal_lsn())");
                let mut segments = Vec::new();
                walk(&data.join("pg_wal"), &mut segments);
                segments.retain(|path| {
                    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                    (from.as_str()..=until.as_str()).contains(&name)
                });
                assert!(segments.iter().any(|path| path.ends_with(from)), "the log is there from the start");
                paths.extend(segments);
                paths.push(data.with_file_name("log"));
            }
        }
        assert!(!paths.is_empty());
        let read = |path: PathBuf| std::fs::read(&path).ok().map(|bytes| (path, bytes));
        paths.into_iter().filter_map(read).collect()
    }
}

/// A dump whose values of bytes (`'\x1f…'`) are bytes again, as SQLite has them: in the hexadecimal digits of what is sealed, nine
/// digits of a card number stand by chance now and then.
fn with_bytes(dump: &[u8]) -> Vec<u8> {
    const BEGIN: &[u8] = br"'\x";
    let mut values = Vec::with_capacity(dump.len());
    let mut rest = dump;
    while let Some(at) = rest.windows(BEGIN.len()).position(|window| window == BEGIN) {
        let (before, sent) = rest.split_at(at + BEGIN.len());
        values.extend_from_slice(before);
        let end = sent.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(sent.len());
        match hex::decode(&sent[..end]) {
            Ok(bytes) if sent.get(end) == Some(&b'\'') => values.extend(bytes),
            Ok(_) | Err(_) => values.extend_from_slice(&sent[..end]),
        }
        rest = &sent[end..];
    }
    values.extend_from_slice(rest);
    values
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { walk(&path, found) } else { found.push(path) }
    }
}

/// The server's result without its line end.
fn ask(url: &str, query: &str) -> String {
    String::from_utf8(run("psql", &["-At", "-c", query, url])).expect("text").trim().to_owned()
}

/// Runs a program of the installed server.
fn run(program: &str, arguments: &[&str]) -> Vec<u8> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folder = installed.map(|entry| entry.path().join("bin")).find(|folder| folder.join(program).exists());
    let path = folder.map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
    let output = Command::new(path).args(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub fn sqlite_values(file: &Path) -> Vec<u8> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("it opens");
    let mut tables =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").expect("a query");
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).expect("tables").collect::<Result<_, _>>().expect("names");
    let mut values = Vec::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).expect("a query");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            for column in 0..columns {
                match row.get_ref(column).expect("a value") {
                    ValueRef::Null => {}
                    ValueRef::Integer(integer) => values.extend(integer.to_string().bytes()),
                    ValueRef::Real(real) => values.extend(real.to_string().bytes()),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => values.extend_from_slice(bytes),
                }
                values.push(b'\n');
            }
        }
    }
    values
}

/// Captured lines.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("the lines").clone()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the lines").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// All log output of this thread at every level, as it is written and before card numbers are removed.
pub struct Log {
    pub written: Lines,
    pub raw: Lines,
    _listening: DefaultGuard,
}

impl Log {
    pub fn listen() -> Self {
        let (written, raw) = (Lines::default(), Lines::default());
        let writer = |lines: &Lines| {
            let lines = lines.clone();
            move || lines.clone()
        };
        let layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = vec![
            Box::new(telemetry::json(writer(&written))),
            Box::new(telemetry::human(writer(&written))),
            Box::new(fmt::layer().json().with_writer(writer(&raw))),
        ];
        let listening = tracing::subscriber::set_default(Registry::default().with(layers));
        Self { written, raw, _listening: listening }
    }
}
