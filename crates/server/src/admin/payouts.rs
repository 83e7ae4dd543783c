//! What operators do about payouts: see what is on its way, say where the account itself and sellers that are deleted are paid, tell what
//! a bank without an interface has done, by hand or by its files, and add everything up.

use jiff::civil::Date;
use regente_domain::card::in_text::{self, CardData};
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::payout::batch::Told;
use regente_domain::payout::{BatchStatus, Receiver};
use regente_domain::problems::Problems;
use regente_domain::seller::data::BankAccount;
use regente_domain::wire;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::payouts::files::BANK_IS_CONNECTED;
use regente_engine::payouts::returned::Run;
use regente_engine::payouts::statement::{self, ReceiverStatement};
use regente_engine::payouts::{account, transfers};
use regente_store::payouts::batches::{self, PaymentBatch};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::clients::the_client;
use super::error::CommandError;
use super::payout_files::{self, ExportedRow, ReturnRow};
use crate::app::App;

/// Batches that a list shows.
const BATCHES_MAX: i64 = 500;
/// Digits of an account number that are shown.
const DIGITS_SHOWN: usize = 4;

/// A command about the payouts of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PayoutsCommand {
    /// Whose; not needed where there is one account.
    pub client_id: Option<ClientId>,
    /// What is done.
    pub task: PayoutsTask,
}

/// What is done about payouts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayoutsTask {
    /// What is on its way is listed.
    Pending,
    /// Where a receiver is paid is shown.
    ShowAccount(Receiver),
    /// That of the account itself, or of a seller that is deleted, is set to the members of a file.
    SetAccount(Receiver, Map<String, Value>),
    /// The bank has paid a batch.
    Paid {
        /// Which.
        batch_id: PaymentBatchId,
    },
    /// The bank has refused a batch, or given it back.
    Failed {
        /// Which.
        batch_id: PaymentBatchId,
        /// Why.
        reason: String,
    },
    /// What is pending is written into a file for a bank.
    Export {
        /// The members of the file about the company.
        company: Map<String, Value>,
        /// When it is paid; what is to be paid later is left for later.
        day: Date,
        /// Whether what is in a file already is written again.
        again: bool,
    },
    /// The return file of a bank decides.
    ImportReturn {
        /// Its text, one character for each byte.
        text: String,
        /// Whether that is written.
        run: Run,
    },
    /// Everything is added up, by receiver.
    Report,
}

impl PayoutsTask {
    /// The command's name without its arguments.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pending => "payouts pending",
            Self::ShowAccount(_) | Self::SetAccount(..) => "payouts account",
            Self::Paid { .. } => "payouts paid",
            Self::Failed { .. } => "payouts failed",
            Self::Export { .. } => "payouts export",
            Self::ImportReturn { .. } => "payouts import-return",
            Self::Report => "payouts report",
        }
    }
}

/// The answer about payouts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayoutsAnswer {
    /// What is on its way, oldest first.
    Pending {
        /// One for each batch.
        batches: Vec<PendingRow>,
        /// Whether there are more.
        more: bool,
    },
    /// Where a receiver is paid.
    Account {
        /// Who.
        receiver: Receiver,
        /// Where, if it has a bank account.
        account: Option<AccountRow>,
    },
    /// A batch stands where it was said.
    Decided {
        /// Which.
        batch_id: PaymentBatchId,
        /// Its status.
        status: String,
    },
    /// A file was written for a bank.
    Exported(ExportedRow),
    /// The return file of a bank was read.
    Returned(ReturnRow),
    /// The statement of each receiver.
    Report(Vec<ReceiverStatement>),
}

/// A batch that is on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PendingRow {
    /// Its id, which is also the name of its transfer.
    pub id: PaymentBatchId,
    /// Who is paid; nobody for the account itself.
    pub receiver: Receiver,
    /// How much, in minor units.
    pub amount: i64,
    /// The code of the currency.
    pub currency: String,
    /// When it is to be paid.
    pub payment_date: String,
    /// How often the bank was asked what became of it.
    pub looks: i64,
}

/// Where a receiver is paid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AccountRow {
    /// The bank, by its COMPE code or its ISPB.
    pub bank: Option<String>,
    /// The branch.
    pub branch: String,
    /// The last digits of the account.
    pub last_digits: String,
    /// Who holds it.
    pub holder: String,
}

