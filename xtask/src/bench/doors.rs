//! What readers with keys and links that stand in pages get from one address, and how long a charge takes meanwhile.
//! `--binary FILE` measures an older release in the same way.

use std::thread;

use serde_json::json;

use super::figures::{Reached, Samples, number};
use super::report::{Report, Table};
use super::requests::get;
use super::{Bench, wrk};
use crate::Outcome;
use crate::place::{Account, one_simulator};
use crate::service::Service;

/// Connections of the readers.
const READERS: u32 = 16;
/// Items of the session whose page they read: the most that there may be.
const ITEMS: usize = 1000;
/// The most reads a second that an address gets, with bursts.
const READS_MAX: f64 = 100.0;
/// The longest that a charge may take beside the readers, as a multiple of what it takes without them.
const SLOWER_MAX: f64 = 2.0;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let place = bench.place()?;
    let mut accounts = place.make_accounts(1, &one_simulator()).await?;
    let account = accounts.pop().ok_or("no account was made")?;
    let service = Service::start(&place)?;
    let item = |n| json!({ "name": format!("Shoe {n}"), "unitPrice": 150, "quantity": 1 });
    let order = json!({
        "merchantId": account.merchant_id, "name": "Order",
        "paymentMethods": [{ "paymentType": "credit", "installments": 3 }],
        "items": (0..ITEMS).map(item).collect::<Vec<_>>(),
    });
    let session = service.post(&account, "/v1/sessions", &order).await?;
    let text = |name: &str| session[name].as_str().ok_or("the session lacks a member");
    let (id, key) = (text("id")?, text("publicKey")?);
    let buyer = Account { api_key: key.to_owned(), ..account.clone() };
    let with_key = get(&buyer, &format!("/v1/sessions/{id}"));
    let page = format!("GET /pay/{id} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");

    let mut table = Table::new(
        format!("One address with {READERS} connections, and charges beside it on one"),
        [
            "round",
            "reads with a key a second",
            "refused",
            "pages a second",
            "refused",
            "charge p50 ms",
            "charge p99 ms",
            "p50 beside",
            "p99 beside",
        ],
    );
    let (mut reads, mut slower) = (Samples::default(), Samples::default());
    for round in 1..=bench.rounds {
        println!("doors: round {round} of {}", bench.rounds);
        let accounts = std::slice::from_ref(&account);
        let read = wrk::reads_taken(&service, &with_key, READERS, bench.seconds)?;
        let alone = wrk::charges(&service, accounts, 1, bench.seconds)?;
        let (beside, pages) = thread::scope(|scope| {
            let readers = scope.spawn(|| {
                let read = wrk::reads_taken(&service, &page, READERS, bench.seconds);
                read.map_err(|error| error.to_string())
            });
            let charged = wrk::charges(&service, accounts, 1, bench.seconds);
            (charged, readers.join())
        });
        let (beside, pages) = (beside?, pages.map_err(|_| "the readers panicked")??);
        reads.add(read.rate);
        slower.add(beside.p99_ms / alone.p99_ms);
        table.row([
            round.to_string(),
            number(read.rate, 0),
            number(read.refused_rate, 0),
            number(pages.rate, 0),
            number(pages.refused_rate, 0),
            number(alone.p50_ms, 1),
            number(alone.p99_ms, 1),
            number(beside.p50_ms, 1),
            number(beside.p99_ms, 1),
        ]);
    }
    let mut report = Report::new();
    report.number(
        "reads a second that one public key gets from one address",
        reads.show(0),
        format!("at most {}", number(READS_MAX, 0)),
        Reached::at_most(READS_MAX, reads.median()),
    );
    report.number(
        format!("p99 of a charge beside {READERS} readers of a page of {ITEMS} items, to that without them"),
        slower.show(2),
        format!("at most {}", number(SLOWER_MAX, 0)),
        Reached::at_most(SLOWER_MAX, slower.median()),
    );
    report.tables.push(table);
    report.note(format!(
        "SQLite; rounds of {} s. What is refused is a 429, each a second. Readers and charges share the machine with the service.",
        bench.seconds
    ));
    Ok(report)
}
