//! Charges that wait for their payers: Pix created, paid by notification, and left unpaid until they expire. The simulator
//! is a process of its own and notifies over HTTP.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::time::Timestamp;
use regente_providers::sandbox::http::{EntryOutcome, EntryPage, StagedMessage};
use regente_providers::staged::{Staged, StagedEvent};
use regente_store::testing::TestPostgres;
use serde_json::{Value, json};
use tokio::time::sleep;
use uuid::Uuid;

use super::Bench;
use super::figures::number;
use super::meter::{self, Usage};
use super::report::{Report, Table};
use super::requests::Charge;
use super::wrk::{self, Load};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator};
use crate::service::{Service, Simulator};

/// Connections of the closed loop that creates charges.
const CONNECTIONS: u32 = 64;
/// Seconds before the measurement.
const WARM_UP_SECONDS: u32 = 1;
/// Payers who pay at the same time.
const PAYING_MAX: usize = 32;
/// Longest time in which the service applies all notifications, or expires all charges.
const SETTLED_WITHIN: Duration = Duration::from_secs(900);
/// Interval between looks at how many are settled.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Time for which an idle service with waiting charges is watched.
const IDLE: Duration = Duration::from_secs(10);
/// Seconds that a charge waits which is paid.
const LONG_SECONDS: u64 = 86_400;

/// A service with its simulator and one account with a buyer.
struct Deployment {
    service: Service,
    simulator: Simulator,
    account: Account,
    customer_id: String,
}

impl Deployment {
    async fn start(bench: &Bench, place: Place) -> Outcome<Self> {
        let simulator = Simulator::start(&bench.binary, 1).await?;
        let place = place.reachable().with("REGENTE_SANDBOX__URL", &simulator.url);
        let mut accounts = place.make_accounts(1, &one_simulator()).await?;
        let account = accounts.pop().ok_or("no account was made")?;
        let service = Service::start(&place)?;
        let buyer = json!({
            "name": "Jose Bonifacio", "email": "jose@example.com", "phoneNumber": "21988899990",
            "document": { "type": "cpf", "number": "72912053013" },
        });
        let customer = service.post(&account, "/v1/customers", &buyer).await?;
        let customer_id = customer["id"].as_str().ok_or("no id of the buyer")?.to_owned();
        Ok(Self { service, simulator, account, customer_id })
    }

    /// A request for a Pix that is paid within `seconds`.
    fn pix(&self, seconds: u64) -> Charge {
        let body: Value = json!({
            "merchantId": self.account.merchant_id, "amount": 150, "currency": "BRL",
            "paymentMethod": { "paymentType": "pix", "expiresIn": seconds },
            "paymentSource": { "sourceType": "customer", "customerId": self.customer_id },
        });
        Charge::with_body(&self.account, &body.to_string())
    }

    fn create(&self, seconds: u32, expires_in: u64) -> Outcome<Load> {
        wrk::requests(&self.service, &[self.pix(expires_in)], CONNECTIONS, seconds)
    }

    /// How many charges have this status.
    async fn count(&self, status: &str) -> Outcome<u64> {
        self.service.count(&self.account, status).await
    }

    /// The keys of all authorizations that wait for their payers.
    async fn waiting(&self) -> Outcome<Vec<Uuid>> {
        let (mut keys, mut after) = (Vec::new(), 0);
        loop {
            let page = self.simulator.get(&format!("/v1/entries?limit=1000&after={after}")).await?;
            let EntryPage { items, next } = serde_json::from_value(page)?;
            let waits = items.iter().filter(|entry| entry.outcome == EntryOutcome::Pending);
            keys.extend(waits.map(|entry| entry.key));
            match next {
                Some(next) => after = next,
                None => return Ok(keys),
            }
        }
    }

    /// Every payer pays at the simulator, which notifies the service.
    async fn pay(&self, keys: &[Uuid], at: Timestamp) -> Outcome {
        let pays = |key: &Uuid| {
            let event = StagedEvent { key: *key, at, what: Staged::Payment { amount: None } };
            let body = serde_json::to_value(StagedMessage::of(&event));
            async move { self.simulator.post("/v1/staged", &body?).await }
        };
        stream::iter(keys.iter().map(pays)).buffer_unordered(PAYING_MAX).try_collect().await
    }

