//! Number 4: single charges, pages and totals of a database with many charges.

mod queries;
mod rows;

use std::time::{Duration, Instant};

use super::figures::{Reached, Samples, number};
use super::open_loop::Line;
use super::report::{Report, Table};
use super::requests::get;
use super::seeded::{Seeded, Server};
use super::{Bench, wrk};
use crate::Outcome;
use crate::service::Service;
use queries::Query;

/// Connections of the closed loop.
const CONNECTIONS: u32 = 64;
/// Charges read by id; fewer without storage, since each is first read from the database.
const IDS: usize = 20_000;
const IDS_WITHOUT_STORAGE: usize = 500;
/// The share of the rate without storage to reach.
const RATIO_MIN: f64 = 0.6;
/// Lists a second to serve.
const LISTS_PER_SECOND: f64 = 200.0;
/// Connections for lists.
const LIST_CONNECTIONS: usize = 64;
/// Most milliseconds for 99 of 100 lists.
const LIST_P99_MS_MAX: f64 = 20.0;
/// Lists that take longer than this alone are not asked for 200 times a second.
const ALONE_MAX: Duration = Duration::from_millis(100);
/// Seconds before each measurement by id.
const WARM_UP_SECONDS: u32 = 1;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let seeded = bench.large().await?;
    let mut report = Report::new();
    // A charge by id is found in the same way, whatever the history; and what a server adds to it, `postgres` measures.
    if seeded.facts.history_hours == 0 && seeded.server.is_none() {
        by_id(bench, &seeded, &mut report)?;
    }
    lists(bench, &seeded, &mut report).await?;
    report.note(format!(
        "The database holds {} charges. {} of them belong to the account that asks.",
        number(seeded.facts.charges as f64, 0),
        number(seeded.facts.charges_of_account as f64, 0)
    ));
    if seeded.facts.history_hours > 0 {
        report.note(format!(
            "That account has counters of {} hours before its first charge too, of 48 kinds each, without charges: pages of \
             that time are empty, which leaves what it takes to count and to find their hours.",
            number(seeded.facts.history_hours as f64, 0)
        ));
    }
    if let Some(folding) = &seeded.facts.folding {
        report.note(format!(
            "Those counters were folded in pages of {}, {} counters a second: p50 {} ms and p99 {} ms a page.",
            folding.page,
            number(folding.rows_per_second, 0),
            number(folding.p50_ms, 1),
            number(folding.p99_ms, 1)
        ));
    }
    Ok(report)
}

fn by_id(bench: &Bench, seeded: &Seeded, report: &mut Report) -> Outcome {
    let without_storage = bench.binary_without_storage()?;
    let (mut ceiling, mut stored) = (Samples::default(), Samples::default());
    let (mut p99_ms, mut server_cpu_us, mut generator_cpu_us) =
        (Samples::default(), Samples::default(), Samples::default());
    for round in 1..=bench.rounds {
        println!("reads: by id, round {round} of {}", bench.rounds);
        let service = Service::start(&seeded.place.clone().without_storage(without_storage))?;
        // Read each id once, so that all are in the cache.
        read_by_id(&service, seeded, IDS_WITHOUT_STORAGE, WARM_UP_SECONDS)?;
        ceiling.add(read_by_id(&service, seeded, IDS_WITHOUT_STORAGE, bench.seconds)?.rate);
        service.stop()?;
        let service = Service::start(&seeded.place)?;
        read_by_id(&service, seeded, IDS, WARM_UP_SECONDS)?;
        let load = read_by_id(&service, seeded, IDS, bench.seconds)?;
        stored.add(load.rate);
        p99_ms.add(load.p99_ms);
        server_cpu_us.add(load.server_cpu_us());
        generator_cpu_us.add(load.generator_cpu_us());
        service.stop()?;
    }
    let ratio = stored.divided_by(&ceiling);
    let mut table = Table::new(
        "Charges by id, closed loop of 64 connections",
        ["", "a second", "ratio", "p99 ms", "server CPU µs", "generator CPU µs"],
    );
    let dash = || "-".to_owned();
    table.row(["without storage".to_owned(), ceiling.show(0), "1".to_owned(), dash(), dash(), dash()]);
    table.row([
        "stored".to_owned(),
        stored.show(0),
        ratio.show(2),
        p99_ms.show(1),
        server_cpu_us.show(0),
        generator_cpu_us.show(0),
    ]);
    report.tables.push(table);
    report.number(
        "by id, part of the rate without storage",
        ratio.show(2),
        format!("at least {}", number(RATIO_MIN, 1)),
        Reached::at_least(RATIO_MIN, ratio.median()),
    );
    Ok(())
}

fn read_by_id(service: &Service, seeded: &Seeded, how_many: usize, seconds: u32) -> Outcome<wrk::Load> {
    let ids = &seeded.facts.ids;
    // Spread over the file, like merchants' requests.
    let step = (ids.len() / how_many).max(1);
    let spread = (0..step).flat_map(|first| ids.iter().skip(first).step_by(step)).take(how_many);
    let paths = spread.map(|id| format!("/v1/charges/{id}"));
    wrk::reads(service, &seeded.facts.account, paths, CONNECTIONS, seconds)
}

