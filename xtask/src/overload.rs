//! Offers several times the load that a service carries, in an open loop: who sends does not wait for answers. Prints what
//! became of the surplus, of the memory, and how soon service was normal again (quality O7).

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::service::{Service, Writes, build};

/// Requests whose answers are waited for at once; what would be more is not sent, and counted.
const OUTSTANDING_MAX: usize = 4000;
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
    /// `database.admitted_max` of the service
    #[arg(long, default_value_t = 64)]
    admitted_max: u64,
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

/// Sends charges.
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
    let settings = [("REGENTE_DATABASE__ADMITTED_MAX", admitted_max.as_str())];
    let service = Arc::new(Service::start_with(&binary, None, Writes::Durable, &settings).await?);
    let sender = Arc::new(Sender::new(&service)?);

    let carried = closed_loop(&sender, &options).await? / options.seconds.max(1);
    println!("carried: {carried} charges/s in a closed loop of {} connections", options.connections);
    let before_kib = service.resident_kib();
    let peak_kib = Arc::new(AtomicU64::new(before_kib));
    let watch = tokio::spawn(watch_memory(service.clone(), peak_kib.clone()));
    let burst = open_loop(&sender, carried.max(1) * options.factor, options.seconds).await;
    let (normal_after, tries) = first_success(&sender).await?;
    let after_rate = closed_loop(&sender, &options).await? / options.seconds.max(1);
    watch.abort();
    let after_kib = service.resident_kib();
    print_table(&burst, &options);
    println!(
        "resident: {before_kib} KiB before, {} KiB at most, {after_kib} KiB after",
        peak_kib.load(Ordering::Relaxed)
    );
    println!("first success after the burst: {} ms ({tries} tries)", normal_after.as_millis());
    println!("carried afterwards: {after_rate} charges/s");
    Ok(())
}

impl Sender {
    fn new(service: &Service) -> Outcome<Self> {
        let body = serde_json::json!({
            "merchantId": service.merchant_id, "amount": 150, "capture": true,
            "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": {
                "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
                "cardExpirationDate": "12/2030" } },
        });
        Ok(Self {
            http: reqwest::Client::builder().no_proxy().build()?,
            url: format!("{}/v1/charges", service.url),
            body: body.to_string(),
            client_id: service.client_id.clone(),
            api_key: service.api_key.clone(),
        })
    }

    async fn charge(&self) -> reqwest::Result<reqwest::Response> {
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
                match sender.charge().await {
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
                        (sender.charge().await, sent.elapsed())
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
        peak_kib.fetch_max(service.resident_kib(), Ordering::Relaxed);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn first_success(sender: &Sender) -> Outcome<(Duration, u32)> {
    let begun = Instant::now();
    for tries in 1..=1000 {
        if sender.charge().await.is_ok_and(|answer| answer.status() == 201) {
            return Ok((begun.elapsed(), tries));
        }
    }
    Err("service did not become normal".into())
}

fn print_table(burst: &Burst, options: &Options) {
    let mut refusals = burst.refusals.clone();
    refusals.sort_unstable();
    let p99 = refusals.get(refusals.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default();
    println!(
        "{} s of {} times that, at most {} changes under way:",
        options.seconds, options.factor, options.admitted_max
    );
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>14} {:>16} {:>10}",
        "offered", "not sent", "201", "503", "p99 of 503", "no Retry-After", "others"
    );
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>11} ms {:>16} {:>10}",
        burst.offered,
        burst.not_sent,
        burst.created,
        burst.refused,
        p99.as_millis(),
        burst.without_retry_after,
        burst.others
    );
}
