//! What the drivers of both databases share besides the database: places for changes, counts, sizes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::admission::{Gate, Room};
use crate::error::Commit;
#[cfg(feature = "testing")]
use crate::fuse::Fuse;
use crate::group::Answer;
use crate::owners::Owners;
#[cfg(feature = "bench-without-storage")]
use crate::stand_in::StandIn;

/// What became of the write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// It is empty.
    Yes,
    /// Something still needs it.
    StillNeeded,
    /// The database is a server, which keeps its log by its own rules.
    NotOurs,
}

/// The size of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSize {
    /// The database itself, in bytes.
    pub database_bytes: u64,
    /// The write-ahead log beside it, in bytes; PostgreSQL keeps its own.
    pub wal_bytes: Option<u64>,
}

/// Counts of commit groups, kept by the writers.
#[derive(Debug, Default)]
pub(crate) struct CommitCounts {
    commits: AtomicU64,
    batches: AtomicU64,
}

impl CommitCounts {
    /// How many groups were written, and how many batches were in them.
    pub(crate) fn read(&self) -> (u64, u64) {
        (self.commits.load(Ordering::Relaxed), self.batches.load(Ordering::Relaxed))
    }

    /// Counts a group by the answers to its batches; a group without an applied batch wrote nothing.
    pub(crate) fn add(&self, answers: &[Answer]) {
        let applied = answers.iter().filter(|answer| matches!(answer, Ok(Commit::Applied))).count();
        if applied > 0 {
            self.commits.fetch_add(1, Ordering::Relaxed);
            self.batches.fetch_add(applied as u64, Ordering::Relaxed);
        }
    }
}

/// What both databases share besides the database.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) gate: Gate,
    pub(crate) commits: Arc<CommitCounts>,
    pub(crate) owners: Owners,
    #[cfg(feature = "bench-without-storage")]
    pub(crate) stand_in: StandIn,
    #[cfg(feature = "testing")]
    pub(crate) fuse: std::sync::OnceLock<Fuse>,
}

impl Common {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            gate: Gate::new(room),
            commits: Arc::default(),
            owners: Owners::default(),
            #[cfg(feature = "bench-without-storage")]
            stand_in: StandIn::default(),
            #[cfg(feature = "testing")]
            fuse: std::sync::OnceLock::new(),
        }
    }

    /// A step at which a test may stop the process.
    #[cfg(feature = "testing")]
    pub(crate) async fn step(&self) {
        if let Some(fuse) = self.fuse.get() {
            fuse.step().await;
        }
    }

    #[cfg(not(feature = "testing"))]
    pub(crate) async fn step(&self) {}
}
