//! Measures deliveries a second while one in ten endpoints hangs until its timeout, the delay from an event to its
//! delivery, memory, and how two nodes share the work. The events are those of charges made through the API; each
//! delivery is signed. The endpoints share the cores with the service, like the load.

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

mod receivers;
mod watch;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_engine::clock::Clock;
use regente_store::testing::TestPostgres;
use serde_json::json;
use tokio::task::JoinSet;

use super::Bench;
use super::figures::{Reached, Samples, number};
use super::latency::sender;
use super::meter::{self, Usage, Watch};
use super::open_loop::{Line, quantile_ms};
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::{Account, Inside, Place, one_simulator, uuid};
use crate::service::{Role, Service};
use receivers::{Books, Endpoint, Manner, Totals};
use watch::Shares;

/// Deliveries a second to reach in a burst.
const RATE_MIN: f64 = 1000.0;
/// Number of accounts, and of webhooks for all events of each.
const ACCOUNTS: usize = 10;
const WEBHOOKS: usize = 10;
/// One endpoint in this many hangs.
const HANGING_EACH: usize = 10;
/// Events of a charge that is captured at once: `pending` and `authorized`.
const EVENTS_OF_A_CHARGE: usize = 2;
/// Deliveries to fast endpoints for each charge.
const DELIVERIES_OF_A_CHARGE: f64 = (EVENTS_OF_A_CHARGE * (WEBHOOKS - WEBHOOKS / HANGING_EACH)) as f64;
/// The charges of a burst are made within this time, much less than their deliveries take.
const BURST_SECONDS: f64 = 0.5;
/// Deliveries a second in the steady part.
const STEADY_RATE: f64 = 1000.0;
/// Connections for charges.
const CONNECTIONS: usize = 64;
/// How long to wait for the last deliveries.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval between checks whether all have arrived.
const ARRIVAL_LOOK_EVERY: Duration = Duration::from_millis(5);

/// The database and the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Sqlite,
    Postgres,
    TwoNodes,
}

/// A deployment under test.
struct Subject {
    /// The first node serves; the second, if any, is a worker.
    nodes: Vec<Service>,
    server: Option<TestPostgres>,
    accounts: Vec<Account>,
    books: Arc<Books>,
    /// The endpoints, which listen until this is dropped.
    _endpoints: JoinSet<()>,
}

/// Number of deliveries, and their time from the first charge on.
struct Delivered {
    deliveries: f64,
    seconds: f64,
}

/// Processor seconds so far.
#[derive(Clone, Copy)]
struct Processors {
    nodes: f64,
    database: f64,
    machine: f64,
}

#[derive(Default)]
struct Measured {
    burst_rate: Samples,
    steady_rate: Samples,
    delay_p50_ms: Samples,
    delay_p99_ms: Samples,
    peaks_mib: Vec<String>,
    nodes_cores: Samples,
    database_cores: Samples,
    machine_cores: Samples,
    second_percent: Samples,
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let mut table = table(bench);
    let mut all = Totals::default();
    for on in bench.pick(&[On::Sqlite][..], &[On::Sqlite, On::Postgres, On::TwoNodes][..]) {
        let subject = Subject::start(bench, *on).await?;
        let mut measured = Measured::default();
        for round in 1..=bench.rounds {
            println!("webhooks: {}, round {round} of {}", on.name(), bench.rounds);
            subject.round(bench, &mut measured).await?;
        }
        let totals = subject.books.totals();
        table.row(row(*on, &measured, totals));
        all = all.and(totals);
        match on {
            On::Sqlite | On::Postgres => report.number(
                format!(
                    "deliveries a second to quick endpoints, one in {HANGING_EACH} hanging, {}",
                    on.name()
                ),
                measured.burst_rate.show(0),
                format!("at least {}", number(RATE_MIN, 0)),
                Reached::at_least(RATE_MIN, measured.burst_rate.median()),
            ),
            On::TwoNodes => {}
        }
    }
    report.number(
        "deliveries that came twice, nothing having been killed",
        format!("{} of {}", all.twice, number((all.taken + all.twice) as f64, 0)),
        "0",
        Reached::when(all.twice == 0),
    );
    report.number(
        "signatures that were not right",
        format!("{} of {}", all.wrong, number((all.right + all.wrong) as f64, 0)),
        "0",
        Reached::when(all.wrong == 0 && all.right > 0),
    );
    report.tables.push(table);
    report.note(format!(
        "{ACCOUNTS} accounts with {WEBHOOKS} webhooks each. The rate of a burst counts from its first charge to its last \
         delivery to a quick endpoint. Delay is the time from an event to its delivery in the steady part, and the cores are \
         those of that part; the machine's are those of everything, load and endpoints included."
    ));
    report.note(
        "Memory is a node's own, of the node that has most; the books of the simulator are in a file, since in memory they grow \
         with each charge. The share of the second node counts deliveries over connections \
         that were still open when it was looked, twice a second.",
    );
    Ok(report)
}

