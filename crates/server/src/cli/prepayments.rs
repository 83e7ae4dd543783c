//! `regente prepayment`: which accounts may have receivables paid early, and at which rates.

use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::percentage::Percentage;
use regente_domain::prepayment::Rates;

use super::account::NamedAccountArgs;
use super::{Failure, operate};
use crate::admin::{Command, PrepaymentRow, PrepaymentTask};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum PrepaymentCommand {
    /// Enable an account, or change its rates for what is simulated from now on
    Enable {
        #[command(flatten)]
        of: NamedAccountArgs,
        /// What the provider asks for 30 days, in percent
        #[arg(long, value_name = "PERCENT", value_parser = percent)]
        monthly_rate: Percentage,
        /// What the platform adds to it, in percent
        #[arg(long, value_name = "PERCENT", value_parser = percent)]
        markup: Percentage,
    },
    /// Disable an account; what was committed is paid
    Disable(NamedAccountArgs),
    /// Show whether an account is enabled, and its rates
    Show(NamedAccountArgs),
}

fn percent(text: &str) -> Result<Percentage, String> {
    let read = Percentage::parse(text).filter(|percent| *percent <= Percentage::HUNDRED);
    read.ok_or_else(|| "must be a number from 0 to 100 with at most two decimals".to_owned())
}

pub(super) fn run(loaded: &Loaded, command: PrepaymentCommand) -> Result<ExitCode, Failure> {
    let (NamedAccountArgs { client_id, output }, task) = match command {
        PrepaymentCommand::Enable { of, monthly_rate, markup } => {
            (of, PrepaymentTask::Enable(Rates { monthly_rate, markup }))
        }
        PrepaymentCommand::Disable(of) => (of, PrepaymentTask::Disable),
        PrepaymentCommand::Show(of) => (of, PrepaymentTask::Show),
    };
    operate::run(loaded, Command::Prepayment { client_id, task }, output)
}

pub(super) fn shown(row: &PrepaymentRow) -> String {
    let PrepaymentRow { client_id, name, monthly_rate, markup, .. } = row;
    match (monthly_rate, markup) {
        (Some(monthly_rate), Some(markup)) => format!(
            "Client {client_id} ({name}) may have receivables paid early, for {monthly_rate} % and a markup of {markup} % for 30 \
             days.\n"
        ),
        (None, _) | (_, None) => format!("Client {client_id} ({name}) is not enabled for prepayment.\n"),
    }
}
