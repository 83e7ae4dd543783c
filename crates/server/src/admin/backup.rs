//! Backs up and restores an embedded database, in the running server or on a file that no process has open. The
//! simulator's transaction log is not product data and is in no backup.

use std::path::{Path, PathBuf};

use regente_domain::actor::Actor;
use regente_domain::time::Timestamp;
use regente_engine::clock::{Clock, MachineTime};
use regente_engine::jobs::{DEPLOYMENT, Worker};
use regente_engine::settings::Mode;
use regente_engine::vault;
use regente_store::audit::{self, AuditEntry};
use regente_store::{Batch, Commit, Existing, Replaced, SqliteStore, Staged, Store};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::CommandError;
use crate::app::App;
use crate::bootstrap;
use crate::config::{Config, DatabaseAddress};

/// Bytes that stay free on the disk in addition to what a restore needs.
const SPARE_BYTES: u64 = 64 * 1024 * 1024;

/// A backup that was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackedUp {
    /// Where it is.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The version of its schema.
    pub schema_version: i64,
    /// The moment whose state the backup holds: every write acknowledged before it is included.
    pub at: Timestamp,
    /// How long it took.
    pub took_ms: u64,
}

/// A backup that was restored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Restored {
    /// The backup.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The version of its schema.
    pub schema_version: i64,
    /// The migrations of this release that the restore applied.
    pub migrated: Vec<String>,
    /// When its newest charge was made.
    pub newest_charge_at: Option<Timestamp>,
    /// Where the replaced database was kept; absent when there was none.
    pub kept: Option<PathBuf>,
    /// How long it took.
    pub took_ms: u64,
}

/// The path of an incomplete backup; its length shows the progress.
pub fn partial_path(file: &Path) -> PathBuf {
    SqliteStore::partial_path(file)
}

/// The path to which a restore copies the backup first.
pub fn staged_path(database: &Path) -> PathBuf {
    Staged::path_beside(database)
}

/// Backs up the database in use.
pub(super) async fn back_up(app: &App, file: PathBuf, existing: Existing) -> Result<BackedUp, CommandError> {
    let store = embedded(&app.store)?;
    let (at, begun) = (app.clock.deployment(), app.clock.machine());
    let written = store.back_up(file.clone(), existing).await?;
    record(app, "database.backed_up").await;
    let took_ms = took_ms(&app.clock, begun);
    Ok(BackedUp { file, bytes: written.bytes, schema_version: written.schema_version, at, took_ms })
}

/// Replaces the database in use with a backup, while requests go on.
pub(super) async fn restore(app: &App, config: &Config, file: PathBuf) -> Result<Restored, CommandError> {
    let store = embedded(&app.store)?;
    let database = database_file(config)?;
    let (now, begun) = (app.clock.deployment(), app.clock.machine());
    // Beside the copy of the backup: what is replaced is kept, and what replaces it goes through the log.
    let present = app.store.size().await?;
    require_room(&file, &database, present.database_bytes + present.wal_bytes.unwrap_or(0), 2)?;
    let staged = stage(file.clone(), database.clone(), now).await?;
    app.vault.accepts(staged.data_keys())?;
    let kept = kept_beside(&database, now);
    tracing::warn!(file = %file.display(), kept = %kept.display(), "a backup is being restored");
    let replaced = store.restore(staged, kept, now).await?;
    // Cached credentials come from the replaced database.
    app.credentials.forget();
    app.merchants.forget();
    app.clock.forget_accounts();
    if app.settings.mode == Mode::Sandbox {
        app.clock.follow_accounts(&app.store).await?;
    }
    app.vault.begin_anew().await?;
    if let Err(error) = Worker::new(app.engine.clone()).prepare().await {
        tracing::warn!(?error, "the recurring jobs could not be checked; the next start checks them");
    }
    record(app, "database.restored").await;
    tracing::warn!(file = %file.display(), "the backup is restored");
    Ok(restored(file, replaced, took_ms(&app.clock, begun)))
}