impl On {
    const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::TwoNodes => "PostgreSQL, a second node that works",
        }
    }

    const fn roles(self) -> &'static [Role] {
        match self {
            Self::Sqlite | Self::Postgres => &[Role::Serve],
            Self::TwoNodes => &[Role::Serve, Role::Work],
        }
    }

    fn server(self) -> Option<TestPostgres> {
        match self {
            Self::Sqlite => None,
            Self::Postgres | Self::TwoNodes => Some(TestPostgres::durable()),
        }
    }
}

impl Subject {
    async fn start(bench: &Bench, on: On) -> Outcome<Self> {
        let server = on.server();
        let database = match &server {
            Some(server) => Some(server.empty_database().await),
            None => None,
        };
        let place = |stripe: usize| -> Outcome<Place> {
            // A transaction log in memory would grow with each charge and disturb the measurement.
            let place =
                bench.place()?.with_books_on_disk().with("REGENTE_OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8");
            Ok(match &database {
                Some(url) => place.on_postgres(url).with("REGENTE_DATABASE__POSTGRES_NODE_STRIPE", stripe),
                None => place,
            })
        };
        let first = place(0)?;
        let (books, mut endpoints) = (Arc::new(Books::new()?), JoinSet::new());
        let inside = first.open(Clock::system()).await?;
        let made = open_accounts(&inside, &books, &mut endpoints).await;
        inside.close().await;
        let accounts = made?;
        let mut nodes = Vec::new();
        for (stripe, role) in on.roles().iter().enumerate() {
            let place = if stripe == 0 { first.clone() } else { place(stripe)? };
            nodes.push(Service::start_as(&place, *role)?);
        }
        Ok(Self { nodes, server, accounts, books, _endpoints: endpoints })
    }

    /// A burst of events, then a steady stream.
    async fn round(&self, bench: &Bench, measured: &mut Measured) -> Outcome {
        let ids: Vec<u32> = self.nodes.iter().map(Service::process_id).collect();
        let memory: Vec<Watch> = ids.iter().map(|id| Watch::begin(*id)).collect();
        let shares = match ids.as_slice() {
            [one, second] => Some(Shares::begin(*one, *second, Arc::clone(&self.books))),
            _ => None,
        };

        let burst = bench.pick(5000.0, 20_000.0) / DELIVERIES_OF_A_CHARGE;
        measured.burst_rate.add(self.deliver(burst / BURST_SECONDS, BURST_SECONDS).await?.rate());
        drop(self.books.take_delays());

        let before = self.processors();
        let steady = STEADY_RATE / DELIVERIES_OF_A_CHARGE;
        let delivered = self.deliver(steady, f64::from(bench.seconds)).await?;
        let after = self.processors();
        measured.steady_rate.add(delivered.rate());
        measured.nodes_cores.add((after.nodes - before.nodes) / delivered.seconds);
        if self.server.is_some() {
            measured.database_cores.add((after.database - before.database) / delivered.seconds);
        }
        measured.machine_cores.add((after.machine - before.machine) / delivered.seconds);

        let delays = self.books.take_delays();
        measured.delay_p50_ms.add(quantile_ms(&delays, 0.5));
        measured.delay_p99_ms.add(quantile_ms(&delays, 0.99));
        let peak_mib = memory.into_iter().map(|watch| watch.end().own_mib).fold(0.0, f64::max);
        measured.peaks_mib.push(number(peak_mib, 0));
        if let Some(shares) = shares {
            measured.second_percent.add(shares.end() * 100.0);
        }
        Ok(())
    }

