//! Charges on PostgreSQL on one server and on one that is distributed over two workers, in turns: what distribution costs where
//! all of it shares one machine. Then one worker is stopped, without being ended: what the accounts of the other one lose.
//!
//! `SYNC=on scripts/distributed cargo xtask bench distributed`

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use regente_store::testing::{FreshDatabase, TestPostgres};
use regente_store::{PostgresOptions, Store, StoreOptions};
use rustix::process::Signal;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::time::sleep;

use super::figures::{Reached, Samples, number};
use super::meter::{self, Usage};
use super::postgres::CONNECTIONS;
use super::report::{Report, Table};
use super::turns::Turns;
use super::{Bench, charges, requests, wrk};
use crate::Outcome;
use crate::cluster::{COORDINATOR, Cluster, WORKERS};
use crate::place::{Account, Place, one_simulator, uuid};
use crate::service::Service;

/// Enough for both workers to have many.
const ACCOUNTS: usize = 40;
/// Seconds before each measurement, to fill the caches of keys and merchants.
const WARM_UP_SECONDS: u32 = 1;
/// The part of their rate that accounts keep whose worker was not stopped.
const KEPT_MIN: f64 = 0.9;
/// Callers of the accounts of the worker that is stopped, and how long each waits before it charges again.
const CALLERS: usize = 8;
const PAUSE: Duration = Duration::from_millis(100);

/// The measurements of one side.
#[derive(Default)]
struct Measured {
    turns: Turns,
    /// By how much the database grows for each charge.
    kept_kib: Samples,
    /// Of the processor time of all servers that of the coordinator; nothing on one server.
    coordinator_cpu_us: Samples,
}

/// Where the charges are kept.
enum Side {
    One(TestPostgres),
    Distributed(Cluster),
}

impl Side {
    /// A place with a fresh database, which lasts as long as the second value.
    async fn place(&self, binary: &Path) -> Outcome<(Place, FreshDatabase)> {
        let place = Bench::place_of(binary)?;
        match self {
            Self::One(server) => {
                server.administer("CHECKPOINT").await;
                let database = FreshDatabase::at(server.empty_database().await);
                Ok((place.on_postgres(database.url()), database))
            }
            Self::Distributed(cluster) => {
                let database = cluster.empty_database().await?;
                let place = place.on_postgres(database.url());
                place.printed(&["migrate", "--distributed"])?;
                Ok((place, database))
            }
        }
    }

    fn usage(&self) -> Usage {
        match self {
            Self::One(server) => Usage::of_family(server.process_id()),
            Self::Distributed(cluster) => cluster.usage().unwrap_or_default(),
        }
    }

    fn usage_of_coordinator(&self) -> Outcome<Usage> {
        match self {
            Self::One(_) => Ok(Usage::default()),
            Self::Distributed(cluster) => cluster.usage_of(COORDINATOR),
        }
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let (one, distributed) = (Side::One(TestPostgres::durable()), Side::Distributed(Cluster::running()?));
    let (mut on_one, mut on_several) = (Measured::default(), Measured::default());
    for round in 1..=bench.rounds {
        // Both sides are measured equally early.
        for is_one in [true, false, false, true] {
            println!(
                "distributed: round {round} of {}, {}",
                bench.rounds,
                if is_one { "one" } else { "several" }
            );
            let (side, measured) = if is_one { (&one, &mut on_one) } else { (&distributed, &mut on_several) };
            turn(bench, side, measured).await?;
        }
    }
    let ratio = on_several.turns.divided_by(&on_one.turns);
    let mut report = Report::new();
    let mut table = Table::new(
        format!("Charges of {ACCOUNTS} accounts, closed loop of {CONNECTIONS} connections"),
        [
            "",
            "charges a second",
            "p50 ms",
            "p99 ms",
            "server CPU µs",
            "PostgreSQL CPU µs",
            "KB written",
            "MB resident",
            "KB kept",
        ],
    );
    let row = |what: &str, measured: &Measured| {
        measured.turns.row(what.to_owned()).chain([measured.kept_kib.show(1)]).collect::<Vec<_>>()
    };
    table.row(row("one server", &on_one));
    table.row(row("a coordinator and two workers", &on_several));
    let kept = on_several.kept_kib.divided_by(&on_one.kept_kib);
    table.row(ratio.row_of_ratios("ratio".to_owned()).chain([kept.show(3)]));
    report.tables.push(table);
    report.note(format!(
        "Of the processor time of the servers {} µs are the coordinator's.",
        on_several.coordinator_cpu_us.show(0)
    ));
    report.note(format!(
        "{} rounds of {} s; in each the sides take turns: one, several, several, one. All servers, the service and the load \
         share this machine: the ratio is what distribution costs, not what it gains.",
        bench.rounds, bench.seconds
    ));
    stopped(bench, &distributed, &mut report).await?;
    Ok(report)
}

async fn turn(bench: &Bench, side: &Side, measured: &mut Measured) -> Outcome {
    let (place, database) = side.place(&bench.binary).await?;
    let accounts = place.make_accounts(ACCOUNTS, &one_simulator()).await?;
    let service = Service::start(&place)?;
    wrk::charges(&service, &accounts, CONNECTIONS, WARM_UP_SECONDS)?;
    let (used, coordinator, kept) = (side.usage(), side.usage_of_coordinator()?, size(&database).await?);
    let load = wrk::charges(&service, &accounts, CONNECTIONS, bench.seconds)?;
    let (used, coordinator) = (side.usage().since(used), side.usage_of_coordinator()?.since(coordinator));
    let kept = size(&database).await?.saturating_sub(kept);
    measured.coordinator_cpu_us.add(load.for_each(coordinator.cpu_seconds * 1e6));
    measured.turns.add(&load, Some(used), meter::resident_mib(service.process_id()));
    measured.kept_kib.add(load.for_each(kept as f64 / 1024.0));
    service.stop()
}

/// Bytes of the database on all its servers, without their logs.
async fn size(database: &FreshDatabase) -> Outcome<u64> {
    let store = Store::open(StoreOptions::Postgres(PostgresOptions::new(database.url()))).await?;
    let size = store.size().await?;
    store.close().await;
    Ok(size.database_bytes)
}

/// The rate of the accounts of one worker before the other one is stopped, and then.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn stopped(bench: &Bench, side: &Side, report: &mut Report) -> Outcome {
    let Side::Distributed(cluster) = side else { return Ok(()) };
    let (mut before, mut then, mut kept, mut again) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let mut answers = Answers::default();
    for round in 1..=bench.rounds {
        println!("distributed: round {round} of {}, a worker is stopped", bench.rounds);
        let (place, database) = side.place(&bench.binary).await?;
        let accounts = place.make_accounts(ACCOUNTS, &one_simulator()).await?;
        let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
        for account in accounts {
            match database.worker_of(&account.client_id).await {
                1 => of_first.push(account),
                _ => of_second.push(account),
            }
        }
        let service = Service::start(&place)?;
        let callers = Callers::start(&service, &of_second)?;
        let usual = charges::charge(bench, &service, &of_first, CONNECTIONS)?;
        cluster.signal(WORKERS[1], Signal::STOP)?;
        let while_stopped = charges::charge(bench, &service, &of_first, CONNECTIONS);
        cluster.signal(WORKERS[1], Signal::CONT)?;
        let begun = Instant::now();
        let while_stopped = while_stopped?;
        while callers.is_refused() {
            sleep(PAUSE).await;
        }
        again.add(begun.elapsed().as_secs_f64());
        answers.add(callers.stop()?);
        before.add(usual.rate);
        then.add(while_stopped.rate);
        kept.add(while_stopped.rate / usual.rate.max(1.0));
        service.stop()?;
    }
    report.number(
        "part of their rate that accounts keep while the other worker hangs",
        kept.show(2),
        format!("at least {}", number(KEPT_MIN, 1)),
        Reached::at_least(KEPT_MIN, kept.median()),
    );
    let mut table = Table::new(
        "Charges of the accounts of one worker while the other one is stopped without being ended",
        ["a second before", "then", "kept", "seconds until the others are served again"],
    );
    table.row([before.show(0), then.show(0), kept.show(2), again.show(1)]);
    report.tables.push(table);
    report.note(format!(
        "Meanwhile {CALLERS} callers charge for accounts of the stopped worker, each {PAUSE:?} after its last answer: {} \
         were answered 201, {} with 503 and Retry-After, {} otherwise; the longest answer took {:.1} s.",
        answers.charged, answers.refused, answers.others, answers.longest.as_secs_f64()
    ));
    Ok(())
}

