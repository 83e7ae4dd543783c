//! Shows where a charge's time goes: processor time by thread and by function, waits, and the pages written. It has
//! no target; it helps to find why one was missed.

mod counters;
mod functions;
mod layers;
mod pages;
mod threads;
mod write_ahead_log;

use std::path::Path;

use regente_store::testing::TestPostgres;

use super::figures::number;
use super::meter::Usage;
use super::report::{Report, Table};
use super::wrk::{self, Load};
use super::{Bench, FOLDER};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator};
use crate::service::Service;
use counters::{Commits, Counters};
use functions::{Functions, Symbols};
use pages::Tree;
use threads::{Snapshot, Spent};
use write_ahead_log::WriteAheadLog;

/// Connections of the closed loop.
const CONNECTIONS: u32 = 64;
/// Seconds before each measurement.
const WARM_UP_SECONDS: u32 = 1;
/// Groups of threads that use fewer microseconds for a charge are left out.
const CPU_US_MIN: f64 = 0.05;
/// Tables and indexes with a smaller share of the writes are shown as one.
const SHARE_MIN: f64 = 0.005;

/// A database to charge on.
struct Subject<'a> {
    what: String,
    place: Place,
    accounts: Vec<Account>,
    postgres: Option<&'a TestPostgres>,
}

/// Its measurements.
struct Profile {
    what: String,
    load: Load,
    /// KB written to the disk for each charge, by the service and by PostgreSQL.
    written_kib: f64,
    /// By group of threads.
    spent: Vec<(String, Spent)>,
    commits: Commits,
    functions: Option<Functions>,
    pages: Option<Pages>,
}

/// The content of the write-ahead log at the end.
struct Pages {
    commits: u64,
    trees: Vec<Tree>,
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let symbols = Symbols::of(bench)?;
    let fresh = || Place::passing(symbols.binary(), Path::new(FOLDER));
    let server = TestPostgres::durable();
    let seeded = bench.large().await?;
    let large = Place::kept(symbols.binary(), seeded.place.folder())?;
    let on_postgres = fresh()?.on_postgres(&server.empty_database().await);
    let subjects = [
        Subject::of("SQLite".to_owned(), fresh()?, None).await?,
        Subject::of(format!("SQLite, {} charges", number(bench.charges as f64, 0)), large, None).await?,
        Subject::of("PostgreSQL".to_owned(), on_postgres, Some(&server)).await?,
    ];
    let mut profiles = Vec::with_capacity(subjects.len());
    for subject in subjects {
        println!("profile: {}", subject.what);
        profiles.push(subject.measure(bench, &symbols).await?);
    }
    report.tables.push(overview(&profiles));
    report.tables.extend(profiles.iter().map(threads_table));
    report.tables.extend(profiles.iter().filter_map(pages_table));
    report.tables.extend(functions::table(
        profiles
            .iter()
            .map(|profile| (profile.what.as_str(), profile.load.server_cpu_us(), profile.functions.as_ref())),
    ));
    report.note(format!(
        "A closed loop of {CONNECTIONS} connections and one account, {} s on each database, with the page of metrics on. \
         Processor time, waits for a core and switches are those of `/proc/<pid>/task/*/{{schedstat,stat,status}}`; a thread \
         that waits for a disk, a lock or work does not wait for a core.",
        bench.seconds
    ));
    report.note(
        "Pages are the frames of the write-ahead log as it was when the load ended, by `dbstat`. KB a charge is a tree's \
         share of everything that was written for a charge, with the copy of the log into the database. The page of \
         `sqlite_schema` has the head of the file, which says how long the file is.",
    );
    if let Some(why) = symbols.missing() {
        report.note(format!("Functions were not looked at: {why}."));
    }
    Ok(report)
}

impl<'a> Subject<'a> {
    async fn of(what: String, place: Place, postgres: Option<&'a TestPostgres>) -> Outcome<Self> {
        let accounts = place.make_accounts(1, &one_simulator()).await?;
        Ok(Self { what, place, accounts, postgres })
    }