    /// Waits until so many charges have this status.
    async fn until(&self, status: &str, wanted: u64) -> Outcome {
        let mut waited = Duration::ZERO;
        while self.count(status).await? < wanted {
            if waited > SETTLED_WITHIN {
                return Err(format!("{} of {wanted} charges are {status}", self.count(status).await?).into());
            }
            sleep(LOOK_EVERY).await;
            waited += LOOK_EVERY;
        }
        Ok(())
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let mut paid = Table::new(
        "Pix created, and paid by notification",
        [
            "database",
            "created a second",
            "p99 ms",
            "server CPU µs",
            "paid",
            "paid a second",
            "server CPU µs of a payment",
        ],
    );
    let mut unpaid = Table::new(
        "Pix that nobody pays",
        [
            "database",
            "charges",
            "MB before",
            "MB while they wait",
            "bytes a charge",
            "CPU ms a second, idle",
            "seconds from the first expiry to the last",
            "CPU µs of an expiry",
        ],
    );
    let server = TestPostgres::durable();
    for database in ["SQLite", "PostgreSQL"] {
        println!("payers: {database}, created and paid");
        let place = async || match database {
            "SQLite" => bench.place(),
            _ => Ok(bench.place()?.on_postgres(&server.empty_database().await)),
        };
        paid.row(created_and_paid(bench, database, place().await?).await?);
        println!("payers: {database}, left unpaid");
        unpaid.row(left_unpaid(bench, database, place().await?).await?);
    }
    report.tables.extend([paid, unpaid]);
    report.note(format!(
        "{CONNECTIONS} connections create charges for {} s; then {PAYING_MAX} payers at a time pay at the simulator, which \
         notifies the service over HTTP, and the time runs until the last charge is authorized. Service, simulator, load \
         and database share the machine.",
        bench.seconds
    ));
    Ok(report)
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn timed<T>(doing: impl Future<Output = Outcome<T>>) -> Outcome<(T, f64)> {
    let begun = Instant::now();
    let done = doing.await?;
    Ok((done, begun.elapsed().as_secs_f64()))
}

async fn created_and_paid(bench: &Bench, database: &str, place: Place) -> Outcome<[String; 7]> {
    let deployment = Deployment::start(bench, place).await?;
    deployment.create(WARM_UP_SECONDS, LONG_SECONDS)?;
    let load = deployment.create(bench.seconds, LONG_SECONDS)?;
    let keys = deployment.waiting().await?;
    let before = Usage::of(deployment.service.process_id());
    let wanted = u64::try_from(keys.len())?;
    let paying = async {
        deployment.pay(&keys, now()).await?;
        deployment.until("authorized", wanted).await
    };
    let ((), seconds) = timed(paying).await?;
    let used = Usage::of(deployment.service.process_id()).since(before);
    let each = |total: f64| total / (keys.len().max(1) as f64);
    Ok([
        database.to_owned(),
        number(load.rate, 0),
        number(load.p99_ms, 1),
        number(load.server_cpu_us(), 0),
        number(keys.len() as f64, 0),
        number(keys.len() as f64 / seconds, 0),
        number(each(used.cpu_seconds * 1e6), 0),
    ])
}

async fn left_unpaid(bench: &Bench, database: &str, place: Place) -> Outcome<[String; 8]> {
    let deployment = Deployment::start(bench, place).await?;
    let load = deployment.create(WARM_UP_SECONDS, LONG_SECONDS)?;
    let id = deployment.service.process_id();
    let before_mib = meter::own_mib(id);
    // Nothing expires before all are there and the idle service was watched.
    let wanted = f64::from(bench.pick(2_000, 100_000));
    let creating_seconds = (wanted / load.rate).ceil();
    let expires_in = creating_seconds * 1.5 + IDLE.as_secs_f64() + 5.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a run")]
    let (creating_seconds, expires_in) = (creating_seconds as u32, expires_in as u64);
    let (load, took) = timed(async { deployment.create(creating_seconds, expires_in) }).await?;
    let waiting_mib = meter::own_mib(id);
    let idle = Usage::of(id);
    sleep(IDLE).await;
    let idle = Usage::of(id).since(idle);
    let first = Duration::from_secs(expires_in).saturating_sub(Duration::from_secs_f64(took) + IDLE);
    sleep(first).await;
    let before = Usage::of(id);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of charges")]
    let expired = deployment.until("failed", load.requests as u64);
    let ((), seconds) = timed(expired).await?;
    let used = Usage::of(id).since(before);
    Ok([
        database.to_owned(),
        number(load.requests, 0),
        number(before_mib, 1),
        number(waiting_mib, 1),
        number((waiting_mib - before_mib) * 1024.0 * 1024.0 / load.requests, 0),
        number(idle.cpu_seconds * 1000.0 / IDLE.as_secs_f64(), 1),
        number(seconds, 1),
        number(used.cpu_seconds * 1e6 / load.requests, 0),
    ])
}

fn now() -> Timestamp {
    regente_engine::clock::Clock::system().deployment()
}
