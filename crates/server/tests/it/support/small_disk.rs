//! A file system of its own in memory, which can be filled.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Written at once while it is filled.
static BLOCK: [u8; 64 * 1024] = [0; 64 * 1024];

pub(crate) struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// Only root may mount.
    pub(crate) fn mount(mib: usize, owner: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={mib}m");
        succeeds(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()));
        let disk = Self { folder };
        succeeds(Command::new("chown").arg(owner).arg(disk.folder()));
        disk
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn filler(&self) -> PathBuf {
        self.folder().join("filler")
    }

    /// Leaves no room.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        let full = loop {
            if let Err(error) = file.write_all(&BLOCK) {
                break error;
            }
        };
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    }

    pub(crate) fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }
}

/// Whoever keeps something there has left it before. After a failure it stays mounted, empty but for that.
impl Drop for SmallDisk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(std::fs::remove_file(self.filler()));
        } else {
            succeeds(Command::new("umount").arg(self.folder()));
        }
    }
}

fn succeeds(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
