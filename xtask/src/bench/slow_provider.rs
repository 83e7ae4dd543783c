//! Number 8: many charges that wait for a provider: the memory of each, and that none needs a thread.

use serde_json::Value;

use super::figures::{Reached, Samples, number};
use super::latency::sender;
use super::meter::{self, Peak, Watch};
use super::open_loop::Line;
use super::report::{Report, Table};
use super::{Bench, wrk};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator, slow_simulator};
use crate::service::Service;

/// Charges in flight.
pub(super) const IN_FLIGHT: usize = 2000;
/// Time in which they are sent.
const SEND_SECONDS: f64 = 1.0;
/// The provider's delay, and the timeout.
pub(super) const PROVIDER_MS: u64 = 3000;
const DEADLINE_MS: u64 = 20_000;
/// Most KB of one charge in flight.
const KIB_MAX: f64 = 20.0;
/// Connections of the load before, which fills the caches and starts every thread.
const WARM_UP_CONNECTIONS: u32 = 64;

/// The measurements of the charges in flight at one process.
pub(super) struct Measured {
    pub(super) before_mib: f64,
    pub(super) connected_mib: f64,
    pub(super) peak_mib: f64,
    threads_before: f64,
    threads: f64,
    pub(super) p99_ms: f64,
}

impl Measured {
    /// Threads that were not there before.
    pub(super) fn more_threads(&self) -> f64 {
        self.threads - self.threads_before
    }

    /// KB of the process's own memory for each charge with its connection.
    pub(super) fn kib_each(&self) -> f64 {
        (self.peak_mib - self.before_mib) * 1024.0 / IN_FLIGHT as f64
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let mut table = Table::new(
        format!("{IN_FLIGHT} charges in flight, the provider takes {PROVIDER_MS} ms"),
        [
            "round",
            "MB before",
            "MB with connections",
            "MB at most",
            "KB a charge",
            "threads before",
            "threads then",
            "p99 ms",
        ],
    );
    let (mut kib, mut more_threads) = (Samples::default(), Samples::default());
    for round in 1..=bench.rounds {
        println!("slow-provider: round {round} of {}", bench.rounds);
        let place = patient(bench.place()?);
        let accounts = place.make_accounts(1, &one_simulator()).await?;
        let account = accounts.first().ok_or("no account was made")?;
        let service = Service::start(&place)?;
        let measured = charge(bench, &service, account, &slow_simulator(PROVIDER_MS)).await?;
        kib.add(measured.kib_each());
        more_threads.add(measured.more_threads());
        table.row([
            round.to_string(),
            number(measured.before_mib, 1),
            number(measured.connected_mib, 1),
            number(measured.peak_mib, 1),
            number(measured.kib_each(), 1),
            number(measured.threads_before, 0),
            number(measured.threads, 0),
            number(measured.p99_ms, 0),
        ]);
    }
    report.number(
        "KB for each charge in flight, its connection included",
        kib.show(1),
        format!("at most {}", number(KIB_MAX, 0)),
        Reached::at_most(KIB_MAX, kib.median()),
    );
    report.number(
        "threads more than before",
        more_threads.show(0),
        "0",
        Reached::at_most(0.0, more_threads.max()),
    );
    report.tables.push(table);
    report.note(
        "The process's own memory, after a load of another kind has filled the caches of the database. The most that is seen \
         while they are in flight, less what was there before their connections were opened.",
    );
    Ok(report)
}

/// The place of a service whose timeout fits this provider.
pub(super) fn patient(place: Place) -> Place {
    place.with("REGENTE_SANDBOX__DEADLINE_MS", DEADLINE_MS)
}

/// Puts charges in flight at a service whose place is [`patient`], for a merchant with providers that answer after
/// [`PROVIDER_MS`]. The account's merchant has a fast provider, for the load before.
pub(super) async fn charge(
    bench: &Bench,
    service: &Service,
    account: &Account,
    slow_providers: &Value,
) -> Outcome<Measured> {
    let merchant_id = service.make_merchant(account, slow_providers).await?;
    let slow = Account { merchant_id, ..account.clone() };
    wrk::charges(service, std::slice::from_ref(account), WARM_UP_CONNECTIONS, bench.seconds)?;
    let id = service.process_id();
    let (before_mib, threads_before) = (meter::own_mib(id), meter::threads(id));
    let line = Line::open(service, IN_FLIGHT).await?;
    let connected_mib = meter::own_mib(id);
    let watch = Watch::begin(id);
    let measured = line.send(IN_FLIGHT as f64 / SEND_SECONDS, SEND_SECONDS, sender(&[slow])?).await?;
    let Peak { own_mib: peak_mib, threads } = watch.end();
    if measured.taken.len() != IN_FLIGHT as u64 {
        return Err(format!("{} of {IN_FLIGHT} charges were taken", measured.taken.len()).into());
    }
    let p99_ms = measured.taken_ms(0.99);
    Ok(Measured { before_mib, connected_mib, peak_mib, threads_before, threads, p99_ms })
}
