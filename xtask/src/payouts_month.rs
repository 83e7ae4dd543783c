//! `cargo xtask payouts-month`: a month of trade at the platform's own provider, with many charges, on both databases. It is the story
//! `crates/server/tests/it/payouts/month.rs`, which takes its size from the environment: the clock, the bank and the moments at which
//! the process stops are the test's.

use std::process::Command;

use crate::Outcome;

/// The stories, by a part of their names.
const STORIES: &str = "payouts::month::";

/// How large the month is.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Charges of the month
    #[arg(long, default_value_t = 10_000)]
    charges: u32,
    /// How often the process stops in the midst of a payday
    #[arg(long, default_value_t = 5)]
    crashes: u32,
    /// Decides the trade and the moments [default: another one each time, and printed]
    #[arg(long)]
    seed: Option<u32>,
    /// Build for release
    #[arg(long)]
    release: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let seed = options.seed.unwrap_or_else(std::process::id);
    println!("seed {seed}: `cargo xtask payouts-month --seed {seed}` draws the same trade and moments");
    let mut command = Command::new("cargo");
    command.args(["test", "--package", "regente", "--test", "it"]);
    if options.release {
        command.arg("--release");
    }
    command
        .args([STORIES, "--", "--nocapture", "--test-threads", "1"])
        .env("REGENTE_CHARGES", options.charges.to_string())
        .env("REGENTE_CRASHES", options.crashes.to_string())
        .env("REGENTE_FIRST_SEED", seed.to_string());
    if command.status()?.success() { Ok(()) } else { Err("the month has failed".into()) }
}
