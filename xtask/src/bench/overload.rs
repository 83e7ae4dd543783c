//! Number 7: several times the largest rate, in an open loop: goodput, refusals, memory, and the time to recover.

#![allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]

use std::time::{Duration, Instant};

use super::Bench;
use super::cores::{self, Halves};
use super::figures::{Reached, Samples, number};
use super::latency::{largest_rate, sender};
use super::meter::{self, Watch};
use super::open_loop::{Line, Measured, quantile_ms};
use super::report::{Report, Table};
use super::wrk::{self, Load};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator, slow_simulator};
use crate::service::Service;

/// The offered load, as a multiple of the largest rate.
const FACTOR: f64 = 4.0;
/// The share of the largest rate to keep serving.
const GOODPUT_MIN: f64 = 0.9;
/// Most milliseconds for 99 of 100 refusals.
const REFUSAL_MS_MAX: f64 = 100.0;
/// Most milliseconds until service is normal again.
const NORMAL_AFTER_MS_MAX: f64 = 1000.0;
/// Most growth of the peak memory from the last burst but one to the last.
const GROWTH_MAX: f64 = 1.1;
/// Most tries until a charge succeeds again.
const SUCCESS_TRIES_MAX: u32 = 1000;
/// The limit of changes under way of the small service, and the time of its provider: it serves 800 a second, so that
/// one machine can offer several times as much.
const LITTLE_ROOM: u32 = 32;
const PROVIDER_MS: u64 = 40;

/// A service with its bottleneck.
struct Subject {
    what: &'static str,
    service: Service,
    accounts: Vec<Account>,
    /// The largest rate.
    carried: Load,
    /// Its own cores.
    halves: Option<Halves>,
    /// More than the limit of requests under way.
    connections: usize,
}

/// The measurements of one burst.
struct Burst {
    measured: Measured,
    peak_mib: f64,
    normal_after: Duration,
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let mut table = Table::new(
        format!("Bursts of {} s at {} times what is carried", bench.seconds, number(FACTOR, 0)),
        [
            "limited by",
            "carried/s",
            "offered/s",
            "201/s",
            "503/s",
            "503 p99 ms",
            "no Retry-After",
            "others",
            "unsent",
            "sent late, p99 ms",
            "MB before, peak, after",
            "normal after ms",
            "a charge, CPU µs",
            "a refusal, CPU µs",
            "generator CPU µs",
        ],
    );
    little_room(bench).await?.measure(bench, &mut table, &mut report).await?;
    the_machine(bench).await?.measure(bench, &mut table, &mut report).await?;
    report.tables.push(table);
    report.note(format!(
        "Where little room is the limit, the service has `database.admitted_max` {LITTLE_ROOM} and a provider that takes \
         {PROVIDER_MS} ms; the books of its simulator are in a file. Where the machine is the limit, everything is as \
         delivered, and the books in memory grow with each charge. What a charge costs is measured at the largest rate; what \
         a burst costs beyond its charges is divided among its refusals."
    ));
    Ok(report)
}

async fn little_room(bench: &Bench) -> Outcome<Subject> {
    // One account takes all of the room.
    let place = bench
        .place()?
        .with_books_on_disk()
        .with("REGENTE_DATABASE__ADMITTED_MAX", LITTLE_ROOM)
        .with("REGENTE_DATABASE__ADMITTED_ACCOUNT_PERCENT", 100);
    let accounts = place.make_accounts(1, &slow_simulator(PROVIDER_MS)).await?;
    let service = Service::start(&place)?;
    let carried = wrk::charges_taken(&service, &accounts, LITTLE_ROOM, bench.seconds)?;
    Ok(Subject { what: "little room", service, accounts, carried, halves: None, connections: 1000 })
}

async fn the_machine(bench: &Bench) -> Outcome<Subject> {
    let place: Place = bench.place()?;
    let accounts = place.make_accounts(1, &one_simulator()).await?;
    let (service, halves) = Halves::start(&place)?;
    let carried = largest_rate(&service, &accounts, bench.seconds)?;
    Ok(Subject { what: "the machine", service, accounts, carried, halves, connections: 6000 })
}

impl Subject {
    async fn measure(self, bench: &Bench, table: &mut Table, report: &mut Report) -> Outcome {
        let mut bursts = Vec::with_capacity(bench.rounds);
        for round in 1..=bench.rounds {
            println!("overload: {}, burst {round} of {}", self.what, bench.rounds);
            let before_mib = meter::own_mib(self.service.process_id());
            let burst = self.burst(bench).await?;
            table.row(row(&self, &burst, before_mib));
            bursts.push(burst);
        }
        numbers(&self, &bursts, report);
        Ok(())
    }

    async fn burst(&self, bench: &Bench) -> Outcome<Burst> {
        let line = Line::open(&self.service, self.connections).await?;
        let watch = Watch::begin(self.service.process_id());
        let seconds = f64::from(bench.seconds);
        let measured = line.send(self.carried.rate * FACTOR, seconds, sender(&self.accounts)?).await?;
        // Subtract the wait for the last answers.
        let waited = Duration::from_secs_f64((measured.seconds - seconds).max(0.0));
        let normal_after = waited + self.first_success().await?;
        Ok(Burst { measured, peak_mib: watch.end().own_mib, normal_after })
    }

    /// The cost of a refusal: the cost of a burst beyond its charges.
    fn refusal_cpu_us(&self, measured: &Measured) -> f64 {
        let charges_us = measured.taken.len() as f64 * self.carried.server_cpu_us();
        (measured.server.cpu_seconds * 1e6 - charges_us) / measured.refused.len().max(1) as f64
    }

