//! Durable charges a second on both databases, next to the same server's rate without storage, in one run: machines are
//! shared and noisy, so only ratios within a run mean something. The load comes from `wrk`, a closed loop.

mod webhooks;

use std::path::Path;
use std::process::Command;

use regente_store::testing::TestPostgres;

use crate::Outcome;
use crate::service::{Service, Writes, build};

/// What is measured, and how long.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// Connections of the closed loop
    #[arg(long, default_value_t = 64)]
    connections: u32,
    /// Seconds of one round
    #[arg(long, default_value_t = 8)]
    seconds: u32,
    /// Rounds; the table shows their medians
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// What else is measured.
#[derive(clap::Subcommand)]
enum Other {
    /// Deliveries of events a second while one in ten endpoints hangs, their delay, and how two nodes share them
    Webhooks(webhooks::Options),
}

/// One thing that is measured.
struct Subject {
    name: &'static str,
    service: Service,
    rates: Vec<f64>,
    p99_ms: Vec<f64>,
}

pub(crate) async fn run(options: Options) -> Outcome {
    match options.other {
        Some(Other::Webhooks(options)) => webhooks::run(options).await,
        None => charges(options).await,
    }
}

async fn charges(options: Options) -> Outcome {
    require_wrk()?;
    let binary = build()?;
    let postgres = TestPostgres::durable();
    let database = postgres.empty_database().await;
    let mut subjects = [
        subject("without storage", &binary, None, Writes::Discarded).await?,
        subject("SQLite", &binary, None, Writes::Durable).await?,
        subject("PostgreSQL", &binary, Some(&database), Writes::Durable).await?,
    ];
    for round in 1..=options.rounds {
        for subject in &mut subjects {
            println!("round {round} of {}: {}", options.rounds, subject.name);
            let (rate, p99_ms) = measure(&subject.service, &options)?;
            subject.rates.push(rate);
            subject.p99_ms.push(p99_ms);
        }
    }
    print_table(&subjects, &options);
    Ok(())
}

async fn subject(
    name: &'static str,
    binary: &Path,
    postgres: Option<&str>,
    writes: Writes,
) -> Outcome<Subject> {
    let service = Service::start(binary, postgres, writes).await?;
    Ok(Subject { name, service, rates: Vec::new(), p99_ms: Vec::new() })
}

fn require_wrk() -> Outcome {
    if Command::new("wrk").arg("-v").output().is_err() {
        return Err("wrk is not installed: apt-get install wrk".into());
    }
    Ok(())
}

/// The script that `wrk` runs: one charge by inline card, a key of its own on each request, a body of about 600 bytes.
fn script(service: &Service) -> String {
    let body = serde_json::json!({
        "merchantId": service.merchant_id, "amount": 150, "currency": "BRL", "capture": true,
        "orderId": "32c68ff7-902c-408b-b464-cf487c7cda97", "description": "Order 231 of the shop in the town",
        "statementDescriptor": "LOJA JOAO",
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
            "cardExpirationDate": "12/2030" } },
        "appInfo": { "platform": { "integrator": "bench", "name": "shop", "version": "1.0" } },
    });
    format!(
        "local n = 0\nlocal run = tostring(os.time()) .. '-' .. tostring({{}}):sub(8)\n\
         request = function()\n  n = n + 1\n\
         return wrk.format('POST', '/v1/charges', {{\n\
         ['Content-Type'] = 'application/json', ['X-Client-Id'] = '{}', ['X-Api-Key'] = '{}',\n\
         ['X-Idempotency-Key'] = run .. '-' .. n }}, [==[{body}]==])\nend\n",
        service.client_id, service.api_key
    )
}

/// Charges a second, and the 99th percentile of the closed loop in milliseconds.
fn measure(service: &Service, options: &Options) -> Outcome<(f64, f64)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("charge.lua");
    std::fs::write(&path, script(service))?;
    let output = Command::new("wrk")
        .args(["-t1", "--latency", "-s"])
        .arg(&path)
        .arg(format!("-c{}", options.connections))
        .arg(format!("-d{}s", options.seconds))
        .arg(&service.url)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(line) = text.lines().find(|line| line.contains("Non-2xx") || line.contains("Socket errors")) {
        return Err(format!("not every charge was answered: {}", line.trim()).into());
    }
    let rate =
        field(&text, "Requests/sec:").and_then(|word| word.parse().ok()).ok_or("wrk printed no rate")?;
    let p99_ms = field(&text, "99%").and_then(milliseconds).ok_or("wrk printed no latency")?;
    Ok((rate, p99_ms))
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .find_map(|line| line.trim().strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
}

#[allow(clippy::float_arithmetic, reason = "a figure for people, not money")]
fn milliseconds(word: &str) -> Option<f64> {
    if let Some(number) = word.strip_suffix("us") {
        return number.parse::<f64>().ok().map(|micros| micros / 1000.0);
    }
    if let Some(number) = word.strip_suffix("ms") {
        return number.parse().ok();
    }
    word.strip_suffix('s').and_then(|number| number.parse::<f64>().ok()).map(|seconds| seconds * 1000.0)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[allow(clippy::float_arithmetic, reason = "a figure for people, not money")]
fn print_table(subjects: &[Subject], options: &Options) {
    let ceiling = subjects.first().map_or(0.0, |subject| median(&subject.rates));
    println!();
    println!(
        "medians of {} rounds of {} s, {} connections, closed loop, one core shared with the load",
        options.rounds, options.seconds, options.connections
    );
    println!("{:<16} {:>12} {:>8} {:>10} {:>12}", "", "charges/s", "ratio", "p99 ms", "resident MB");
    for subject in subjects {
        let rate = median(&subject.rates);
        println!(
            "{:<16} {:>12.0} {:>8.2} {:>10.1} {:>12}",
            subject.name,
            rate,
            rate / ceiling,
            median(&subject.p99_ms),
            subject.service.resident_kib() / 1024
        );
    }
}
