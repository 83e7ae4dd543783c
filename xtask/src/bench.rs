//! `cargo xtask bench`: one scenario for each target figure. Machines are shared and noisy, so figures are compared
//! only within a run: each scenario measures both sides itself, in alternating rounds.

#![allow(clippy::float_arithmetic, reason = "figures for people, not money")]

mod adapters;
mod charges;
mod compare;
pub(crate) mod cores;
mod distributed;
mod doors;
mod engine;
mod figures;
mod flows;
mod growth;
mod latency;
mod lean;
mod machine;
pub(crate) mod meter;
mod open_loop;
mod overload;
mod payers;
mod payouts;
mod postgres;
mod profile;
mod reads;
mod received;
mod report;
mod reports;
mod requests;
mod seeded;
mod sessions;
mod settlement;
mod slow_provider;
mod splits;
pub(crate) mod stripe_loopback;
mod subscriptions;
mod turns;
mod waiting;
mod webhooks;
mod wrk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::place::Place;
use crate::service::{build, build_without_storage};
use figures::Reached;
use report::{Kept, Report};
use seeded::{Keep, Keys, Seeded, SeededDatabases};

/// The folder of databases and results.
const FOLDER: &str = "target/bench";
/// The document that results are written to.
const DOCUMENT: &str = "docs/performance.md";

/// What is measured, and how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// What is measured [default: everything but `distributed` and `compare`]
    #[arg(value_enum)]
    scenarios: Vec<Scenario>,
    /// Everything in less than two minutes: one short round on small databases. Says little about the numbers
    #[arg(long, conflicts_with = "write")]
    quick: bool,
    /// Rounds; the tables show medians and the spread [default: 3]
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of one measurement [default: 8]
    #[arg(long)]
    seconds: Option<u32>,
    /// Charges of the large database [default: 5000000]
    #[arg(long)]
    charges: Option<u64>,
    /// Keep the databases with many charges in target/bench for later runs
    #[arg(long)]
    keep: bool,
    /// Let the account that reads have counters of so many years before its first charge, of about fifty kinds in each hour;
    /// `reads` then measures lists alone, with some of that time
    #[arg(long, default_value_t = 0, value_name = "YEARS")]
    history_years: u32,
    /// The database that `reads` asks. A server is started for the run, and its database is not kept
    #[arg(long, value_enum, default_value_t = Database::Sqlite)]
    database: Database,
    /// Let the databases with many charges keep every idempotency key, as if all charges were of one day, instead of those
    /// of the last day
    #[arg(long)]
    all_keys: bool,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The older binary that `compare` holds the measured one against
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Write the results into docs/performance.md, beside those of earlier runs of other scenarios
    #[arg(long)]
    write: bool,
}

/// Where the charges of `reads` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Database {
    /// In a file.
    Sqlite,
    /// On a server.
    Postgres,
}

/// A target figure and its measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scenario {
    /// Charges a second on a fresh database, next to the same server without storage
    Charges,
    /// The same on databases that hold many charges already
    Growth,
    /// How long a charge takes at half of the largest rate
    Latency,
    /// Single charges, pages and totals of a database with many charges
    Reads,
    /// Charges a second on PostgreSQL, next to what pgbench does there; and several nodes
    Postgres,
    /// Memory, start and size
    Lean,
    /// Several times the largest rate
    Overload,
    /// Many charges that wait for a provider
    SlowProvider,
    /// Charges that wait for their payers: created, paid by notification, left unpaid
    Payers,
    /// Buyers at the checkout, 200 at once
    Sessions,
    /// Readers with keys and links that stand in pages: what they get, and what charges take meanwhile
    Doors,
    /// Charges at a real adapter, next to the simulator's: charges a second, what a charge costs, memory of one in flight
    Adapters,
    /// Charges that are divided between two sellers, next to undivided ones
    Splits,
    /// Charges by a flow of 20 nodes, next to those without one
    Flows,
    /// Deliveries of events while some endpoints hang, and two nodes that share them
    Webhooks,
    /// What due work costs while more and more waits
    Waiting,
    /// A million subscriptions that fall due at once, and what charges of others take meanwhile
    Subscriptions,
    /// A report of millions of charges: time, memory, and its bytes when the service is killed meanwhile
    Reports,
    /// A payday on which a million receivables are due: time, memory, and whether every cent is in a batch that was paid
    Payouts,
    /// The import of a settlement file with a million lines: time and memory
    Settlement,
    /// Where a charge's time goes: by thread, by function, and the pages that it writes
    Profile,
    /// Charges on a PostgreSQL distributed over two workers, next to one server; then one worker hangs. Needs
    /// `scripts/distributed` around it
    Distributed,
    /// Two binaries in turns: charges a second, what a charge costs, memory of a charge in flight
    Compare,
}