    /// The largest share of the largest rate that the cores can serve while they refuse the rest. The offer of a
    /// second, `FACTOR` times the largest rate `C`, takes no more than the seconds of all cores: `part · C · charge +
    /// (FACTOR − part) · C · refusal ≤ cores`.
    fn part_max(&self, halves: &Halves, refusal_us: f64) -> f64 {
        let cores_us = halves.of_service().len() as f64 * 1e6 / self.carried.rate;
        ((cores_us - FACTOR * refusal_us) / (self.carried.server_cpu_us() - refusal_us)).clamp(0.0, 1.0)
    }

    /// The time until a charge succeeds again.
    async fn first_success(&self) -> Outcome<Duration> {
        let begun = Instant::now();
        let line = Line::open(&self.service, 1).await?;
        for _ in 0..SUCCESS_TRIES_MAX {
            let tried = line.send(1000.0, 0.001, sender(&self.accounts)?).await?;
            if !tried.taken.is_empty() {
                return Ok(begun.elapsed());
            }
        }
        Err("service did not become normal".into())
    }
}

fn row(subject: &Subject, burst: &Burst, before_mib: f64) -> [String; 15] {
    let Burst { measured, peak_mib, normal_after } = burst;
    let sent = measured.answered() as f64 / measured.seconds;
    let after_mib = meter::own_mib(subject.service.process_id());
    [
        subject.what.to_owned(),
        number(subject.carried.rate, 0),
        number(sent, 0),
        number(measured.taken.len() as f64 / measured.seconds, 0),
        number(measured.refused.len() as f64 / measured.seconds, 0),
        number(quantile_ms(&measured.refused, 0.99), 1),
        measured.without_retry_after.to_string(),
        measured.others.to_string(),
        measured.unsent.to_string(),
        number(measured.late_p99_ms(), 1),
        [before_mib, *peak_mib, after_mib].map(|mib| number(mib, 0)).join(", "),
        normal_after.as_millis().to_string(),
        number(subject.carried.server_cpu_us(), 0),
        number(subject.refusal_cpu_us(measured), 0),
        number(measured.for_each(measured.generator_cpu_seconds * 1e6), 0),
    ]
}

fn numbers(subject: &Subject, bursts: &[Burst], report: &mut Report) {
    let (mut goodput, mut refusal_ms, mut normal_ms) =
        (Samples::default(), Samples::default(), Samples::default());
    for Burst { measured, normal_after, .. } in bursts {
        goodput.add(measured.taken.len() as f64 / measured.seconds / subject.carried.rate);
        refusal_ms.add(quantile_ms(&measured.refused, 0.99));
        normal_ms.add(normal_after.as_secs_f64() * 1000.0);
    }
    let what = subject.what;
    report.number(
        format!("{what}: part of the largest rate that is still carried"),
        goodput.show(2),
        format!("at least {}", number(GOODPUT_MIN, 1)),
        Reached::at_least(GOODPUT_MIN, goodput.median()),
    );
    report.number(
        format!("{what}: p99 of refusals in milliseconds"),
        refusal_ms.show(1),
        format!("at most {}", number(REFUSAL_MS_MAX, 0)),
        Reached::at_most(REFUSAL_MS_MAX, refusal_ms.median()),
    );
    let wrong: u64 =
        bursts.iter().map(|burst| burst.measured.without_retry_after + burst.measured.others).sum();
    report.number(
        format!("{what}: answers that are neither 201 nor 503 with Retry-After"),
        wrong.to_string(),
        "0",
        Reached::when(wrong == 0),
    );
    report.number(
        format!("{what}: milliseconds until service is normal"),
        normal_ms.show(0),
        format!("at most {}", number(NORMAL_AFTER_MS_MAX, 0)),
        Reached::at_most(NORMAL_AFTER_MS_MAX, normal_ms.median()),
    );
    if let ([.., before, last], "little room") = (bursts, what) {
        let growth = last.peak_mib / before.peak_mib;
        report.number(
            format!("{what}: peak of memory in the last burst, to the one before"),
            number(growth, 2),
            format!("at most {}", number(GROWTH_MAX, 1)),
            Reached::at_most(GROWTH_MAX, growth),
        );
    }
    if let Some(Burst { measured, .. }) = bursts.iter().find(|burst| !burst.measured.kept_schedule()) {
        report.note(format!(
            "Limited by {what}: the generator did not keep its schedule; offered is what was really sent. It used {} of a \
             core, and at most {} of {} connections waited for an answer.",
            number(measured.generator_cpu_seconds / measured.seconds, 2),
            number(measured.in_flight_max as f64, 0),
            number(subject.connections as f64, 0),
        ));
    }
    if let Some(halves) = &subject.halves {
        let mut refusal_us = Samples::default();
        for burst in bursts {
            refusal_us.add(subject.refusal_cpu_us(&burst.measured));
        }
        report.note(format!(
            "Limited by {what}: the service runs on core {} and the load on core {}, also for the largest rate. A charge \
             costs it {} µs and a refusal {} µs: at {} times the largest rate that leaves time for {} of it at most.",
            cores::list(halves.of_service()),
            cores::list(halves.of_load()),
            number(subject.carried.server_cpu_us(), 0),
            refusal_us.show(0),
            number(FACTOR, 0),
            number(subject.part_max(halves, refusal_us.median()), 2),
        ));
    }
}
