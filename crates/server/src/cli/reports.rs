//! Runs `regente reports make`: asks for the rows where the database is, and writes them here.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use regente_domain::id::{ChargeId, ClientId, MerchantId, ProviderId};
use regente_domain::problems::Problems;
use regente_domain::report::{NewReport, ReportLanguage, ReportType, Zone};
use regente_domain::wire;
use regente_store::reports::ReportOrder;
use serde_json::{Map, Value, json};

use super::Failure;
use super::operate::run_asking;
use crate::admin::{self, Answer, Command, ReportPart, ReportsCommand};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum ReportsTask {
    /// Write the charges of a period as CSV, all into one file
    #[command(
        after_help = "The rows are those of /v1/reports, as they were ten seconds before the command began. The file is \
                        complete or not there. It holds personal data, and is not sealed."
    )]
    Make(Box<MakeArgs>),
}

#[derive(Debug, Args)]
pub(super) struct MakeArgs {
    /// The account's id
    client_id: ClientId,
    /// Charges created from this moment or day on, in UTC
    #[arg(long, value_name = "TIME")]
    from: String,
    /// Until this moment, which belongs to it
    #[arg(long, value_name = "TIME")]
    to: String,
    /// `transactions` or `transactionsHistory`
    #[arg(long = "type", value_name = "TYPE", default_value = "transactions", value_parser = report_type)]
    report_type: ReportType,
    /// Keys of columns, separated by commas, or `all`
    #[arg(long, value_name = "KEYS", default_value = "all", value_delimiter = ',')]
    fields: Vec<String>,
    /// Charges that are paid in these ways, separated by commas
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    methods: Vec<String>,
    /// Charges in these statuses, separated by commas
    #[arg(long, value_name = "STATUSES", value_delimiter = ',')]
    statuses: Vec<String>,
    /// Charges of this merchant
    #[arg(long, value_name = "ID")]
    merchant: Option<MerchantId>,
    /// Charges about which this provider was asked
    #[arg(long, value_name = "ID")]
    provider: Option<ProviderId>,
    /// One charge
    #[arg(long, value_name = "ID")]
    charge: Option<ChargeId>,
    /// The language of the titles: `en` or `pt`
    #[arg(long, value_name = "LANGUAGE", default_value = "en", value_parser = language)]
    language: ReportLanguage,
    /// The time zone of the dates
    #[arg(long, value_name = "ZONE", default_value = Zone::DEFAULT, value_parser = zone)]
    timezone: String,
    /// Write to this file instead of the standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn report_type(text: &str) -> Result<ReportType, &'static str> {
    ReportType::parse(text).ok_or("must be `transactions` or `transactionsHistory`")
}

fn language(text: &str) -> Result<ReportLanguage, &'static str> {
    ReportLanguage::parse(text).ok_or("must be `en` or `pt`")
}

fn zone(text: &str) -> Result<String, &'static str> {
    Zone::parse(text).map(|zone| zone.name().to_owned()).ok_or("must be a name of the tz database")
}

impl MakeArgs {
    /// What is asked for, read as a body of the interface is.
    fn order(&self) -> Result<ReportOrder, Failure> {
        let mut filters = Map::new();
        filters.insert("transactionCreatedAt".to_owned(), json!({ "gte": self.from, "lte": self.to }));
        let given = [
            ("transactionRequestPaymentMethod", (!self.methods.is_empty()).then(|| json!(self.methods))),
            ("transactionStatus", (!self.statuses.is_empty()).then(|| json!(self.statuses))),
            ("transactionMerchantId", self.merchant.map(|id| json!(id))),
            ("transactionProviderId", self.provider.map(|id| json!(id))),
            ("transactionId", self.charge.map(|id| json!(id))),
        ];
        filters.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        let mut members = Map::new();
        // Nobody is sent anything.
        members.insert("sendTo".to_owned(), json!("nobody@example.com"));
        members.insert("type".to_owned(), json!(self.report_type));
        members.insert("fields".to_owned(), json!(self.fields));
        members.insert("filters".to_owned(), Value::Object(filters));
        let read: Result<NewReport, Problems> = wire::read(members);
        let new = read.map_err(|problems| Failure::from(problems.details().join("\n")))?;
        Ok(ReportOrder {
            report_type: new.report_type,
            columns: new.columns,
            filters: new.filters,
            language: self.language,
            timezone: self.timezone.clone(),
        })
    }
}

pub(super) fn run(loaded: &Loaded, task: ReportsTask) -> Result<ExitCode, Failure> {
    let ReportsTask::Make(asked) = task;
    let (client_id, order) = (asked.client_id, asked.order()?);
    let of = |after| Command::Reports(Box::new(ReportsCommand { client_id, order: order.clone(), after }));
    run_asking(loaded, async |rows| {
        let ask = async |after| part(rows.ask(of(after)).await?);
        write(ask, asked.output.as_deref()).await
    })
}

fn part(answer: Answer) -> Result<ReportPart, Failure> {
    let Answer::ReportPart(part) = answer else {
        return Err("the running server is of another release".into());
    };
    Ok(part)
}

type After = Option<(regente_domain::time::Timestamp, regente_store::reports::ReportCursor)>;

async fn write(
    ask: impl AsyncFn(After) -> Result<ReportPart, Failure>,
    output: Option<&Path>,
) -> Result<ExitCode, Failure> {
    let Some(path) = output else {
        print(&ask, &mut io::stdout().lock()).await?;
        return Ok(ExitCode::SUCCESS);
    };
    let draft = admin::partial_path(path);
    let named = |error: io::Error| Failure::from(format!("{}: {error}", path.display()));
    let mut file = BufWriter::new(File::create(&draft).map_err(named)?);
    let printed = print(&ask, &mut file).await;
    let kept = printed.and_then(|()| {
        file.into_inner().map_err(|error| named(error.into_error()))?.sync_all().map_err(named)?;
        std::fs::rename(&draft, path).map_err(named)
    });
    if kept.is_err() {
        // What is left of it is of no use; that the command failed is told anyway.
        let _ = std::fs::remove_file(&draft);
    }
    kept.map(|()| ExitCode::SUCCESS)
}

/// Writes all parts, and shows how far it is, where standard error is a terminal.
async fn print(
    ask: &impl AsyncFn(After) -> Result<ReportPart, Failure>,
    to: &mut impl Write,
) -> Result<(), Failure> {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("rows {pos} ({per_sec}, {elapsed})");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let mut after = None;
    loop {
        let part = ask(after).await?;
        to.write_all(part.csv.as_bytes())?;
        bar.inc(u64::try_from(part.rows).unwrap_or(0));
        match part.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    bar.finish_and_clear();
    to.flush()?;
    Ok(())
}
