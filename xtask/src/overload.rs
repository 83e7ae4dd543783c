//! Offers several times the load that a service carries, in an open loop: who sends does not wait for answers. Prints what
//! became of the surplus, of the memory, and how soon service was normal again (quality O7).

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::service::{Service, Writes, build};

/// Requests whose answers are waited for at once; what would be more is not sent, and counted.
const OUTSTANDING_MAX: usize = 1000;
/// Tries until a charge is taken again.
const SUCCESS_TRIES_MAX: u32 = 1000;
/// How often the memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Requests are sent in handfuls, each of these apart.
const TICK: Duration = Duration::from_millis(5);

/// What is offered, to which binary.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use this binary instead of building one for release
    #[arg(long)]
    binary: Option<PathBuf>,
    /// How many times what was carried is offered
    #[arg(long, default_value_t = 4)]
    factor: u64,
    /// Seconds of the measurement before, and of the burst
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Bursts; memory that grows with each of them would be a leak
    #[arg(long, default_value_t = 3)]
    bursts: u32,
    /// `database.admitted_max` of the service
    #[arg(long, default_value_t = 32)]
    admitted_max: u64,
    /// How long the simulated provider takes for a charge, so that what is carried is less than what one machine can offer
    #[arg(long, default_value_t = 40)]
    provider_ms: u64,
    /// Connections of the closed loop that finds out what is carried
    #[arg(long, default_value_t = 32)]
    connections: u64,
}

/// What became of the burst.
#[derive(Default)]
struct Burst {
    offered: u64,
    not_sent: u64,
    created: u64,
    refused: u64,
    without_retry_after: u64,
    others: u64,
    refusals: Vec<Duration>,
}

/// Sends one request again and again.
struct Sender {
    http: reqwest::Client,
    url: String,
    body: String,
    client_id: String,
    api_key: String,
}

pub(crate) async fn run(options: Options) -> Outcome {
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize()?,
        None => build()?,
    };
    let admitted_max = options.admitted_max.to_string();
    // Books in memory would grow with each charge.
    let folder = tempfile::tempdir()?;
    let books = folder.path().join("books.db").display().to_string();
    let settings = [
        ("REGENTE_DATABASE__ADMITTED_MAX", admitted_max.as_str()),
        ("REGENTE_SANDBOX__BOOKS", books.as_str()),
    ];
    let service = Arc::new(Service::start_with(&binary, None, Writes::Durable, &settings).await?);
    let sender = Arc::new(Sender::new(&service, options.provider_ms).await?);

    let carried = closed_loop(&sender, &options).await? / options.seconds.max(1);
    println!("carried: {carried} charges/s in a closed loop of {} connections", options.connections);
    print_head(&options);
    for _ in 0..options.bursts {
        let before_kib = service.anonymous_kib();
        let peak_kib = Arc::new(AtomicU64::new(before_kib));
        let watch = tokio::spawn(watch_memory(service.clone(), peak_kib.clone()));
        let burst = open_loop(&sender, carried.max(1) * options.factor, options.seconds).await;
        let normal_after = first_success(&sender).await?;
        watch.abort();
        print_row(
            &burst,
            [before_kib, peak_kib.load(Ordering::Relaxed), service.anonymous_kib()],
            normal_after,
        );
    }
    println!("resident with the mapped parts of files: {} MiB", service.resident_kib() / 1024);
    let afterwards = closed_loop(&sender, &options).await? / options.seconds.max(1);
    println!("carried afterwards: {afterwards} charges/s");
    Ok(())
}

impl Sender {
    /// With a merchant of its own, whose provider takes its time.
    async fn new(service: &Service, provider_ms: u64) -> Outcome<Self> {
        let mut sender = Self {
            http: reqwest::Client::builder().no_proxy().build()?,
            url: format!("{}/v1/merchants", service.url),
            body: String::new(),
            client_id: service.client_id.clone(),
            api_key: service.api_key.clone(),
        };
        sender.body = json!({ "mcc": "5812", "providers": [{
            "name": "Slow", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" },
            "options": { "type": "SANDBOX", "faults": [{ "then": { "delay_ms": provider_ms } }] },
        }] })
        .to_string();
        let merchant: Value = sender.post().await?.error_for_status()?.json().await?;
        sender.url = format!("{}/v1/charges", service.url);
        sender.body = json!({
            "merchantId": merchant["id"], "amount": 150, "capture": true,
            "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": {
                "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
                "cardExpirationDate": "12/2030" } },
        })
        .to_string();
        Ok(sender)
    }

    async fn post(&self) -> reqwest::Result<reqwest::Response> {
        self.http
            .post(&self.url)
            .header("X-Client-Id", &self.client_id)
            .header("X-Api-Key", &self.api_key)
            .header("Content-Type", "application/json")
            .body(self.body.clone())
            .send()
            .await
    }
}

