//! Runs `regente settle`: reads settlement files here, and asks for the records and posts where the database is.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::civil::Date;
use regente_domain::time::{Timestamp, parse_date};
use regente_providers::sandbox::{SettlementPage, TransactionLog};

use super::operate::{print_json, run_asking, server_folder};
use super::run::runtime;
use super::{Failure, OutputArg};
use crate::admin::{self, Answer, Command, SettlementAnswer, SettlementCommand};
use crate::bootstrap;
use crate::config::{Config, Loaded};
use crate::settlement::{
    self, File, Mapping, OF_THE_SIMULATOR, POSTED_AT_ONCE, Progress, ProviderFile, Step, page, reconcile,
};
use crate::telemetry;

/// Entries of a transaction log that are read at once.
const LOG_ENTRIES_AT_ONCE: usize = 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Subcommand)]
pub(super) enum SettleTask {
    /// Compare a settlement file with the records, and post fees, payouts, anticipations and differences
    #[command(
        after_help = "Run again, it posts nothing twice, also after it was stopped. Ends with 1 when the file and the \
                        records differ. What a mapping holds: `regente settle mapping`."
    )]
    Import {
        /// The file, CSV
        file: PathBuf,
        /// The id of a registered provider, or a type such as SANDBOX for all of that type
        #[arg(long, value_name = "ID|TYPE")]
        provider: String,
        /// What the columns of the file mean, TOML [default: that of the simulator]
        #[arg(long, value_name = "FILE")]
        mapping: Option<PathBuf>,
        /// The first day that the file is about, in its time zone [default: the first one on which it settles a known
        /// payment]
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
        from: Option<Date>,
        /// The last day that the file is about [default: that of `--from`]
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = date, requires = "from")]
        to: Option<Date>,
        /// Look at charges made since this day [default: since the day before the first one of the file]
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
        since: Option<Timestamp>,
        /// Compare only, and post nothing
        #[arg(long)]
        dry_run: bool,
        /// Show at most so many findings of each kind
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        rows: u64,
        /// Write the report as a page to this file
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Print the settlement file of the simulator for one day
    SandboxFile {
        /// The day, by the callers' clocks, in UTC
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
        day: Timestamp,
        /// Read the transaction log of `regente sandbox-provider` in this file
        #[arg(long, value_name = "FILE")]
        books: Option<PathBuf>,
        /// What the simulator has done as this provider alone: the id of a registered one, or a type such as PLATFORM, of which
        /// it has what payouts have kept and paid [default: the whole log]
        #[arg(long, value_name = "ID|TYPE", conflicts_with = "books")]
        provider: Option<String>,
    },
    /// Print the mapping of the simulator's file, as an example for others
    Mapping,
}

fn date(text: &str) -> Result<Date, &'static str> {
    parse_date(text).ok_or("must be a day, such as 2026-07-06")
}

fn day(text: &str) -> Result<Timestamp, &'static str> {
    let day = date(text).map(|_| Timestamp::parse(text))?;
    day.ok_or("must be a day, such as 2026-07-06")
}

pub(super) fn run(loaded: &Loaded, task: SettleTask) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    match task {
        SettleTask::Mapping => {
            io::stdout().write_all(OF_THE_SIMULATOR.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        SettleTask::SandboxFile { day, books: Some(books), provider: _ } => {
            telemetry::start(&config.log)?;
            runtime()?.block_on(file_of_log(&books, day))
        }
        SettleTask::SandboxFile { day, books: None, provider: Some(provider) } => {
            file_of_provider(loaded, day, provider)
        }
        SettleTask::SandboxFile { day, books: None, provider: None } => {
            telemetry::start(&config.log)?;
            runtime()?.block_on(sandbox_file(config, day))
        }
        SettleTask::Import { file, provider, mapping, from, to, since, dry_run, rows, html, output } => {
            let days = from.map(|from| (from, to.unwrap_or(from)));
            if days.is_some_and(|(from, to)| to < from) {
                return Err("`--to` is before `--from`".into());
            }
            let import = Import {
                file: &file,
                provider,
                mapping: mapping.as_deref(),
                days,
                since,
                dry_run,
                rows,
                html: html.as_deref(),
            };
            import_file(loaded, import, output)
        }
    }
}

struct Import<'a> {
    file: &'a Path,
    provider: String,
    mapping: Option<&'a Path>,
    days: Option<(Date, Date)>,
    since: Option<Timestamp>,
    dry_run: bool,
    rows: u64,
    html: Option<&'a Path>,
}

fn import_file(loaded: &Loaded, import: Import<'_>, output: OutputArg) -> Result<ExitCode, Failure> {
    run_asking(loaded, async |asked| {
        let ask = async |command| settled(asked.ask(Command::Settlement(command)).await?);
        import_through(ask, import, output).await
    })
}