async fn lists(bench: &Bench, seeded: &Seeded, report: &mut Report) -> Outcome {
    let queries = queries::all(&seeded.facts);
    let service = Service::start(&seeded.place)?;
    let mut columns = vec!["filter", "total", "exact", "p50 ms", "p99 ms", "most ms", "server CPU µs"];
    if seeded.server.is_some() {
        columns.push("PostgreSQL CPU µs");
    }
    let mut table =
        Table::new("Pages of 20 with their totals, open loop of 200 a second for each filter", columns);
    let (mut slowest_ms, mut missed, mut wrong, mut checked) = (0.0_f64, Vec::new(), 0, 0);
    for query in &queries {
        println!("reads: {}", query.what);
        let (total, alone) = ask(&service, seeded, query).await?;
        let exact = query.total.map(|expected| total == expected);
        checked += u32::from(exact.is_some());
        wrong += u32::from(exact == Some(false));
        let (cells, p99_ms) = if alone > ALONE_MAX {
            let alone_ms = alone.as_secs_f64() * 1000.0;
            let mut cells = vec!["-".to_owned(), format!("{} alone", number(alone_ms, 0))];
            cells.extend(seeded.server.iter().map(|_| "-".to_owned()));
            cells.extend(["-".to_owned(), "-".to_owned()]);
            (cells, alone_ms)
        } else {
            at_rate(bench, &service, seeded, query).await?
        };
        if p99_ms >= LIST_P99_MS_MAX {
            missed.push(query.what.clone());
        }
        slowest_ms = slowest_ms.max(p99_ms);
        let exact = match (exact, query.total) {
            (Some(true), _) => "yes".to_owned(),
            (Some(false), Some(expected)) => format!("NO: {expected}"),
            (Some(false) | None, _) => "-".to_owned(),
        };
        let named = [query.what.clone(), number(total as f64, 0), exact];
        table.row(named.into_iter().chain(cells));
    }
    report.tables.push(table);
    report.number(
        format!("the slowest of {} kinds of pages, p99 in milliseconds", queries.len()),
        number(slowest_ms, 1),
        format!("under {}", number(LIST_P99_MS_MAX, 0)),
        Reached::when(missed.is_empty()),
    );
    report.number(
        "totals that are not exact, of those that were counted beforehand",
        format!("{wrong} of {checked}"),
        "0",
        Reached::when(wrong == 0),
    );
    if !missed.is_empty() {
        report.note(format!("Too slow: {}.", missed.join("; ")));
    }
    cut_hours(&service, seeded, report).await?;
    service.stop()?;
    match &seeded.server {
        Some(server) => rows::measure(server, seeded, &queries, report).await,
        None => Ok(()),
    }
}

/// p50, p99, maximum and processor time, as text; and p99 as a number.
async fn at_rate(
    bench: &Bench,
    service: &Service,
    seeded: &Seeded,
    query: &Query,
) -> Outcome<(Vec<String>, f64)> {
    let (mut p50, mut p99, mut most, mut cpu, mut database_cpu) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let seconds = bench.pick(0.3, f64::from(bench.seconds) / 2.0);
    let database_usage = || seeded.server.as_ref().map(Server::usage);
    for _ in 0..bench.rounds {
        let line = Line::open(service, LIST_CONNECTIONS).await?;
        let request = get(&seeded.facts.account, &query.path());
        let write = move |_: u64, buffer: &mut Vec<u8>| buffer.extend_from_slice(request.as_bytes());
        let database_before = database_usage();
        let measured = line.send(LISTS_PER_SECOND, seconds, write).await?;
        if measured.others > 0 {
            return Err(format!("{}: {} requests failed", query.what, measured.others).into());
        }
        p50.add(measured.taken_ms(0.5));
        p99.add(measured.taken_ms(0.99));
        most.add(measured.taken_ms(1.0));
        cpu.add(measured.for_each(measured.server.cpu_seconds * 1e6));
        if let (Some(before), Some(after)) = (database_before, database_usage()) {
            database_cpu.add(measured.for_each(after.since(before).cpu_seconds * 1e6));
        }
    }
    let mut cells = vec![p50.show(1), p99.show(1), most.show(0), cpu.show(0)];
    cells.extend(seeded.server.iter().map(|_| database_cpu.show(0)));
    Ok((cells, p99.median()))
}

/// The total of a query, and its time without other load; measured the second time, since the first prepares
/// statements.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn ask(service: &Service, seeded: &Seeded, query: &Query) -> Outcome<(u64, Duration)> {
    service.get(&seeded.facts.account, &query.path()).await?;
    let begun = Instant::now();
    let page = service.get(&seeded.facts.account, &query.path()).await?;
    let took = begun.elapsed();
    Ok((page["meta"]["totalItems"].as_u64().ok_or("a page without a total")?, took))
}

/// Checks that the totals before and after a moment within an hour add up to all.
async fn cut_hours(service: &Service, seeded: &Seeded, report: &mut Report) -> Outcome {
    let all = seeded.facts.count(|_| true);
    let moments = queries::moments(&seeded.facts);
    let mut wrong = 0;
    for moment in &moments {
        let total = async |query: String| -> Outcome<u64> {
            let query = Query { what: query.clone(), query, total: None };
            Ok(ask(service, seeded, &query).await?.0)
        };
        let before = total(format!("created.lt={moment}")).await?;
        let at = total(format!("created.gt={moment}")).await?;
        // Charges of that same millisecond are in neither.
        wrong += u32::from(before + at > all || before + at + 5 < all);
    }
    report.number(
        "moments within an hour before and after which the totals do not add up",
        format!("{wrong} of {}", moments.len()),
        "0",
        Reached::when(wrong == 0),
    );
    Ok(())
}