    /// Makes charges at this rate, and waits until the fast endpoints have all of their events.
    async fn deliver(&self, rate: f64, seconds: f64) -> Outcome<Delivered> {
        let [serving, ..] = self.nodes.as_slice() else { return Err("no node serves".into()) };
        let line = Line::open(serving, CONNECTIONS).await?;
        let (begun, taken_before) = (Instant::now(), self.books.totals().taken);
        let charges = line.send(rate, seconds, sender(&self.accounts)?).await?;
        if charges.taken.len() != charges.answered() {
            let refused = charges.answered() - charges.taken.len();
            return Err(format!("{refused} of {} charges were not taken", charges.answered()).into());
        }
        let deliveries = charges.taken.len() as f64 * DELIVERIES_OF_A_CHARGE;
        loop {
            let arrived = (self.books.totals().taken - taken_before) as f64;
            if arrived >= deliveries {
                return Ok(Delivered { deliveries, seconds: begun.elapsed().as_secs_f64() });
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{arrived} of {deliveries} deliveries arrived").into());
            }
            tokio::time::sleep(ARRIVAL_LOOK_EVERY).await;
        }
    }

    fn processors(&self) -> Processors {
        let server = self.server.as_ref().map(|server| Usage::of_family(server.process_id()));
        Processors {
            nodes: self.nodes.iter().map(|node| Usage::of(node.process_id()).cpu_seconds).sum(),
            database: server.unwrap_or_default().cpu_seconds,
            machine: meter::machine_cpu_seconds(),
        }
    }
}

impl Delivered {
    fn rate(&self) -> f64 {
        self.deliveries / self.seconds
    }
}

/// Creates accounts with a merchant and webhooks, and starts their endpoints.
async fn open_accounts(
    inside: &Inside,
    books: &Arc<Books>,
    endpoints: &mut JoinSet<()>,
) -> Outcome<Vec<Account>> {
    let mut accounts = Vec::with_capacity(ACCOUNTS);
    for shop in 0..ACCOUNTS {
        let account = inside.make_account(format!("Shop {shop}"), &one_simulator()).await?;
        for place in 1..=WEBHOOKS {
            let manner = if place.is_multiple_of(HANGING_EACH) { Manner::Hanging } else { Manner::Quick };
            let endpoint = Endpoint::start(manner, books, endpoints).await?;
            let body = json!({ "event": "*", "endpoint": endpoint.url });
            let webhook = inside.post(&account, "/v1/webhooks", &uuid(), &body).await?;
            let pem = webhook["publicKey"].as_str().ok_or("no public key")?;
            let key = STANDARD.decode(pem.lines().nth(1).ok_or("no line of the public key")?)?;
            endpoint.expect_key(&key)?;
        }
        accounts.push(account);
    }
    Ok(accounts)
}

fn table(bench: &Bench) -> Table {
    Table::new(
        format!(
            "Deliveries while one in {HANGING_EACH} endpoints hangs: in a burst, and with {} a second to quick endpoints for \
             {} s",
            number(STEADY_RATE, 0),
            bench.seconds
        ),
        [
            "",
            "burst/s",
            "steady/s",
            "delay p50 ms",
            "delay p99 ms",
            "MB at most, by round",
            "cores of nodes",
            "of the database",
            "of the machine",
            "% by the second node",
            "twice",
            "attempts that hung",
        ],
    )
}

fn row(on: On, measured: &Measured, totals: Totals) -> [String; 12] {
    [
        on.name().to_owned(),
        measured.burst_rate.show(0),
        measured.steady_rate.show(0),
        measured.delay_p50_ms.show(0),
        measured.delay_p99_ms.show(0),
        measured.peaks_mib.join(", "),
        measured.nodes_cores.show(2),
        measured.database_cores.show(2),
        measured.machine_cores.show(2),
        measured.second_percent.show(0),
        totals.twice.to_string(),
        totals.hung.to_string(),
    ]
}
