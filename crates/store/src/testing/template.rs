//! Creates the SQLite files of stories: one is migrated for each process, the others are copies of it, in memory
//! where there is room. Tests of disks, kills and backups create their own on the disk.

use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::statvfs;
use tempfile::TempDir;

use super::{DATABASE_FILE, TestDatabase};

/// The file system in memory, on Linux.
const MEMORY: &str = "/dev/shm";
/// With less free room the files go to the disk.
const MEMORY_BYTES_MIN: u64 = 1024 * 1024 * 1024;

/// A folder with a migrated database.
pub(super) fn copy() -> TempDir {
    let folder = if is_roomy(Path::new(MEMORY)) { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    let folder = folder.expect("a temporary folder");
    std::fs::write(folder.path().join(DATABASE_FILE), template()).expect("a temporary file");
    folder
}

fn is_roomy(file_system: &Path) -> bool {
    statvfs(file_system).is_ok_and(|free| free.f_bavail * free.f_frsize >= MEMORY_BYTES_MIN)
}

/// The bytes of a migrated file; made in a thread, because the caller may be inside a runtime.
fn template() -> &'static [u8] {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    TEMPLATE.get_or_init(|| std::thread::spawn(make).join().expect("the template is made"))
}

fn make() -> Vec<u8> {
    let database = TestDatabase::empty_sqlite();
    let TestDatabase::Sqlite(folder) = &database else { unreachable!("an SQLite file was asked for") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async { database.open().await.close().await });
    std::fs::read(folder.path().join(DATABASE_FILE)).expect("the migrated file")
}
