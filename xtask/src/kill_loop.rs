//! `cargo xtask kill-loop`: a real service and a real simulator with a random fault plan. Clients charge, capture,
//! void, subscribe, have receivers paid early and repeat requests while the service is killed at random moments. At the end the
//! simulator's transaction log, the simulated bank and Regente must agree to the cent, every acknowledged operation must be there, and
//! none may have been done twice.

#![allow(clippy::disallowed_methods, reason = "it runs by the machine's time")]

mod clients;
mod cycles;
mod dice;
mod faults;
mod paid;
mod payers;
mod payouts;
mod real;
mod requests;
mod servers;
mod sessions;
mod subscriptions;
mod verdict;
pub(crate) mod workers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use regente_store::testing::TestPostgres;
use serde_json::Value;

use crate::Outcome;
use crate::cluster::Cluster;
use crate::place::Account;
use crate::service::{Service, Simulator};

use clients::{Caller, ClientLog, Crowd};
use dice::Dice;
use payers::Payers;
use payouts::Receivers;
use servers::Servers;
use subscriptions::Subscribers;
use tokio::sync::watch;

/// How long the service runs between two kills.
const LIFE_MS: std::ops::Range<u64> = 300..1_800;
/// How long it runs after that, and how often.
const LONG_LIFE_MS: std::ops::Range<u64> = 17_000..21_000;
const LONG_LIVES: u32 = 3;
/// The fault plan changes after this many rounds.
const ROUNDS_OF_A_PLAN: u32 = 3;
/// The methods of those who pay by themselves.
const PAYER_METHODS: &[&str] = &["pix", "pix", "boleto", "nupay", "drip", "picpay"];
/// How long all unknown outcomes may take to be resolved at the end.
const RESOLVED_WITHIN: Duration = Duration::from_secs(240);
/// What is still open to print when the loop gives up.
const SHOWN_MAX: usize = 10;
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The longest wait between two probes by the service's settings, and time for the probe and for giving back.
const FOUND_WITHIN: Duration = Duration::from_secs(30);

/// What to kill, and how often.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often the service is killed, on each database
    #[arg(long, default_value_t = 50)]
    rounds: u32,
    /// Clients at once
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Decides the faults, the operations and the moments [default: another one each time, and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// The databases
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    database: Databases,
    /// Who is asked: the simulator, or a bank behind the adapters of providers that move real money
    #[arg(long, value_enum, default_value_t = Providers::Simulator)]
    providers: Providers,
    /// Kill a build for release
    #[arg(long)]
    release: bool,
    /// Kill this binary instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Which databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Databases {
    Sqlite,
    Postgres,
    Both,
    /// One that `scripts/distributed` has started; its workers are killed too
    Distributed,
}

/// Which providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Providers {
    Simulator,
    Real,
}

pub(crate) async fn run(options: Options) -> Outcome {
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize()?,
        None if options.release => crate::service::build()?,
        None => build()?,
    };
    let seed = options.seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!(
        "seed {seed}: `cargo xtask kill-loop --seed {seed}` draws the same faults, operations and moments"
    );
    if matches!(options.database, Databases::Sqlite | Databases::Both) {
        kill_at(&options, &binary, Target::Sqlite, seed).await?;
    }
    if matches!(options.database, Databases::Postgres | Databases::Both) {
        let postgres = TestPostgres::durable();
        let database = postgres.empty_database().await;
        kill_at(&options, &binary, Target::Postgres(&database), seed).await?;
    }
    if options.database == Databases::Distributed {
        let cluster = Cluster::running()?;
        let database = cluster.fresh_database(&binary).await?;
        kill_at(&options, &binary, Target::Distributed(&database, &cluster), seed).await?;
    }
    Ok(())
}

fn build() -> Outcome<PathBuf> {
    println!("building regente");
    let status = Command::new("cargo").args(["build", "--quiet", "--package", "regente"]).status()?;
    if !status.success() {
        return Err("the build failed".into());
    }
    Ok(Path::new("target/debug/regente").canonicalize()?)
}

/// The database of a service that is killed.
#[derive(Clone, Copy)]
enum Target<'a> {
    Sqlite,
    /// The one at this address.
    Postgres(&'a str),
    /// The same, and the servers that have it.
    Distributed(&'a str, &'a Cluster),
}

