//! Creates the SQLite files of stories: one is migrated for each process, the others are copies of it, in memory
//! where there is room. Tests of disks, kills and backups create their own on the disk.

use std::sync::OnceLock;

use tempfile::TempDir;

use super::{DATABASE_FILE, TestDatabase, folder};

/// A folder with a migrated database.
pub(super) fn copy() -> TempDir {
    let folder = folder::in_memory("");
    std::fs::write(folder.path().join(DATABASE_FILE), template()).expect("a temporary file");
    folder
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
