//! Tasks of the workspace, run as `cargo xtask <task>`. Never product code.

#![allow(clippy::print_stdout, reason = "a task talks to whoever runs it")]

mod bench;
mod kill_loop;
mod overload;
mod process;
mod service;

use clap::Parser;

/// Tasks of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Measures durable charges a second, next to the same server's rate without storage; or something else.
    Bench(bench::Options),
    /// Kills a service again and again, and holds it against the simulator's books.
    KillLoop(kill_loop::Options),
    /// Offers several times the load that a service carries.
    Overload(overload::Options),
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome {
    match Task::parse() {
        Task::Bench(options) => bench::run(options).await,
        Task::KillLoop(options) => kill_loop::run(options).await,
        Task::Overload(options) => overload::run(options).await,
    }
}
