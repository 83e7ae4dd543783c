//! A million subscriptions that fall due at one moment: what is charged a second, the memory meanwhile, and what charges of others take,
//! without the backlog and with it in the same run.

mod backlog;

use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use tokio::time::sleep;

use super::engine::Engine;
use super::figures::{Reached, Samples, number};
use super::latency::{largest_rate, sender};
use super::open_loop::{Line, Measured};
use super::report::{Report, Table};
use super::{Bench, meter};
use crate::Outcome;
use crate::place::{Account, Place, one_simulator};
use crate::service::{Service, Simulator};
use backlog::Backlog;

/// Subscriptions that are due.
const SUBSCRIPTIONS: u32 = 1_000_000;
const SUBSCRIPTIONS_QUICK: u32 = 5_000;
/// Accounts that have them, as many each.
const ACCOUNTS: usize = 300;
const ACCOUNTS_QUICK: usize = 20;
/// The part of the largest rate that others charge at.
const LOAD: f64 = 0.25;
/// Connections of the open loop.
const CONNECTIONS: usize = 256;
/// Seconds of a measurement without the backlog, and as many with it.
const WINDOW_SECONDS: u32 = 20;
const WINDOW_SECONDS_QUICK: u32 = 2;
/// Seconds before each measurement.
const WARM_UP_SECONDS: u32 = 3;
const WARM_UP_SECONDS_QUICK: u32 = 1;
/// From the start of a service to the measurement without the backlog, beside the warm-up.
const STARTING: Duration = Duration::from_secs(4);
/// Minutes for which the backlog is watched in the last round.
const MINUTES: u32 = 3;
const MINUTE_SECONDS: f64 = 60.0;
/// The most that p99 of the others may be, to what it is without the backlog.
const P99_RATIO_MAX: f64 = 2.0;
/// The most that memory may grow from the first minute to the last.
const GROWTH_MAX: f64 = 1.1;

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let mut others = Table::new(
        "Charges of others, open loop, without the backlog and with it",
        [
            "database",
            "a second",
            "p50 ms without",
            "p99 ms without",
            "p50 ms with",
            "p99 ms with",
            "p99, ratio",
            "subscriptions charged a second",
        ],
    );
    let mut minutes = Table::new(
        "The service while it works the backlog off, with the charges of others",
        [
            "database, minute",
            "subscriptions charged a second",
            "p99 ms of others",
            "MB of its own",
            "most MB",
        ],
    );
    for engine in Engine::both() {
        let run = Run::of(bench, &engine).await?;
        let mut rounds = Rounds::default();
        let wanted = bench.rounds;
        for round in 1..=wanted {
            println!("subscriptions: {}, round {round} of {wanted}", engine.word());
            let watched = if round == wanted { bench.pick(0, MINUTES) } else { 0 };
            run.round(&mut rounds, watched).await?;
        }
        let ratio = rounds.p99_with.divided_by(&rounds.p99_without);
        others.row([
            engine.word().to_owned(),
            number(run.rate, 0),
            rounds.p50_without.show(2),
            rounds.p99_without.show(2),
            rounds.p50_with.show(2),
            rounds.p99_with.show(2),
            ratio.show(2),
            rounds.charged.show(0),
        ]);
        report.number(
            format!("p99 of other charges with the backlog, to without it, {}", engine.word()),
            ratio.show(2),
            format!("at most {}", number(P99_RATIO_MAX, 0)),
            Reached::at_most(P99_RATIO_MAX, ratio.median()),
        );
        if let [first, .., last] = rounds.minutes.as_slice() {
            report.number(
                format!(
                    "memory of its own in the last minute of the backlog, to the first, {}",
                    engine.word()
                ),
                number(last.own_mib / first.own_mib, 2),
                format!("at most {}", number(GROWTH_MAX, 1)),
                Reached::at_most(GROWTH_MAX, last.own_mib / first.own_mib),
            );
        }
        minutes.row([
            format!("{}, before it is due", engine.word()),
            "-".to_owned(),
            "-".to_owned(),
            number(rounds.own_mib_before, 1),
            "-".to_owned(),
        ]);
        for (at, minute) in rounds.minutes.iter().enumerate() {
            minutes.row([
                format!("{}, {}", engine.word(), at + 1),
                number(minute.charged, 0),
                number(minute.p99_ms, 2),
                number(minute.own_mib, 1),
                number(minute.own_mib_max, 1),
            ]);
        }
        report.note(format!(
            "{}: {} of {} subscriptions were charged in the run, between {} and {} of an account.",
            engine.word(),
            number(rounds.charged_in_all as f64, 0),
            number(f64::from(run.backlog.subscriptions), 0),
            rounds.of_accounts.0,
            rounds.of_accounts.1
        ));
        for late in rounds.late {
            report.note(format!("{}: {late}", engine.word()));
        }
    }
    report.tables.extend([others, minutes]);
    report.note(format!(
        "{} rounds. In each the service starts anew, {} s are measured, the backlog falls due, and as many seconds are measured again; \
         the last round goes on for {} minutes. {} accounts have as many subscriptions each, with a card, a customer and a merchant of \
         their own; rows are written by SQL, as copies of one that was created over HTTP for each account. The others are one more \
         account, with {} of the largest rate of a closed loop. The simulator is a process of its own that answers at once. Service, \
         simulator, load and database share the machine.",
        bench.rounds,
        bench.pick(WINDOW_SECONDS_QUICK, WINDOW_SECONDS),
        bench.pick(0, MINUTES),
        bench.pick(ACCOUNTS_QUICK, ACCOUNTS),
        number(LOAD, 2)
    ));
    Ok(report)
}

