//! Decides payment batches by the return file of a bank. What the file says is decided as if an operator had told it; what
//! it does not say clearly, or says of another amount, decides nothing. The same file decides once.

use std::collections::HashMap;

use regente_domain::cnab240::name::ids_of;
use regente_domain::cnab240::occurrence::Verdict;
use regente_domain::cnab240::returned::{Entry, ReturnFile};
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::payout::BatchStatus;
use regente_domain::payout::batch::Told;
use regente_domain::payout::transfer::Sending;
use regente_store::payouts::batches::{self, PaymentBatch};
use serde::{Deserialize, Serialize};

use super::files::must_pay_by_hand;
use super::transfers;
use crate::app::App;
use crate::error::Error;

/// Batches of one name that are looked for: a second one is enough to be in doubt.
const NAMESAKES: i64 = 2;

/// Whether what a file says is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    /// It is.
    Real,
    /// It is only told.
    Dry,
}

/// What an entry of a file comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The row of the file.
    pub row: usize,
    /// The name of the transfer.
    pub name: String,
    /// The batch of that name.
    pub batch_id: Option<PaymentBatchId>,
    /// How much the file is about, in cents.
    pub amount: i64,
    /// What became of the batch.
    pub became: Became,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It is paid.
    Paid,
    /// It has failed.
    Failed {
        /// What the bank says.
        reason: String,
    },
    /// It stays pending: the bank pays it later.
    Scheduled,
    /// It stands so already.
    Already {
        /// Its status.
        status: String,
    },
    /// The file is about another amount; nothing is decided.
    Differs {
        /// What the batch pays, in cents.
        expected: i64,
        /// What the file says, in cents.
        found: i64,
    },
    /// Nothing is decided.
    Undecided {
        /// Why.
        why: String,
    },
}

impl Became {
    /// Whether somebody has to look at it.
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Differs { .. } | Self::Undecided { .. } => true,
            Self::Paid | Self::Failed { .. } | Self::Scheduled | Self::Already { .. } => false,
        }
    }
}

/// Decides what a return file says, in its order.
///
/// # Errors
/// [`Error::Impossible`] where a bank is connected; [`Error::Unavailable`]. What was decided before stays.
pub async fn import(
    app: &App,
    client_id: ClientId,
    file: &ReturnFile,
    run: Run,
) -> Result<Vec<Outcome>, Error> {
    must_pay_by_hand(app)?;
    let mut outcomes = Vec::new();
    // Where nothing is written, what earlier entries of the file have come to.
    let mut known: HashMap<PaymentBatchId, BatchStatus> = HashMap::new();
    for entry in &file.entries {
        let found = named(app, client_id, &entry.name).await?;
        let batch_id = found.as_ref().ok().map(|batch| batch.id);
        let became = match found {
            Err(why) => Became::Undecided { why: why.to_owned() },
            Ok(batch) => {
                let status = known.get(&batch.id).copied().unwrap_or(batch.status);
                match judged(entry, &PaymentBatch { status, ..batch }) {
                    Err(became) => became,
                    Ok((told, reason, after)) => {
                        let id = batch_id.ok_or_else(|| Error::internal("a batch without an id"))?;
                        known.insert(id, after);
                        if run == Run::Real {
                            transfers::decide(app, client_id, id, told, reason.clone()).await?;
                        }
                        reason.map_or(Became::Paid, |reason| Became::Failed { reason })
                    }
                }
            }
        };
        let (row, name, amount) = (entry.row, entry.name.clone(), entry.amount);
        outcomes.push(Outcome { row, name, batch_id, amount, became });
    }
    Ok(outcomes)
}

/// The batch whose transfer has a name, or why there is none.
async fn named(
    app: &App,
    client_id: ClientId,
    name: &str,
) -> Result<Result<PaymentBatch, &'static str>, Error> {
    let Some(ids) = ids_of(name) else { return Ok(Err("it has no name of ours")) };
    let mut found = batches::between(&app.store, client_id, ids, NAMESAKES).await?;
    Ok(match (found.pop(), found.is_empty()) {
        (Some(batch), true) => Ok(batch),
        (Some(_), false) => Err("several payment batches have this name"),
        (None, _) => Err("no payment batch has this name"),
    })
}

/// What an entry tells of a batch, why, and the status that follows; otherwise what is said of it.
fn judged(entry: &Entry, batch: &PaymentBatch) -> Result<(Told, Option<String>, BatchStatus), Became> {
    let expected = batch.figures.final_balance();
    let amounts = [Some(entry.amount), entry.paid];
    if let Some(found) = amounts.into_iter().flatten().find(|found| *found != expected) {
        return Err(Became::Differs { expected, found });
    }
    if batch.transfer == Sending::Unsent {
        return Err(Became::Undecided { why: "the payment batch is in no file".to_owned() });
    }
    let (told, reason) = match &entry.verdict {
        Verdict::Paid => (Told::Paid, None),
        Verdict::Refused(reason) => (Told::Refused, Some(reason.clone())),
        Verdict::Returned(reason) => (Told::Returned, Some(reason.clone())),
        Verdict::Undecided(why) => return Err(Became::Undecided { why: why.clone() }),
        Verdict::Scheduled => {
            return Err(match batch.status {
                BatchStatus::Pending => Became::Scheduled,
                status @ (BatchStatus::Paid | BatchStatus::Failed | BatchStatus::Offset) => {
                    Became::Already { status: status.word().to_owned() }
                }
            });
        }
    };
    match (batch.status, told) {
        (BatchStatus::Paid, Told::Paid) | (BatchStatus::Failed, Told::Refused | Told::Returned) => {
            Err(Became::Already { status: batch.status.word().to_owned() })
        }
        (status, told) => match status.after(told) {
            Some(after) => Ok((told, reason, after)),
            None => Err(Became::Undecided { why: contradiction(status, told) }),
        },
    }
}

/// A file that says something else than what was decided before.
fn contradiction(status: BatchStatus, told: Told) -> String {
    let said = match told {
        Told::Paid => "paid",
        Told::Refused => "refused",
        Told::Returned => "returned",
    };
    format!("the payment batch is {}, and the file says that it was {said}", status.word())
}
