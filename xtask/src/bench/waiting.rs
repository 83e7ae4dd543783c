//! What a due piece of work costs, and a look that finds none, while more and more waits.

mod pieces;
mod rows;

use regente_engine::clock::Clock;
use regente_store::DatabaseKind;

use super::Bench;
use super::engine::Engine;
use super::figures::{Reached, number};
use super::meter::Usage;
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::one_simulator;
use pieces::{Piece, Shop};

/// Rows that wait, as many of each table.
const WAITING: [u64; 3] = [1_000, 100_000, 1_000_000];
const WAITING_QUICK: [u64; 3] = [100, 1_000, 5_000];
/// Pieces of each kind that fall due.
const DUE: u32 = 200;
const DUE_QUICK: u32 = 16;
/// Looks that find nothing, and readings of the gauges.
const LOOKS: u32 = 400;
const LOOKS_QUICK: u32 = 10;
/// Advances of the account's clock.
const ADVANCES: u32 = 50;
const ADVANCES_QUICK: u32 = 2;
/// The most that a piece may cost with the most waiting, to one with the fewest.
const RATIO_MAX: f64 = 1.5;
/// Cheaper pieces are not compared: their cost is within what the kernel's ticks of 10 ms resolve.
const COMPARED_FROM_MICROS: f64 = 100.0;

/// Microseconds of each thing that is measured, by its name.
type Costs = Vec<(&'static str, f64)>;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let sizes = bench.pick(WAITING_QUICK, WAITING);
    let mut columns = vec!["processor time, µs".to_owned()];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for engine in Engine::both() {
        let mut of_sizes = Vec::new();
        for waiting in sizes {
            println!("waiting: {}, {}", engine.word(), number(waiting as f64, 0));
            let costs = costs(bench, &engine, waiting).await?;
            for (what, micros) in &costs {
                println!("  {what}: {} µs", number(*micros, 0));
            }
            columns.push(format!("{}, {}", engine.word(), number(waiting as f64, 0)));
            rows.resize_with(costs.len(), Vec::new);
            for (row, (what, micros)) in rows.iter_mut().zip(&costs) {
                if row.is_empty() {
                    row.push((*what).to_owned());
                }
                row.push(number(*micros, 0));
            }
            of_sizes.push(costs);
        }
        if let [fewest, .., most] = of_sizes.as_slice() {
            let ratios = most.iter().zip(fewest).filter(|((_, most), _)| *most >= COMPARED_FROM_MICROS);
            let ratios = ratios.map(|((what, most), (_, fewest))| (*what, most / fewest.max(1.0)));
            let worst = ratios.max_by(|(_, one), (_, other)| one.total_cmp(other));
            let (what, ratio) = worst.unwrap_or(("nothing", 0.0));
            report.number(
                format!(
                    "the most that anything costs with the most waiting, to the fewest, {} ({what})",
                    engine.word()
                ),
                number(ratio, 2),
                format!("at most {}", number(RATIO_MAX, 1)),
                Reached::at_most(RATIO_MAX, ratio),
            );
        }
    }
    let mut table = Table::new("Due work while more waits", columns.iter().map(String::as_str));
    rows.into_iter().for_each(|row| table.row(row));
    report.tables.push(table);
    report.note(format!(
        "The number of a column is that of the jobs that wait, and of the requests, deliveries, idempotency keys and tokens: as many of \
         each, half of them of the account whose work is measured and the others of 1 000 accounts with a webhook each. The jobs are of every \
         queue alike. {} pieces of each kind fall due at once. A worker in the process of the benchmark runs them by a clock that is \
         moved.",
        bench.pick(DUE_QUICK, DUE)
    ));
    report.note(
        "Processor time is that of the process, simulator and receiver included, and of the database server, as the kernel counts it \
         in ticks of 10 ms: other work on the machine changes it less than the time of day. A look is a round of the worker, in which \
         every kind of work is looked for once. The gauges are those of due work, read once.",
    );
    Ok(report)
}

async fn costs(bench: &Bench, engine: &Engine, waiting: u64) -> Outcome<Costs> {
    let place = engine.place(&bench.binary).await?.with("REGENTE_OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8");
    let clock = Clock::manual(Clock::system().deployment());
    let inside = place.open(clock.clone()).await?;
    let account = inside.make_account("Shop".to_owned(), &one_simulator()).await?;
    let kind = inside.database_kind();
    inside.run_script(&rows::waiting(kind, &account, waiting)).await?;
    match kind {
        DatabaseKind::Sqlite => {}
        // Otherwise the server does it at some time while something else is measured.
        DatabaseKind::Postgres => inside.run_script("VACUUM ANALYZE").await?,
    }
    let shop = Shop::open(inside.clone(), clock, account.clone(), bench.pick(DUE_QUICK, DUE)).await?;
    shop.work_off().await?;
    let meter = Meter { engine };
    let mut costs = Costs::new();
    for piece in Piece::ALL {
        shop.make_due(piece).await?;
        let micros = meter.micros(shop.work_off()).await?;
        shop.check(piece).await?;
        costs.push((piece.word(), micros / f64::from(shop.due)));
    }
    inside.run_script(&rows::expired_keys(kind, &account, u64::from(shop.due))).await?;
    shop.an_hour_later();
    costs.push(("an expired key that is purged", meter.micros(shop.work_off()).await? / f64::from(shop.due)));
    let looks = bench.pick(LOOKS_QUICK, LOOKS);
    costs.push(("a look that finds nothing", meter.micros(shop.look(looks)).await? / f64::from(looks)));
    let gauges = async {
        for _ in 0..looks {
            inside.read_gauges().await?;
        }
        Ok(())
    };
    costs.push(("the gauges", meter.micros(gauges).await? / f64::from(looks)));
    // The last one, since the account has a clock of its own from then on.
    let advances = bench.pick(ADVANCES_QUICK, ADVANCES);
    let micros = meter.micros(shop.advance_clock(advances)).await?;
    costs.push(("an advance of the account's clock", micros / f64::from(advances)));
    inside.close().await;
    Ok(costs)
}

/// Measures the processor time of this process and of the database.
struct Meter<'a> {
    engine: &'a Engine,
}

impl Meter<'_> {
    fn cpu_seconds(&self) -> f64 {
        Usage::of(std::process::id()).cpu_seconds + self.engine.usage().cpu_seconds
    }

    async fn micros(&self, doing: impl Future<Output = Outcome>) -> Outcome<f64> {
        let before = self.cpu_seconds();
        doing.await?;
        Ok((self.cpu_seconds() - before) * 1e6)
    }
}
