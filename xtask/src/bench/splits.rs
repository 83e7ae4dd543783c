//! Charges of one merchant that are divided between two sellers, next to charges that are the merchant's alone: every
//! charge posts to the same accounts of the ledger.

use serde_json::{Value, json};

use super::engine::Engine;
use super::figures::{Reached, number};
use super::postgres::CONNECTIONS;
use super::report::{Report, Table};
use super::requests::Charge;
use super::turns::Turns;
use super::{Bench, meter, wrk};
use crate::Outcome;
use crate::place::sellers::seller;
use crate::place::{Account, one_simulator};
use crate::service::Service;

/// The share of the rate of undivided charges to reach.
const RATE_MIN: f64 = 0.80;
/// Seconds before each measurement, to fill the caches of keys and merchants.
const WARM_UP_SECONDS: u32 = 1;
/// CPF numbers of the sellers, and their parts in percent.
const SELLERS: [(&str, u8); 2] = [("36243319067", 30), ("52998224725", 20)];

/// Whose a charge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Merchant,
    Divided,
}

impl Side {
    /// Both sides are measured equally early.
    const TURNS: [Self; 4] = [Self::Divided, Self::Merchant, Self::Merchant, Self::Divided];

    const fn word(self) -> &'static str {
        match self {
            Self::Merchant => "the merchant's alone",
            Self::Divided => "with two sellers",
        }
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let mut table = Table::new(
        format!("Charges of one merchant, closed loop of {CONNECTIONS} connections"),
        Turns::columns("database, charges", "PostgreSQL CPU µs"),
    );
    for engine in Engine::both() {
        let (mut merchant, mut divided) = (Turns::default(), Turns::default());
        for round in 1..=bench.rounds {
            for side in Side::TURNS {
                println!("splits: {}, {}, round {round} of {}", engine.word(), side.word(), bench.rounds);
                let turns = match side {
                    Side::Merchant => &mut merchant,
                    Side::Divided => &mut divided,
                };
                turn(bench, &engine, side, turns).await?;
            }
        }
        let ratio = divided.divided_by(&merchant);
        report.number(
            format!("part of the rate of undivided charges, {}", engine.word()),
            ratio.rate.show(3),
            format!("at least {}", number(RATE_MIN, 2)),
            Reached::at_least(RATE_MIN, ratio.rate.median()),
        );
        for (side, turns) in [(Side::Merchant, &merchant), (Side::Divided, &divided)] {
            table.row(turns.row(format!("{}, {}", engine.word(), side.word())));
        }
        table.row(ratio.row_of_ratios(format!("{}, ratio", engine.word())));
    }
    report.tables.push(table);
    report.note(format!(
        "{} rounds of {} s. In a round the sides take turns: divided, undivided, undivided, divided. Each turn has a fresh \
         database. The bodies have the same length; 30 % and 20 % of a divided charge are the sellers'.",
        bench.rounds, bench.seconds
    ));
    Ok(report)
}

async fn turn(bench: &Bench, engine: &Engine, side: Side, turns: &mut Turns) -> Outcome {
    let place = engine.place(&bench.binary).await?;
    let account = place.make_account_by_commands()?;
    let service = Service::start(&place)?;
    let merchant_id = service.make_merchant(&account, &one_simulator()).await?;
    let account = Account { merchant_id, ..account };
    let rules = match side {
        Side::Merchant => Value::Null,
        Side::Divided => rules(&service, &account).await?,
    };
    let charges = [Charge::divided(&account, &rules)?];
    wrk::requests(&service, &charges, CONNECTIONS, WARM_UP_SECONDS)?;
    let before = engine.usage();
    let load = wrk::requests(&service, &charges, CONNECTIONS, bench.seconds)?;
    let used = engine.is_beside().then(|| engine.usage().since(before));
    turns.add(&load, used, meter::resident_mib(service.process_id()));
    service.stop()
}

/// Two sellers, and the rules that give each its part.
async fn rules(service: &Service, account: &Account) -> Outcome<Value> {
    let mut rules = Vec::with_capacity(SELLERS.len());
    for (document, percentage) in SELLERS {
        let created = service.post(account, "/v1/sellers", &seller(account, document)).await?;
        // A new seller is answered as pending.
        let path = format!("/v1/sellers/{}", created["id"].as_str().unwrap_or_default());
        let seller = service.get(account, &path).await?;
        if seller["status"] != "active" {
            return Err(format!("the simulator did not take a seller: {seller}").into());
        }
        rules.push(json!({ "sellerId": seller["id"], "percentage": percentage }));
    }
    Ok(Value::Array(rules))
}
