//! Copies the write-ahead log into the database. A background thread copies beside the writer, but under load it
//! never catches up and the log could not restart. So once the log is long, the writer completes the copy when little
//! is left, and at the log's limit in any case; no commit runs meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError};
use rusqlite::Connection;

use super::failure;
use super::options::SqliteOptions;
use crate::driver::Emptied;
use crate::error::StoreError;

/// Bytes of the log for each page besides the page itself.
const FRAME_HEADER_BYTES: u64 = 24;

/// The most that the writer copies while the log has room: a few milliseconds' work.
const LITTLE_BYTES: u64 = 2 * 1024 * 1024;

/// What the writer knows about the log.
pub(super) struct Checkpoints {
    wake: Sender<()>,
    background: JoinHandle<()>,
    /// Held by the thread that copies: SQLite allows one at a time, and the other would wait in vain.
    copying: Arc<Mutex<()>>,
    /// Whether a backup holds an old state: then the log cannot restart, and the writer does not wait for it.
    snapshot_is_held: Arc<AtomicBool>,
    passive_pages: u64,
    little_pages: u64,
    pages_max: u64,
    /// Log length at which the background thread is woken next.
    wake_at: u64,
    /// Log length from which the writer completes the copy when little is left.
    complete_early_at: u64,
    /// Log length at which the writer completes the copy, however much is left.
    complete_at: u64,
}

/// The result of `wal_checkpoint`.
#[derive(Clone, Copy, Debug)]
struct LogState {
    busy: bool,
    pages: u64,
    copied: u64,
}

impl LogState {
    const fn left(self) -> u64 {
        self.pages.saturating_sub(self.copied)
    }
}

impl Checkpoints {
    /// Starts the background thread with its own connection.
    pub(super) fn start(
        options: &SqliteOptions,
        connection: Connection,
        snapshot_is_held: Arc<AtomicBool>,
    ) -> Result<Self, StoreError> {
        let page_bytes: u32 = connection
            .query_row("PRAGMA page_size", [], |row| row.get(0))
            .map_err(|error| StoreError::Configuration(error.to_string()))?;
        let frame_bytes = u64::from(page_bytes) + FRAME_HEADER_BYTES;
        let passive_pages = (options.wal_passive_bytes / frame_bytes).max(1);
        let pages_max = (options.wal_bytes_max / frame_bytes).max(1);
        let (wake, woken) = crossbeam_channel::bounded(1);
        let copying = Arc::new(Mutex::new(()));
        let copying_in_background = Arc::clone(&copying);
        let background = std::thread::Builder::new()
            .name("sqlite-checkpoint".to_owned())
            .spawn(move || copy_when_woken(&connection, &woken, &copying_in_background))
            .map_err(StoreError::unavailable)?;
        let mut checkpoints = Self {
            wake,
            background,
            copying,
            snapshot_is_held,
            passive_pages,
            little_pages: LITTLE_BYTES / frame_bytes,
            pages_max,
            wake_at: 0,
            complete_early_at: 0,
            complete_at: 0,
        };
        checkpoints.log_begins_anew();
        Ok(checkpoints)
    }

    fn log_begins_anew(&mut self) {
        self.wake_at = self.passive_pages;
        self.complete_early_at = self.pages_max / 4 * 3;
        self.complete_at = self.pages_max;
    }

    /// Waits until the log, now of this length, has grown by a part before the next attempt.
    fn complete_later(&mut self, pages: u64) {
        self.complete_early_at = pages + self.passive_pages;
        self.complete_at = self.complete_early_at;
    }

    /// Checks the length of the log and acts on it.
    pub(super) fn after_commit(&mut self, connection: &Connection) {
        let Some(log) = checkpoint(connection, "NOOP") else { return };
        if log.pages + self.passive_pages < self.wake_at {
            // The log is shorter than at the last wake-up: it has restarted.
            self.log_begins_anew();
        }
        let is_long = log.pages >= self.complete_early_at;
        let may_begin_anew = is_long && !self.snapshot_is_held.load(Ordering::Relaxed);
        if may_begin_anew && (log.left() <= self.little_pages || log.pages >= self.complete_at) {
            self.complete(connection);
        } else if may_begin_anew || log.pages >= self.wake_at {
            self.wake_at = log.pages + self.passive_pages;
            match self.wake.try_send(()) {
                // Full: the thread is already awake.
                Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
            }
        }
    }

    /// Waits for the background thread, which has then left little to copy, and for readers.
    fn complete(&mut self, connection: &Connection) {
        let log = {
            let _copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
            checkpoint(connection, "RESTART")
        };
        match log {
            Some(log) if !log.busy && log.copied >= log.pages => self.log_begins_anew(),
            Some(log) => {
                // A long read still needs the old part. Waiting for it after each commit would stop all writes.
                tracing::debug!(
                    pages = log.pages,
                    copied = log.copied,
                    "the write-ahead log is still being read"
                );
                self.complete_later(log.pages);
            }
            None => self.complete_later(self.complete_at),
        }
    }

    /// Ends the background thread and empties the log, so that the next start is quick.
    pub(super) fn finish(self, connection: &Connection) {
        drop(self.wake);
        if self.background.join().is_err() {
            tracing::error!("the checkpoint thread panicked");
        }
        checkpoint(connection, "TRUNCATE");
    }
}

/// Copies the whole log and cuts its file, unless a reader needs it.
pub(super) fn empty_log(connection: &Connection) -> Result<Emptied, StoreError> {
    match checkpoint(connection, "TRUNCATE") {
        Some(log) if !log.busy => Ok(Emptied::Yes),
        Some(_) | None => Ok(Emptied::StillNeeded),
    }
}

fn copy_when_woken(connection: &Connection, woken: &Receiver<()>, copying: &Mutex<()>) {
    while woken.recv().is_ok() {
        let _copying = copying.lock().unwrap_or_else(PoisonError::into_inner);
        checkpoint(connection, "PASSIVE");
    }
}

/// Copies the log, or with `NOOP` only inspects it. A failure is logged; the log keeps its content.
fn checkpoint(connection: &Connection, mode: &str) -> Option<LogState> {
    let state =
        connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})")).and_then(|mut statement| {
            statement.query_row([], |row| {
                Ok(LogState {
                    busy: row.get::<_, i64>(0)? != 0,
                    pages: row.get::<_, i64>(1)?.try_into().unwrap_or(0),
                    copied: row.get::<_, i64>(2)?.try_into().unwrap_or(0),
                })
            })
        });
    match state {
        Ok(state) => Some(state),
        Err(error) => {
            let error = failure::store_error("wal_checkpoint", error);
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                mode,
                "the write-ahead log was not copied"
            );
            None
        }
    }
}
