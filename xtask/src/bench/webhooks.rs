//! Deliveries of events a second while one in ten endpoints hangs until its time-out, the delay from an event to its
//! delivery, memory, and how two nodes share the work. The events are those of charges that are made through the API; each
//! delivery is signed. Everything shares the machine: service, database, endpoints and load.

mod receivers;
mod table;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_store::testing::TestPostgres;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::service::{Account, Service, WorkNode, Writes, build, one_simulator};
use crate::{Outcome, process};
use receivers::{Books, Endpoint, Manner};
use table::{Measured, Round, a_second, float, percentile, print_table};
use watch::Watch;

/// Events of one charge that is captured at once: `pending` and `authorized`.
const EVENTS_OF_A_CHARGE: u64 = 2;
/// One endpoint in so many hangs.
const HANGING_EACH: usize = 10;
/// Charges that are made at once in the burst.
const CHARGES_AT_ONCE: usize = 16;
/// How long the last deliveries of a round may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often it is looked whether all has arrived.
const ARRIVAL_LOOK_EVERY: Duration = Duration::from_millis(5);

/// What is measured, and how long.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Use this binary instead of building one for release
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Accounts
    #[arg(long, default_value_t = 10)]
    accounts: usize,
    /// Webhooks of each account, for all events; one in ten of them hangs
    #[arg(long, default_value_t = 10)]
    webhooks: usize,
    /// Deliveries to quick endpoints in the burst of a round
    #[arg(long, default_value_t = 20_000)]
    burst: u64,
    /// Deliveries a second to quick endpoints that the events of the steady part make
    #[arg(long, default_value_t = 1000)]
    rate: u64,
    /// Seconds of the steady part of a round
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Rounds; the table shows their medians
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure these alone
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [On::Sqlite, On::Postgres, On::TwoNodes])]
    on: Vec<On>,
}

/// Where it is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum On {
    /// SQLite
    Sqlite,
    /// PostgreSQL, one node
    Postgres,
    /// PostgreSQL, a node that serves and one that works alone
    TwoNodes,
}

/// One thing that is measured.
struct Subject {
    name: &'static str,
    service: Service,
    other: Option<WorkNode>,
    postgres: Option<TestPostgres>,
    shops: Vec<Shop>,
    /// Quick endpoints of each shop.
    quick: u64,
    books: Arc<Books>,
    http: reqwest::Client,
    rounds: Vec<Round>,
}

/// An account with its merchant.
struct Shop {
    account: Account,
    charge: String,
}

pub(super) async fn run(options: Options) -> Outcome {
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize()?,
        None => build()?,
    };
    let mut subjects = Vec::new();
    for on in &options.on {
        println!("measuring {}", on.name());
        let postgres = match on {
            On::Sqlite => None,
            On::Postgres | On::TwoNodes => Some(TestPostgres::durable()),
        };
        let mut subject = Subject::start(*on, &binary, postgres, &options).await?;
        for round in 1..=options.rounds {
            let measured = subject.round(&options).await?;
            println!("round {round} of {}: {}", options.rounds, measured.line());
            subject.rounds.push(measured);
        }
        subjects.push(subject.finish());
    }
    print_table(&subjects, &options);
    Ok(())
}

impl On {
    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::TwoNodes => "PostgreSQL, 2 nodes",
        }
    }
}

impl Subject {
    async fn start(
        on: On,
        binary: &Path,
        postgres: Option<TestPostgres>,
        options: &Options,
    ) -> Outcome<Self> {
        let database = match &postgres {
            Some(postgres) => Some(postgres.empty_database().await),
            None => None,
        };
        let settings = [("REGENTE_OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8")];
        let service = Service::start_with(binary, database.as_deref(), Writes::Durable, &settings).await?;
        let other = match on {
            On::Sqlite | On::Postgres => None,
            On::TwoNodes => Some(service.start_worker()?),
        };
        let mut subject = Self {
            name: on.name(),
            service,
            other,
            postgres,
            shops: Vec::new(),
            quick: u64::try_from(options.webhooks - options.webhooks / HANGING_EACH)?,
            books: Arc::default(),
            http: reqwest::Client::builder().no_proxy().build()?,
            rounds: Vec::new(),
        };
        for number in 0..options.accounts {
            let shop = subject.open_shop(number, options.webhooks).await?;
            subject.shops.push(shop);
        }
        Ok(subject)
    }

