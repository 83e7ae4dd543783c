//! `regente move`: the address of the target, and the progress.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use regente_engine::clock::Clock;
use regente_store::moving::{Progress, Step};

use super::operate::print;
use super::run::runtime;
use super::{Failure, OutputArg, ledger};
use crate::admin::{self, AccountMoved, Answer, DatabaseMoved};
use crate::config::{Config, DatabaseAddress, Loaded, Secret};
use crate::telemetry;

/// How often a line tells the progress where standard error is no terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

const AFTER_A_MOVE: &str = "Now set `database.url` to the new database on every node, and start them. The former one has all that it had: keep it. \
     No server starts on it any more, which would charge again what is charged here from now on.\n";
const AFTER_A_BACKUP: &str = "What has happened at the database of the backup since is not here. If a server runs on that one, stop it for ever before one \
     starts here: either would charge again what the other one has charged.\n";
const REOPENED: &str =
    "The database may be served again. Nothing of what has happened at the other one since is in it.\n";

#[derive(Debug, Args)]
pub(super) struct MoveArgs {
    /// Where to: `postgres://user:password@host:port/name`, or the path of an SQLite file
    #[arg(
        long, value_name = "ADDRESS", required_unless_present_any = ["to_file", "reopen"], conflicts_with = "to_file"
    )]
    to: Option<String>,
    /// A file that holds the address instead, so that no list of processes shows a password
    #[arg(long, value_name = "FILE")]
    to_file: Option<PathBuf>,
    /// Move this backup instead of the database of the configuration
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Move nothing: let the database of the configuration be served again, which was moved away before. Nothing of what has happened
    /// at the other one since is in it
    #[arg(long, conflicts_with_all = ["to", "to_file", "from"])]
    reopen: bool,
    #[command(flatten)]
    output: OutputArg,
}

pub(super) fn run(loaded: &Loaded, arguments: MoveArgs) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    if arguments.reopen {
        runtime()?.block_on(admin::reopen(config))?;
        io::stdout().write_all(REOPENED.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let to = target(config, arguments.to, arguments.to_file)?;
    let bar = ProgressBar::no_length();
    let style = ProgressStyle::with_template("{msg} {bar:30} {human_pos}/{human_len} rows ({elapsed})");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let line = Mutex::new(String::new());
    let tell = |progress: Progress<'_>| {
        if let Some(all) = progress.of {
            bar.set_length(all);
        }
        bar.set_position(progress.rows);
        bar.set_message(verb(progress.step));
        if let Ok(mut line) = line.lock() {
            *line = shown_line(progress);
        }
    };
    let moved = runtime()?.block_on(async {
        let clock = Clock::system();
        let mut moving = std::pin::pin!(admin::move_database(config, arguments.from, &to, &clock, &tell));
        loop {
            tokio::select! {
                moved = &mut moving => return moved,
                () = tokio::time::sleep(PROGRESS_EVERY) => {}
            }
            if !io::stderr().is_terminal()
                && let Ok(line) = line.lock()
            {
                // A failed write of the progress is ignored.
                drop(io::stderr().write_all(line.as_bytes()));
            }
        }
    });
    bar.finish_and_clear();
    print(&Answer::Moved(moved?), arguments.output)
}

/// The configuration with the target for its database.
fn target(config: &Config, to: Option<String>, to_file: Option<PathBuf>) -> Result<Config, Failure> {
    let mut target = config.clone();
    (target.database.url, target.database.url_file) = match to {
        None => (None, to_file),
        Some(address) if DatabaseAddress::parse(&address).is_ok() => (Some(Secret::new(address)), None),
        // The text is not repeated: it may be an address with a password.
        Some(address) if address.contains("://") => {
            return Err(
                "`--to` must be `postgres://user:password@host:port/name` or the path of a file".into()
            );
        }
        Some(path) => (Some(Secret::new(format!("sqlite:{path}"))), None),
    };
    Ok(target)
}

const fn verb(step: Step) -> &'static str {
    match step {
        Step::Reading => "reading the source",
        Step::Writing => "writing the target",
        Step::Comparing => "comparing",
    }
}

fn shown_line(progress: Progress<'_>) -> String {
    let Progress { step, table, rows, of } = progress;
    let of = of.map_or_else(String::new, |all| format!(" of {all}"));
    format!("{}: {rows}{of} rows, at {table}\n", verb(step))
}

pub(super) fn shown(moved: &DatabaseMoved) -> String {
    let DatabaseMoved { from, to, rows, resumed_after, accounts, ledger: books, is_of_backup, took_ms } =
        moved;
    let mut text = format!("{rows} rows were moved from {from} to {to} and compared, in {took_ms} ms.\n");
    if *resumed_after > 0 {
        text.push_str(&format!(
            "{resumed_after} of them had been written by a command that was interrupted.\n"
        ));
    }
    for AccountMoved { client_id, rows, checksum, .. } in accounts {
        let of = if client_id.is_nil() { "of no account".to_owned() } else { client_id.to_string() };
        text.push_str(&format!("{of:<36}  {rows:>10} rows  {checksum}\n"));
    }
    text.push_str(&ledger::report(books));
    text.push_str(match is_of_backup {
        false => AFTER_A_MOVE,
        true => AFTER_A_BACKUP,
    });
    text
}
