//! Restores a backup: copies it beside the database, checks it, migrates it to the schema of this release, and then
//! replaces the database.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use regente_domain::time::Timestamp;
use rusqlite::Connection;

use super::backup::{BackupError, Unfinished, sync_folder_of};
use super::statements::Statements;
use super::{connection, failure, migrate, moving};
use crate::data_keys::stored::{self, ALL_DATA_KEYS, KEEP_DATA_KEY, KeyState, StoredDataKey};
use crate::error::StoreError;
use crate::migrate::MIGRATIONS;
use crate::moving::mark::Moving;
use crate::newest::{self, NEWEST_AUDIT_ENTRY, NEWEST_CHARGE, Newest};
use crate::sql::{DatabaseKind, Sql};
use crate::{Row, args};

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A backup ready to be restored. Its copy beside the database is removed on drop.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    bytes: u64,
    schema_version: i64,
    migrated: Vec<&'static str>,
    newest: Newest,
    data_keys: Vec<StoredDataKey>,
}

/// A completed restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The backup of the former database; absent when there was none.
    pub kept: Option<PathBuf>,
    /// The size of the restored database.
    pub bytes: u64,
    /// The version of its schema in the backup.
    pub schema_version: i64,
    /// The migrations applied to it since.
    pub migrated: Vec<&'static str>,
    /// How recent its data is.
    pub newest: Newest,
}

impl Staged {
    /// Copies `backup` beside `database`, which need not exist, and checks the copy. Blocks until it is done.
    ///
    /// # Errors
    /// [`BackupError::NotABackup`], [`BackupError::Damaged`], [`BackupError::File`]; [`BackupError::Store`] with
    /// [`StoreError::Schema`] when a later release wrote it.
    pub fn prepare(backup: &Path, database: &Path, now: Timestamp) -> Result<Self, BackupError> {
        refuse_what_is_none(backup, database)?;
        let path = Self::path_beside(database);
        let (unfinished, mut copy) = Unfinished::make(&path)?;
        let mut file = File::open(backup).map_err(BackupError::file(backup))?;
        let bytes = io::copy(&mut file, &mut copy).map_err(BackupError::file(&path))?;
        copy.sync_all().map_err(BackupError::file(&path))?;
        drop(copy);
        let staged = examine(backup, &path, bytes, now)?;
        unfinished.keep_as(&path)?;
        Ok(staged)
    }

    /// Where the copy is while it is checked.
    pub fn path_beside(database: &Path) -> PathBuf {
        connection::with_suffix(database, ".restoring")
    }