    async fn open_shop(&self, number: usize, webhooks: usize) -> Outcome<Shop> {
        let account = self.service.make_account(&format!("shop-{number}"))?;
        let merchant = self
            .post(&account, "/v1/merchants", &json!({ "mcc": "5812", "providers": one_simulator() }))
            .await?;
        for number in 1..=webhooks {
            let manner = if number.is_multiple_of(HANGING_EACH) { Manner::Hanging } else { Manner::Quick };
            let endpoint = Endpoint::start(manner, &self.books).await?;
            let webhook = self
                .post(&account, "/v1/webhooks", &json!({ "event": "*", "endpoint": endpoint.url }))
                .await?;
            let pem = webhook["publicKey"].as_str().ok_or("no public key")?;
            let key = STANDARD.decode(pem.lines().nth(1).ok_or("no line of the public key")?)?;
            // What stands before the key itself says what it is.
            endpoint.expect_key(key[12..].to_vec());
        }
        let charge = json!({
            "merchantId": merchant["id"], "amount": 150, "capture": true,
            "orderId": "32c68ff7-902c-408b-b464-cf487c7cda97", "statementDescriptor": "LOJA JOAO",
            "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": {
                "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
                "cardExpirationDate": "12/2030" } },
        });
        Ok(Shop { account, charge: charge.to_string() })
    }

    async fn post(&self, account: &Account, path: &str, body: &Value) -> Outcome<Value> {
        let request = self.http.post(format!("{}{path}", self.service.url)).json(body);
        Ok(account.signs(request).send().await?.error_for_status()?.json().await?)
    }

    /// A burst of events, then as many a second as `rate` asks for.
    #[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
    async fn round(&mut self, options: &Options) -> Outcome<Round> {
        let watch = Watch::begin(self.pids(), Arc::clone(&self.books));
        let per_charge = EVENTS_OF_A_CHARGE * self.quick;
        let mut round = Round::default();

        let (began, taken_before) = (Instant::now(), self.books.taken());
        let burst = options.burst / per_charge;
        self.charge(burst, Duration::ZERO).await?;
        self.wait_until_taken(taken_before + burst * per_charge).await?;
        round.burst_rate = a_second(burst * per_charge, began.elapsed());
        drop(self.books.take_lags_ms());

        let (began, taken_before) = (Instant::now(), self.books.taken());
        let before = [self.nodes_cpu_ms(), self.database_cpu_ms(), process::machine_cpu_ms()];
        let steady = options.rate * options.seconds / per_charge;
        let apart = Duration::from_secs(options.seconds).div_f64(float(steady.max(1)));
        self.charge(steady, apart).await?;
        self.wait_until_taken(taken_before + steady * per_charge).await?;
        let took = began.elapsed();
        round.steady_rate = a_second(steady * per_charge, took);
        let after = [self.nodes_cpu_ms(), self.database_cpu_ms(), process::machine_cpu_ms()];
        // Milliseconds in milliseconds.
        let cores = |at: usize| a_second(after[at].saturating_sub(before[at]), took * 1000);
        (round.nodes_cpu, round.database_cpu, round.machine_cpu) = (cores(0), cores(1), cores(2));
        let mut lags_ms = self.books.take_lags_ms();
        lags_ms.sort_unstable();
        round.lag_p50_ms = percentile(&lags_ms, 50);
        round.lag_p99_ms = percentile(&lags_ms, 99);
        let seen = watch.end().await?;
        round.resident_peak_mib = float(seen.resident_peak_kib / 1024);
        round.other_share = seen.share_of_second();
        Ok(round)
    }

    /// Makes charges, each `apart` from the one before, of all shops in turns.
    async fn charge(&self, charges: u64, apart: Duration) -> Outcome {
        let places = Arc::new(Semaphore::new(CHARGES_AT_ONCE));
        let mut clock = (!apart.is_zero()).then(|| tokio::time::interval(apart));
        let mut answers = JoinSet::new();
        let shops = self.shops.iter().cycle().take(usize::try_from(charges)?);
        for shop in shops {
            if let Some(clock) = &mut clock {
                clock.tick().await;
            }
            let place = Arc::clone(&places).acquire_owned().await?;
            let request = self.http.post(format!("{}/v1/charges", self.service.url));
            let request = shop.account.signs(request).header("Content-Type", "application/json");
            let request = request.body(shop.charge.clone());
            answers.spawn(async move {
                let _place = place;
                request.send().await?.error_for_status()
            });
        }
        while let Some(answer) = answers.join_next().await {
            answer??;
        }
        Ok(())
    }

    #[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
    async fn wait_until_taken(&self, deliveries: u64) -> Outcome {
        let began = Instant::now();
        while self.books.taken() < deliveries {
            if began.elapsed() > PATIENCE {
                return Err(format!("{} of {deliveries} deliveries arrived", self.books.taken()).into());
            }
            tokio::time::sleep(ARRIVAL_LOOK_EVERY).await;
        }
        Ok(())
    }

    fn pids(&self) -> Vec<u32> {
        [Some(self.service.pid()), self.other.as_ref().map(WorkNode::pid)].into_iter().flatten().collect()
    }

    fn nodes_cpu_ms(&self) -> u64 {
        self.pids().into_iter().map(process::cpu_ms).sum()
    }

    fn database_cpu_ms(&self) -> u64 {
        self.postgres.as_ref().and_then(TestPostgres::pid).map_or(0, process::family_cpu_ms)
    }

    fn finish(self) -> Measured {
        let (verified, not_verified) = self.books.signatures();
        Measured {
            name: self.name,
            rounds: self.rounds,
            duplicates: self.books.duplicates(),
            hung: self.books.hung(),
            verified,
            not_verified,
        }
    }
}
