//! Compares two binaries in alternating turns, for instance before and after a refactoring: rate, cost of a charge,
//! memory of a charge in flight. Each binary creates its own databases and accounts.

use std::path::Path;

use super::engine::Engine;
use super::figures::{Reached, Samples, number};
use super::meter;
use super::postgres::CONNECTIONS;
use super::report::{Report, Table};
use super::turns::Turns;
use super::{Bench, charges, slow_provider};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator, slow_simulator};
use crate::service::Service;

/// The share of the old binary's rate that the new one must reach.
const RATE_MIN: f64 = 0.97;
/// The most memory of a charge in flight, relative to the old binary; up to 3 % counts as noise.
const MEMORY_MAX: f64 = 1.03;

/// One of the two binaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    New,
    Old,
}

impl Side {
    /// The turns of a round. Both sides are measured equally early, so that neither gains from a drift of the
    /// machine's speed. The first two turns are a pair, and so are the last two.
    const TURNS: [Self; 4] = [Self::New, Self::Old, Self::Old, Self::New];

    const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Old => "old",
        }
    }
}

/// A value for each binary.
#[derive(Default)]
struct Sides<T> {
    new: T,
    old: T,
}

impl<T> Sides<T> {
    const fn of(&self, side: Side) -> &T {
        match side {
            Side::New => &self.new,
            Side::Old => &self.old,
        }
    }

    const fn of_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::New => &mut self.new,
            Side::Old => &mut self.old,
        }
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let old = bench.against.as_deref().ok_or("no second binary to compare with")?;
    let binaries = Sides { new: bench.binary.as_path(), old };
    println!("compare: new {}, old {}", binaries.new.display(), binaries.old.display());
    let mut report = Report::new();
    rates(bench, &binaries, &mut report).await?;
    memory(bench, &binaries, &mut report).await?;
    report.note(format!(
        "{} rounds of {} s. In a round the binaries take turns, new, old, old, new: two pairs, and two ratios. Each turn has \
         a fresh database, which its own binary has made.",
        bench.rounds, bench.seconds
    ));
    Ok(report)
}

async fn rates(bench: &Bench, binaries: &Sides<&Path>, report: &mut Report) -> Outcome {
    let mut table = Table::new(
        format!("Charges of two binaries, closed loop of {CONNECTIONS} connections"),
        Turns::columns("database, binary", "PostgreSQL CPU µs"),
    );
    for engine in Engine::both() {
        let measured = charges_in_turns(bench, binaries, &engine).await?;
        let ratio = measured.new.divided_by(&measured.old);
        report.number(
            format!("part of the old binary's charges a second, {}", engine.word()),
            ratio.rate.show_with_interval(3),
            format!("at least {}", number(RATE_MIN, 2)),
            Reached::at_least(RATE_MIN, ratio.rate.median()),
        );
        for side in [Side::New, Side::Old] {
            let what = format!("{}, {}", engine.word(), side.word());
            table.row(measured.of(side).row(what));
        }
        table.row(ratio.row_of_ratios(format!("{}, new / old", engine.word())));
        table.row(ratio.row_of_intervals(format!("{}, the median within", engine.word())));
    }
    report.tables.push(table);
    Ok(())
}

async fn charges_in_turns(bench: &Bench, binaries: &Sides<&Path>, engine: &Engine) -> Outcome<Sides<Turns>> {
    let mut measured = Sides::<Turns>::default();
    for round in 1..=bench.rounds {
        for side in Side::TURNS {
            println!("compare: {}, {}, round {round} of {}", engine.word(), side.word(), bench.rounds);
            let place = engine.place(binaries.of(side)).await?;
            let (service, account) = start(&place).await?;
            let accounts = std::slice::from_ref(&account);
            let (load, used) =
                charges::charge_beside(bench, &service, accounts, CONNECTIONS, || engine.usage())?;
            let used = engine.is_beside().then_some(used);
            measured.of_mut(side).add(&load, used, meter::resident_mib(service.process_id()));
            service.stop()?;
        }
    }
    Ok(measured)
}

async fn memory(bench: &Bench, binaries: &Sides<&Path>, report: &mut Report) -> Outcome {
    let slow = slow_simulator(slow_provider::PROVIDER_MS);
    let mut kib = Sides::<Samples>::default();
    for round in 1..=bench.rounds {
        for side in Side::TURNS {
            println!("compare: in flight, {}, round {round} of {}", side.word(), bench.rounds);
            let place = slow_provider::patient(Bench::place_of(binaries.of(side))?);
            let (service, account) = start(&place).await?;
            let measured = slow_provider::charge(bench, &service, &account, &slow).await?;
            kib.of_mut(side).add(measured.kib_each());
        }
    }
    let ratio = kib.new.divided_by(&kib.old);
    report.number(
        "memory of a charge in flight, to the old binary's",
        ratio.show_with_interval(3),
        format!("at most {}", number(MEMORY_MAX, 2)),
        Reached::at_most(MEMORY_MAX, ratio.median()),
    );
    let mut table = Table::new("Charges in flight, as `slow-provider` measures them", ["", "KB a charge"]);
    for side in [Side::New, Side::Old] {
        table.row([side.word().to_owned(), kib.of(side).show(1)]);
    }
    table.row(["new / old".to_owned(), ratio.show(3)]);
    report.tables.push(table);
    Ok(())
}

/// A service of the place's binary on a database created by it, with an account that has one simulator.
async fn start(place: &Place) -> Outcome<(Service, Account)> {
    let account = place.make_account_by_commands()?;
    let service = Service::start(place)?;
    let merchant_id = service.make_merchant(&account, &one_simulator()).await?;
    Ok((service, Account { merchant_id, ..account }))
}