/// What callers were answered.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    charged: u64,
    refused: u64,
    others: u64,
    longest: Duration,
}

impl Answers {
    fn add(&mut self, more: Self) {
        self.charged += more.charged;
        self.refused += more.refused;
        self.others += more.others;
        self.longest = self.longest.max(more.longest);
    }
}

/// Callers that charge for accounts, each once its last answer has come. They have a thread of their own: the load keeps that of the
/// task.
struct Callers {
    state: Arc<State>,
    running: JoinHandle<Result<Vec<Answers>, String>>,
}

/// What the callers share.
#[derive(Default)]
struct State {
    is_over: AtomicBool,
    /// Whether the last answer was no charge.
    is_refused: AtomicBool,
}

impl Callers {
    fn start(service: &Service, accounts: &[Account]) -> Outcome<Self> {
        let state = Arc::new(State::default());
        let url = format!("http://{}/v1/charges", service.address());
        let bodies = accounts
            .iter()
            .cycle()
            .take(CALLERS)
            .map(|account| Ok((account.clone(), requests::body(account, &Value::Null, 0)?)));
        let bodies = bodies.collect::<Outcome<Vec<_>>>()?;
        let shared = Arc::clone(&state);
        let running = std::thread::spawn(move || {
            let runtime =
                Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
            let calling =
                bodies.into_iter().map(async |(account, body)| call(&url, &account, body, &shared).await);
            runtime.block_on(try_join_all(calling)).map_err(|error| error.to_string())
        });
        Ok(Self { running, state })
    }

    fn is_refused(&self) -> bool {
        self.state.is_refused.load(Ordering::Relaxed)
    }

    fn stop(self) -> Outcome<Answers> {
        self.state.is_over.store(true, Ordering::Relaxed);
        let each = self.running.join().map_err(|_panic| "a caller panicked")??;
        let mut all = Answers::default();
        each.into_iter().for_each(|answers| all.add(answers));
        Ok(all)
    }
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn call(url: &str, account: &Account, body: String, state: &State) -> reqwest::Result<Answers> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let mut answers = Answers::default();
    while !state.is_over.load(Ordering::Relaxed) {
        let asked = Instant::now();
        let request =
            http.post(url).header("X-Client-Id", &account.client_id).header("X-Api-Key", &account.api_key);
        let request = request.header("X-Idempotency-Key", uuid()).header("Content-Type", "application/json");
        let answer = request.body(body.clone()).send().await?;
        answers.longest = answers.longest.max(asked.elapsed());
        let (status, headers) = (answer.status().as_u16(), answer.headers());
        match status {
            201 => answers.charged += 1,
            503 if headers.contains_key("retry-after") => answers.refused += 1,
            _ => answers.others += 1,
        }
        state.is_refused.store(status != 201, Ordering::Relaxed);
        sleep(PAUSE).await;
    }
    Ok(answers)
}
