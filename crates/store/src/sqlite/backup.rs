//! Copies of the embedded database while it is in use: out of it into a file, and out of a file into it. A copy is the
//! state between two commits, read page by page with pauses while the writer goes on.
//!
//! Never here: what a backup means, and whether its keys open.

use std::ffi::c_int;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regente_domain::time::Timestamp;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::staged::{Replaced, Staged};
use super::{SqliteStore, connection};
use crate::error::StoreError;

/// Pages copied at once: 1 MiB of pages of 4 KiB.
const STEP_PAGES: c_int = 256;
/// Between two steps, so that a copy takes neither the disk nor a processor for itself.
const STEP_PAUSE: Duration = Duration::from_millis(4);
/// Steps after which what was copied is synced, so that the writer's own syncs do not wait for all of it at the end.
const STEPS_PER_SYNC: u64 = 32;
/// Steps that may find the database locked, one each [`BUSY_PAUSE`].
const BUSY_STEPS_MAX: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// What is done about a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The backup is refused.
    Refuse,
    /// The new backup takes its place.
    Replace,
}

/// A backup that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its length.
    pub bytes: u64,
    /// The version of its schema.
    pub schema_version: i64,
}

/// Why a backup was not made or not restored. What was there before is there still.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file of that name is there.
    #[error("{} exists already; `--force` replaces it", .0.display())]
    Exists(PathBuf),
    /// One at a time.
    #[error("another backup is under way, or a restore")]
    UnderWay,
    /// A file cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file is something else.
    #[error("{} is not a backup: {}", .0.display(), .1)]
    NotABackup(PathBuf, &'static str),
    /// The file was changed since it was made, or cut off.
    #[error("{} is damaged: {}", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// A page could not be read or written: a full disk, most often.
    #[error("the copy failed")]
    Copy(#[source] rusqlite::Error),
    /// The database keeps keys that cannot stand beside those of the backup.
    #[error(
        "the data keys in use are wrapped by another key-encryption key than those of the backup; stop the server to \
         restore it"
    )]
    MixedKeys,
    /// The database, or the schema of the backup.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BackupError {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File(path, error)
    }
}

impl SqliteStore {
    /// Writes a backup of the database, as it is at this moment, to `target`. It is complete and synced, or not there.
    /// Until then it is [`partial_path`](Self::partial_path).
    ///
    /// # Errors
    /// [`BackupError::Exists`], [`BackupError::UnderWay`], [`BackupError::File`] when `target` cannot be written,
    /// [`BackupError::Store`] when the database cannot be read.
    pub async fn back_up(&self, target: PathBuf, existing: Existing) -> Result<Written, BackupError> {
        let alone = Alone::among(&self.inner.snapshot_is_held)?;
        let database = self.inner.path.clone();
        let copied = tokio::task::spawn_blocking(move || {
            let _alone = alone;
            back_up(&database, &target, existing)
        });
        copied.await.unwrap_or_else(|_panicked| Err(StoreError::closed().into()))
    }

    /// Where a backup to `target` is written before it is complete.
    pub fn partial_path(target: &Path) -> PathBuf {
        connection::with_suffix(target, ".partial")
    }

    /// Puts a backup in the place of everything that is in the database, in one commit, and keeps what was there in a
    /// backup of its own. Changes that wait meanwhile are applied afterwards, where their guards still hold.
    ///
    /// # Errors
    /// [`BackupError::UnderWay`], [`BackupError::MixedKeys`], [`BackupError::File`], [`BackupError::Store`].
    pub async fn restore(
        &self,
        staged: Staged,
        kept: PathBuf,
        now: Timestamp,
    ) -> Result<Replaced, BackupError> {
        let _alone = Alone::among(&self.inner.snapshot_is_held)?;
        let database = self.inner.path.clone();
        // The writer stands still: nothing is written between the copy of what is there and its end.
        self.exclusively(move |writer| Ok(restore(writer, &database, staged, kept, now))).await?
    }
}

/// The right to copy, until it is dropped.
struct Alone(Arc<AtomicBool>);

