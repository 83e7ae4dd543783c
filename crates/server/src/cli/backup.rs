//! The commands `backup` and `restore`: the consent that a restore needs, and the progress of a long one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use regente_engine::clock::Clock;

use super::operate::{ask_once, print, server_folder};
use super::run::runtime;
use super::{Failure, OutputArg};
use crate::admin::{self, Answer, Command, CommandError, ExistingFile};
use crate::config::{Config, DatabaseAddress, Loaded};
use crate::telemetry;

/// How often a long command prints its progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Whether the operator agreed that the existing database is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    Given,
    Missing,
}

pub(super) fn back_up(
    loaded: &Loaded,
    file: &Path,
    existing: ExistingFile,
    output: OutputArg,
) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    let database = embedded(config)?;
    // The server may have been started in another folder, so it gets an absolute path.
    let file = std::path::absolute(file)?;
    let partial = admin::partial_path(&file);
    let command = Command::Backup { file, existing };
    let answer =
        runtime()?.block_on(telling_progress("written", partial, &database, ask_once(config, command)))?;
    print(&answer, output)
}

pub(super) fn restore(
    loaded: &Loaded,
    file: &Path,
    consent: Consent,
    output: OutputArg,
) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    let database = embedded(config)?;
    let file = std::path::absolute(file)?;
    if consent == Consent::Missing && database.exists() {
        return Err(format!(
            "{} exists. A restore replaces everything in it: what happened after the backup was made is not in the \
             backup, and money that moved since then stays moved. Say `--yes` if that is what you want; what is \
             replaced is kept in a file beside it",
            database.display()
        )
        .into());
    }
    let command = Command::Restore { file: file.clone() };
    let copy = admin::staged_path(&database);
    let answer = runtime()?.block_on(telling_progress("copied", copy, &file, async {
        match server_folder(config)? {
            Some(folder) => Ok(admin::ask(&folder, &command).await?),
            None => Ok(Answer::Restored(admin::restore_alone(config, &Clock::system(), file.clone()).await?)),
        }
    }))?;
    print(&answer, output)
}

/// The file of the embedded database.
fn embedded(config: &Config) -> Result<PathBuf, Failure> {
    match config.database_address()? {
        DatabaseAddress::Sqlite(path) => Ok(path),
        DatabaseAddress::Postgres(_) => Err(CommandError::NotEmbedded.into()),
    }
}

/// Prints the length of `growing` next to `whole` on standard error until the work is done.
async fn telling_progress<T>(
    what: &str,
    growing: PathBuf,
    whole: &Path,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    const MIB: u64 = 1024 * 1024;
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return result,
            () = tokio::time::sleep(PROGRESS_EVERY) => {}
        }
        let length = |path: &Path| std::fs::metadata(path).map(|file| file.len() / MIB);
        let line = match (length(&growing), length(whole)) {
            (Ok(now), Ok(all)) => format!("{now} MiB of about {all} MiB {what}\n"),
            (Err(_), _) | (_, Err(_)) => "working\n".to_owned(),
        };
        // A failed write of the progress is ignored.
        drop(io::stderr().write_all(line.as_bytes()));
    }
}
