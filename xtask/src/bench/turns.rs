//! What closed loops of charges at one side of a comparison measure, one value for each turn, and its row of a table.

use super::figures::Samples;
use super::meter::Usage;
use super::wrk::Load;

/// The measurements of one side.
#[derive(Default)]
pub(super) struct Turns {
    /// Charges a second.
    pub(super) rate: Samples,
    p50_ms: Samples,
    p99_ms: Samples,
    server_cpu_us: Samples,
    /// Of the process beside the service: the database's or the provider's. Empty where there is none.
    beside_cpu_us: Samples,
    /// To the disk for each charge, by the server and the process beside it.
    written_kib: Samples,
    resident_mib: Samples,
}

impl Turns {
    /// The columns of a table of such rows, the first of which says `what` each is, where `beside` is what runs beside the service.
    pub(super) fn columns<'a>(what: &'a str, beside: &'a str) -> [&'a str; 8] {
        [what, "charges a second", "p50 ms", "p99 ms", "server CPU µs", beside, "KB written", "MB resident"]
    }

    /// Adds a turn.
    pub(super) fn add(&mut self, load: &Load, beside: Option<Usage>, resident_mib: f64) {
        self.rate.add(load.rate);
        self.p50_ms.add(load.p50_ms);
        self.p99_ms.add(load.p99_ms);
        self.server_cpu_us.add(load.server_cpu_us());
        if let Some(beside) = beside {
            self.beside_cpu_us.add(load.for_each(beside.cpu_seconds * 1e6));
        }
        let written = load.server.written_bytes + beside.map_or(0.0, |beside| beside.written_bytes);
        self.written_kib.add(load.for_each(written / 1024.0));
        self.resident_mib.add(resident_mib);
    }

    /// Divides turn by turn.
    pub(super) fn divided_by(&self, other: &Self) -> Self {
        Self {
            rate: self.rate.divided_by(&other.rate),
            p50_ms: self.p50_ms.divided_by(&other.p50_ms),
            p99_ms: self.p99_ms.divided_by(&other.p99_ms),
            server_cpu_us: self.server_cpu_us.divided_by(&other.server_cpu_us),
            beside_cpu_us: self.beside_cpu_us.divided_by(&other.beside_cpu_us),
            written_kib: self.written_kib.divided_by(&other.written_kib),
            resident_mib: self.resident_mib.divided_by(&other.resident_mib),
        }
    }

    /// The row of a side.
    pub(super) fn row(&self, what: String) -> impl Iterator<Item = String> {
        self.cells(what, [0, 1, 1, 0, 0, 1, 0], Samples::show)
    }

    /// The row of one side divided by another.
    pub(super) fn row_of_ratios(&self, what: String) -> impl Iterator<Item = String> {
        self.cells(what, [3; 7], Samples::show)
    }

    /// The row of the intervals of the medians of these ratios.
    pub(super) fn row_of_intervals(&self, what: String) -> impl Iterator<Item = String> {
        self.cells(what, [3; 7], Samples::show_interval)
    }

    /// With this number of decimals in each column.
    fn cells(
        &self,
        what: String,
        decimals: [usize; 7],
        show: impl Fn(&Samples, usize) -> String,
    ) -> impl Iterator<Item = String> {
        let Self { rate, p50_ms, p99_ms, server_cpu_us, beside_cpu_us, written_kib, resident_mib } = self;
        let cells = [rate, p50_ms, p99_ms, server_cpu_us, beside_cpu_us, written_kib, resident_mib];
        let cells = cells.into_iter().zip(decimals).map(|(samples, decimals)| show(samples, decimals));
        std::iter::once(what).chain(cells.collect::<Vec<_>>())
    }
}
