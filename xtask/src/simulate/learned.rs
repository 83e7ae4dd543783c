//! The balance that learns against fixed shares: the table and the picture of `docs/learned-balance.md`.

use std::path::Path;

use regente_domain::learned::Learning;

use super::intervals::Mean;
use super::market::{self, Got, Hour, Market};
use super::picture;
use crate::Outcome;

const DOCUMENT: &str = "docs/learned-balance.md";
const PICTURE: &str = "docs/images/learned-balance.svg";
/// The results stand between these lines of the document.
const BEGIN: &str = "<!-- written by `cargo xtask simulate learned --write` -->";
const END: &str = "<!-- end of what is written -->";
/// How many hours a million charges take.
const HOURS: u32 = 1_000;
/// Half-lives that are compared.
const HALF_LIVES: [u32; 5] = [6, 12, 24, 48, 168];

/// How much is simulated.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Charges of each seed
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    charges: u32,
    /// How many seeds: 1, 2, …
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..))]
    seeds: u64,
    /// Write the results into docs/learned-balance.md, and the picture
    #[arg(long)]
    write: bool,
}

/// A way of dividing charges, and what it got.
type Way = (&'static str, fn(&Got) -> f64);

const WAYS: [Way; 5] = [
    ("the best provider for every charge (nobody can know it)", |got| got.best_possible),
    ("**a balance that learns**", |got| got.learned),
    ("the best fixed shares of each group, chosen afterwards", |got| got.best_fixed_by_group),
    ("the best fixed shares, chosen afterwards", |got| got.best_fixed),
    ("equal shares", |got| got.equal),
];

pub(super) fn run(options: &Options) -> Outcome {
    let market = |learning| Market { hours: HOURS, charges_an_hour: options.charges / HOURS, learning };
    let usual = market(Learning::default());
    let mut first = Vec::new();
    let runs: Vec<Got> = (1..=options.seeds)
        .map(|seed| {
            market::run(&usual, seed, |hour: Hour| {
                if seed == 1 {
                    first.push(hour)
                }
            })
        })
        .collect();
    let mut text = table(options, &runs);
    text.push_str(&half_lives(options, &runs, market));
    println!("{text}");
    if options.write {
        write(Path::new(DOCUMENT), &text)?;
        std::fs::write(PICTURE, picture::of(&first))?;
    }
    Ok(())
}

/// Of a thousand charges, how many.
fn of_a_thousand(runs: &[Got], count: impl Fn(&Got) -> f64) -> Mean {
    Mean::of(runs.iter().map(|got| count(got) / got.charges * 1_000.0))
}

fn table(options: &Options, runs: &[Got]) -> String {
    let mut text = format!(
        "{} charges in {HOURS} hours, {} seeds. Of 1,000 charges, with the 95 % interval over the seeds:\n\n\
         | charges are given to | approved | lost to the best possible | gained over equal shares |\n|---|---|---|---|\n",
        thousands(options.charges),
        options.seeds
    );
    for (name, got) in WAYS {
        let approved = of_a_thousand(runs, got);
        let lost = of_a_thousand(runs, |run| run.best_possible - got(run));
        let gained = of_a_thousand(runs, |run| got(run) - run.equal);
        text.push_str(&format!("| {name} | {approved} | {lost} | {gained} |\n"));
    }
    let over_fixed = of_a_thousand(runs, |run| run.learned - run.best_fixed);
    let over_groups = of_a_thousand(runs, |run| run.learned - run.best_fixed_by_group);
    let ahead = |fixed: fn(&Got) -> f64| runs.iter().filter(|run| run.learned > fixed(run)).count();
    text.push_str(&format!(
        "\nSeed by seed, the balance that learns gets {over_fixed} more of 1,000 than the best fixed shares (more with {} of {} seeds), \
         and {over_groups} more than those of each group ({} of {}).\n",
        ahead(|run| run.best_fixed),
        runs.len(),
        ahead(|run| run.best_fixed_by_group),
        runs.len(),
    ));
    text
}

fn half_lives(options: &Options, usual: &[Got], market: impl Fn(Learning) -> Market) -> String {
    let mut text = "\n| half-life | lost to the best possible, of 1,000 |\n|---|---|\n".to_owned();
    for half_life_hours in HALF_LIVES {
        let learning = Learning { half_life_hours, ..Learning::default() };
        let lost = |runs: &[Got]| of_a_thousand(runs, |run| run.best_possible - run.learned);
        let (lost, which) = if learning == Learning::default() {
            (lost(usual), " (default)")
        } else {
            let market = market(learning);
            let runs: Vec<Got> = (1..=options.seeds).map(|seed| market::run(&market, seed, |_| {})).collect();
            (lost(&runs), "")
        };
        text.push_str(&format!("| {half_life_hours} hours{which} | {lost} |\n"));
    }
    text
}

fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn write(document: &Path, results: &str) -> Outcome {
    let text = std::fs::read_to_string(document)?;
    let (before, rest) = text.split_once(BEGIN).ok_or("the document has no place for results")?;
    let (_, after) = rest.split_once(END).ok_or("the place for results has no end")?;
    std::fs::write(document, format!("{before}{BEGIN}\n\n{results}\n{END}{after}"))?;
    Ok(())
}
