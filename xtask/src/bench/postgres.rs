//! Number 5: charges a second on PostgreSQL, relative to `pgbench` on the same server.

mod nodes;
mod pgbench;

use regente_store::testing::TestPostgres;

use super::figures::{Reached, Samples, number};
use super::meter::{self, Usage};
use super::report::{Report, Table};
use super::wrk::Load;
use super::{Bench, charges};
use crate::Outcome;
use crate::place::{Account, one_simulator};
use crate::service::Service;

/// Connections of the load, and clients of `pgbench`.
pub(super) const CONNECTIONS: u32 = 64;
/// Charges for each transaction of `pgbench` to reach.
const RATIO_MIN: f64 = 1.5;

#[derive(Default)]
struct Measured {
    tps: Samples,
    rate: Samples,
    p50_ms: Samples,
    p99_ms: Samples,
    server_cpu_us: Samples,
    database_cpu_us: Samples,
    generator_cpu_us: Samples,
    database_written_kib: Samples,
    resident_mib: Samples,
}

impl Measured {
    fn add(&mut self, load: &Load, database: Usage, resident_mib: f64) {
        self.rate.add(load.rate);
        self.p50_ms.add(load.p50_ms);
        self.p99_ms.add(load.p99_ms);
        self.server_cpu_us.add(load.server_cpu_us());
        self.generator_cpu_us.add(load.generator_cpu_us());
        self.database_cpu_us.add(load.for_each(database.cpu_seconds * 1e6));
        self.database_written_kib.add(load.for_each(database.written_bytes / 1024.0));
        self.resident_mib.add(resident_mib);
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    pgbench::require()?;
    let server = TestPostgres::durable();
    let scale = bench.pick(8, 64);
    println!("postgres: filling the tables of pgbench, scale {scale}");
    let accounts = pgbench::prepare(&server, scale).await?;
    let mut measured = Measured::default();
    for round in 1..=bench.rounds {
        println!("postgres: round {round} of {}", bench.rounds);
        server.administer("CHECKPOINT").await;
        measured.tps.add(pgbench::run(&accounts, CONNECTIONS, bench.seconds)?);
        server.administer("CHECKPOINT").await;
        let place = bench.place()?.on_postgres(&server.empty_database().await);
        let accounts = place.make_accounts(1, &one_simulator()).await?;
        let service = Service::start(&place)?;
        let (load, database) = charge(bench, &server, &service, &accounts)?;
        measured.add(&load, database, meter::resident_mib(service.process_id()));
        service.stop()?;
    }
    let mut report = Report::new();
    let ratio = measured.rate.divided_by(&measured.tps);
    report.number(
        "charges for each transaction of pgbench",
        ratio.show(2),
        format!("at least {}", number(RATIO_MIN, 1)),
        Reached::at_least(RATIO_MIN, ratio.median()),
    );
    report.tables.push(table(&measured, &ratio));
    report.note(format!(
        "One local server with synchronous_commit=on and shared_buffers=512MB; {CONNECTIONS} connections; {} rounds of {} s, \
         charges each on a fresh database. pgbench runs its default script, TPC-B-like, at scale {scale}, so that its \
         clients seldom wait for the same branch.",
        bench.rounds, bench.seconds
    ));
    nodes::measure(bench, &server, &mut report).await?;
    Ok(report)
}

/// A closed loop of charges after a shorter warm-up, with the usage of the database server.
pub(super) fn charge(
    bench: &Bench,
    server: &TestPostgres,
    service: &Service,
    accounts: &[Account],
) -> Outcome<(Load, Usage)> {
    let database = || Usage::of_family(server.process_id());
    charges::charge_beside(bench, service, accounts, CONNECTIONS, database)
}

fn table(measured: &Measured, ratio: &Samples) -> Table {
    let mut table = Table::new(
        "PostgreSQL, closed loop of 64 connections",
        [
            "",
            "a second",
            "ratio",
            "p50 ms",
            "p99 ms",
            "server CPU µs",
            "PostgreSQL CPU µs",
            "generator CPU µs",
            "KB written",
            "MB resident",
        ],
    );
    let dash = || "-".to_owned();
    table.row([
        "transactions of pgbench".to_owned(),
        measured.tps.show(0),
        "1".to_owned(),
        dash(),
        dash(),
        dash(),
        dash(),
        dash(),
        dash(),
        dash(),
    ]);
    table.row([
        "charges".to_owned(),
        measured.rate.show(0),
        ratio.show(2),
        measured.p50_ms.show(1),
        measured.p99_ms.show(1),
        measured.server_cpu_us.show(0),
        measured.database_cpu_us.show(0),
        measured.generator_cpu_us.show(0),
        measured.database_written_kib.show(1),
        measured.resident_mib.show(0),
    ]);
    table
}