impl AccountRow {
    fn of(account: &BankAccount) -> Self {
        let number = account.account_number.as_str();
        let hidden = number.chars().count().saturating_sub(DIGITS_SHOWN);
        let code = account.bank.as_ref().map(|bank| bank.as_str().to_owned());
        Self {
            bank: code.or_else(|| account.ispb.as_ref().map(|ispb| ispb.as_str().to_owned())),
            branch: account.branch_number.as_str().to_owned(),
            last_digits: number.chars().skip(hidden).collect(),
            holder: account.holder_name.as_str().to_owned(),
        }
    }
}

impl PendingRow {
    fn of(batch: &PaymentBatch) -> Self {
        Self {
            id: batch.id,
            receiver: batch.group.owner.receiver,
            amount: batch.figures.final_balance(),
            currency: batch.group.owner.currency.code().to_owned(),
            payment_date: batch.payment_date.to_string(),
            looks: batch.looks,
        }
    }
}

/// Runs a command.
pub(super) async fn run(app: &App, command: PayoutsCommand) -> Result<PayoutsAnswer, CommandError> {
    let client_id = the_client(app, command.client_id).await?;
    match command.task {
        PayoutsTask::Pending => pending(app, client_id).await,
        PayoutsTask::ShowAccount(receiver) => shown_account(app, client_id, receiver).await,
        PayoutsTask::SetAccount(receiver, members) => {
            let read: Result<BankAccount, Problems> = wire::read(members);
            let account = read.map_err(|problems| CommandError::of(Error::Invalid(problems)))?;
            let author = Author::operator(client_id);
            match account::set(app, &author, receiver, &account).await {
                Err(Error::NotFound) => {
                    return Err(CommandError::Argument("there is no such seller".to_owned()));
                }
                set => set.map_err(CommandError::of)?,
            }
            shown_account(app, client_id, receiver).await
        }
        PayoutsTask::Paid { batch_id } => decide(app, client_id, batch_id, Told::Paid, None).await,
        PayoutsTask::Failed { batch_id, reason } => {
            must_be_free_of_card_data(&reason)?;
            decide(app, client_id, batch_id, Told::Returned, Some(reason)).await
        }
        PayoutsTask::Export { company, day, again } => {
            payout_files::export(app, client_id, company, day, again).await.map(PayoutsAnswer::Exported)
        }
        PayoutsTask::ImportReturn { text, run } => {
            payout_files::import_return(app, client_id, &text, run).await.map(PayoutsAnswer::Returned)
        }
        PayoutsTask::Report => {
            Ok(PayoutsAnswer::Report(statement::of(app, client_id).await.map_err(CommandError::of)?))
        }
    }
}

async fn pending(app: &App, client_id: ClientId) -> Result<PayoutsAnswer, CommandError> {
    let first = PaymentBatchId::new(Uuid::nil());
    let found = batches::pending(&app.store, client_id, first, BATCHES_MAX + 1).await?;
    let max = usize::try_from(BATCHES_MAX).unwrap_or(usize::MAX);
    let rows = found.iter().take(max).map(PendingRow::of).collect();
    Ok(PayoutsAnswer::Pending { batches: rows, more: found.len() > max })
}

async fn shown_account(
    app: &App,
    client_id: ClientId,
    receiver: Receiver,
) -> Result<PayoutsAnswer, CommandError> {
    let account = account::of(app, client_id, receiver).await.map_err(CommandError::of)?;
    Ok(PayoutsAnswer::Account { receiver, account: account.as_ref().map(AccountRow::of) })
}

/// A reason is stored and shown to the account, like any text of the interface.
fn must_be_free_of_card_data(reason: &str) -> Result<(), CommandError> {
    match in_text::card_data(reason) {
        None => Ok(()),
        Some(CardData::Number | CardData::SecurityCode) => {
            Err(CommandError::Argument("the reason must not contain card data".to_owned()))
        }
    }
}

async fn decide(
    app: &App,
    client_id: ClientId,
    batch_id: PaymentBatchId,
    told: Told,
    reason: Option<String>,
) -> Result<PayoutsAnswer, CommandError> {
    let missing = || CommandError::Argument(format!("there is no payment batch {batch_id}"));
    let before = batches::find(&app.store, client_id, batch_id).await?.ok_or_else(missing)?;
    if before.status == BatchStatus::Pending && app.bank.is_some() {
        return Err(CommandError::Argument(format!("{BANK_IS_CONNECTED}: it decides about what is pending")));
    }
    if before.status.after(told).is_none() {
        return Err(CommandError::Argument(format!("the payment batch is {}", before.status.word())));
    }
    transfers::decide(app, client_id, batch_id, told, reason).await.map_err(CommandError::of)?;
    let after = batches::find(&app.store, client_id, batch_id).await?.ok_or_else(missing)?;
    Ok(PayoutsAnswer::Decided { batch_id, status: after.status.word().to_owned() })
}
