//! A charge at a real adapter, next to one at the simulator: charges a second, what a charge costs, and the memory of one
//! in flight. The adapter is that of `STRIPE`, whose provider is a process of this task. The simulator is asked twice:
//! over HTTP, as the adapter asks its provider, and in the service's process. The many in flight wait only for the latter: a
//! simulator in a process of its own closes what is beyond 1,000 connections.

use serde_json::Value;

use super::figures::Samples;
use super::meter::{self, Usage};
use super::report::{Report, Table};
use super::slow_provider::{self, IN_FLIGHT, PROVIDER_MS};
use super::stripe_loopback::StripeLoopback;
use super::turns::Turns;
use super::{Bench, charges};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator, slow_simulator};
use crate::service::{Service, Simulator};

/// Connections of the closed loop.
const CONNECTIONS: u32 = 64;

/// Who is asked for a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Adapter,
    Remote,
    InProcess,
}

impl Side {
    /// The turns of a round.
    const ALL: [Self; 3] = [Self::Adapter, Self::Remote, Self::InProcess];
    /// Those that take as many charges in flight.
    const WITH_ROOM: [Self; 2] = [Self::Adapter, Self::InProcess];

    const fn word(self) -> &'static str {
        match self {
            Self::Adapter => "STRIPE",
            Self::Remote => "simulator over HTTP",
            Self::InProcess => "simulator in the process",
        }
    }
}

/// A provider that runs, for one turn.
enum Provider {
    Stripe(StripeLoopback),
    Remote(Simulator),
    InProcess,
}

impl Provider {
    async fn start(bench: &Bench, side: Side) -> Outcome<Self> {
        Ok(match side {
            Side::Adapter => Self::Stripe(StripeLoopback::start()?),
            Side::Remote => Self::Remote(Simulator::start_in_memory(&bench.binary, 1).await?),
            Side::InProcess => Self::InProcess,
        })
    }

    /// The place of a service that asks it.
    fn known_to(&self, place: Place) -> Place {
        match self {
            Self::Stripe(stripe) => place.with("REGENTE_PROVIDERS__STRIPE_URL", &stripe.url),
            Self::Remote(simulator) => place.with("REGENTE_SANDBOX__URL", &simulator.url),
            Self::InProcess => place,
        }
    }

    /// The providers of a merchant whose charges are answered at once.
    fn quick(&self) -> Value {
        match self {
            Self::Stripe(_) => StripeLoopback::answering_after(0),
            Self::Remote(_) | Self::InProcess => one_simulator(),
        }
    }

    /// The providers of a merchant whose charges wait.
    fn slow(&self) -> Value {
        match self {
            Self::Stripe(_) => StripeLoopback::answering_after(PROVIDER_MS),
            Self::Remote(_) | Self::InProcess => slow_simulator(PROVIDER_MS),
        }
    }

    /// Its own process.
    fn process_id(&self) -> Option<u32> {
        match self {
            Self::Stripe(stripe) => Some(stripe.process_id()),
            Self::Remote(simulator) => Some(simulator.process_id()),
            Self::InProcess => None,
        }
    }

    /// A service that asks it, and an account whose merchant has it.
    async fn serve(&self, place: Place) -> Outcome<(Service, Account)> {
        let place = self.known_to(place);
        let mut accounts = place.make_accounts(1, &self.quick()).await?;
        let account = accounts.pop().ok_or("no account was made")?;
        Ok((Service::start(&place)?, account))
    }
}

/// The memory of charges in flight at one side, one value for each round.
#[derive(Default)]
struct InFlight {
    before_mib: Samples,
    connected_mib: Samples,
    peak_mib: Samples,
    kib_each: Samples,
    more_threads: Samples,
    p99_ms: Samples,
}