impl Alone {
    fn among(held: &Arc<AtomicBool>) -> Result<Self, BackupError> {
        match held.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(Self(Arc::clone(held))),
            Err(_) => Err(BackupError::UnderWay),
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A file that is removed unless it is kept.
pub(super) struct Unfinished(Option<PathBuf>);

impl Unfinished {
    /// Makes the file for its owner alone, in the place of one that was left behind.
    pub(super) fn make(path: &Path) -> Result<(Self, File), BackupError> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(BackupError::File(path.to_owned(), error));
            }
            Ok(()) | Err(_) => {}
        }
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(BackupError::file(path))?;
        Ok((Self(Some(path.to_owned())), file))
    }

    /// Gives the file its name.
    pub(super) fn keep_as(mut self, target: &Path) -> Result<(), BackupError> {
        if let Some(path) = &self.0 {
            std::fs::rename(path, target).map_err(BackupError::file(target))?;
        }
        self.0 = None;
        sync_folder_of(target)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            drop(std::fs::remove_file(path));
        }
    }
}

/// A name in a folder outlives a power cut only once the folder is synced.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), BackupError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::file(folder))
}

fn back_up(database: &Path, target: &Path, existing: Existing) -> Result<Written, BackupError> {
    let refuse_existing = || match existing {
        Existing::Refuse if target.exists() => Err(BackupError::Exists(target.to_owned())),
        Existing::Refuse | Existing::Replace => Ok(()),
    };
    refuse_existing()?;
    let partial = SqliteStore::partial_path(target);
    let (unfinished, file) = Unfinished::make(&partial)?;
    let source = connection::open(database)?;
    let schema_version = copy_out(&source, &partial, &file, STEP_PAUSE)?;
    let bytes = file.metadata().map_err(BackupError::file(&partial))?.len();
    refuse_existing()?;
    unfinished.keep_as(target)?;
    Ok(Written { bytes, schema_version })
}

/// Copies one state of the database into a file, and answers the version of its schema.
fn copy_out(source: &Connection, target: &Path, file: &File, pause: Duration) -> Result<i64, BackupError> {
    // Held for as long as the copy takes: without it, each commit would make the copy begin anew.
    let snapshot = source.unchecked_transaction().map_err(BackupError::Copy)?;
    let applied = super::migrate::applied(&snapshot)?;
    let mut copy = connection::open(target)?;
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(BackupError::Copy)?;
    let mut steps = 0;
    copy_pages(source, &mut copy, || {
        steps += 1;
        if steps % STEPS_PER_SYNC == 0 {
            file.sync_data().map_err(BackupError::file(target))?;
        }
        std::thread::sleep(pause);
        Ok(())
    })?;
    copy.close().map_err(|(_, error)| BackupError::Copy(error))?;
    file.sync_all().map_err(BackupError::file(target))?;
    Ok(applied.last().map_or(0, |migration| migration.version))
}

fn restore(
    writer: &Connection,
    database: &Path,
    mut staged: Staged,
    kept: PathBuf,
    now: Timestamp,
) -> Result<Replaced, BackupError> {
    staged.keep_data_keys_of(writer, now)?;
    let partial = SqliteStore::partial_path(&kept);
    let (unfinished, file) = Unfinished::make(&partial)?;
    copy_out(&connection::open(database)?, &partial, &file, Duration::ZERO)?;
    unfinished.keep_as(&kept)?;
    match copy_in(&staged, database) {
        Ok(()) => Ok(staged.replaced(Some(kept))),
        Err(error) => {
            drop(std::fs::remove_file(&kept));
            Err(error)
        }
    }
}

/// One transaction: whoever reads meanwhile reads what was there before, and a crash leaves it there.
fn copy_in(staged: &Staged, database: &Path) -> Result<(), BackupError> {
    let source = connection::open(staged.path())?;
    let mut live = connection::open(database)?;
    live.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
        .map_err(BackupError::Copy)?;
    copy_pages(&source, &mut live, || Ok(()))?;
    live.close().map_err(|(_, error)| BackupError::Copy(error))
}

fn copy_pages(
    source: &Connection,
    target: &mut Connection,
    mut after_step: impl FnMut() -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let copy = Backup::new(source, target).map_err(BackupError::Copy)?;
    let mut busy_steps = 0;
    loop {
        let step = copy.step(STEP_PAGES).map_err(BackupError::Copy)?;
        if step == StepResult::Done {
            return Ok(());
        }
        if step == StepResult::More {
            after_step()?;
            continue;
        }
        busy_steps += 1;
        if busy_steps >= BUSY_STEPS_MAX {
            return Err(StoreError::unavailable("the database stays locked").into());
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}
