//! Number 3: how long a charge takes at half of the largest rate, in an open loop.

use std::io::Write;

use super::figures::{Reached, Samples, number};
use super::open_loop::Line;
use super::report::{Report, Table};
use super::requests::{Charge, key_prefix};
use super::wrk::{self, Load};
use super::{Bench, meter};
use crate::Outcome;
use crate::place::{Account, one_simulator};
use crate::service::Service;

/// Numbers of connections to find the largest rate with.
const CONNECTIONS_MAX_RATE: [u32; 2] = [64, 256];
/// Connections of the open loop.
const CONNECTIONS: usize = 256;
/// The share of the largest rate to offer.
const LOAD: f64 = 0.5;
/// Most milliseconds beyond the provider's own time.
const P50_MS_MAX: f64 = 3.0;
const P99_MS_MAX: f64 = 15.0;
/// Seconds before each measurement.
const WARM_UP_SECONDS: u32 = 1;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let place = bench.place()?;
    let accounts = place.make_accounts(1, &one_simulator()).await?;
    let service = Service::start(&place)?;
    let carried = largest_rate(&service, &accounts, bench.seconds)?.rate;
    let rate = carried * LOAD;
    let seconds = f64::from(bench.seconds * 2);
    let mut table = Table::new(
        format!(
            "Charges on SQLite, open loop at {} a second of {} at most",
            number(rate, 0),
            number(carried, 0)
        ),
        [
            "round",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "most ms",
            "sent late, p99 ms",
            "server CPU µs",
            "generator CPU µs",
        ],
    );
    let (mut p50, mut p99) = (Samples::default(), Samples::default());
    let mut report = Report::new();
    for round in 1..=bench.rounds {
        println!("latency: round {round} of {}", bench.rounds);
        let line = Line::open(&service, CONNECTIONS).await?;
        line.send(rate, f64::from(WARM_UP_SECONDS), sender(&accounts)?).await?;
        let measured = line.send(rate, seconds, sender(&accounts)?).await?;
        if measured.others + measured.refused.len() > 0 {
            return Err("a charge was not taken".into());
        }
        if !measured.kept_schedule() {
            report.note(format!("Round {round}: the generator did not keep its schedule."));
        }
        p50.add(measured.taken_ms(0.5));
        p99.add(measured.taken_ms(0.99));
        table.row([
            round.to_string(),
            number(measured.taken_ms(0.5), 2),
            number(measured.taken_ms(0.99), 2),
            number(measured.taken_ms(0.999), 2),
            number(measured.taken_ms(1.0), 1),
            number(measured.late_p99_ms(), 2),
            number(measured.for_each(measured.server.cpu_seconds * 1e6), 0),
            number(measured.for_each(measured.generator_cpu_seconds * 1e6), 0),
        ]);
    }
    report.number(
        "p50 in milliseconds",
        p50.show(2),
        format!("at most {}", number(P50_MS_MAX, 0)),
        Reached::at_most(P50_MS_MAX, p50.median()),
    );
    report.number(
        "p99 in milliseconds",
        p99.show(2),
        format!("at most {}", number(P99_MS_MAX, 0)),
        Reached::at_most(P99_MS_MAX, p99.median()),
    );
    report.tables.push(table);
    report.note(format!(
        "{} rounds of {} s. The provider is the simulator in the process, which takes no time of its own. What a charge takes \
         is counted from the moment at which it was due. {} MB resident in the end.",
        bench.rounds,
        seconds,
        number(meter::resident_mib(service.process_id()), 0)
    ));
    Ok(report)
}

/// The closed loop with the most charges a second, and its number of connections.
pub(super) fn largest_rate(service: &Service, accounts: &[Account], seconds: u32) -> Outcome<Load> {
    wrk::charges(service, accounts, CONNECTIONS_MAX_RATE[0], WARM_UP_SECONDS)?;
    let mut largest: Option<Load> = None;
    for connections in CONNECTIONS_MAX_RATE {
        let load = wrk::charges(service, accounts, connections, seconds)?;
        if largest.is_none_or(|largest| load.rate > largest.rate) {
            largest = Some(load);
        }
    }
    Ok(largest.ok_or("nothing was measured")?)
}

/// Writes charges of these accounts in turn, each with its own key.
pub(super) fn sender(accounts: &[Account]) -> Outcome<impl Fn(u64, &mut Vec<u8>) + 'static> {
    let charges = accounts.iter().map(Charge::of).collect::<Outcome<Vec<_>>>()?;
    Ok(write_in_turn(charges))
}

/// Writes these charges in turn, each with its own key.
pub(super) fn write_in_turn(charges: Vec<Charge>) -> impl Fn(u64, &mut Vec<u8>) + 'static {
    let prefix = key_prefix();
    move |number, request| {
        let at = usize::try_from(number).unwrap_or(0) % charges.len().max(1);
        let Some(charge) = charges.get(at) else { return };
        request.extend_from_slice(charge.head.as_bytes());
        // Writing to a vector cannot fail.
        drop(write!(request, "{prefix}-{number}"));
        request.extend_from_slice(charge.tail.as_bytes());
    }
}