/// Charges that were taken.
async fn closed_loop(sender: &Arc<Sender>, options: &Options) -> Outcome<u64> {
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut clients = JoinSet::new();
    for _ in 0..options.connections {
        let sender = sender.clone();
        clients.spawn(async move {
            let mut taken = 0;
            while Instant::now() < end {
                match sender.post().await {
                    Ok(answer) if answer.status() == 201 => taken += 1,
                    Ok(_) | Err(_) => {}
                }
            }
            taken
        });
    }
    Ok(clients.join_all().await.into_iter().sum())
}

async fn open_loop(sender: &Arc<Sender>, per_second: u64, seconds: u64) -> Burst {
    let outstanding = Arc::new(Semaphore::new(OUTSTANDING_MAX));
    let mut burst = Burst::default();
    let mut answers = JoinSet::new();
    let begun = Instant::now();
    let mut ticks = tokio::time::interval(TICK);
    while begun.elapsed() < Duration::from_secs(seconds) {
        ticks.tick().await;
        let due = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX) * per_second / 1000;
        while burst.offered < due {
            burst.offered += 1;
            match outstanding.clone().try_acquire_owned() {
                Ok(place) => {
                    let sender = sender.clone();
                    answers.spawn(async move {
                        let _place = place;
                        let sent = Instant::now();
                        (sender.post().await, sent.elapsed())
                    });
                }
                Err(_) => burst.not_sent += 1,
            }
        }
        while let Some(Ok((answer, took))) = answers.try_join_next() {
            burst.count(answer, took);
        }
    }
    while let Some(Ok((answer, took))) = answers.join_next().await {
        burst.count(answer, took);
    }
    burst
}

impl Burst {
    fn count(&mut self, answer: reqwest::Result<reqwest::Response>, took: Duration) {
        match answer {
            Ok(answer) if answer.status() == 201 => self.created += 1,
            Ok(answer) if answer.status() == 503 => {
                self.refused += 1;
                self.refusals.push(took);
                self.without_retry_after += u64::from(!answer.headers().contains_key("retry-after"));
            }
            Ok(_) | Err(_) => self.others += 1,
        }
    }
}

async fn watch_memory(service: Arc<Service>, peak_kib: Arc<AtomicU64>) {
    loop {
        peak_kib.fetch_max(service.anonymous_kib(), Ordering::Relaxed);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// How soon a charge is taken again.
async fn first_success(sender: &Sender) -> Outcome<Duration> {
    let begun = Instant::now();
    for _ in 0..SUCCESS_TRIES_MAX {
        if sender.post().await.is_ok_and(|answer| answer.status() == 201) {
            return Ok(begun.elapsed());
        }
    }
    Err("service did not become normal".into())
}

fn print_head(options: &Options) {
    println!(
        "bursts of {} s at {} times that, at most {} changes under way, {OUTSTANDING_MAX} answers waited for",
        options.seconds, options.factor, options.admitted_max
    );
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>11} {:>15} {:>7} {:>26} {:>13}",
        "offered",
        "not sent",
        "201",
        "503",
        "503 p99 ms",
        "no Retry-After",
        "others",
        "MiB before/peak/after",
        "201 after ms"
    );
}

fn print_row(burst: &Burst, resident_kib: [u64; 3], normal_after: Duration) {
    let mut refusals = burst.refusals.clone();
    refusals.sort_unstable();
    let p99 = refusals.get(refusals.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default();
    let [before, peak, after] = resident_kib.map(|kib| kib / 1024);
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>11} {:>15} {:>7} {:>26} {:>13}",
        burst.offered,
        burst.not_sent,
        burst.created,
        burst.refused,
        p99.as_millis(),
        burst.without_retry_after,
        burst.others,
        format!("{before}/{peak}/{after}"),
        normal_after.as_millis()
    );
}
