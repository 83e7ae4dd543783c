//! Number 6: memory when idle and under load, start time with many charges, size of the binary.

use std::time::Duration;

use super::figures::{Reached, Samples, number};
use super::meter::{self, Watch};
use super::report::{Report, Table};
use super::{Bench, wrk};
use crate::Outcome;
use crate::place::one_simulator;
use crate::service::Service;

const IDLE_MIB_MAX: f64 = 40.0;
const BINARY_MIB_MAX: f64 = 40.0;
const READY_MS_MAX: f64 = 300.0;
/// Most growth of the peak memory from the second burst to the last; the first burst fills the caches.
const GROWTH_MAX: f64 = 1.1;
/// How long a process stays idle before it is measured.
const IDLE: Duration = Duration::from_secs(2);
/// Connections of the load.
const CONNECTIONS: u32 = 256;
/// Bursts of load on one process.
const BURSTS: usize = 4;
const BYTES_PER_MIB: f64 = 1024.0 * 1024.0;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let binary_mib = std::fs::metadata(&bench.binary)?.len() as f64 / BYTES_PER_MIB;
    let mut table = Table::new("Memory and start", ["", "measured"]);
    idle(bench, &mut report, &mut table).await?;
    under_load(bench, &mut report, &mut table).await?;
    start(bench, &mut report, &mut table).await?;
    report.number(
        "binary in MB",
        number(binary_mib, 1),
        format!("under {}", number(BINARY_MIB_MAX, 0)),
        Reached::when(binary_mib < BINARY_MIB_MAX),
    );
    report.tables.push(table);
    report.note(
        "Resident memory counts the pages of the binary and of the database that are mapped; the process's own memory is \
         what it would cost a second time. The books of the simulator are in a file, since in memory they grow with each \
         charge.",
    );
    Ok(report)
}

async fn idle(bench: &Bench, report: &mut Report, table: &mut Table) -> Outcome {
    let (mut resident, mut own, mut threads) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..bench.rounds {
        let place = bench.place()?;
        place.make_accounts(1, &one_simulator()).await?;
        let service = Service::start(&place)?;
        std::thread::sleep(IDLE);
        resident.add(meter::resident_mib(service.process_id()));
        own.add(meter::own_mib(service.process_id()));
        threads.add(meter::threads(service.process_id()));
    }
    report.number(
        "resident MB when idle",
        resident.show(1),
        format!("under {}", number(IDLE_MIB_MAX, 0)),
        Reached::when(resident.median() < IDLE_MIB_MAX),
    );
    table.row(["idle, MB resident".to_owned(), resident.show(1)]);
    table.row(["idle, MB of its own".to_owned(), own.show(1)]);
    table.row(["idle, threads".to_owned(), threads.show(0)]);
    Ok(())
}

/// Repeats the same load on one process, whose memory must stop growing.
async fn under_load(bench: &Bench, report: &mut Report, table: &mut Table) -> Outcome {
    let place = bench.place()?.with_books_on_disk();
    let accounts = place.make_accounts(1, &one_simulator()).await?;
    let service = Service::start(&place)?;
    let mut peaks = Vec::with_capacity(BURSTS);
    for burst in 1..=BURSTS {
        println!("lean: burst {burst} of {BURSTS}");
        let watch = Watch::begin(service.process_id());
        wrk::charges(&service, &accounts, CONNECTIONS, bench.seconds)?;
        peaks.push(watch.end().own_mib);
    }
    let [_, second, .., last] = peaks.as_slice() else { return Ok(()) };
    report.number(
        format!(
            "memory of its own in the last of {BURSTS} bursts of {CONNECTIONS} connections, to the first"
        ),
        number(last / second, 2),
        format!("at most {}", number(GROWTH_MAX, 1)),
        Reached::at_most(GROWTH_MAX, last / second),
    );
    let peaks: Vec<String> = peaks.iter().map(|peak| number(*peak, 0)).collect();
    table.row([format!("{BURSTS} bursts, MB of its own at most"), peaks.join(", ")]);
    table.row([
        "then resident with what is mapped, MB".to_owned(),
        number(meter::resident_mib(service.process_id()), 0),
    ]);
    Ok(())
}

async fn start(bench: &Bench, report: &mut Report, table: &mut Table) -> Outcome {
    let seeded = bench.large().await?;
    let mut ready_ms = Samples::default();
    let mut resident = Samples::default();
    for _ in 0..bench.rounds {
        let service = Service::start(&seeded.place)?;
        ready_ms.add(service.ready_after().as_secs_f64() * 1000.0);
        std::thread::sleep(IDLE);
        resident.add(meter::resident_mib(service.process_id()));
        service.stop()?;
    }
    let charges = number(seeded.facts.charges as f64, 0);
    report.number(
        format!("milliseconds until ready, {charges} charges"),
        ready_ms.show(0),
        format!("under {}", number(READY_MS_MAX, 0)),
        Reached::when(ready_ms.median() < READY_MS_MAX),
    );
    table.row([format!("idle with {charges} charges, MB resident"), resident.show(1)]);
    table.row([format!("until ready with {charges} charges, ms"), ready_ms.show(0)]);
    Ok(())
}