impl Scenario {
    /// All scenarios in order; without `compare`, which needs a second binary, and `distributed`, which needs a cluster.
    const ALL: [Self; 21] = [
        Self::Charges,
        Self::Growth,
        Self::Latency,
        Self::Reads,
        Self::Postgres,
        Self::Lean,
        Self::Overload,
        Self::SlowProvider,
        Self::Payers,
        Self::Sessions,
        Self::Doors,
        Self::Adapters,
        Self::Splits,
        Self::Flows,
        Self::Webhooks,
        Self::Waiting,
        Self::Subscriptions,
        Self::Reports,
        Self::Payouts,
        Self::Settlement,
        Self::Profile,
    ];

    /// The name on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Charges => "charges",
            Self::Growth => "growth",
            Self::Latency => "latency",
            Self::Reads => "reads",
            Self::Postgres => "postgres",
            Self::Lean => "lean",
            Self::Overload => "overload",
            Self::SlowProvider => "slow-provider",
            Self::Payers => "payers",
            Self::Sessions => "sessions",
            Self::Doors => "doors",
            Self::Adapters => "adapters",
            Self::Splits => "splits",
            Self::Flows => "flows",
            Self::Webhooks => "webhooks",
            Self::Waiting => "waiting",
            Self::Subscriptions => "subscriptions",
            Self::Reports => "reports",
            Self::Payouts => "payouts",
            Self::Settlement => "settlement",
            Self::Profile => "profile",
            Self::Distributed => "distributed",
            Self::Compare => "compare",
        }
    }

    /// The heading.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Charges => "Charges on a fresh database",
            Self::Growth => "Growth",
            Self::Latency => "Latency at half of the largest rate",
            Self::Reads => "Reads",
            Self::Postgres => "PostgreSQL, and several nodes",
            Self::Lean => "Memory, start and size",
            Self::Overload => "Overload",
            Self::SlowProvider => "Slow providers",
            Self::Payers => "Charges that wait for their payers",
            Self::Sessions => "Buyers at the checkout",
            Self::Doors => "Readers with public keys and links",
            Self::Adapters => "A real adapter, and the simulator",
            Self::Splits => "Charges with sellers, and without",
            Self::Flows => "Charges by a flow, and without one",
            Self::Webhooks => "Webhook deliveries",
            Self::Waiting => "Due work while more waits",
            Self::Subscriptions => "A million subscriptions of one day",
            Self::Reports => "Reports",
            Self::Payouts => "A payday",
            Self::Settlement => "Settlement files",
            Self::Profile => "Where a charge's time goes",
            Self::Distributed => "Several database servers",
            Self::Compare => "Two binaries in turns",
        }
    }

    async fn measure(self, bench: &Bench) -> Outcome<Report> {
        match self {
            Self::Charges => charges::measure(bench).await,
            Self::Growth => growth::measure(bench).await,
            Self::Latency => latency::measure(bench).await,
            Self::Reads => reads::measure(bench).await,
            Self::Postgres => postgres::measure(bench).await,
            Self::Lean => lean::measure(bench).await,
            Self::Overload => overload::measure(bench).await,
            Self::SlowProvider => slow_provider::measure(bench).await,
            Self::Payers => payers::measure(bench).await,
            Self::Sessions => sessions::measure(bench).await,
            Self::Doors => doors::measure(bench).await,
            Self::Adapters => adapters::measure(bench).await,
            Self::Splits => splits::measure(bench).await,
            Self::Flows => flows::measure(bench).await,
            Self::Webhooks => webhooks::measure(bench).await,
            Self::Waiting => waiting::measure(bench).await,
            Self::Subscriptions => subscriptions::measure(bench).await,
            Self::Reports => reports::measure(bench).await,
            Self::Payouts => payouts::measure(bench).await,
            Self::Settlement => settlement::measure(bench).await,
            Self::Profile => profile::measure(bench).await,
            Self::Distributed => distributed::measure(bench).await,
            Self::Compare => compare::measure(bench).await,
        }
    }
}

