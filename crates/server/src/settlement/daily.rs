//! Writes the simulator's settlement file of each day by itself, as providers do.

use std::convert::Infallible;
use std::fs::{File, remove_file, rename};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_providers::sandbox::TransactionLog;
use tokio::runtime::Handle;
use tokio::task::{JoinSet, spawn_blocking};

use super::{Failure, write_sandbox_file};
use crate::bootstrap::{make_private_folder, parent_of};
use crate::chain::chain;
use crate::config::TransactionLogLocation;

/// How long after the end of a day its file is written.
const AFTER: Duration = Duration::from_secs(10 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How often it is looked whether a day is over.
const EVERY: Duration = Duration::from_secs(60);
/// Entries of the log that are read at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// Writes the files of the simulator, whose transaction log is at `place`, until the returned set is dropped. They are beside
/// the log; a log in memory has none.
pub fn begin(log: &TransactionLog, place: &TransactionLogLocation, clock: &Clock) -> JoinSet<Infallible> {
    let mut writing = JoinSet::new();
    match place {
        TransactionLogLocation::File(path) => {
            let folder = parent_of(path).join("settlement");
            writing.spawn(keep_writing(log.clone(), folder, clock.clone()));
        }
        TransactionLogLocation::Memory => {}
    }
    writing
}

/// Writes the file of each day when the day is over, and of the day before the start.
async fn keep_writing(log: TransactionLog, folder: PathBuf, clock: Clock) -> Infallible {
    let mut written = None;
    loop {
        let day = last_day(clock.deployment());
        if written != Some(day) {
            let (log, folder) = (log.clone(), folder.clone());
            // In a thread that may wait for the disk.
            let write = move || Handle::current().block_on(write_file(&log, &folder, day));
            match spawn_blocking(write).await.unwrap_or_else(|panicked| Err(panicked.into())) {
                Ok(file) => {
                    written = Some(day);
                    if let Some(file) = file {
                        tracing::info!(file = %file.display(), "the simulator has written its settlement file");
                    }
                }
                Err(error) => {
                    let error = chain(&*error);
                    tracing::warn!(%error, "the simulator could not write its settlement file, and tries again");
                }
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// The beginning of the last day, in UTC, whose file is due.
pub fn last_day(now: Timestamp) -> Timestamp {
    let today = Timestamp::of_hour((now - AFTER).hour().div_euclid(24) * 24);
    today - DAY
}

/// Writes the file of a day, unless it is there or nothing has moved on that day. Answers where it was written.
///
/// # Errors
/// The log cannot be read, or the file not written.
pub async fn write_file(
    log: &TransactionLog,
    folder: &Path,
    day: Timestamp,
) -> Result<Option<PathBuf>, Failure> {
    let date = day.to_string();
    let file = folder.join(format!("{}.csv", date.get(..10).unwrap_or(&date)));
    if file.exists() {
        return Ok(None);
    }
    make_private_folder(folder)?;
    // Whoever finds the file finds all of it.
    let part = file.with_extension("csv.part");
    let read = async |after| log.settlement(day, day + DAY, after, ENTRIES_AT_ONCE).await;
    let lines = write_sandbox_file(BufWriter::new(File::create(&part)?), read).await?;
    if lines == 0 {
        remove_file(&part)?;
        return Ok(None);
    }
    rename(&part, &file)?;
    Ok(Some(file))
}