fn settled(answer: Answer) -> Result<SettlementAnswer, Failure> {
    let Answer::Settlement { settlement } = answer else {
        return Err("the running server is of another release".into());
    };
    Ok(settlement)
}

async fn import_through(
    ask: impl AsyncFn(SettlementCommand) -> Result<SettlementAnswer, Failure>,
    import: Import<'_>,
    output: OutputArg,
) -> Result<ExitCode, Failure> {
    let answer = ask(SettlementCommand::Scope { provider: import.provider }).await?;
    let SettlementAnswer::Scope(scope) = answer else {
        return Err("the running server is of another release".into());
    };
    let mapping = match import.mapping {
        Some(path) => Mapping::read(path)?,
        // The simulator stands in for the own provider.
        None if scope.provider_type.is_simulator() || scope.is_own() => Mapping::of_the_simulator()?,
        None => return Err("name the mapping of the file with `--mapping`".into()),
    };
    let file = File {
        path: import.file,
        mapping: &mapping,
        scope: &scope,
        days: import.days,
        since: import.since,
        shown_max: import.rows,
        posted_at_once: POSTED_AT_ONCE,
        is_dry_run: import.dry_run,
    };
    let bar = Bar(ProgressBar::new(0));
    let report = reconcile(ask, file, &bar).await;
    bar.0.finish_and_clear();
    let report = report?;
    if let Some(html) = import.html {
        std::fs::write(html, page(&report)?).map_err(|error| format!("{}: {error}", html.display()))?;
    }
    if output.json {
        print_json(&report)?;
    } else {
        io::stdout().write_all(report.text().as_bytes())?;
    }
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows how far it is, where standard error is a terminal.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn begin(&self, step: Step) {
        let (length, template) = match step {
            Step::Reading(bytes) => (Some(bytes), "reading   [{bar:40}] {percent:>3} % {eta}"),
            Step::Records => (None, "records   {pos}"),
            Step::Comparing(lines) => (Some(lines), "comparing [{bar:40}] {percent:>3} % {eta}"),
        };
        self.0.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        match length {
            Some(length) => self.0.set_length(length),
            None => self.0.unset_length(),
        }
        self.0.reset();
    }

    fn done(&self, amount: u64) {
        self.0.inc(amount);
    }
}

async fn sandbox_file(config: &Config, day: Timestamp) -> Result<ExitCode, Failure> {
    match server_folder(config)? {
        Some(folder) => {
            let read = async |after| {
                let command = SettlementCommand::SandboxFile { during: (day, day + DAY), after };
                match settled(admin::ask(&folder, &Command::Settlement(command)).await?)? {
                    SettlementAnswer::SandboxFile(page) => Ok(page),
                    SettlementAnswer::Scope(_)
                    | SettlementAnswer::Moved { .. }
                    | SettlementAnswer::Owed { .. }
                    | SettlementAnswer::Sellers { .. }
                    | SettlementAnswer::Kept { .. }
                    | SettlementAnswer::Keys { .. }
                    | SettlementAnswer::Posted(_) => Err("the running server is of another release".into()),
                }
            };
            print_file(read).await
        }
        None => {
            let log = bootstrap::existing_simulator_log(config).await?;
            let log =
                log.ok_or("there is no transaction log of the simulator here; `--books` names another")?;
            print_log(&log, day).await
        }
    }
}

fn file_of_provider(loaded: &Loaded, day: Timestamp, provider: String) -> Result<ExitCode, Failure> {
    run_asking(loaded, async |asked| {
        let ask = async |command: SettlementCommand| settled(asked.ask(Command::Settlement(command)).await?);
        let SettlementAnswer::Scope(scope) = ask(SettlementCommand::Scope { provider }).await? else {
            return Err("the running server is of another release".into());
        };
        let file = ProviderFile::of(&ask, scope, (day, day + DAY)).await?;
        print_file(async |after| file.page(&ask, after).await).await
    })
}

async fn file_of_log(books: &Path, day: Timestamp) -> Result<ExitCode, Failure> {
    if !books.exists() {
        return Err(format!("there is no file {}", books.display()).into());
    }
    let books = books.to_owned();
    let log = tokio::task::spawn_blocking(move || TransactionLog::file(&books)).await??;
    print_log(&log, day).await
}

async fn print_log(log: &TransactionLog, day: Timestamp) -> Result<ExitCode, Failure> {
    let read = async |after| Ok(log.settlement(day, day + DAY, after, LOG_ENTRIES_AT_ONCE).await?);
    print_file(read).await
}

async fn print_file(
    read: impl AsyncFn(Option<u64>) -> Result<SettlementPage, Failure>,
) -> Result<ExitCode, Failure> {
    settlement::write_sandbox_file(io::stdout().lock(), read).await?;
    Ok(ExitCode::SUCCESS)
}
