//! Number 1: durable charges a second on a fresh database, relative to the same server without storage.

use super::figures::{Reached, Samples, number};
use super::meter::Usage;
use super::report::{Report, Table};
use super::wrk::{self, Load};
use super::{Bench, meter};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator};
use crate::service::Service;

/// Number of accounts that charge in turn.
const ACCOUNTS: [usize; 2] = [1, 1000];
/// Connections of the closed loop, and the share of the rate without storage to reach.
const CONNECTIONS: [(u32, f64); 2] = [(64, 0.18), (256, 0.22)];
/// Seconds before each measurement, to fill the caches of keys and merchants.
const WARM_UP_SECONDS: u32 = 1;

/// The measurements of one combination.
#[derive(Default)]
struct Measured {
    ceiling: Samples,
    ceiling_cpu_us: Samples,
    rate: Samples,
    p50_ms: Samples,
    p99_ms: Samples,
    server_cpu_us: Samples,
    generator_cpu_us: Samples,
    written_kib: Samples,
    resident_mib: Samples,
}

impl Measured {
    fn add(&mut self, ceiling: &Load, durable: &Load, resident_mib: f64) {
        self.ceiling.add(ceiling.rate);
        self.ceiling_cpu_us.add(ceiling.server_cpu_us());
        self.rate.add(durable.rate);
        self.p50_ms.add(durable.p50_ms);
        self.p99_ms.add(durable.p99_ms);
        self.server_cpu_us.add(durable.server_cpu_us());
        self.generator_cpu_us.add(durable.generator_cpu_us());
        self.written_kib.add(durable.written_kib());
        self.resident_mib.add(resident_mib);
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let place = bench.place()?;
    let without_storage = bench.binary_without_storage()?;
    let accounts = place.make_accounts(ACCOUNTS[1], &one_simulator()).await?;
    let mut report = Report::new();
    let mut rates = Table::new(
        "Charges a second on SQLite, closed loop",
        ["connections, accounts", "without storage", "durable", "ratio", "p50 ms", "p99 ms"],
    );
    let mut costs = Table::new(
        "What a charge costs there",
        [
            "connections, accounts",
            "server CPU µs",
            "of it without storage",
            "generator CPU µs",
            "KB written",
            "MB resident",
        ],
    );
    for (connections, bound) in CONNECTIONS {
        for &how_many in bench.pick(&ACCOUNTS[..1], &ACCOUNTS[..]) {
            let what = format!("{connections}, {how_many}");
            let accounts = accounts.get(..how_many).unwrap_or(&accounts);
            let mut measured = Measured::default();
            for round in 1..=bench.rounds {
                println!("charges: {what}, round {round} of {}", bench.rounds);
                let of_ceiling = place.copy()?.without_storage(without_storage);
                let (ceiling, _) = once(bench, &of_ceiling, accounts, connections)?;
                let (durable, resident_mib) = once(bench, &place.copy()?, accounts, connections)?;
                measured.add(&ceiling, &durable, resident_mib);
            }
            let ratio = measured.rate.divided_by(&measured.ceiling);
            report.number(
                format!("part of the rate without storage, {connections} connections, {how_many} accounts"),
                ratio.show(3),
                format!("at least {}", number(bound, 2)),
                Reached::at_least(bound, ratio.median()),
            );
            rates.row([
                what.clone(),
                measured.ceiling.show(0),
                measured.rate.show(0),
                ratio.show(3),
                measured.p50_ms.show(1),
                measured.p99_ms.show(1),
            ]);
            costs.row([
                what,
                measured.server_cpu_us.show(0),
                measured.ceiling_cpu_us.show(0),
                measured.generator_cpu_us.show(0),
                measured.written_kib.show(1),
                measured.resident_mib.show(0),
            ]);
        }
    }
    report.tables.extend([rates, costs]);
    report.note(format!(
        "{} rounds of {} s, each on a fresh database; medians, and in brackets the least and the most. The body of a charge \
         has 600 bytes: an inline card, captured at once, with an idempotency key of its own.",
        bench.rounds, bench.seconds
    ));
    report.note(
        "Without storage, writes are thrown away and reads answered from memory; everything else is done: HTTP, JSON, keys, \
         ids, hashes, the vault, routing, the simulator and its books in memory, which grow with each charge.",
    );
    Ok(report)
}

/// One measurement in its own place, with the resident memory at its end.
fn once(bench: &Bench, place: &Place, accounts: &[Account], connections: u32) -> Outcome<(Load, f64)> {
    let service = Service::start(place)?;
    let load = charge(bench, &service, accounts, connections)?;
    Ok((load, meter::resident_mib(service.process_id())))
}

/// A closed loop of charges, after a shorter warm-up.
pub(super) fn charge(
    bench: &Bench,
    service: &Service,
    accounts: &[Account],
    connections: u32,
) -> Outcome<Load> {
    Ok(charge_beside(bench, service, accounts, connections, Usage::default)?.0)
}

/// The same, with what a process beside the service uses meanwhile.
pub(super) fn charge_beside(
    bench: &Bench,
    service: &Service,
    accounts: &[Account],
    connections: u32,
    usage: impl Fn() -> Usage,
) -> Outcome<(Load, Usage)> {
    wrk::charges(service, accounts, connections, WARM_UP_SECONDS)?;
    let before = usage();
    let load = wrk::charges(service, accounts, connections, bench.seconds)?;
    Ok((load, usage().since(before)))
}