impl Target<'_> {
    const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
            Self::Distributed(..) => "distributed PostgreSQL",
        }
    }

    const fn postgres(&self) -> Option<&str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres(url) | Self::Distributed(url, _) => Some(url),
        }
    }
}

async fn kill_at(options: &Options, binary: &Path, target: Target<'_>, seed: u64) -> Outcome {
    match (options.providers, target) {
        (Providers::Simulator, _) => kill(options, binary, target, seed).await,
        (Providers::Real, Target::Distributed(..)) => {
            Err("a distributed database is killed with `--providers simulator`".into())
        }
        (Providers::Real, _) => real::kill(options, binary, target.name(), target.postgres(), seed).await,
    }
}

async fn kill(options: &Options, binary: &Path, target: Target<'_>, seed: u64) -> Outcome {
    let name = target.name();
    let started = Instant::now();
    let simulator = Simulator::start(binary, seed).await?;
    let settings = [
        ("REGENTE_SANDBOX__URL", simulator.url.as_str()),
        ("REGENTE_SANDBOX__DEADLINE_MS", "250"),
        ("REGENTE_CHARGES__RECONCILE_GRACE_MS", "300"),
        ("REGENTE_CHARGES__RECONCILE_WAITS_SECONDS", "1,1,1,2,2,2,5,5,5,10,10,10,20,20,20"),
    ];
    let (mut service, mut accounts) = Service::start_fresh(binary, target.postgres(), &settings, 2).await?;
    let (Some(subscribing), Some(account)) = (accounts.pop(), accounts.pop()) else {
        return Err("no accounts were made".into());
    };
    let mut dice = Dice::new(seed);
    let merchants = merchants(&service, &account, &mut dice).await?;
    let receivers = Receivers::prepare(&mut service).await?;
    let subscribers = Subscribers::prepare(&service, subscribing, &mut dice).await?;
    let mut payers = Payers::new(dice.split());
    let client_log = Arc::new(ClientLog::default());
    let (mut servers, mut of_servers) = (Servers::default(), dice.split());
    for round in 1..=options.rounds {
        if round % ROUNDS_OF_A_PLAN == 1 {
            simulator.set_faults(&faults::plan(&mut dice)).await?;
        }
        let for_sale = sessions::make(&service, &account, &merchants, &mut dice).await?;
        let caller = Caller::of(&service, &account, merchants.clone(), PAYER_METHODS, for_sale);
        let mut crowd = Crowd::begin(caller, options.clients, &mut dice, &client_log);
        subscribers.join(&mut crowd, &service, &mut dice);
        receivers.join(&mut crowd, &service, &mut dice);
        let (stop, is_stopped) = watch::channel(false);
        let life = Duration::from_millis(dice.within(LIFE_MS));
        let ((), paying, disturbed) = tokio::join!(
            async {
                tokio::time::sleep(life).await;
                let _ = stop.send(true);
            },
            payers.go_on(&simulator, is_stopped),
            async {
                match target {
                    Target::Distributed(_, cluster) => servers.disturb(cluster, &mut of_servers).await,
                    Target::Sqlite | Target::Postgres(_) => Ok(()),
                }
            }
        );
        payers = paying?;
        disturbed?;
        service.kill()?;
        crowd.end().await?;
        service.start_again()?;
        if round % 10 == 0 || round == options.rounds {
            println!("{name}: killed {round} of {} times, {}", options.rounds, client_log.count());
        }
    }
    // The clocks of accounts go far ahead only in lives that are longer than a lease.
    for _ in 0..LONG_LIVES {
        let caller = Caller::of(&service, &account, merchants.clone(), PAYER_METHODS, Vec::new());
        let mut crowd = Crowd::begin(caller, 0, &mut dice, &client_log);
        subscribers.join(&mut crowd, &service, &mut dice);
        receivers.join(&mut crowd, &service, &mut dice);
        tokio::time::sleep(Duration::from_millis(dice.within(LONG_LIFE_MS))).await;
        service.kill()?;
        crowd.end().await?;
        service.start_again()?;
    }
    simulator.set_faults(&Value::Array(Vec::new())).await?;
    subscribers.settle(&service).await?;
    settle_payouts(&service, &receivers, &simulator, &mut payers).await?;
    wait_until_resolved(&service, &account, &simulator, &mut payers).await?;
    let caller = Caller::of(&service, &account, merchants, PAYER_METHODS, Vec::new());
    // Nothing is under way any more.
    client_log.repeat_the_rest(&caller, &[201]).await?;
    wait_until_resolved(&service, &account, &simulator, &mut payers).await?;
    let cycles = cycles::examine(&subscribers, &service).await?;
    let paid = paid::examine(&receivers, &mut service).await?;
    let verdict = verdict::examine(&caller, &service, &simulator, &client_log, (cycles, paid)).await?;
    println!("{name}, {} kills in {} s, seed {seed}\n{verdict}", options.rounds, started.elapsed().as_secs());
    if let Target::Distributed(..) = target {
        println!("{servers}");
    }
    service.doctor()
}

