//! Charges on PostgreSQL on one server and on one that is distributed over two workers, in turns: what distribution costs where
//! all of it shares one machine, with connections to the workers and without; and how the rate grows with the cores of the workers.
//! Then one worker is stopped, without being ended: what the accounts of the other one lose.
//!
//! `SYNC=on scripts/distributed cargo xtask bench distributed`

mod pinned;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use regente_engine::clock::Clock;
use regente_store::testing::{FreshDatabase, TestPostgres};
use rustix::process::Signal;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::time::sleep;

use super::engine::Engine;
use super::figures::{Reached, Samples, number};
use super::meter;
use super::postgres::CONNECTIONS;
use super::report::{Report, Table};
use super::turns::Turns;
use super::{Bench, charges, requests, wrk};
use crate::Outcome;
use crate::cluster::{COORDINATOR, Cluster, WORKERS};
use crate::place::{Account, one_simulator, uuid};
use crate::service::Service;

/// Enough for both workers to have many.
const ACCOUNTS: usize = 40;
/// Seconds before each measurement, to fill the caches of keys and merchants and to plan each statement a few times.
const WARM_UP_SECONDS: u32 = 4;
/// The part of their rate that accounts keep whose worker was not stopped.
const KEPT_MIN: f64 = 0.9;
/// Callers of the accounts of the worker that is stopped, and how long each waits before it charges again.
const CALLERS: usize = 8;
const PAUSE: Duration = Duration::from_millis(100);

/// A way to the database, and what was measured on it.
struct Side {
    what: &'static str,
    engine: Engine,
    connects_to_workers: bool,
    turns: Turns,
    /// By how much the database grows for each charge.
    kept_kib: Samples,
    /// Of the processor time of all servers that of the coordinator; nothing on one server.
    coordinator_cpu_us: Samples,
}

impl Side {
    fn of(what: &'static str, engine: Engine, connects_to_workers: bool) -> Self {
        Self {
            what,
            engine,
            connects_to_workers,
            turns: Turns::default(),
            kept_kib: Samples::default(),
            coordinator_cpu_us: Samples::default(),
        }
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let cluster = Cluster::running()?;
    let mut sides = [
        Side::of("one server", Engine::Postgres(TestPostgres::durable()), true),
        Side::of("a coordinator and two workers", Engine::Distributed(cluster.clone()), true),
        Side::of("the same, all through the coordinator", Engine::Distributed(cluster.clone()), false),
    ];
    for round in 1..=bench.rounds {
        // All sides are measured equally early.
        for at in (0..sides.len()).chain((0..sides.len()).rev()) {
            println!("distributed: {}, round {round} of {}", sides[at].what, bench.rounds);
            turn(bench, &cluster, &mut sides[at]).await?;
        }
    }
    let mut report = Report::new();
    let mut table = Table::new(
        format!("Charges of {ACCOUNTS} accounts, closed loop of {CONNECTIONS} connections"),
        Turns::columns("", "PostgreSQL CPU µs").into_iter().chain(["KB kept", "coordinator CPU µs"]),
    );
    for side in &sides {
        let kept = [side.kept_kib.show(1), side.coordinator_cpu_us.show(0)];
        table.row(side.turns.row(side.what.to_owned()).chain(kept).collect::<Vec<_>>());
    }
    let [one, several @ ..] = &sides;
    for side in several {
        let kept = side.kept_kib.divided_by(&one.kept_kib);
        let ratio = side.turns.divided_by(&one.turns);
        table.row(ratio.row_of_ratios(format!("{}: ratio", side.what)).chain([kept.show(3), String::new()]));
    }
    report.tables.push(table);
    report.note(format!(
        "{} rounds of {} s; in each the sides take turns, there and back. All servers, the service and the load share this \
         machine: the ratio is what distribution costs, not what it gains.",
        bench.rounds, bench.seconds
    ));
    pinned::measure(bench, &cluster, &mut report).await?;
    stopped(bench, &cluster, &mut report).await?;
    Ok(report)
}

async fn turn(bench: &Bench, cluster: &Cluster, side: &mut Side) -> Outcome {
    let place = side.engine.place(&bench.binary).await?;
    let place = place.with("REGENTE_DATABASE__POSTGRES_CONNECT_TO_WORKERS", side.connects_to_workers);
    let accounts = place.make_accounts(ACCOUNTS, &one_simulator()).await?;
    let service = Service::start(&place)?;
    let inside = place.open(Clock::system()).await?;
    wrk::charges(&service, &accounts, CONNECTIONS, WARM_UP_SECONDS)?;
    let before = (side.engine.usage(), cluster.usage_of(COORDINATOR), inside.database_bytes().await?);
    let load = wrk::charges(&service, &accounts, CONNECTIONS, bench.seconds)?;
    let used = side.engine.usage().since(before.0);
    if matches!(side.engine, Engine::Distributed(_)) {
        let coordinator = cluster.usage_of(COORDINATOR).since(before.1);
        side.coordinator_cpu_us.add(load.for_each(coordinator.cpu_seconds * 1e6));
    }
    let kept = inside.database_bytes().await?.saturating_sub(before.2);
    inside.close().await;
    side.turns.add(&load, Some(used), meter::resident_mib(service.process_id()));
    side.kept_kib.add(load.for_each(kept as f64 / 1024.0));
    service.stop()
}

/// The rate of the accounts of one worker before the other one is stopped, and then.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn stopped(bench: &Bench, cluster: &Cluster, report: &mut Report) -> Outcome {
    let (mut before, mut then, mut kept, mut again) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let mut answers = Answers::default();
    for round in 1..=bench.rounds {
        println!("distributed: round {round} of {}, a worker is stopped", bench.rounds);
        let database = FreshDatabase::at(cluster.fresh_database(&bench.binary).await?);
        let place = bench.place()?.on_postgres(database.url());
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