/// Replaces a database that no process has open, or creates it, from a backup.
///
/// # Errors
/// As the command; the former database is still in place.
pub async fn restore_alone(config: &Config, clock: &Clock, file: PathBuf) -> Result<Restored, CommandError> {
    let database = database_file(config)?;
    let (now, begun) = (clock.deployment(), clock.machine());
    let (kek, _) = config.kek()?;
    bootstrap::make_private_folder(bootstrap::parent_of(&database))
        .map_err(|error| CommandError::Argument(crate::chain::chain(&error)))?;
    require_room(&file, &database, 0, 1)?;
    let staged = stage(file.clone(), database.clone(), now).await?;
    vault::opens(&kek, staged.data_keys(), begun)?;
    let kept = kept_beside(&database, now);
    let replaced = tokio::task::spawn_blocking(move || staged.put_in_place(&database, &kept)).await;
    let replaced = replaced.map_err(|_panicked| CommandError::Unknown)??;
    Ok(restored(file, replaced, took_ms(clock, begun)))
}

/// The path at which a restore keeps the replaced database: beside it, with the time in the name.
fn kept_beside(database: &Path, now: Timestamp) -> PathBuf {
    let mut time = now.to_string();
    time.retain(|character| character.is_ascii_digit() || character == 'T');
    let mut name = database.as_os_str().to_owned();
    name.push(format!(".before-restore-{time}"));
    PathBuf::from(name)
}

async fn stage(file: PathBuf, database: PathBuf, now: Timestamp) -> Result<Staged, CommandError> {
    let staged = tokio::task::spawn_blocking(move || Staged::prepare(&file, &database, now)).await;
    Ok(staged.map_err(|_panicked| CommandError::Unknown)??)
}

fn embedded(store: &Store) -> Result<&SqliteStore, CommandError> {
    match store {
        Store::Sqlite(store) => Ok(store),
        Store::Postgres(_) => Err(CommandError::NotEmbedded),
    }
}

fn database_file(config: &Config) -> Result<PathBuf, CommandError> {
    match config.database_address()? {
        DatabaseAddress::Sqlite(path) => Ok(path),
        DatabaseAddress::Postgres(_) => Err(CommandError::NotEmbedded),
    }
}

/// Checks that the disk has room for `copies` of the backup beside the database, and for `more_bytes`.
fn require_room(file: &Path, database: &Path, more_bytes: u64, copies: u64) -> Result<(), CommandError> {
    let cannot = |error: &dyn std::fmt::Display, path: &Path| {
        CommandError::Argument(format!("{}: {error}", path.display()))
    };
    let bytes = std::fs::metadata(file).map_err(|error| cannot(&error, file))?.len();
    let folder = bootstrap::parent_of(database);
    let disk = rustix::fs::statvfs(folder).map_err(|error| cannot(&error, folder))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let needed = bytes.saturating_mul(copies).saturating_add(more_bytes).saturating_add(SPARE_BYTES);
    if free < needed {
        return Err(CommandError::Argument(format!(
            "{} has {free} bytes free; restoring needs {needed}",
            folder.display()
        )));
    }
    Ok(())
}

/// Adds a note to the audit trail. The command succeeds without it.
pub(super) async fn record(app: &App, action: &'static str) {
    let mut batch = Batch::new(DEPLOYMENT);
    let entry = AuditEntry {
        id: app.chance.id(app.clock.deployment()),
        actor: Actor::Operator,
        action,
        object_kind: "database",
        object_id: Uuid::nil(),
        request_id: None,
    };
    audit::record(&mut batch, entry);
    match app.store.apply(batch).await {
        Ok(Commit::Applied) => {}
        Ok(Commit::Refused(_) | Commit::Unknown) => tracing::warn!(action, "not noted in the audit trail"),
        Err(error) => tracing::warn!(action, ?error, "not noted in the audit trail"),
    }
}

fn restored(file: PathBuf, replaced: Replaced, took_ms: u64) -> Restored {
    Restored {
        file,
        bytes: replaced.bytes,
        schema_version: replaced.schema_version,
        migrated: replaced.migrated.into_iter().map(str::to_owned).collect(),
        newest_charge_at: replaced.newest.charge,
        kept: replaced.kept,
        took_ms,
    }
}

pub(super) fn took_ms(clock: &Clock, begun: MachineTime) -> u64 {
    u64::try_from(clock.machine().since(begun).as_millis()).unwrap_or(u64::MAX)
}