/// One merchant whose provider is reliable, one whose first provider often fails, one with three providers, and two
/// whose risk is analysed: before the charge, and after the reservation.
async fn merchants(service: &Service, account: &Account, dice: &mut Dice) -> Outcome<Vec<String>> {
    let mut merchants = vec![account.merchant_id.clone()];
    for providers in [2, 3] {
        merchants.push(service.make_merchant(account, &faults::providers(providers, dice)).await?);
    }
    for is_before in [true, false] {
        let mut providers = faults::providers(2, dice);
        if let Some(providers) = providers.as_array_mut() {
            providers.push(faults::risk(is_before));
        }
        merchants.push(service.make_merchant(account, &providers).await?);
    }
    Ok(merchants)
}

/// What was paid is paid out only when nothing of it is unknown any more: what comes later would be due later.
async fn settle_payouts(
    service: &Service,
    receivers: &Receivers,
    simulator: &Simulator,
    payers: &mut Payers,
) -> Outcome {
    requests::repeat_the_rest(receivers, service).await?;
    service.retry_given_up()?;
    wait_until_resolved(service, &receivers.requests.account, simulator, payers).await?;
    receivers.settle(service).await
}

/// Waits until no outcome is unknown, and every payer and bank has done what was waited for.
async fn wait_until_resolved(
    service: &Service,
    account: &Account,
    simulator: &Simulator,
    payers: &mut Payers,
) -> Outcome {
    let started = Instant::now();
    loop {
        let happened = payers.finish(simulator).await?;
        let total = service.count(account, "pending,capture_pending,refund_pending").await?;
        let is_over = started.elapsed() > RESOLVED_WITHIN;
        // Every charge is read for this: while outcomes are unknown it would only keep the service from finding them.
        let open = match total == 0 && happened == 0 || is_over {
            true => Some(what_is_open(service, account).await?),
            false => None,
        };
        // A refund that was refused is asked for again, and may have been accepted while the charges were read.
        if let Some(open) = &open
            && total == 0
            && happened == 0
            && payers.are_found(FOUND_WITHIN)
            && open.is_empty()
            && payers.finish(simulator).await? == 0
        {
            println!("nothing is unknown {} ms after the last start", started.elapsed().as_millis());
            return Ok(());
        }
        match open {
            Some(open) if is_over => {
                let shown = open.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join("\n");
                return Err(
                    format!("{total} charges are still unknown, {} open:\n{shown}", open.len()).into()
                );
            }
            Some(_) | None => {}
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The charges with a request to a provider under way, and the sessions that have not counted theirs. A payment that is
/// given back does not show in the status of its charge.
async fn what_is_open(service: &Service, account: &Account) -> Outcome<Vec<String>> {
    let get = async |path: String| service.get(account, &path).await;
    let charges = verdict::all_charges(get).await?;
    let runs = |request: &Value| request["requestStatus"] == "running";
    let of =
        |charge: &Value| charge["transactionRequests"].as_array().is_some_and(|all| all.iter().any(runs));
    let mut open = sessions::examine(get, &charges).await?.differences;
    open.extend(charges.values().filter(|charge| of(charge)).map(|charge| format!("{charge} waits")));
    Ok(open)
}
