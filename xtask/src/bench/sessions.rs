//! Buyers at the checkout: 200 arrive at the same moment, every second, whether or not earlier ones are done. Each opens the
//! page, makes a token, pays, and asks what has become of it, on a session of their own.

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use hdrhistogram::Histogram;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::sleep_until;

use super::Bench;
use super::figures::{Reached, number};
use super::meter::Usage;
use super::open_loop::quantile_ms;
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::{Account, one_simulator};
use crate::service::Service;

/// Buyers who arrive at the same moment.
const BUYERS: usize = 200;
/// The time between two arrivals.
const EVERY: Duration = Duration::from_secs(1);
/// Sessions made at once before the measurement.
const MAKING_MAX: usize = 32;
/// The longest time that the histogram resolves.
const MICROS_MAX: u64 = 60_000_000;
/// The most milliseconds of 99 of 100 requests.
const P99_MS_MAX: f64 = 1_000.0;
/// What each buyer asks, in order.
const STEPS: [&str; 4] = ["page", "token", "charge", "status"];

/// A session and its key.
struct Order {
    id: String,
    key: String,
}

/// What the buyers found, by step.
struct Found {
    taken: Vec<Histogram<u64>>,
    errors: u64,
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    // All buyers have the address of this machine.
    let place = bench.place()?.with("REGENTE_LIMITS__PAGE_REQUESTS_PER_SECOND", 0);
    let mut accounts = place.make_accounts(1, &one_simulator()).await?;
    let account = Arc::new(accounts.pop().ok_or("no account was made")?);
    let service = Service::start(&place)?;
    let waves = bench.seconds;
    let orders = make_orders(&service, &account, BUYERS * usize::try_from(waves)?).await?;
    let histogram = || Histogram::new_with_bounds(1, MICROS_MAX, 3);
    let taken = STEPS.iter().map(|_| histogram()).collect::<Result<_, _>>()?;
    let found = Arc::new(Mutex::new(Found { taken, errors: 0 }));
    let client = Client::builder().pool_max_idle_per_host(BUYERS).build()?;
    let before = Usage::of(service.process_id());
    let begun = Instant::now();
    let mut buyers = Vec::with_capacity(orders.len());
    for (at, order) in orders.into_iter().enumerate() {
        let due = begun + EVERY * u32::try_from(at / BUYERS)?;
        let visit =
            Visit { url: service.url.clone(), account: account.clone(), client: client.clone(), order };
        let found = found.clone();
        buyers.push(tokio::spawn(async move {
            sleep_until(due.into()).await;
            visit.pay(due, &found).await;
        }));
    }
    for buyer in buyers {
        buyer.await?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let used = Usage::of(service.process_id()).since(before);
    let found = found.lock().map_err(|_| "a buyer has panicked")?;
    let mut table = Table::new(
        format!("{BUYERS} buyers at once, every second, {waves} times"),
        ["request", "number", "p50 ms", "p99 ms", "most ms"],
    );
    let mut all = histogram()?;
    for (step, taken) in STEPS.iter().zip(&found.taken) {
        all.add(taken)?;
        table.row(row(step, taken));
    }
    table.row(row("all", &all));
    let p99 = quantile_ms(&all, 0.99);
    let mut report = Report::new();
    let errors = found.errors as f64;
    report.number("errors of buyers at the checkout", number(errors, 0), "0", Reached::at_most(0.0, errors));
    report.number(
        "p99 in milliseconds of a buyer's request",
        number(p99, 1),
        format!("at most {}", number(P99_MS_MAX, 0)),
        Reached::at_most(P99_MS_MAX, p99),
    );
    report.tables.push(table);
    report.note(format!(
        "SQLite; the buyers share the machine with the service. All of it took {} s, and {} processor seconds of the service.",
        number(seconds, 1),
        number(used.cpu_seconds, 1),
    ));
    Ok(report)
}

fn row(step: &str, taken: &Histogram<u64>) -> [String; 5] {
    let milliseconds = |quantile| number(quantile_ms(taken, quantile), 1);
    [step.to_owned(), taken.len().to_string(), milliseconds(0.5), milliseconds(0.99), milliseconds(1.0)]
}

async fn make_orders(service: &Service, account: &Account, count: usize) -> Outcome<Vec<Order>> {
    let body = json!({
        "merchantId": account.merchant_id, "amount": 150, "name": "Order",
        "paymentMethods": [{ "paymentType": "credit", "installments": 3 }],
        "items": [{ "name": "Shoe", "unitPrice": 150, "quantity": 1 }],
    });
    let make = |_| async {
        let made = service.post(account, "/v1/sessions", &body).await?;
        let text = |name: &str| made[name].as_str().map(str::to_owned).ok_or("a session lacks a member");
        Outcome::Ok(Order { id: text("id")?, key: text("publicKey")? })
    };
    stream::iter((0..count).map(make)).buffer_unordered(MAKING_MAX).try_collect().await
}

/// One buyer.
struct Visit {
    url: String,
    account: Arc<Account>,
    client: Client,
    order: Order,
}

impl Visit {
    /// Goes through the steps; the first one counts from the moment at which they arrived.
    async fn pay(self, due: Instant, found: &Mutex<Found>) {
        let mut since = due;
        let mut token = Value::Null;
        for step in 0..STEPS.len() {
            let answer = self.ask(step, &token).send().await;
            let body = match answer {
                Ok(answer) if answer.status().is_success() => answer.bytes().await.ok(),
                Ok(_) | Err(_) => None,
            };
            let told: Option<Value> = body.map(|body| serde_json::from_slice(&body).unwrap_or_default());
            let is_right = match (step, &told) {
                (2, Some(charge)) => charge["status"] == "authorized",
                (3, Some(status)) => status["session"]["status"] == "paid",
                (_, told) => told.is_some(),
            };
            let Ok(mut found) = found.lock() else { return };
            if !is_right {
                found.errors += 1;
                return;
            }
            if let Some(taken) = found.taken.get_mut(step) {
                taken.saturating_record(u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX));
            }
            drop(found);
            if step == 1 {
                token = told.unwrap_or_default()["tokenId"].take();
            }
            since = Instant::now();
        }
    }

    fn ask(&self, step: usize, token: &Value) -> RequestBuilder {
        let id = &self.order.id;
        let to = |method, path: String| {
            let request = self.client.request(method, format!("{}{path}", self.url));
            request.header("x-client-id", &self.account.client_id).header("x-api-key", &self.order.key)
        };
        match step {
            0 => self.client.get(format!("{}/pay/{id}", self.url)),
            1 => to(Method::POST, "/v1/sessions/tokens".to_owned()).json(&json!({
                "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
                "cardExpirationDate": "12/2030",
            })),
            2 => to(Method::POST, format!("/v1/sessions/{id}/charge")).header("x-idempotency-key", id).json(
                &json!({
                    "paymentMethod": { "paymentType": "credit", "installments": 1 },
                    "paymentSource": { "sourceType": "token", "tokenId": token },
                }),
            ),
            _ => to(Method::GET, format!("/pay/{id}/status")),
        }
    }
}
