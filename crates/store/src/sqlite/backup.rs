//! Copies the SQLite database to a file and back while it is in use. A copy is the state between two commits, read
//! page by page with pauses for the writer.
//!
//! The caller checks what the backup contains and whether its keys open.

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

/// Pages of one step: 1 MiB of pages of 4 KiB.
const STEP_PAGES: c_int = 256;
/// Pause between two steps, which leaves the disk and the processor to others.
const STEP_PAUSE: Duration = Duration::from_millis(4);
/// Steps between syncs of the copy, so that the writer's own syncs do not wait for all of it at the end.
const STEPS_PER_SYNC: u64 = 32;
/// Most steps that may find the database locked, with [`BUSY_PAUSE`] between them.
const BUSY_STEPS_MAX: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// What to do when the file already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse the backup.
    Refuse,
    /// Replace the file.
    Replace,
}

/// A completed backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its size.
    pub bytes: u64,
    /// The version of its schema.
    pub schema_version: i64,
}

/// Why a backup or restore failed. The earlier state is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file already exists.
    #[error("{} exists already; `--force` replaces it", .0.display())]
    Exists(PathBuf),
    /// Another backup or restore is running.
    #[error("another backup is under way, or a restore")]
    UnderWay,
    /// A file cannot be read or written.
    #[error("{}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file is not a backup.
    #[error("{} is not a backup: {}", .0.display(), .1)]
    NotABackup(PathBuf, &'static str),
    /// The file was changed or truncated.
    #[error("{} is damaged: {}", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// A page could not be read or written; often the disk is full.
    #[error("the copy failed")]
    Copy(#[source] rusqlite::Error),
    /// The data keys in use cannot be combined with those of the backup.
    #[error(
        "the data keys in use are wrapped by another key-encryption key than those of the backup; stop the server to \
         restore it"
    )]
    MixedKeys,
    /// The database that would be replaced lives on in another one.
    #[error(
        "everything of the database was moved to another one, which holds what has happened since; restore that one, or if \
         nobody uses it, run `regente move --reopen` before"
    )]
    MovedAway,
    /// The database failed, or this release cannot read the backup's schema.
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
    /// Backs up the present state of the database to `target`. The file is complete and synced, or absent; until then
    /// it is [`partial_path`](Self::partial_path).
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

    /// Where a backup to `target` is written until it is complete.
    pub fn partial_path(target: &Path) -> PathBuf {
        connection::with_suffix(target, ".partial")
    }

    /// Replaces the whole database by a backup in one commit, and keeps the former state in another backup. Waiting
    /// changes are applied afterwards, if their guards still hold.
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
        // The writer is paused: nothing is written between the copy of the former state and the end.
        self.exclusively(move |writer| Ok(restore(writer, &database, staged, kept, now))).await?
    }
}

/// The permit to copy, held until it is dropped.
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
    /// Creates the file for its owner only, replacing one left behind.
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

/// A name in a folder survives a power cut only once the folder is synced.
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

/// Copies one state of the database into a file, and returns the version of its schema.
fn copy_out(source: &Connection, target: &Path, file: &File, pause: Duration) -> Result<i64, BackupError> {
    // Held during the copy: otherwise each commit would restart it.
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

/// One transaction: readers see the former state until it ends, and a crash keeps it.
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
