//! `regente payouts`: what receivers are paid.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::id::{PaymentBatchId, SellerId};
use regente_domain::payout::Receiver;
use regente_engine::payouts::statement::ReceiverStatement;
use serde_json::{Map, Value};

use super::account::AccountArgs;
use super::{Failure, lists, operate, payout_files};
use crate::admin::{AccountRow, Answer, Command, PayoutsAnswer, PayoutsCommand, PayoutsTask, PendingRow};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum PayoutsCommandLine {
    /// List the payment batches that are on their way
    Pending(AccountArgs),
    /// Show where the account itself is paid, or set it; also of a seller that is deleted and still due something
    #[command(
        after_help = "The file has the members of `bankAccount` of a seller, in JSON. It is kept sealed; the next transfer goes there."
    )]
    Account {
        /// That of this seller
        #[arg(long = "seller", value_name = "SELLER_ID")]
        seller_id: Option<SellerId>,
        /// Set it to what this file says
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// Tell that a batch was paid, where Regente has no bank
    Paid {
        /// The batch's id
        batch_id: PaymentBatchId,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// Tell that a batch was not paid, or came back; its orders return to the next one
    Failed {
        /// The batch's id
        batch_id: PaymentBatchId,
        /// What the bank says
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        of: AccountArgs,
    },
    /// Write what is pending into a file that a bank pays (CNAB 240), where Regente has no bank
    #[command(
        after_help = "The file about the company has bank, bankName, agreement, name, document, branch, branchCheckDigit, \
                        account, accountCheckDigit and service, all of them texts. What is in a file counts as sent: \
                        another file has it only with `--again`."
    )]
    Export(payout_files::ExportArgs),
    /// Read the file by which a bank tells what it has paid (CNAB 240); ends with 1 when it leaves something undecided
    ImportReturn(payout_files::ImportReturnArgs),
    /// Add up what became of the money of each receiver; ends with 1 when a cent is missing, or the ledger says otherwise
    Report(AccountArgs),
}

pub(super) fn run(loaded: &Loaded, command: PayoutsCommandLine) -> Result<ExitCode, Failure> {
    let (of, task) = match command {
        PayoutsCommandLine::Pending(of) => (of, PayoutsTask::Pending),
        PayoutsCommandLine::Account { seller_id, file: None, of } => {
            (of, PayoutsTask::ShowAccount(seller_id))
        }
        PayoutsCommandLine::Account { seller_id, file: Some(file), of } => {
            let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let members: Map<String, Value> =
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
            (of, PayoutsTask::SetAccount(seller_id, members))
        }
        PayoutsCommandLine::Paid { batch_id, of } => (of, PayoutsTask::Paid { batch_id }),
        PayoutsCommandLine::Failed { batch_id, reason, of } => (of, PayoutsTask::Failed { batch_id, reason }),
        PayoutsCommandLine::Export(args) => return payout_files::export(loaded, args),
        PayoutsCommandLine::ImportReturn(args) => return payout_files::import_return(loaded, args),
        PayoutsCommandLine::Report(of) => (of, PayoutsTask::Report),
    };
    let command = Command::Payouts(PayoutsCommand { client_id: of.account.client_id, task });
    let answer = operate::answer_to(loaded, command)?;
    operate::print(&answer, of.output)?;
    let is_wrong = if let Answer::Payouts(PayoutsAnswer::Report(lines)) = &answer {
        lines.iter().any(|line| !line.adds_up() || !line.equals_ledger())
    } else {
        false
    };
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

pub(super) fn shown(answer: &PayoutsAnswer) -> String {
    match answer {
        PayoutsAnswer::Pending { batches, .. } if batches.is_empty() => "Nothing is on its way.\n".to_owned(),
        PayoutsAnswer::Pending { batches, more } => pending(batches, *more),
        PayoutsAnswer::Account { receiver: None, account: None } => {
            "The account has no bank account: its own batches fail until it has one.\n".to_owned()
        }
        PayoutsAnswer::Account { receiver: Some(seller_id), account: None } => {
            format!("Seller {seller_id} has no bank account: what it is due stays until it has one.\n")
        }
        PayoutsAnswer::Account { account: Some(account), .. } => {
            let AccountRow { bank, branch, last_digits, holder } = account;
            let bank = bank.as_deref().unwrap_or("-");
            format!("Bank {bank}, branch {branch}, account …{last_digits} of {holder}\n")
        }
        PayoutsAnswer::Decided { batch_id, status } => format!("Payment batch {batch_id} is {status}.\n"),
        PayoutsAnswer::Exported(row) => payout_files::exported(row),
        PayoutsAnswer::Returned(row) => payout_files::returned(row),
        PayoutsAnswer::Report(lines) => report(lines),
    }
}

fn name(receiver: Receiver) -> String {
    receiver.map_or_else(|| "the account".to_owned(), |seller| seller.to_string())
}

fn pending(batches: &[PendingRow], more: bool) -> String {
    let head = ["batch", "receiver", "amount", "currency", "payment date", "looks"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for PendingRow { id, receiver, amount, currency, payment_date, looks } in batches {
        lines.push(vec![
            id.to_string(),
            name(*receiver),
            amount.to_string(),
            currency.clone(),
            payment_date.clone(),
            looks.to_string(),
        ]);
    }
    let end = if more { "There are more; these are the oldest.\n" } else { "" };
    format!("{}{end}", lists::columns(&lines))
}

fn report(lines: &[ReceiverStatement]) -> String {
    let mut text = String::new();
    let (mut outstanding, mut by_ledger) = (0_i128, 0_i128);
    for line in lines {
        let rows = [
            ("captured", line.captured),
            ("refunded", -line.refunded),
            ("charged back", -line.charged_back),
            ("fees", -line.fees),
            ("paid early, its cost", -line.prepaid),
            ("paid", -line.paid),
            ("on its way", -line.on_its_way),
            ("due", -line.due),
            ("due later", -line.later),
            ("owed", line.debt),
        ];
        let _ = writeln!(text, "{}, in minor units of {}", name(line.receiver), line.currency);
        for (what, amount) in rows {
            let _ = writeln!(text, "  {what:<22}{amount:>16}");
        }
        let left: i64 = rows.iter().map(|(_, amount)| amount).sum();
        let _ = writeln!(text, "  {:<22}{left:>16}", "not accounted for");
        if !line.equals_ledger() {
            let (outstanding, ledger) = (line.outstanding(), line.ledger);
            let _ = writeln!(text, "  The ledger says {ledger} instead of {outstanding} that is still due.");
        }
        outstanding += i128::from(line.outstanding());
        by_ledger += i128::from(line.ledger);
    }
    let is_right = lines.iter().all(|line| line.adds_up() && line.equals_ledger());
    text.push_str(match is_right {
        true => "Every cent is accounted for, and the ledger says the same.\n",
        false => "Not every cent is accounted for.\n",
    });
    let _ = writeln!(text, "Still due: {outstanding}; by the ledger: {by_ledger}.");
    text
}
