//! A settlement file of a million lines: how long its import takes, and what memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use regente_engine::clock::Clock;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::Bench;
use super::figures::{Reached, number};
use super::meter::Watch;
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::{Account, Inside, Place, one_simulator, uuid};

/// Lines of the files: what the second takes is compared with the first.
const LINES: [u64; 2] = [100_000, 1_000_000];
const LINES_QUICK: [u64; 2] = [2_000, 20_000];
/// The simulator's file has a sale and a payout for each charge, and of each eighth that it was paid early.
const LINES_OF_EIGHT_CHARGES: u64 = 17;
/// Charges in flight at once, which share a commit.
const AT_ONCE: usize = 512;
/// All charges are made within this time.
const HOURS: u32 = 20;
const HOUR: Duration = Duration::from_secs(3600);
/// Most memory of the process, in MB, whatever the number of lines.
const OWN_MIB_MAX: f64 = 200.0;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let columns = [
        "lines",
        "file, MB",
        "first import, s",
        "lines a second",
        "MB of its own",
        "again, s",
        "MB of its own",
    ];
    let mut table = Table::new("Imports of the simulator's file of one day", columns);
    for lines in bench.pick(LINES_QUICK, LINES) {
        let place = bench.place()?;
        let file = make(&place, lines * 8 / LINES_OF_EIGHT_CHARGES).await?;
        let bytes = std::fs::metadata(&file)?.len() as f64;
        let (first, again) = (import(&place, &file)?, import(&place, &file)?);
        if again.posted != 0 || first.posted == 0 {
            return Err(format!("{} lines were posted, and {} again", first.posted, again.posted).into());
        }
        table.row([
            number(first.lines as f64, 0),
            number(bytes / 1e6, 0),
            number(first.seconds, 1),
            number(first.lines as f64 / first.seconds, 0),
            number(first.own_mib, 0),
            number(again.seconds, 1),
            number(again.own_mib, 0),
        ]);
        let most = first.own_mib.max(again.own_mib);
        report.number(
            format!("MB of its own at most, {} lines", number(first.lines as f64, 0)),
            number(most, 0),
            format!("at most {}", number(OWN_MIB_MAX, 0)),
            Reached::at_most(OWN_MIB_MAX, most),
        );
    }
    report.tables.push(table);
    report
        .note("The command has the database open itself, since no server runs: the memory is that of both.");
    Ok(report)
}

/// An import.
struct Import {
    seconds: f64,
    own_mib: f64,
    lines: u64,
    posted: u64,
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
fn import(place: &Place, file: &Path) -> Outcome<Import> {
    let mut command = place.regente(&["settle", "import", "--provider", "SANDBOX", "--json"]);
    let begun = Instant::now();
    let process = command.arg(file).stdout(Stdio::piped()).spawn()?;
    let watch = Watch::begin(process.id());
    let output = process.wait_with_output()?;
    let (seconds, own_mib) = (begun.elapsed().as_secs_f64(), watch.end().own_mib);
    let report: Value = serde_json::from_slice(&output.stdout)?;
    if !output.status.success() {
        return Err(format!("the file and the records differ: {}", report["found"]).into());
    }
    let count = |name: &str| report[name].as_u64().unwrap_or_default();
    Ok(Import { seconds, own_mib, lines: count("lines"), posted: count("posted") })
}

/// Makes charges of one day, and the simulator's file of it.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn make(place: &Place, charges: u64) -> Outcome<PathBuf> {
    let begun = Instant::now();
    let clock = Clock::manual(regente_domain::time::Timestamp::from_millis(1_774_224_000_000) + 2 * HOUR);
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
    let file = place.folder().join("settlement.csv");
    inside.write_settlement_file(File::create(&file)?).await?;
    inside.close().await;
    println!("settlement: {charges} charges in {} s", number(begun.elapsed().as_secs_f64(), 0));
    Ok(file)
}

async fn charge(inside: &Inside, account: &Account) -> Outcome {
    let body = json!({
        "merchantId": account.merchant_id, "amount": 150, "currency": "BRL", "capture": true,
        "statementDescriptor": "LOJA JOAO", "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
            "cardExpirationDate": "12/2030" } },
    });
    inside.post(account, "/v1/charges", &uuid(), &body).await.map(drop)
}
