//! Number 2: the rate and the bytes written for a charge stay the same with millions of charges.

use super::figures::{Reached, Samples, number};
use super::report::{Report, Table};
use super::seeded::Keys;
use super::wrk::{self, Load};
use super::{Bench, meter};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator};
use crate::service::Service;

/// Number of charges of the smaller databases.
const SMALLER: [u64; 2] = [10_000, 1_000_000];
/// Connections of the closed loop.
const CONNECTIONS: u32 = 64;
/// Seconds before each measurement.
const WARM_UP_SECONDS: u32 = 2;
/// The share of the fresh database's rate to reach with the large one.
const RATIO_MIN: f64 = 0.8;
/// Most KB written for a charge.
const WRITTEN_KIB_MAX: f64 = 25.0;
const BYTES_PER_MB: f64 = 1e6;

/// A database with its measurements.
struct Subject {
    what: String,
    place: Place,
    accounts: Vec<Account>,
    mb_per_million: Option<f64>,
    rate: Samples,
    p99_ms: Samples,
    server_cpu_us: Samples,
    generator_cpu_us: Samples,
    written_kib: Samples,
    resident_mib: Samples,
}

impl Subject {
    async fn of(what: String, place: Place, mb_per_million: Option<f64>) -> Outcome<Self> {
        // A new account, so that the known facts of the others stay true.
        let accounts = place.make_accounts(1, &one_simulator()).await?;
        Ok(Self {
            what,
            place,
            accounts,
            mb_per_million,
            rate: Samples::default(),
            p99_ms: Samples::default(),
            server_cpu_us: Samples::default(),
            generator_cpu_us: Samples::default(),
            written_kib: Samples::default(),
            resident_mib: Samples::default(),
        })
    }

    /// One round. A fresh database is copied first, so that it stays fresh.
    fn measure(&mut self, bench: &Bench) -> Outcome {
        let place = if self.mb_per_million.is_none() { self.place.copy()? } else { self.place.clone() };
        let service = Service::start(&place)?;
        wrk::charges(&service, &self.accounts, CONNECTIONS, WARM_UP_SECONDS)?;
        // Twice as long as elsewhere, so that the log restarts several times.
        let load: Load = wrk::charges(&service, &self.accounts, CONNECTIONS, bench.seconds * 2)?;
        self.rate.add(load.rate);
        self.p99_ms.add(load.p99_ms);
        self.server_cpu_us.add(load.server_cpu_us());
        self.generator_cpu_us.add(load.generator_cpu_us());
        self.written_kib.add(load.written_kib());
        self.resident_mib.add(meter::resident_mib(service.process_id()));
        service.stop()
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut subjects = vec![Subject::of("none".to_owned(), bench.place()?, None).await?];
    let sizes = SMALLER.into_iter().filter(|&charges| charges < bench.charges).chain([bench.charges]);
    let mut databases = Vec::new();
    for charges in sizes {
        let seeded = bench.seeded.of(&bench.binary, charges).await?;
        let mb_per_million = seeded.bytes()? as f64 / BYTES_PER_MB * 1e6 / charges as f64;
        let what = number(charges as f64, 0);
        subjects.push(Subject::of(what, seeded.place.clone(), Some(mb_per_million)).await?);
        databases.push(seeded);
    }
    for round in 1..=bench.rounds {
        for subject in &mut subjects {
            println!("growth: {} charges, round {round} of {}", subject.what, bench.rounds);
            subject.measure(bench)?;
        }
    }
    Ok(report(bench, &subjects))
}

fn report(bench: &Bench, subjects: &[Subject]) -> Report {
    let mut report = Report::new();
    let mut table = Table::new(
        "SQLite, closed loop of 64 connections, by the charges that the database holds",
        [
            "charges",
            "charges/s",
            "to the fresh rate",
            "p99 ms",
            "server CPU µs",
            "generator CPU µs",
            "KB written",
            "MB resident",
            "file, MB a million",
        ],
    );
    let [fresh, .., large] = subjects else { return report };
    for subject in subjects {
        table.row([
            subject.what.clone(),
            subject.rate.show(0),
            subject.rate.divided_by(&fresh.rate).show(2),
            subject.p99_ms.show(1),
            subject.server_cpu_us.show(0),
            subject.generator_cpu_us.show(0),
            subject.written_kib.show(1),
            subject.resident_mib.show(0),
            subject.mb_per_million.map_or_else(|| "-".to_owned(), |mb| number(mb, 0)),
        ]);
    }
    let ratio = large.rate.divided_by(&fresh.rate);
    report.number(
        format!("part of the fresh rate at {} charges", large.what),
        ratio.show(2),
        format!("at least {}", number(RATIO_MIN, 1)),
        Reached::at_least(RATIO_MIN, ratio.median()),
    );
    report.number(
        format!("KB written for a charge at {} charges", large.what),
        large.written_kib.show(1),
        format!("at most {}", number(WRITTEN_KIB_MAX, 0)),
        Reached::at_most(WRITTEN_KIB_MAX, large.written_kib.median()),
    );
    report.tables.push(table);
    report.note(format!(
        "{} rounds of {} s in which the databases take turns. The charges are made by the product itself, by a clock that \
         moves through the last 30 days: 100 accounts of which one has half of all charges, three merchants each, every \
         status, captures and refunds, and {}.",
        bench.rounds,
        bench.seconds * 2,
        match bench.seeded.keys() {
            Keys::OfADay => "the idempotency keys that the default retention keeps, those of the last day",
            Keys::All => "every idempotency key still kept, as if all charges were of one day",
        }
    ));
    report
}
