//! Files for banks that take payments as files, and the files that they return.

use jiff::civil::Date;
use regente_domain::cnab240::parties::Company;
use regente_domain::cnab240::returned;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::problems::Problems;
use regente_domain::wire;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::payouts::files::{self, Which};
use regente_engine::payouts::returned::{Outcome, Run, import};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::CommandError;
use crate::app::App;

/// A file that was written for a bank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportedRow {
    /// Its text; left out where it stands in a file already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its number at the bank; nothing where there was nothing to pay.
    pub number: Option<u32>,
    /// The batches that it pays.
    pub batches: Vec<PaymentBatchId>,
    /// How much, in cents.
    pub amount: i64,
    /// Batches that cannot stand in a file.
    pub left_out: Vec<LeftOutRow>,
    /// Batches that are in an earlier file, and not in this one.
    pub in_a_file: usize,
    /// Whether there are more than one file takes.
    pub more: bool,
}

/// A batch that cannot stand in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeftOutRow {
    /// Which.
    pub id: PaymentBatchId,
    /// Why.
    pub why: String,
}

/// What a return file has come to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReturnRow {
    /// The COMPE code of the bank.
    pub bank: String,
    /// The number of the file.
    pub number: i64,
    /// Whether anything was written.
    pub run: Run,
    /// What became of each payment of the file.
    pub outcomes: Vec<Outcome>,
    /// Lines that are not about payments.
    pub others: Vec<OtherRow>,
}

/// A line that is not about a payment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OtherRow {
    /// Its row.
    pub row: usize,
    /// What it is.
    pub what: String,
}

impl ReturnRow {
    /// Whether somebody has to look at something.
    pub fn is_open(&self) -> bool {
        !self.others.is_empty() || self.outcomes.iter().any(|outcome| outcome.became.is_open())
    }
}

/// Writes what is pending into a file.
pub(super) async fn export(
    app: &App,
    client_id: ClientId,
    company: Map<String, Value>,
    day: Date,
    is_again: bool,
) -> Result<ExportedRow, CommandError> {
    let read: Result<Company, Problems> = wire::read(company);
    let company = read.map_err(|problems| CommandError::of(Error::Invalid(problems)))?;
    let which = if is_again { Which::Again } else { Which::New };
    let author = Author::operator(client_id);
    let export = files::export(app, &author, &company, day, which).await.map_err(CommandError::of)?;
    let left_out = export.left_out.into_iter().map(|(id, why)| LeftOutRow { id, why }).collect();
    let (in_a_file, more) = (export.in_a_file, export.more);
    Ok(match export.file {
        None => ExportedRow {
            text: None,
            number: None,
            batches: Vec::new(),
            amount: 0,
            left_out,
            in_a_file,
            more,
        },
        Some(file) => ExportedRow {
            text: Some(file.text),
            number: Some(file.number),
            batches: file.batches,
            amount: file.amount,
            left_out,
            in_a_file,
            more,
        },
    })
}

/// Decides what a return file says.
pub(super) async fn import_return(
    app: &App,
    client_id: ClientId,
    text: &str,
    run: Run,
) -> Result<ReturnRow, CommandError> {
    let file = returned::read(text)
        .map_err(|why| CommandError::Argument(format!("the file decides nothing: {why}")))?;
    let outcomes = import(app, client_id, &file, run).await.map_err(CommandError::of)?;
    let others = file.others.into_iter().map(|line| OtherRow { row: line.row, what: line.what }).collect();
    Ok(ReturnRow { bank: file.bank, number: file.number, run, outcomes, others })
}
