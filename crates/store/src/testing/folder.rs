//! Folders of tests, which are removed with their tests.

use std::path::Path;

use rustix::fs::statvfs;
use tempfile::{Builder, TempDir};

/// The file system in memory, on Linux.
const MEMORY: &str = "/dev/shm";
/// With less free room the files go to the disk.
const MEMORY_BYTES_MIN: u64 = 2 * 1024 * 1024 * 1024;

/// A folder in memory where there is room, else on the disk.
pub(super) fn in_memory(prefix: &str) -> TempDir {
    if !is_roomy(Path::new(MEMORY)) {
        return on_disk(prefix);
    }
    Builder::new().prefix(prefix).tempdir_in(MEMORY).expect("a temporary folder")
}

/// A folder on the disk.
pub(super) fn on_disk(prefix: &str) -> TempDir {
    Builder::new().prefix(prefix).tempdir().expect("a temporary folder")
}

fn is_roomy(file_system: &Path) -> bool {
    statvfs(file_system).is_ok_and(|free| free.f_bavail * free.f_frsize >= MEMORY_BYTES_MIN)
}
