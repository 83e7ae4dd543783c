//! A payday on which a million receivables are due: what is settled a second, the memory meanwhile, and whether every cent is in a
//! batch that the bank has paid.

mod receivables;

use std::time::{Duration, Instant};

use regente_engine::clock::Clock;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::Bench;
use super::engine::Engine;
use super::figures::{Reached, Samples, number};
use super::meter::{self, Usage, Watch};
use super::report::{Report, Table};
use crate::Outcome;
use crate::place::{Account, Inside, Place};
use receivables::Filled;

/// Receivables that are due.
const RECEIVABLES: u64 = 1_000_000;
const RECEIVABLES_QUICK: u64 = 10_000;
/// Accounts that have one half, as many each, besides the one that has the other half.
const ACCOUNTS: usize = 300;
const ACCOUNTS_QUICK: usize = 10;
/// Interval between looks at what is paid, and how often one is shown.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const SHOWN_EVERY: Duration = Duration::from_secs(5);
/// Without anything new in this time, something is wrong.
const PATIENCE: Duration = Duration::from_secs(120);
/// Most memory of the process, in MB, whatever is due.
const OWN_MIB_MAX: f64 = 200.0;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let columns = [
        "database",
        "receivables",
        "batches",
        "s",
        "receivables a second",
        "CPU s",
        "CPU s of PostgreSQL",
        "MB of its own before",
        "MB of its own at most",
    ];
    let mut table = Table::new("A payday, from its start until the bank has paid the last batch", columns);
    let receivables = bench.pick(RECEIVABLES_QUICK, RECEIVABLES);
    let accounts = bench.pick(ACCOUNTS_QUICK, ACCOUNTS);
    for engine in Engine::both() {
        let mut rounds = Rounds::default();
        for round in 1..=bench.rounds {
            println!("payouts: {}, round {round} of {}, filling", engine.word(), bench.rounds);
            // The payday opens the product anew, and the own provider still knows the sellers then.
            let place = engine.place(&bench.binary).await?.with_books_on_disk();
            let filled = receivables::fill(&place, accounts, receivables).await?;
            rounds.add(settle(&engine, place, filled)?);
        }
        let Rounds { seconds, rate, cpu, beside, own_before, own_max, batches } = &rounds;
        table.row([
            engine.word().to_owned(),
            number(receivables as f64, 0),
            number(*batches as f64, 0),
            seconds.show(1),
            rate.show(0),
            cpu.show(1),
            if engine.is_beside() { beside.show(1) } else { "-".to_owned() },
            own_before.show(0),
            own_max.show(0),
        ]);
        report.number(
            format!("MB of its own at most, {}", engine.word()),
            own_max.show(0),
            format!("at most {}", number(OWN_MIB_MAX, 0)),
            Reached::at_most(OWN_MIB_MAX, own_max.max()),
        );
        report.number(
            format!(
                "receivables that are not in exactly one batch that the bank has paid, {}",
                engine.word()
            ),
            "none",
            "none",
            Reached::Yes,
        );
    }
    report.tables.push(table);
    report.note(format!(
        "One account has half of the receivables, {accounts} have as many each of the others; each has {} sellers. The product makes those \
         of one charge of each account, and SQL copies of them. All of them are due on one day, and the jobs of the payday run in \
         the process of the benchmark, whose memory it is; before it, the same process has filled the database. At the end the \
         batches of each account are held against the sums of its orders to the cent, and each one against the bank; a difference \
         ends the run.",
        receivables::SELLERS
    ));
    Ok(report)
}

/// What rounds have measured.
#[derive(Default)]
struct Rounds {
    seconds: Samples,
    rate: Samples,
    cpu: Samples,
    beside: Samples,
    own_before: Samples,
    own_max: Samples,
    batches: u64,
}

impl Rounds {
    fn add(&mut self, settled: Settled) {
        self.seconds.add(settled.seconds);
        self.rate.add(settled.receivables as f64 / settled.seconds);
        self.cpu.add(settled.cpu_seconds);
        self.beside.add(settled.beside_seconds);
        self.own_before.add(settled.own_before);
        self.own_max.add(settled.own_max);
        self.batches = settled.batches;
    }
}

/// A payday that is over.
struct Settled {
    receivables: u64,
    batches: u64,
    seconds: f64,
    cpu_seconds: f64,
    beside_seconds: f64,
    own_before: f64,
    own_max: f64,
}

/// Runs the payday by threads of its own: a service has several, and this task one.
fn settle(engine: &Engine, place: Place, filled: Filled) -> Outcome<Settled> {
    let word = engine.word();
    let beside = engine.usage();
    let settling = std::thread::spawn(move || -> Result<Settled, String> {
        let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
        runtime.block_on(payday(word, &place, &filled)).map_err(|error| error.to_string())
    });
    let settled = settling.join().map_err(|_panic| "the payday has panicked")??;
    Ok(Settled { beside_seconds: engine.usage().since(beside).cpu_seconds, ..settled })
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn payday(word: &str, place: &Place, filled: &Filled) -> Outcome<Settled> {
    let Filled { accounts, receivables, due_at } = filled;
    let inside = place.open(Clock::manual(*due_at)).await?;
    let worker = inside.worker().await?;
    let process_id = std::process::id();
    let own_before = meter::own_mib(process_id);
    let (usage, watch, begun) = (Usage::of(process_id), Watch::begin(process_id), Instant::now());
    let (stop, is_stopped) = oneshot::channel::<()>();
    let until_stopped = async {
        let _ = is_stopped.await;
    };
    let watched = async {
        let ended = until_all_is_paid(word, &inside, accounts, *receivables).await;
        let seconds = begun.elapsed().as_secs_f64();
        let _ = stop.send(());
        ended.map(|()| seconds)
    };
    let ((), seconds) = tokio::join!(worker.run_until(until_stopped), watched);
    let seconds = seconds?;
    let own_max = watch.end().own_mib;
    let cpu_seconds = Usage::of(process_id).since(usage).cpu_seconds;
    let paid = inside.examine_payday(accounts).await?;
    inside.close().await;
    let batches = accounts.len() as u64 * receivables::RECEIVERS;
    if (paid.orders, paid.batches) != (*receivables, batches) {
        return Err(format!("{paid:?} instead of {batches} batches of {receivables} receivables").into());
    }
    println!("payouts: {word}, {} s, {} cents in {batches} batches", number(seconds, 1), paid.amount);
    Ok(Settled {
        receivables: *receivables,
        batches,
        seconds,
        cpu_seconds,
        beside_seconds: 0.0,
        own_before,
        own_max,
    })
}

/// Looks at what is paid until nothing is left, and shows it now and then.
#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn until_all_is_paid(word: &str, inside: &Inside, accounts: &[Account], receivables: u64) -> Outcome {
    let (mut before, mut since, mut shown) = (0, Instant::now(), Instant::now());
    loop {
        let orders = inside.paid(accounts).await?.orders;
        if shown.elapsed() >= SHOWN_EVERY || orders >= receivables {
            shown = Instant::now();
            println!("payouts: {word}, {orders} of {receivables} receivables are paid");
        }
        if orders >= receivables {
            return Ok(());
        }
        if orders > before {
            (before, since) = (orders, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            return Err(format!("{orders} of {receivables} receivables are paid, and no more").into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
