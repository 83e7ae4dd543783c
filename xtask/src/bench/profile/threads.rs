//! Measures processor time, waits and context switches of threads, grouped by purpose.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::{Add, Sub};

use crate::bench::meter;

const NANOSECONDS: f64 = 1e9;

/// The usage of threads so far, or between two readings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// Seconds on a core.
    pub(super) cpu_seconds: f64,
    /// The part of them in the kernel.
    pub(super) kernel_seconds: f64,
    /// Seconds ready to run without a core.
    pub(super) waited_seconds: f64,
    /// Voluntary context switches: the thread had nothing to do, or waited for a disk or a lock.
    pub(super) gave_up: f64,
    /// Involuntary context switches.
    pub(super) lost: f64,
}

/// All threads at one moment: process, thread, and group.
#[derive(Debug, Default)]
pub(super) struct Snapshot(BTreeMap<(u32, u32), (String, Spent)>);

impl Snapshot {
    /// The threads of a service, by their names.
    pub(super) fn of_service(process_id: u32) -> Self {
        let mut snapshot = Self::default();
        for thread_id in meter::thread_ids(process_id) {
            let name = meter::read(process_id, &format!("task/{thread_id}/comm"));
            snapshot.add(process_id, thread_id, service_group(name.trim()));
        }
        snapshot
    }

    /// The processes of a PostgreSQL server, by their titles.
    pub(super) fn add_postgres(&mut self, first: u32) {
        for process_id in meter::children(first).into_iter().chain([first]) {
            let title = meter::read(process_id, "cmdline");
            self.add(process_id, process_id, postgres_group(title.trim_end_matches('\0').trim()));
        }
    }

    fn add(&mut self, process_id: u32, thread_id: u32, group: String) {
        let file = |name: &str| meter::read(process_id, &format!("task/{thread_id}/{name}"));
        let (scheduled, stat, status) = (file("schedstat"), file("stat"), file("status"));
        let mut nanoseconds = scheduled.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
        let cpu_seconds = nanoseconds.next().unwrap_or(0.0) / NANOSECONDS;
        let waited_seconds = nanoseconds.next().unwrap_or(0.0) / NANOSECONDS;
        let spent = Spent {
            cpu_seconds,
            kernel_seconds: meter::kernel_part(&stat) * cpu_seconds,
            waited_seconds,
            gave_up: meter::member(&status, "voluntary_ctxt_switches:"),
            lost: meter::member(&status, "nonvoluntary_ctxt_switches:"),
        };
        self.0.insert((process_id, thread_id), (group, spent));
    }

    /// The usage of each group since `earlier`, most first, without threads that ended meanwhile.
    pub(super) fn since(&self, earlier: &Self) -> Vec<(String, Spent)> {
        let mut groups: BTreeMap<&str, Spent> = BTreeMap::new();
        for (id, (group, spent)) in &self.0 {
            let before = earlier.0.get(id).map_or_else(Spent::default, |(_, before)| *before);
            let sum = groups.entry(group).or_default();
            *sum = *sum + (*spent - before);
        }
        let mut groups: Vec<_> = groups.into_iter().map(|(group, spent)| (group.to_owned(), spent)).collect();
        groups.sort_by(|(_, one), (_, other)| other.cpu_seconds.total_cmp(&one.cpu_seconds));
        groups
    }
}

fn service_group(name: &str) -> String {
    match name {
        "tokio-rt-worker" => "tokio-rt-worker: HTTP, JSON, flows, rendering".to_owned(),
        "sqlite-writer" => "sqlite-writer: batches and their commits".to_owned(),
        "sqlite-reader" => "sqlite-reader: reads".to_owned(),
        // The kernel keeps fifteen characters of a name.
        "sqlite-checkpoi" => "sqlite-checkpoint: the log into the database".to_owned(),
        other => other.to_owned(),
    }
}

/// `postgres: walwriter` is a process of the server, `postgres: <user> <database> <host>(<port>) <activity>` serves a
/// connection.
fn postgres_group(title: &str) -> String {
    match title.strip_prefix("postgres: ") {
        Some(connection) if connection.contains('(') => "PostgreSQL: connections".to_owned(),
        Some(part) => format!("PostgreSQL: {part}"),
        None => "PostgreSQL: first process".to_owned(),
    }
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
            kernel_seconds: self.kernel_seconds + other.kernel_seconds,
            waited_seconds: self.waited_seconds + other.waited_seconds,
            gave_up: self.gave_up + other.gave_up,
            lost: self.lost + other.lost,
        }
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            cpu_seconds: self.cpu_seconds - other.cpu_seconds,
            kernel_seconds: self.kernel_seconds - other.kernel_seconds,
            waited_seconds: self.waited_seconds - other.waited_seconds,
            gave_up: self.gave_up - other.gave_up,
            lost: self.lost - other.lost,
        }
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