impl InFlight {
    fn add(&mut self, measured: &slow_provider::Measured) {
        self.before_mib.add(measured.before_mib);
        self.connected_mib.add(measured.connected_mib);
        self.peak_mib.add(measured.peak_mib);
        self.kib_each.add(measured.kib_each());
        self.more_threads.add(measured.more_threads());
        self.p99_ms.add(measured.p99_ms);
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    report.tables.push(costs(bench).await?);
    report.tables.push(memory(bench).await?);
    report.note(format!(
        "{} rounds of {} s. The provider of STRIPE approves every payment with a recorded body; the books of the simulator are \
         in memory. Both are processes of their own on the same cores, so the rate falls also by what they cost themselves: \
         the service's processor time is what compares the adapters.",
        bench.rounds, bench.seconds
    ));
    report.note(
        "A charge in flight is measured as in `slow-provider`, the connection of its caller included. At STRIPE each also has a \
         connection to the provider; at the simulator in the process none.",
    );
    Ok(report)
}

async fn costs(bench: &Bench) -> Outcome<Table> {
    let mut table = Table::new(
        format!("Charges at providers that answer at once, closed loop of {CONNECTIONS} connections"),
        Turns::columns("provider", "provider CPU µs"),
    );
    let mut measured = [(); Side::ALL.len()].map(|()| Turns::default());
    for round in 1..=bench.rounds {
        for (side, turns) in Side::ALL.into_iter().zip(&mut measured) {
            println!("adapters: {}, round {round} of {}", side.word(), bench.rounds);
            turn(bench, side, turns).await?;
        }
    }
    for (side, turns) in Side::ALL.into_iter().zip(&measured) {
        table.row(turns.row(side.word().to_owned()));
    }
    let [adapter, remote, in_process] = &measured;
    for (other, side) in [(remote, Side::Remote), (in_process, Side::InProcess)] {
        let ratio = adapter.divided_by(other);
        table.row(ratio.row_of_ratios(divided(side)));
    }
    Ok(table)
}

async fn turn(bench: &Bench, side: Side, turns: &mut Turns) -> Outcome {
    let provider = Provider::start(bench, side).await?;
    let (service, account) = provider.serve(bench.place()?).await?;
    let usage = || provider.process_id().map(Usage::of).unwrap_or_default();
    let accounts = std::slice::from_ref(&account);
    let (load, used) = charges::charge_beside(bench, &service, accounts, CONNECTIONS, usage)?;
    let resident_mib = meter::resident_mib(service.process_id());
    require_approved(&service, &account).await?;
    turns.add(&load, provider.process_id().map(|_| used), resident_mib);
    service.stop()
}

async fn memory(bench: &Bench) -> Outcome<Table> {
    let mut table = Table::new(
        format!("{IN_FLIGHT} charges in flight, the provider takes {PROVIDER_MS} ms"),
        [
            "provider",
            "MB before",
            "MB with connections",
            "MB at most",
            "KB a charge",
            "threads more",
            "p99 ms",
        ],
    );
    let mut measured = [(); Side::WITH_ROOM.len()].map(|()| InFlight::default());
    // A quick run has measured the simulator in `slow-provider`.
    let sides = bench.pick(&Side::WITH_ROOM[..1], &Side::WITH_ROOM[..]);
    for round in 1..=bench.rounds {
        for (&side, in_flight) in sides.iter().zip(&mut measured) {
            println!("adapters: in flight, {}, round {round} of {}", side.word(), bench.rounds);
            let provider = Provider::start(bench, side).await?;
            let (service, account) = provider.serve(slow_provider::patient(bench.place()?)).await?;
            in_flight.add(&slow_provider::charge(bench, &service, &account, &provider.slow()).await?);
            require_approved(&service, &account).await?;
        }
    }
    for (side, in_flight) in sides.iter().zip(&measured) {
        let InFlight { before_mib, connected_mib, peak_mib, kib_each, more_threads, p99_ms } = in_flight;
        table.row([
            side.word().to_owned(),
            before_mib.show(1),
            connected_mib.show(1),
            peak_mib.show(1),
            kib_each.show(1),
            more_threads.show(0),
            p99_ms.show(0),
        ]);
    }
    let [adapter, others @ ..] = &measured;
    for (&side, other) in sides.iter().skip(1).zip(others) {
        let dash = || "-".to_owned();
        let ratio = adapter.kib_each.divided_by(&other.kib_each).show(3);
        table.row([divided(side), dash(), dash(), dash(), ratio, dash(), dash()]);
    }
    Ok(table)
}

fn divided(by: Side) -> String {
    format!("{} / {}", Side::Adapter.word(), by.word())
}

/// A charge that is declined or stays unknown is answered 201 too. Those that were under way when the load ended may be open.
async fn require_approved(service: &Service, account: &Account) -> Outcome {
    let others = service.count(account, "failed,pending").await?;
    if others > u64::from(CONNECTIONS) {
        return Err(format!("{others} charges were not approved").into());
    }
    Ok(())
}
