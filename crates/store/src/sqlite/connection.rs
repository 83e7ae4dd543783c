//! Opens the SQLite file for one process, and configures each connection.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::migrate;
use super::options::SqliteOptions;
use crate::error::StoreError;

/// How long the writer waits for readers of the old part of the write-ahead log, and a reader for a restart of the
/// log.
const BUSY_WAIT: Duration = Duration::from_millis(500);

const HAS_TABLES: &str =
    "SELECT COUNT(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations'";
const HAS_MIGRATIONS: &str =
    "SELECT COUNT(version) > 0 AND COUNT(name) > 0 AND COUNT(checksum) > 0 FROM schema_migrations";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The tables of this service, or what only opening it can tell.
    Ours,
    /// No table yet.
    Nothing,
    /// Something that belongs to another program.
    SomethingElse,
}

/// The lock that keeps other processes out, until this is dropped.
pub(super) struct FileLock(File);

impl Drop for FileLock {
    /// Unlocks the file. Closing it would not suffice: the lock belongs to all copies of the descriptor, and a child
    /// process that this one has just forked has a copy until it executes its program.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock file could not be unlocked");
        }
    }
}

/// Takes the lock.
pub(super) fn lock(path: &Path) -> Result<FileLock, StoreError> {
    let lock_path = lock_path(path);
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path).map_err(|error| {
            StoreError::Configuration(format!("lock file {}: {error}", lock_path.display()))
        })?;
    match file.try_lock() {
        Ok(()) => Ok(FileLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked(lock_path)),
        Err(TryLockError::Error(error)) => {
            Err(StoreError::Configuration(format!("lock file {}: {error}", lock_path.display())))
        }
    }
}

fn lock_path(path: &Path) -> PathBuf {
    with_suffix(path, "-lock")
}

/// The path of the write-ahead log.
pub(super) fn wal_path(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The connection that writes; it creates the file.
pub(super) fn open_writer(options: &SqliteOptions) -> Result<Connection, StoreError> {
    make_private(&options.path)?;
    let connection = open(&options.path)?;
    let journal: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|error| configuration(&options.path, &error))?;
    if journal != "wal" {
        return Err(StoreError::Configuration(format!(
            "{}: the file system allows no write-ahead log",
            options.path.display()
        )));
    }
    // The writer decides when to copy the log; SQLite would do it during a commit. What is deleted is overwritten with
    // zeros: a used token must not be left in a free page.
    tell(
        &connection,
        options,
        &format!(
            "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON;
             PRAGMA secure_delete = ON;
             PRAGMA journal_size_limit = {}; PRAGMA cache_size = -{};",
            options.wal_bytes_max,
            options.writer_cache_bytes / 1024
        ),
    )?;
    Ok(connection)
}

/// A connection that reads.
pub(super) fn open_reader(options: &SqliteOptions) -> Result<Connection, StoreError> {
    let connection = open(&options.path)?;
    tell(
        &connection,
        options,
        &format!(
            "PRAGMA query_only = ON; PRAGMA mmap_size = {}; PRAGMA cache_size = -{};",
            options.reader_mmap_bytes,
            options.reader_cache_bytes / 1024
        ),
    )?;
    Ok(connection)
}

/// The connection of the background thread that copies the log.
pub(super) fn open_checkpointer(options: &SqliteOptions) -> Result<Connection, StoreError> {
    let connection = open(&options.path)?;
    tell(&connection, options, "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")?;
    Ok(connection)
}

/// What a file holds, as far as that can be told. The file is only read: it may belong to another program.
///
/// # Errors
/// [`StoreError::Configuration`]: the file cannot be read.
pub fn contents(path: &Path) -> Result<Contents, StoreError> {
    look_into(path).or_else(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Ok(Contents::SomethingElse),
        // On a disk that is read-only, looking needs a file beside the database, which cannot be made. Who opens it says so.
        Some(ErrorCode::CannotOpen) => Ok(Contents::Ours),
        Some(_) | None => Err(configuration(path, &error)),
    })
}

fn look_into(path: &Path) -> rusqlite::Result<Contents> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    let asks = |question| connection.query_row(question, [], |row| row.get::<_, bool>(0));
    if migrate::is_begun(&connection)? {
        match asks(HAS_MIGRATIONS) {
            Ok(true) => return Ok(Contents::Ours),
            Ok(false) => {}
            // A table of this name in another program has other columns.
            Err(rusqlite::Error::SqlInputError { .. }) => return Ok(Contents::SomethingElse),
            Err(error) => return Err(error),
        }
    }
    Ok(match asks(HAS_TABLES)? {
        true => Contents::SomethingElse,
        false => Contents::Nothing,
    })
}

pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    // Each connection belongs to one thread, so SQLite needs no lock of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| configuration(path, &error))?;
    connection.busy_timeout(BUSY_WAIT).map_err(|error| configuration(path, &error))?;
    Ok(connection)
}

/// Creates a missing file for its owner only. SQLite gives its companion files the same rights.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map(drop)
        .map_err(|error| StoreError::Configuration(format!("{}: {error}", path.display())))
}

fn tell(connection: &Connection, options: &SqliteOptions, pragmas: &str) -> Result<(), StoreError> {
    connection.execute_batch(pragmas).map_err(|error| configuration(&options.path, &error))
}

fn configuration(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::Configuration(format!("{}: {error}", path.display()))
}
