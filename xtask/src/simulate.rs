//! `cargo xtask simulate`: what a rule would do in a simulated world, from seeds. Nothing is measured, so the figures are the same
//! on every machine.

#![allow(clippy::float_arithmetic, reason = "figures for people, not money")]

mod intervals;
mod learned;
#[path = "../../crates/domain/tests/it/learned/simulation.rs"]
mod market;
mod picture;

use crate::Outcome;

/// What to simulate.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    world: World,
}

#[derive(clap::Subcommand)]
enum World {
    /// A balance that learns against fixed shares, in a market of three drifting providers
    Learned(learned::Options),
}

pub(crate) fn run(options: &Options) -> Outcome {
    match &options.world {
        World::Learned(options) => learned::run(options),
    }
}
