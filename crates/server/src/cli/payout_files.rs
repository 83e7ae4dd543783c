//! `regente payouts export` and `import-return`: files for a bank that takes payments as files.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use jiff::civil::Date;
use regente_domain::cnab240::returned::decoded;
use regente_domain::time::parse_date;
use regente_engine::payouts::returned::{Became, Outcome, Run};

use super::account::AccountArgs;
use super::{Failure, files, lists, operate};
use crate::admin::{
    Answer, Command, ExportedRow, LeftOutRow, OtherRow, PayoutsAnswer, PayoutsCommand, PayoutsTask, ReturnRow,
};
use crate::config::Loaded;
use crate::terminal::printable;

/// What is exported.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// When it is paid; batches of later days are left for later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    date: Date,
    /// About the company, JSON or TOML
    #[arg(long, value_name = "FILE")]
    company: PathBuf,
    /// The new file
    #[arg(long = "output", value_name = "FILE")]
    file: PathBuf,
    /// Write batches again that are in a file already: the bank must not have that file
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    of: AccountArgs,
}

/// What is imported.
#[derive(Debug, Args)]
pub(super) struct ImportReturnArgs {
    /// The file of the bank
    file: PathBuf,
    /// Show what it decides, and decide nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    of: AccountArgs,
}

fn date(text: &str) -> Result<Date, &'static str> {
    parse_date(text).ok_or("must be a day, such as 2026-07-06")
}

pub(super) fn export(loaded: &Loaded, args: ExportArgs) -> Result<ExitCode, Failure> {
    let ExportArgs { date: day, company, file, again, of } = args;
    let company = files::object(&company)?;
    // What is written down as sent must not be lost because the file cannot be written.
    let mut made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&file)
        .map_err(|error| cannot(&file, &error))?;
    let task = PayoutsTask::Export { company, day, again };
    let asked = operate::answer_to(
        loaded,
        Command::Payouts(PayoutsCommand { client_id: of.account.client_id, task }),
    );
    let text =
        if let Ok(Answer::Payouts(PayoutsAnswer::Exported(row))) = &asked { row.text.clone() } else { None };
    match text {
        None => fs::remove_file(&file).map_err(|error| cannot(&file, &error))?,
        Some(text) => made.write_all(text.as_bytes()).and_then(|()| made.sync_all()).map_err(|error| {
            format!("{}; its batches count as sent, and `--again` writes them again", cannot(&file, &error))
        })?,
    }
    let mut answer = asked?;
    if let Answer::Payouts(PayoutsAnswer::Exported(row)) = &mut answer {
        row.text = None;
    }
    operate::print(&answer, of.output)
}

pub(super) fn import_return(loaded: &Loaded, args: ImportReturnArgs) -> Result<ExitCode, Failure> {
    let ImportReturnArgs { file, dry_run, of } = args;
    let bytes = fs::read(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let run = if dry_run { Run::Dry } else { Run::Real };
    let task = PayoutsTask::ImportReturn { text: decoded(&bytes), run };
    let answer = operate::answer_to(
        loaded,
        Command::Payouts(PayoutsCommand { client_id: of.account.client_id, task }),
    )?;
    operate::print(&answer, of.output)?;
    let is_open =
        if let Answer::Payouts(PayoutsAnswer::Returned(row)) = &answer { row.is_open() } else { false };
    Ok(if is_open { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn cannot(file: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}", file.display())
}

/// The text about a file that was written.
pub(super) fn exported(row: &ExportedRow) -> String {
    let mut text = match row.number {
        None => "There is nothing to pay that is in no file; none was written.\n".to_owned(),
        Some(number) => {
            let count = row.batches.len();
            format!("File {number} pays {count} payment batches, {} cents in all.\n", row.amount)
        }
    };
    if row.in_a_file > 0 {
        let count = row.in_a_file;
        let _ = writeln!(text, "In an earlier file: {count}. `--again` writes them once more.");
    }
    for LeftOutRow { id, why } in &row.left_out {
        let _ = writeln!(text, "Left out: {id}: {why}.");
    }
    if row.more {
        text.push_str("There are more: run it again for the next file.\n");
    }
    text
}

/// The text about a return file.
pub(super) fn returned(row: &ReturnRow) -> String {
    let head = ["row", "batch", "amount", "what became of it"].map(str::to_owned).to_vec();
    let lines = row.outcomes.iter().map(|outcome| {
        let Outcome { row, name, batch_id, amount, became } = outcome;
        let batch = batch_id.map_or_else(|| printable(name).into_owned(), |id| id.to_string());
        vec![row.to_string(), batch, amount.to_string(), what(became)]
    });
    let mut text = lists::columns(&std::iter::once(head).chain(lines).collect::<Vec<_>>());
    for OtherRow { row, what } in &row.others {
        let _ = writeln!(text, "Row {row} is not understood: {}.", printable(what));
    }
    text.push_str(match row.run {
        Run::Real => "",
        Run::Dry => "Nothing was written.\n",
    });
    text
}

fn what(became: &Became) -> String {
    match became {
        Became::Paid => "paid".to_owned(),
        Became::Failed { reason } => format!("failed: {}", printable(reason)),
        Became::Scheduled => "pending: the bank pays it later".to_owned(),
        Became::Already { status } => format!("{status} already"),
        Became::Differs { expected, found } => {
            format!("undecided: the file says {found}, the batch {expected}")
        }
        Became::Undecided { why } => format!("undecided: {}", printable(why)),
    }
}
