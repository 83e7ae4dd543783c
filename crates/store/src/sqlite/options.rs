//! Options of an SQLite database.

use std::path::PathBuf;
use std::time::Duration;

use crate::admission::Room;

const MIB: u64 = 1024 * 1024;

/// Options of an SQLite database. [`SqliteOptions::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The database file. Its folder must exist; the write-ahead log and the lock file are created beside it.
    pub path: PathBuf,
    /// Number of threads that read, each with its own connection.
    pub readers: usize,
    /// Page cache of each reader, in bytes.
    pub reader_cache_bytes: u64,
    /// How many bytes of the file, from its start, each reader maps into memory; 0 for none.
    pub reader_mmap_bytes: u64,
    /// Page cache of the writer, in bytes.
    pub writer_cache_bytes: u64,
    /// Growth of the write-ahead log after which the background thread copies it into the database, in bytes.
    pub wal_passive_bytes: u64,
    /// Length of the write-ahead log at which the writer completes the copy and restarts the log, in bytes: 64 to 256
    /// MiB. A long log writes less, since pages that changed many times are copied once.
    pub wal_bytes_max: u64,
    /// Most batches of one commit.
    pub group_max: usize,
    /// Time from the start of one commit to the next while several batches arrive at once: those that arrive
    /// meanwhile share a sync. A single caller never waits.
    pub commits_apart: Duration,
    /// The places for concurrent changes.
    pub room: Room,
}

impl SqliteOptions {
    /// The defaults: 4 readers with 4 MiB each and a map of 1 GiB, 64 MiB for the writer, a write-ahead log of at
    /// most 256 MiB that is copied every 4 MiB, groups of at most 256 batches, half a millisecond apart.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            readers: 4,
            reader_cache_bytes: 4 * MIB,
            reader_mmap_bytes: 1024 * MIB,
            writer_cache_bytes: 64 * MIB,
            wal_passive_bytes: 4 * MIB,
            wal_bytes_max: 256 * MIB,
            group_max: 256,
            commits_apart: Duration::from_micros(500),
            room: Room::default(),
        }
    }
}
