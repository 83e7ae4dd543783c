//! Reports of millions of charges: how long their rows take, and what memory; whether they have what the counters have; and whether
//! the service that makes one may be killed meanwhile.

mod content;
mod fill;
mod of_service;

use std::time::Instant;

use serde_json::Value;

use super::Bench;
use super::figures::{Reached, number};
use super::meter::Watch;
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::{Account, Place};
use crate::service::Service;
use content::Content;
use fill::Filled;

/// The smaller database has this part of the charges: what the larger one takes is compared with it.
const SMALLER: u64 = 50;
/// Most memory of the process, in MB, whatever the number of charges.
const OWN_MIB_MAX: f64 = 200.0;
const TRANSACTIONS: &str = "transactions";
const HISTORY: &str = "transactionsHistory";

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let columns =
        ["charges", "type", "made by", "rows", "files", "MB", "s", "rows a second", "MB of its own"];
    let mut table = Table::new("Reports with every column", columns);
    for charges in [bench.charges / SMALLER, bench.charges] {
        let place = bench.place()?;
        let filled = fill::fill(&place, charges).await?;
        let counted = counted(&place, &filled).await?;
        for report_type in [TRANSACTIONS, HISTORY] {
            let by_command = by_command(&place, &filled, report_type)?;
            let mut service = Service::start(&place)?;
            let by_service = of_service::undisturbed(&service, &place, &filled, report_type).await?;
            let killed = of_service::killed(&mut service, &place, &filled, report_type).await?;
            service.stop()?;
            let rows = if report_type == TRANSACTIONS { counted.charges } else { counted.tries };
            let what = format!("{report_type} of {} charges", number(charges as f64, 0));
            report.number(
                format!("rows, {what}"),
                number(by_service.content.rows as f64, 0),
                format!("{}, by the counters", number(rows as f64, 0)),
                Reached::when(by_service.content.rows == rows && by_command.content.rows == rows),
            );
            report.number(
                format!("bytes of files that differ after {} kills, {what}", of_service::KILLS),
                if killed.content == by_service.content { "none" } else { "some" },
                "none",
                Reached::when(killed.content == by_service.content),
            );
            report.number(
                format!("rows of the command that differ, {what}"),
                if by_command.content.has_rows_of(&by_service.content) { "none" } else { "some" },
                "none",
                Reached::when(by_command.content.has_rows_of(&by_service.content)),
            );
            for (by, made) in [
                ("the command".to_owned(), &by_command),
                ("a service".to_owned(), &by_service),
                (format!("a service, killed {} times", of_service::KILLS), &killed),
            ] {
                table.row(made.row(charges, report_type, by));
            }
            let most = by_command.own_mib.max(by_service.own_mib).max(killed.own_mib);
            report.number(
                format!("MB of its own at most, {what}"),
                number(most, 0),
                format!("at most {}", number(OWN_MIB_MAX, 0)),
                Reached::at_most(OWN_MIB_MAX, most),
            );
        }
    }
    report.tables.push(table);
    report.note(format!(
        "Of {} charges one is refused by its first provider and goes on to a second one, and another one is declined. SQLite. The \
         command has the database open itself, and its memory is that of both; a service seals its files. Its time is that in which \
         the report was `processing`, with the starts after the kills.",
        fill::OF_EACH
    ));
    Ok(report)
}

/// A report that was made.
struct Made {
    seconds: f64,
    own_mib: f64,
    content: Content,
}

impl Made {
    fn row(&self, charges: u64, report_type: &str, by: String) -> impl Iterator<Item = String> {
        let Content { rows, files, bytes, .. } = &self.content;
        [
            number(charges as f64, 0),
            report_type.to_owned(),
            by,
            number(*rows as f64, 0),
            files.to_string(),
            number(*bytes as f64 / 1e6, 0),
            number(self.seconds, 1),
            number(*rows as f64 / self.seconds, 0),
            number(self.own_mib, 0),
        ]
        .into_iter()
    }
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
fn by_command(place: &Place, filled: &Filled, report_type: &str) -> Outcome<Made> {
    println!("reports: {report_type}, by the command");
    let file = place.folder().join("report.csv");
    let (from, to) = (filled.from.to_string(), filled.to.to_string());
    let arguments = ["reports", "make", &filled.account.client_id, "--type", report_type];
    let mut command = place.regente(&arguments);
    command.args(["--from", &from, "--to", &to, "--output"]).arg(&file);
    let begun = Instant::now();
    let mut process = command.spawn()?;
    let watch = Watch::begin(process.id());
    let status = process.wait()?;
    let (seconds, own_mib) = (begun.elapsed().as_secs_f64(), watch.end().own_mib);
    if !status.success() {
        return Err("no report was made".into());
    }
    let mut content = Content::default();
    content.add(std::fs::File::open(&file)?)?;
    std::fs::remove_file(file)?;
    Ok(Made { seconds, own_mib, content })
}

/// What counters say.
struct Counted {
    charges: u64,
    /// Tries of all charges: each is a call to a provider, and these charges have no other ones.
    tries: u64,
}

async fn counted(place: &Place, filled: &Filled) -> Outcome<Counted> {
    let service = Service::start(place)?;
    let account: &Account = &filled.account;
    let charges = service.get(account, "/v1/charges?limit=1").await?;
    let (from, to) = filled.hours();
    let rates = service.get(account, &format!("/v1/rates?from={from}&to={to}")).await?;
    let number = |value: &Value| value.as_u64().ok_or_else(|| format!("no count in {charges} or {rates}"));
    let counted = Counted {
        charges: number(&charges["meta"]["totalItems"])?,
        tries: number(&rates["items"][0]["tried"])?,
    };
    service.stop()?;
    Ok(counted)
}
