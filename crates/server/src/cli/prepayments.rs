//! `regente prepayment`: which accounts may have receivables paid early, and at which rates.

use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::id::ClientId;
use regente_domain::percentage::Percentage;
use regente_domain::prepayment::Rates;

use super::{Failure, OutputArg, operate};
use crate::admin::{Command, PrepaymentRow, PrepaymentTask};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum PrepaymentCommand {
    /// Enable an account, or change its rates for what is simulated from now on
    Enable {
        /// The account's id
        client_id: ClientId,
        /// What the provider asks for 30 days, in percent
        #[arg(long, value_name = "PERCENT", value_parser = percent)]
        monthly_rate: Percentage,
        /// What the platform adds to it, in percent
        #[arg(long, value_name = "PERCENT", value_parser = percent)]
        markup: Percentage,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Disable an account; what was committed is paid
    Disable {
        /// The account's id
        client_id: ClientId,
        #[command(flatten)]
        output: OutputArg,
    },
    /// Show whether an account is enabled, and its rates
    Show {
        /// The account's id
        client_id: ClientId,
        #[command(flatten)]
        output: OutputArg,
    },
}

fn percent(text: &str) -> Result<Percentage, String> {
    let read = Percentage::parse(text).filter(|percent| *percent <= Percentage::HUNDRED);
    read.ok_or_else(|| "must be a number from 0 to 100 with at most two decimals".to_owned())
}

pub(super) fn run(loaded: &Loaded, command: PrepaymentCommand) -> Result<ExitCode, Failure> {
    let (client_id, task, output) = match command {
        PrepaymentCommand::Enable { client_id, monthly_rate, markup, output } => {
            (client_id, PrepaymentTask::Enable(Rates { monthly_rate, markup }), output)
        }
        PrepaymentCommand::Disable { client_id, output } => (client_id, PrepaymentTask::Disable, output),
        PrepaymentCommand::Show { client_id, output } => (client_id, PrepaymentTask::Show, output),
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
