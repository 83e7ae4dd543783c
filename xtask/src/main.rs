//! Tasks of the workspace, run as `cargo xtask <task>`.

#![allow(clippy::print_stdout, reason = "a task talks to whoever runs it")]

#[path = "../../crates/server/tests/bank/bank.rs"]
mod bank;
mod bench;
mod cluster;
mod kill_loop;
mod payouts_month;
mod place;
mod service;
mod simulate;

use std::process::{Command, ExitCode};

use clap::Parser;
use tokio::runtime::Builder;

/// Tasks of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Measures the service, and says of each number to reach whether it is reached
    Bench(bench::Options),
    /// Answers as a provider of type `STRIPE` until it is ended; `bench adapters` starts it
    #[command(hide = true, name = bench::stripe_loopback::COMMAND)]
    StripeLoopback,
    /// Kills a service again and again, and compares it with the simulator's transaction log
    KillLoop(kill_loop::Options),
    /// Kills one of two worker nodes again and again, in the middle of purchases and deliveries
    KillWorkers(kill_loop::workers::Options),
    /// Trades for a month at the platform's own provider, and shows where every cent is
    PayoutsMonth(payouts_month::Options),
    /// Shows from seeds what a rule would do in a simulated world
    Simulate(simulate::Options),
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<ExitCode> {
    match Task::parse() {
        // The load shares the cores with the service, so it is built for release.
        Task::Bench(_) if cfg!(debug_assertions) => again_for_release(),
        // Millions of charges.
        Task::Simulate(_) if cfg!(debug_assertions) => again_for_release(),
        Task::Simulate(options) => simulate::run(&options).map(|()| ExitCode::SUCCESS),
        // One thread: the load uses at most one core.
        Task::Bench(options) => {
            Builder::new_current_thread().enable_all().build()?.block_on(bench::run(options))
        }
        Task::StripeLoopback => {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(bench::stripe_loopback::serve()).map(|()| ExitCode::SUCCESS)
        }
        Task::PayoutsMonth(options) => payouts_month::run(&options).map(|()| ExitCode::SUCCESS),
        Task::KillLoop(options) => {
            let runtime = Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(kill_loop::run(options)).map(|()| ExitCode::SUCCESS)
        }
        Task::KillWorkers(options) => {
            let runtime = Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(kill_loop::workers::run(options)).map(|()| ExitCode::SUCCESS)
        }
    }
}

fn again_for_release() -> Outcome<ExitCode> {
    println!("building xtask for release");
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
        .args(std::env::args_os().skip(1))
        .status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