    /// Its data keys, each wrapped.
    pub fn data_keys(&self) -> &[StoredDataKey] {
        &self.data_keys
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Replaces the file of a closed database, also an unreadable one, and keeps that file as `kept`.
    ///
    /// # Errors
    /// [`BackupError::Store`] with [`StoreError::Locked`] when somebody has it open, [`BackupError::MovedAway`], [`BackupError::File`].
    pub fn put_in_place(self, database: &Path, kept: &Path) -> Result<Replaced, BackupError> {
        let _lock = connection::lock(database)?;
        let kept = match database.exists() {
            true if is_moved_away(database) => return Err(BackupError::MovedAway),
            true => {
                set_aside(database, kept)?;
                Some(kept.to_owned())
            }
            false => None,
        };
        std::fs::rename(&self.path, database).map_err(BackupError::file(database))?;
        sync_folder_of(database)?;
        Ok(self.replaced(kept))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn replaced(&self, kept: Option<PathBuf>) -> Replaced {
        let Self { bytes, schema_version, newest, .. } = *self;
        Replaced { kept, bytes, schema_version, migrated: self.migrated.clone(), newest }
    }

    /// Adds the data keys in use that the backup lacks: values sealed under them now are written after the restore
    /// and must open.
    pub(super) fn keep_data_keys_of(&mut self, live: &Connection, now: Timestamp) -> Result<(), BackupError> {
        let (kek_id, has_current) = {
            let current = self.data_keys.iter().find(|key| key.state == KeyState::Current);
            (current.map(|key| key.kek_id.clone()), current.is_some())
        };
        let connection = connection::open(&self.path)?;
        let mut statements = Statements::new(&connection);
        for key in data_keys_in(live)? {
            if self.data_keys.iter().any(|known| known.id == key.id) {
                continue;
            }
            let is_destroyed = key.state == KeyState::Destroyed;
            if !is_destroyed && kek_id.as_ref().is_some_and(|kek_id| *kek_id != key.kek_id) {
                return Err(BackupError::MixedKeys);
            }
            let (state, updated_at) = match key.state {
                KeyState::Current if has_current => (KeyState::Retiring, now),
                KeyState::Current | KeyState::Retiring | KeyState::Destroyed => (key.state, key.updated_at),
            };
            let values = args! {
                id: key.id, kek_id: key.kek_id.clone(), wrapped: key.wrapped, state: state.word(), updated_at,
            };
            let values = KEEP_DATA_KEY.bind(DatabaseKind::Sqlite, values)?;
            statements.execute(&KEEP_DATA_KEY, &values).map_err(BackupError::Copy)?;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a successful restore the file no longer has this name.
        drop(std::fs::remove_file(&self.path));
    }
}

fn refuse_what_is_none(backup: &Path, database: &Path) -> Result<(), BackupError> {
    let not_a_backup = |why| Err(BackupError::NotABackup(backup.to_owned(), why));
    let read = |path: &Path| std::fs::canonicalize(path).ok();
    let mut file = File::open(backup).map_err(BackupError::file(backup))?;
    if read(backup).is_some() && read(backup) == read(database) {
        return not_a_backup("it is the database itself");
    }
    let mut beginning = [0; MAGIC.len()];
    match file.read_exact(&mut beginning) {
        Ok(()) if &beginning == MAGIC => {}
        Ok(()) | Err(_) => return not_a_backup("it is no SQLite file"),
    }
    // The content of the log would be lost: the database is in use, or was copied while in use.
    let has_log = std::fs::metadata(connection::wal_path(backup)).is_ok_and(|log| log.len() > 0);
    if has_log {
        return not_a_backup("it has a write-ahead log beside it; `regente backup` makes one without");
    }
    Ok(())
}

fn examine(backup: &Path, path: &Path, bytes: u64, now: Timestamp) -> Result<Staged, BackupError> {
    let damaged = |error: rusqlite::Error| BackupError::Damaged(backup.to_owned(), error.to_string());
    let connection = connection::open(path)?;
    let found: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(damaged)?;
    if found != "ok" {
        return Err(BackupError::Damaged(backup.to_owned(), found));
    }
    let applied = migrate::applied(&connection)?;
    let Some(newest_migration) = applied.last() else {
        return Err(BackupError::NotABackup(backup.to_owned(), "it holds no data of Regente"));
    };
    let pending = crate::migrate::pending(&applied, MIGRATIONS)?;
    // Make it one file without companions; the restored database gets its log again.
    connection.pragma_update(None, "journal_mode", "DELETE").map_err(damaged)?;
    migrate::migrate(&connection, MIGRATIONS, now)?;
    let staged = Staged {
        path: path.to_owned(),
        bytes,
        schema_version: newest_migration.version,
        migrated: pending.iter().map(|migration| migration.name).collect(),
        newest: Newest {
            charge: newest::made_at(&rows(&connection, &NEWEST_CHARGE)?)?,
            audit_entry: newest::made_at(&rows(&connection, &NEWEST_AUDIT_ENTRY)?)?,
        },
        data_keys: data_keys_in(&connection)?,
    };
    connection.close().map_err(|(_, error)| damaged(error))?;
    Ok(staged)
}

fn data_keys_in(connection: &Connection) -> Result<Vec<StoredDataKey>, StoreError> {
    rows(connection, &ALL_DATA_KEYS)?.iter().map(stored::from_row).collect()
}

fn rows(connection: &Connection, sql: &'static Sql) -> Result<Vec<Row>, StoreError> {
    Statements::new(connection).query(sql, &[]).map_err(|error| failure::store_error(sql.name(), error))
}

/// Whether everything of a database lives on in another one. One that cannot be read does not say so.
fn is_moved_away(database: &Path) -> bool {
    let opened = connection::open(database).ok();
    let moving = opened.and_then(|connection| moving::moving(&connection).ok().flatten());
    moving == Some(Moving::MovedAway)
}

/// Moves the files of a database aside. First copies its log into it, as far as it is readable.
fn set_aside(database: &Path, kept: &Path) -> Result<(), BackupError> {
    let settled = connection::open(database).and_then(|connection| {
        let settled = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        settled.map_err(|error| failure::store_error("wal_checkpoint", error))
    });
    if let Err(error) = settled {
        tracing::warn!(error = &error as &dyn std::error::Error, "the replaced database cannot be read");
    }
    let wal = connection::wal_path(database);
    if wal.exists() {
        std::fs::rename(&wal, connection::wal_path(kept)).map_err(BackupError::file(&wal))?;
    }
    drop(std::fs::remove_file(connection::with_suffix(database, "-shm")));
    // Link a second name, so that the first always exists; some disks do not support links.
    std::fs::hard_link(database, kept)
        .or_else(|_| std::fs::rename(database, kept))
        .map_err(BackupError::file(kept))
}