/// A database with a backlog, and the load of others.
struct Run {
    place: Place,
    _simulator: Simulator,
    backlog: Backlog,
    others: Vec<Account>,
    rate: f64,
    warm_up_seconds: f64,
    seconds: f64,
}

/// What rounds have measured.
#[derive(Default)]
struct Rounds {
    p50_without: Samples,
    p99_without: Samples,
    p50_with: Samples,
    p99_with: Samples,
    charged: Samples,
    charged_in_all: u64,
    /// The fewest and the most of one account.
    of_accounts: (u64, u64),
    own_mib_before: f64,
    minutes: Vec<Minute>,
    /// Where the load did not keep its schedule.
    late: Vec<String>,
}

/// A minute in which the backlog is worked off.
struct Minute {
    charged: f64,
    p99_ms: f64,
    own_mib: f64,
    own_mib_max: f64,
}

impl Run {
    async fn of(bench: &Bench, engine: &Engine) -> Outcome<Self> {
        let simulator = Simulator::start_in_memory(&bench.binary, 1).await?;
        let place =
            engine.place(&bench.binary).await?.reachable().with("REGENTE_SANDBOX__URL", &simulator.url);
        let others = place.make_accounts(1, &one_simulator()).await?;
        println!("subscriptions: {}, filling", engine.word());
        let (accounts, subscriptions) =
            (bench.pick(ACCOUNTS_QUICK, ACCOUNTS), bench.pick(SUBSCRIPTIONS_QUICK, SUBSCRIPTIONS));
        let backlog = Backlog::fill(&place, accounts, subscriptions).await?;
        let service = Service::start(&place)?;
        let carried = largest_rate(&service, &others, bench.seconds)?.rate;
        service.stop()?;
        println!("subscriptions: {} carries {} charges a second", engine.word(), number(carried, 0));
        Ok(Self {
            place,
            _simulator: simulator,
            backlog,
            others,
            rate: carried * LOAD,
            warm_up_seconds: f64::from(bench.pick(WARM_UP_SECONDS_QUICK, WARM_UP_SECONDS)),
            seconds: f64::from(bench.pick(WINDOW_SECONDS_QUICK, WINDOW_SECONDS)),
        })
    }

    async fn round(&self, rounds: &mut Rounds, minutes: u32) -> Outcome {
        let before = STARTING + Duration::from_secs_f64(self.warm_up_seconds + self.seconds);
        let due_at = self.backlog.put_off(&self.place, before).await?;
        let service = Service::start(&self.place)?;
        let line = Line::open(&service, CONNECTIONS).await?;
        self.send(&line, self.warm_up_seconds).await?;
        let without = self.send(&line, self.seconds).await?;
        rounds.own_mib_before = meter::own_mib(service.process_id());
        if now() >= due_at {
            return Err("the backlog fell due too early".into());
        }
        sleep(due_at.since(now())).await;
        self.send(&line, self.warm_up_seconds).await?;
        let (with, charged) = self.counted(&service, &line, self.seconds).await?;
        for (what, measured) in [("without", &without), ("with", &with)] {
            if !measured.kept_schedule() {
                let late = number(measured.late_p99_ms(), 1);
                rounds.late.push(format!("the load {what} the backlog was late: p99 {late} ms."));
            }
        }
        println!(
            "  without: p50 {} p99 {} ms; with: p50 {} p99 {} ms, {} a second",
            number(without.taken_ms(0.5), 2),
            number(without.taken_ms(0.99), 2),
            number(with.taken_ms(0.5), 2),
            number(with.taken_ms(0.99), 2),
            number(charged, 0)
        );
        rounds.p50_without.add(without.taken_ms(0.5));
        rounds.p99_without.add(without.taken_ms(0.99));
        rounds.p50_with.add(with.taken_ms(0.5));
        rounds.p99_with.add(with.taken_ms(0.99));
        rounds.charged.add(charged);
        for _ in 0..minutes {
            let watch = meter::Watch::begin(service.process_id());
            let (measured, charged) = self.counted(&service, &line, MINUTE_SECONDS).await?;
            let minute = Minute {
                charged,
                p99_ms: measured.taken_ms(0.99),
                own_mib: meter::own_mib(service.process_id()),
                own_mib_max: watch.end().own_mib,
            };
            println!(
                "  {} a second, p99 {} ms, {} MB",
                number(charged, 0),
                number(minute.p99_ms, 2),
                number(minute.own_mib, 1)
            );
            rounds.minutes.push(minute);
        }
        let of_each = self.backlog.charged_of_each(&service).await?;
        rounds.charged_in_all = of_each.iter().sum();
        let (fewest, most) = (of_each.iter().min(), of_each.iter().max());
        rounds.of_accounts = (fewest.copied().unwrap_or(0), most.copied().unwrap_or(0));
        service.stop()
    }

    /// Others charge for so many seconds; also returns how many subscriptions are charged a second meanwhile.
    async fn counted(&self, service: &Service, line: &Line, seconds: f64) -> Outcome<(Measured, f64)> {
        let (began, before) = (now(), self.backlog.charged(service).await?);
        let measured = self.send(line, seconds).await?;
        let (ended, after) = (now(), self.backlog.charged(service).await?);
        let charged = after.saturating_sub(before) as f64;
        Ok((measured, charged / ended.since(began).as_secs_f64()))
    }

    async fn send(&self, line: &Line, seconds: f64) -> Outcome<Measured> {
        let measured = line.send(self.rate, seconds, sender(&self.others)?).await?;
        match measured.others + measured.refused.len() {
            0 => Ok(measured),
            _ => Err(format!(
                "charges of others were not taken: {} were answered 503, {} otherwise",
                measured.refused.len(),
                measured.others
            )
            .into()),
        }
    }
}

fn now() -> Timestamp {
    Clock::system().deployment()
}
