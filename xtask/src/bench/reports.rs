//! A report of a million charges: how long its rows take, and what memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use serde_json::json;
use tokio::task::JoinSet;

use super::Bench;
use super::figures::{Reached, number};
use super::meter::Watch;
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::{Account, Inside, Place, one_simulator, uuid};

/// Charges of the reports: what the second takes is compared with the first.
const CHARGES: [u64; 2] = [100_000, 1_000_000];
const CHARGES_QUICK: [u64; 2] = [2_000, 20_000];
/// The charges are made in this time, from 2026-03-23 on.
const BEGIN: Timestamp = Timestamp::from_millis(1_774_224_000_000);
const HOURS: u32 = 20;
const HOUR: Duration = Duration::from_secs(3600);
/// Charges in flight at once, which share a commit.
const AT_ONCE: usize = 512;
/// Most memory of the process, in MB, whatever the number of charges.
const OWN_MIB_MAX: f64 = 200.0;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let columns = ["charges", "type", "rows", "file, MB", "s", "rows a second", "MB of its own"];
    let mut table = Table::new("Reports with every column, by `regente reports make`", columns);
    for charges in bench.pick(CHARGES_QUICK, CHARGES) {
        let place = bench.place()?;
        let account = fill(&place, charges).await?;
        for report_type in ["transactions", "transactionsHistory"] {
            let made = make(&place, &account, report_type)?;
            // Each charge has one call to a provider.
            if made.rows != charges {
                return Err(format!("{} rows of {charges} charges", made.rows).into());
            }
            table.row([
                number(charges as f64, 0),
                report_type.to_owned(),
                number(made.rows as f64, 0),
                number(made.bytes / 1e6, 0),
                number(made.seconds, 1),
                number(made.rows as f64 / made.seconds, 0),
                number(made.own_mib, 0),
            ]);
            report.number(
                format!("MB of its own at most, {report_type}, {} charges", number(charges as f64, 0)),
                number(made.own_mib, 0),
                format!("at most {}", number(OWN_MIB_MAX, 0)),
                Reached::at_most(OWN_MIB_MAX, made.own_mib),
            );
        }
    }
    report.tables.push(table);
    report
        .note("The command has the database open itself, since no server runs: the memory is that of both.");
    Ok(report)
}

/// A report that was made.
struct Made {
    seconds: f64,
    own_mib: f64,
    bytes: f64,
    rows: u64,
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
fn make(place: &Place, account: &Account, report_type: &str) -> Outcome<Made> {
    let file = place.folder().join("report.csv");
    let arguments = ["reports", "make", &account.client_id, "--type", report_type];
    let mut command = place.regente(&arguments);
    command.args(["--from", "2026-03-01", "--to", "2026-04-01", "--output"]).arg(&file);
    let begun = Instant::now();
    let mut process = command.spawn()?;
    let watch = Watch::begin(process.id());
    let status = process.wait()?;
    let (seconds, own_mib) = (begun.elapsed().as_secs_f64(), watch.end().own_mib);
    if !status.success() {
        return Err("no report was made".into());
    }
    let bytes = std::fs::metadata(&file)?.len() as f64;
    Ok(Made { seconds, own_mib, bytes, rows: rows(&file)? })
}

/// The lines of a file without that of its titles; no cell of these charges has several.
fn rows(file: &Path) -> Outcome<u64> {
    let mut lines = 0;
    for line in BufReader::new(File::open(file)?).lines() {
        line?;
        lines += 1;
    }
    Ok(lines - 1)
}

/// Makes an account with charges.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn fill(place: &Place, charges: u64) -> Outcome<Account> {
    let begun = Instant::now();
    let clock = Clock::manual(BEGIN);
    let inside = place.open(clock.clone()).await?;
    let account = Arc::new(inside.make_account("Shop".to_owned(), &one_simulator()).await?);
    let next = Arc::new(AtomicU64::new(0));
    let step = HOUR * HOURS / u32::try_from(charges)?;
    let mut making = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (inside, account, next, clock) = (inside.clone(), account.clone(), next.clone(), clock.clone());
        making.spawn(async move {
            while next.fetch_add(1, Ordering::Relaxed) < charges {
                clock.advance(step);
                charge(&inside, &account).await.map_err(|error| error.to_string())?;
            }
            Ok::<(), String>(())
        });
    }
    while let Some(made) = making.join_next().await {
        made??;
    }
    inside.close().await;
    println!("reports: {charges} charges in {} s", number(begun.elapsed().as_secs_f64(), 0));
    Ok(Account::clone(&account))
}

async fn charge(inside: &Inside, account: &Account) -> Outcome {
    let body = json!({
        "merchantId": account.merchant_id, "amount": 150, "currency": "BRL", "capture": true,
        "orderId": "order", "description": "two shoes", "statementDescriptor": "LOJA JOAO",
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
            "cardExpirationDate": "12/2030" } },
    });
    inside.post(account, "/v1/charges", &uuid(), &body).await.map(drop)
}
