//! `cargo xtask kill-workers`: a serving node and two workers on PostgreSQL, with one simulator that often fails and
//! an endpoint for all events. Again and again one of the workers is killed during its work. After every round each
//! purchase has ended, all of its cards or none are charged in the simulator's transaction log, and every event has
//! arrived.

mod receiver;
mod shoppers;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use regente_store::testing::TestPostgres;
use serde_json::Value;

use super::dice::Dice;
use super::faults;
use crate::Outcome;
use crate::place::{Place, one_simulator};
use crate::service::{Role, Service, Simulator};

use receiver::Receiver;
use shoppers::{Crowd, Shop};
use verdict::Examiner;

/// How long both workers run at the start of a round.
const LIFE_MS: std::ops::Range<u64> = 300..2_000;
/// How long the killed one stays down.
const AWAY_MS: std::ops::Range<u64> = 100..2_000;
/// How long both run together after that.
const TOGETHER_MS: std::ops::Range<u64> = 100..1_000;
/// Waits between probes of an unknown outcome, and between attempts to deliver.
const WAITS_SECONDS: &str = "1,1,1,2,2,2,5,5,5,10,10,10,20,20,20";
/// Number of worker nodes.
const WORKERS: usize = 2;

/// The number of kills and of clients.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often a worker is killed
    #[arg(long, default_value_t = 30)]
    rounds: u32,
    /// Clients at once
    #[arg(long, default_value_t = 16)]
    clients: usize,
    /// Decides the faults, the purchases and the moments [default: another one each time, and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Kill this binary instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

pub(crate) async fn run(options: Options) -> Outcome {
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize()?,
        None => super::build()?,
    };
    let seed = options.seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!(
        "seed {seed}: `cargo xtask kill-workers --seed {seed}` draws the same faults, purchases and moments"
    );
    let started = Instant::now();
    let postgres = TestPostgres::durable();
    let database = postgres.empty_database().await;
    let simulator = Simulator::start(&binary, seed).await?;
    let receiver = Receiver::start().await?;
    let mut place = Place::passing(&binary, &std::env::temp_dir())?.on_postgres(&database);
    for (name, value) in settings(&simulator) {
        place = place.with(name, value);
    }
    let account = place.make_accounts(1, &one_simulator()).await?.pop().ok_or("no account was made")?;
    let service = Service::start(&place)?;
    let mut workers = Vec::new();
    for number in 1..=WORKERS {
        let place = place.clone().with("REGENTE_DATABASE__POSTGRES_NODE_STRIPE", number);
        workers.push(Service::start_as(&place, Role::Work)?);
    }
    let shop = Arc::new(Shop::open(&service, &account, &receiver.url).await?);
    let mut examiner = Examiner::open(&database, &service, &account).await?;
    let mut dice = Dice::new(seed);
    for round in 1..=options.rounds {
        simulator.set_faults(&faults::plan(&mut dice)).await?;
        let crowd = Crowd::begin(&shop, options.clients, &mut dice);
        pause(&mut dice, LIFE_MS).await;
        let killed = dice.place(WORKERS);
        let worker = workers.get_mut(killed).ok_or("no such worker")?;
        worker.kill()?;
        pause(&mut dice, AWAY_MS).await;
        worker.start_again()?;
        pause(&mut dice, TOGETHER_MS).await;
        let accepted = crowd.end().await?;
        simulator.set_faults(&Value::Array(Vec::new())).await?;
        let told = examiner.examine(accepted, &simulator, &receiver).await?;
        println!("round {round} of {}: {told}", options.rounds);
    }
    println!(
        "{} kills in {} s, seed {seed}\n{}",
        options.rounds,
        started.elapsed().as_secs(),
        examiner.sum(&simulator, &receiver).await?
    );
    service.doctor()
}

/// Settings that shorten the usual waits.
fn settings(simulator: &Simulator) -> [(&'static str, &str); 10] {
    [
        ("REGENTE_SANDBOX__URL", simulator.url.as_str()),
        ("REGENTE_SANDBOX__DEADLINE_MS", "250"),
        ("REGENTE_CHARGES__RECONCILE_GRACE_MS", "300"),
        ("REGENTE_CHARGES__RECONCILE_WAITS_SECONDS", WAITS_SECONDS),
        ("REGENTE_WEBHOOKS__WAITS_SECONDS", WAITS_SECONDS),
        ("REGENTE_WEBHOOKS__FIRST_ANSWER_MS", "2000"),
        ("REGENTE_WEBHOOKS__RETRY_ANSWER_MS", "2000"),
        ("REGENTE_LIMITS__PAGE_REQUESTS_PER_SECOND", "0"),
        ("REGENTE_OUTBOUND__PORTS", "any"),
        ("REGENTE_OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8"),
    ]
}

async fn pause(dice: &mut Dice, millis: std::ops::Range<u64>) {
    tokio::time::sleep(Duration::from_millis(dice.within(millis))).await;
}