impl Options {
    /// The second binary, which `compare` requires and other scenarios reject.
    fn against(&self) -> Outcome<Option<PathBuf>> {
        match (self.scenarios.contains(&Scenario::Compare), &self.against) {
            (true, Some(binary)) => match binary.canonicalize() {
                Ok(binary) => Ok(Some(binary)),
                Err(error) => Err(format!("--against {}: {error}", binary.display()).into()),
            },
            (false, None) => Ok(None),
            (true, None) => Err("`compare` needs a second binary: --against FILE".into()),
            (false, Some(_)) => Err("--against FILE is for the scenario `compare`".into()),
        }
    }

    /// Only `reads` can be measured on a server; `postgres` starts its own.
    fn require_its_database(&self) -> Outcome {
        match self.database {
            Database::Postgres if self.scenarios != [Scenario::Reads] => {
                Err("--database postgres is for the scenario `reads`".into())
            }
            Database::Sqlite | Database::Postgres => Ok(()),
        }
    }
}

/// State shared by all scenarios.
pub(crate) struct Bench {
    binary: PathBuf,
    /// The binary without storage, once a scenario has asked for it.
    without_storage: OnceLock<PathBuf>,
    size: Size,
    rounds: usize,
    seconds: u32,
    /// Charges of the large database.
    charges: u64,
    seeded: SeededDatabases,
    /// The older binary of the scenario `compare`.
    against: Option<PathBuf>,
}

/// The effort of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// For a quick look.
    Quick,
    /// For the target figures.
    Full,
}

impl Bench {
    /// A fresh place for a service, on the disk under test.
    fn place(&self) -> Outcome<Place> {
        Self::place_of(&self.binary)
    }

    /// A fresh place for a service of any binary.
    fn place_of(binary: &Path) -> Outcome<Place> {
        Place::passing(binary, Path::new(FOLDER))
    }

    /// The binary without storage, whose rate is the upper limit. Built on first use.
    fn binary_without_storage(&self) -> Outcome<&Path> {
        if let Some(built) = self.without_storage.get() {
            return Ok(built);
        }
        let built = build_without_storage()?;
        Ok(self.without_storage.get_or_init(|| built))
    }

    /// The large database.
    async fn large(&self) -> Outcome<std::sync::Arc<Seeded>> {
        self.seeded.of(&self.binary, self.charges).await
    }

    /// The value for a quick run, or for a full one.
    const fn pick<T: Copy>(&self, quick: T, full: T) -> T {
        match self.size {
            Size::Quick => quick,
            Size::Full => full,
        }
    }
}

/// Runs the scenarios. Exits with failure when a target was missed, so that scripts notice.
pub(crate) async fn run(options: Options) -> Outcome<ExitCode> {
    let against = options.against()?;
    options.require_its_database()?;
    wrk::require()?;
    let (rounds, seconds, charges) = if options.quick { (1, 2, 50_000) } else { (3, 8, 5_000_000) };
    let bench = Bench {
        binary: match &options.binary {
            Some(binary) => binary.canonicalize()?,
            None => build()?,
        },
        without_storage: OnceLock::new(),
        size: if options.quick { Size::Quick } else { Size::Full },
        rounds: options.rounds.unwrap_or(rounds).max(1),
        seconds: options.seconds.unwrap_or(seconds).max(1),
        charges: options.charges.unwrap_or(charges),
        seeded: SeededDatabases::new(
            if options.keep { Keep::Yes } else { Keep::No },
            if options.all_keys { Keys::All } else { Keys::OfADay },
            options.history_years,
            options.database,
        ),
        against,
    };
    std::fs::create_dir_all(FOLDER)?;
    let machine = machine::describe(Path::new(FOLDER))?;
    for (what, value) in &machine {
        println!("{what}: {value}");
    }
    let scenarios =
        if options.scenarios.is_empty() { Scenario::ALL.to_vec() } else { options.scenarios.clone() };
    let file = Path::new(FOLDER).join("results.json");
    let mut kept = Kept::read(&file);
    let mut missed = 0;
    for scenario in scenarios {
        let report = scenario.measure(&bench).await?;
        report.print(scenario);
        missed += report.numbers.iter().filter(|number| number.reached == Reached::No).count();
        match bench.size {
            Size::Quick => {}
            Size::Full => kept.keep(&file, scenario, report, machine.clone())?,
        }
    }
    if options.write {
        kept.write(Path::new(DOCUMENT))?;
    }
    Ok(if missed == 0 || options.quick { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
