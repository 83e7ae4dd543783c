//! Whether it is worth to bring pages into memory before they are needed. In a large file the page of a random key mostly
//! lies on the disk; the writer is alone, and all commits would wait for each such page, one after the other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Files up to this length are taken to be in memory.
const LARGE_BYTES: u64 = 512 * 1024 * 1024;
/// How often the length of the file is asked for.
const CALLS_PER_LOOK: u64 = 4096;

/// Knows roughly how large the file is.
#[derive(Debug, Default)]
pub(super) struct Warmth {
    calls: AtomicU64,
    is_large: AtomicBool,
}

impl Warmth {
    /// Whether the file is large.
    pub(super) fn is_wanted(&self, path: &Path) -> bool {
        if self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(CALLS_PER_LOOK) {
            let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
            self.is_large.store(bytes > LARGE_BYTES, Ordering::Relaxed);
        }
        self.is_large.load(Ordering::Relaxed)
    }
}
