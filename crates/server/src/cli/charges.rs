//! `regente charges`: the charges of an account, through the interface.

mod list;
mod refund;
mod show;
mod view;

use std::process::ExitCode;

use clap::Subcommand;

use super::Failure;
use super::run::runtime;
use crate::config::Loaded;
use crate::telemetry;

pub(super) use view::{Charge, path_of};

#[derive(Debug, Subcommand)]
pub(super) enum ChargesCommand {
    /// List charges, newest first
    List(list::ListArgs),
    /// Show a charge with its calls to providers, and why it went the way it went
    Show(show::ShowArgs),
    /// Give back what a charge has taken, all of it or a part; what is only reserved is released
    #[command(
        after_help = "It ends with 0 when the money is on its way back, with 1 when nothing was given back, and with 3 when \
                        nobody knows: then the same command with the idempotency key that it has printed finds out, and \
                        gives the money back once."
    )]
    Refund(refund::RefundArgs),
}

pub(super) fn run(loaded: &Loaded, command: ChargesCommand) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    telemetry::start(&config.log)?;
    runtime()?.block_on(async {
        match command {
            ChargesCommand::List(asked) => list::list(config, asked).await,
            ChargesCommand::Show(asked) => show::show(config, asked).await,
            ChargesCommand::Refund(asked) => refund::refund(config, asked).await,
        }
    })
}
