//! `regente ledger`: checks the books and prints statements.

use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::id::{ClientId, MerchantId, SellerId};
use regente_domain::time::Timestamp;
use regente_engine::ledger::Repair;

use super::webhooks::timestamp;
use super::{Failure, OutputArg, operate};
use crate::admin::{Answer, ClientLedger, Command, LedgerReport, Statement, StatementLine, StatementOf};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum LedgerTask {
    /// Compare balances with entries, and entries with charges; ends with 1 when anything differs
    Verify {
        /// Only this account
        #[arg(long)]
        client: Option<ClientId>,
        /// Post what charges hold and was never posted, because a release without books had moved them
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Print an account of the books: the balance before, each entry, the balance after
    Statement {
        /// Whose books: the account's id
        client_id: ClientId,
        /// What the account of the books is for, such as provider_receivable
        purpose: String,
        /// The merchant's id
        #[arg(long)]
        merchant: MerchantId,
        /// The type of the provider
        #[arg(long, value_name = "TYPE")]
        provider: String,
        /// The currency
        #[arg(long, default_value = "BRL")]
        currency: String,
        /// The seller's id, of an account that is a seller's
        #[arg(long)]
        seller: Option<SellerId>,
        /// From this moment on
        #[arg(long, value_name = "TIME", value_parser = timestamp)]
        from: Option<Timestamp>,
        /// Before this moment
        #[arg(long, value_name = "TIME", value_parser = timestamp)]
        to: Option<Timestamp>,
        #[command(flatten)]
        output: OutputArg,
    },
}

pub(super) fn run(loaded: &Loaded, task: LedgerTask) -> Result<ExitCode, Failure> {
    match task {
        LedgerTask::Verify { client, repair, output } => {
            let repair = if repair { Repair::Post } else { Repair::Leave };
            let answer = operate::answer_to(loaded, Command::LedgerVerify { client_id: client, repair })?;
            let Answer::LedgerVerified(report) = &answer else {
                return Err(Failure::from("the running server is of another release"));
            };
            operate::print(&answer, output)?;
            Ok(if report.is_right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        LedgerTask::Statement {
            client_id,
            purpose,
            merchant,
            provider,
            currency,
            seller,
            from,
            to,
            output,
        } => {
            let of = StatementOf {
                client_id,
                merchant_id: merchant,
                provider_type: provider,
                currency,
                purpose,
                seller_id: seller,
                from,
                to,
            };
            operate::run(loaded, Command::LedgerStatement(of), output)
        }
    }
}

pub(super) fn report(report: &LedgerReport) -> String {
    let mut text = String::new();
    for client in &report.clients {
        let ClientLedger { client_id, accounts, entries, charges, posted, differences } = client;
        text.push_str(&format!("{client_id}: {accounts} accounts, {entries} entries, {charges} charges"));
        if *posted > 0 {
            text.push_str(&format!("; {posted} charges were posted now"));
        }
        text.push('\n');
        for difference in differences {
            text.push_str(&format!("  {difference}\n"));
        }
    }
    text.push_str(match report.is_right() {
        true => "The books are right.\n",
        false => "The books are not right.\n",
    });
    text
}

pub(super) fn statement(statement: &Statement) -> String {
    let Statement { of, before, lines, more, after } = statement;
    let seller = of.seller_id.map_or_else(String::new, |id| format!(" of seller {id}"));
    let mut text = format!(
        "{}{seller} of merchant {}, {}, in minor units of {}\n\n",
        of.purpose, of.merchant_id, of.provider_type, of.currency
    );
    let mut row = |at: &str, movement: &str, debit: &str, credit: &str, balance: i64, source: &str| {
        text.push_str(&format!(
            "{at:<24}  {movement:<21}  {debit:>14}  {credit:>14}  {balance:>14}  {source}\n"
        ));
    };
    let from = of.from.map_or_else(String::new, |from| from.to_string());
    row(&from, "balance before", "", "", *before, "");
    for StatementLine { at, movement, source_id, debit, credit, balance } in lines {
        let shown = |amount: &Option<i64>| amount.map_or_else(String::new, |amount| amount.to_string());
        row(&at.to_string(), movement, &shown(debit), &shown(credit), *balance, &source_id.to_string());
    }
    let to = of.to.map_or_else(String::new, |to| to.to_string());
    row(&to, "balance after", "", "", *after, "");
    if *more {
        text.push_str("There are more; these are the first. Continue from the last time.\n");
    }
    text
}