    async fn measure(self, bench: &Bench, symbols: &Symbols) -> Outcome<Profile> {
        let (counters, place) = Counters::of(self.place.clone())?;
        let service = Service::start(&place)?;
        wrk::charges(&service, &self.accounts, CONNECTIONS, WARM_UP_SECONDS)?;
        let (threads_before, commits_before) = (self.look(&service), counters.read().await?);
        let database_before = self.database();
        let load = wrk::charges(&service, &self.accounts, CONNECTIONS, bench.seconds)?;
        let database = self.database().since(database_before);
        let (threads, commits) = (self.look(&service), counters.read().await?);
        let log = match self.postgres {
            None => Some(WriteAheadLog::read(&self.place.folder().join("regente.db-wal"))?),
            Some(_) => None,
        };
        let functions = symbols.sample(service.process_id(), bench.seconds, || {
            // The load lasts longer than the sampling.
            wrk::charges(&service, &self.accounts, CONNECTIONS, bench.seconds + 1).map(|_| ())
        })?;
        service.stop()?;
        let pages = log.map(|log| self.pages(&log)).transpose()?;
        Ok(Profile {
            what: self.what,
            spent: threads.since(&threads_before),
            commits: commits.since(commits_before),
            written_kib: load.written_kib() + load.for_each(database.written_bytes / 1024.0),
            load,
            functions,
            pages,
        })
    }

    fn look(&self, service: &Service) -> Snapshot {
        let mut snapshot = Snapshot::of_service(service.process_id());
        if let Some(server) = self.postgres {
            snapshot.add_postgres(server.process_id());
        }
        snapshot
    }

    /// PostgreSQL's usage so far.
    fn database(&self) -> Usage {
        self.postgres.map_or_else(Usage::default, |server| Usage::of_family(server.process_id()))
    }

    /// Pages by table and index; the database must be closed.
    fn pages(&self, log: &WriteAheadLog) -> Outcome<Pages> {
        let trees = pages::by_tree(&self.place.folder().join("regente.db"), &log.pages)?;
        Ok(Pages { commits: log.commits, trees })
    }
}

fn overview(profiles: &[Profile]) -> Table {
    let mut table = Table::new(
        "What was profiled",
        [
            "database",
            "charges/s",
            "p50 ms",
            "p99 ms",
            "server CPU µs",
            "generator CPU µs",
            "KB written",
            "commits/s",
            "batches a commit",
        ],
    );
    for Profile { what, load, commits, written_kib, .. } in profiles {
        table.row([
            what.clone(),
            number(load.rate, 0),
            number(load.p50_ms, 1),
            number(load.p99_ms, 1),
            number(load.server_cpu_us(), 0),
            number(load.generator_cpu_us(), 0),
            number(*written_kib, 1),
            number(load.for_each(commits.commits) * load.rate, 0),
            number(commits.batches_a_commit(), 1),
        ]);
    }
    table
}

fn threads_table(profile: &Profile) -> Table {
    let mut table = Table::new(
        format!("{}: a charge by threads", profile.what),
        [
            "threads",
            "CPU µs",
            "of it in the kernel",
            "waits for a core, µs",
            "gave the core up",
            "lost the core",
        ],
    );
    let all = ("all".to_owned(), profile.spent.iter().map(|(_, spent)| *spent).sum());
    for (group, spent) in profile.spent.iter().chain([&all]) {
        let cpu_us = profile.load.for_each(spent.cpu_seconds * 1e6);
        if cpu_us < CPU_US_MIN {
            continue;
        }
        table.row([
            group.clone(),
            number(cpu_us, 1),
            number(profile.load.for_each(spent.kernel_seconds * 1e6), 1),
            number(profile.load.for_each(spent.waited_seconds * 1e6), 1),
            number(profile.load.for_each(spent.gave_up), 2),
            number(profile.load.for_each(spent.lost), 2),
        ]);
    }
    table
}

fn pages_table(profile: &Profile) -> Option<Table> {
    let Pages { commits, trees } = profile.pages.as_ref()?;
    let mut table = Table::new(
        format!("{}: pages written, the last {commits} commits", profile.what),
        ["table or index", "pages a commit", "share %", "KB a charge", "distinct pages"],
    );
    let frames = trees.iter().map(|tree| tree.frames).sum::<u64>().max(1) as f64;
    let mut row = |name: &str, tree: &Tree| {
        let share = tree.frames as f64 / frames;
        table.row([
            name.to_owned(),
            number(tree.frames as f64 / (*commits).max(1) as f64, 2),
            number(share * 100.0, 1),
            number(share * profile.written_kib, 2),
            number(tree.distinct as f64, 0),
        ]);
    };
    let (shown, small): (Vec<_>, Vec<_>) =
        trees.iter().partition(|tree| tree.frames as f64 / frames >= SHARE_MIN);
    for tree in shown {
        row(&tree.name, tree);
    }
    if !small.is_empty() {
        row(&format!("{} others", small.len()), &small.into_iter().sum());
    }
    row("all", &trees.iter().sum());
    Some(table)
}
