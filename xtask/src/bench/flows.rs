//! Charges of a merchant that go by a flow of twenty nodes, next to those of one that has the same providers and no flow.

use serde_json::{Value, json};

use super::engine::Engine;
use super::figures::{Reached, number};
use super::postgres::CONNECTIONS;
use super::report::{Report, Table};
use super::requests::Charge;
use super::turns::Turns;
use super::{Bench, meter, wrk};
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

/// The share of the rate without a flow to reach.
const RATE_MIN: f64 = 0.98;
/// Seconds before each round's measurements, to fill the caches of keys, merchants and flows.
const WARM_UP_SECONDS: u32 = 1;
/// Providers of both merchants.
const PROVIDERS: u32 = 4;
/// Nodes of the flow.
const NODES: usize = 20;
/// Columns of the table: without memory, which is the last one, since both sides are of one process.
const COLUMNS: usize = 7;

/// How a charge finds its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    ByFlow,
    ByPriority,
}

impl Side {
    /// Both sides are measured equally early. The first two turns are a pair, and so are the last two.
    const TURNS: [Self; 4] = [Self::ByFlow, Self::ByPriority, Self::ByPriority, Self::ByFlow];

    const fn word(self) -> &'static str {
        match self {
            Self::ByFlow => "by a flow",
            Self::ByPriority => "by priority",
        }
    }
}

pub(super) async fn measure(bench: &Bench) -> Outcome<Report> {
    let mut report = Report::new();
    let columns = Turns::columns("database, charges", "PostgreSQL CPU µs");
    let columns = columns.into_iter().take(COLUMNS);
    let mut table = Table::new(format!("Charges, closed loop of {CONNECTIONS} connections"), columns);
    let mut visited = 0;
    for engine in Engine::both() {
        let (mut flow, mut priority) = (Turns::default(), Turns::default());
        for of_round in 1..=bench.rounds {
            println!("flows: {}, round {of_round} of {}", engine.word(), bench.rounds);
            visited = round(bench, &engine, &mut flow, &mut priority).await?;
        }
        let ratio = flow.divided_by(&priority);
        report.number(
            format!("part of the rate without a flow, {}", engine.word()),
            ratio.rate.show_with_interval(3),
            format!("at least {}", number(RATE_MIN, 2)),
            Reached::at_least(RATE_MIN, ratio.rate.median()),
        );
        for (side, turns) in [(Side::ByFlow, &flow), (Side::ByPriority, &priority)] {
            table.row(turns.row(format!("{}, {}", engine.word(), side.word())).take(COLUMNS));
        }
        let ratios = ratio.row_of_ratios(format!("{}, ratio", engine.word()));
        table.row(ratios.take(COLUMNS));
        let intervals = ratio.row_of_intervals(format!("{}, the median within", engine.word()));
        table.row(intervals.take(COLUMNS));
    }
    report.tables.push(table);
    report.note(format!(
        "{} rounds, each on a fresh database, with four turns of {} s at one process: by the flow, by priority, by priority, \
         by the flow; two pairs, and two ratios. Both merchants have the same {PROVIDERS} simulators, and the bodies are the \
         same. The flow has {NODES} nodes, of which the last charge visited {visited}.",
        bench.rounds, bench.seconds
    ));
    Ok(report)
}

/// One process that serves both sides in turns. Returns how many nodes a charge has visited.
async fn round(bench: &Bench, engine: &Engine, flow: &mut Turns, priority: &mut Turns) -> Outcome<usize> {
    let place = engine.place(&bench.binary).await?;
    let account = place.make_account_by_commands()?;
    let service = Service::start(&place)?;
    let without = merchant(&service, &account).await?;
    let with = merchant(&service, &account).await?;
    let published = publish(&service, &with).await?;
    let charges = |side| -> Outcome<[Charge; 1]> {
        Ok([Charge::of(match side {
            Side::ByFlow => &with,
            Side::ByPriority => &without,
        })?])
    };
    for side in [Side::ByPriority, Side::ByFlow] {
        wrk::requests(&service, &charges(side)?, CONNECTIONS, WARM_UP_SECONDS)?;
    }
    for side in Side::TURNS {
        let before = engine.usage();
        let load = wrk::requests(&service, &charges(side)?, CONNECTIONS, bench.seconds)?;
        let used = engine.is_beside().then(|| engine.usage().since(before));
        let turns = match side {
            Side::ByFlow => &mut *flow,
            Side::ByPriority => &mut *priority,
        };
        turns.add(&load, used, meter::resident_mib(service.process_id()));
    }
    let visited = visited(&service, &with, &published).await?;
    if flow_of(&service, &without).await? != Value::Null {
        return Err("a charge of the merchant without a flow has one".into());
    }
    service.stop()?;
    Ok(visited)
}

async fn merchant(service: &Service, account: &Account) -> Outcome<Account> {
    let providers: Value = (1..=PROVIDERS)
        .map(|priority| {
            json!({ "name": format!("Simulator {priority}"), "priority": priority,
                "credentials": { "type": "SANDBOX", "apiKey": "any" } })
        })
        .collect();
    let merchant_id = service.make_merchant(account, &providers).await?;
    Ok(Account { merchant_id, ..account.clone() })
}

/// Publishes the flow of a merchant; returns its id.
async fn publish(service: &Service, account: &Account) -> Outcome<Value> {
    let merchant = service.get(account, &format!("/v1/merchants/{}", account.merchant_id)).await?;
    let providers = merchant["providers"].as_array().ok_or("a merchant without providers")?;
    let ids: Vec<&str> = providers.iter().filter_map(|provider| provider["id"].as_str()).collect();
    let &[first, second, third, fourth] = ids.as_slice() else {
        return Err(format!("{} providers of {PROVIDERS}", ids.len()).into());
    };
    let root = tree([first, second, third, fourth]);
    if nodes(&root) != NODES {
        return Err(format!("the flow has {} nodes", nodes(&root)).into());
    }
    let flow = json!({ "name": "Cards", "merchantId": account.merchant_id, "paymentMethod": "credit",
        "flow": { "version": "0.0.0", "root": root } });
    Ok(service.post(account, "/v1/flows", &flow).await?["id"].clone())
}

/// Five conditions, two balances and 13 times a provider. The charges of the load go through four of the conditions, one above
/// the other, and one or both balances.
fn tree(ids: [&str; 4]) -> Value {
    let [a, b, c, d] = ids.map(|id| json!({ "rule": "provider", "id": id }));
    let compares = |property: &str, operator: &str, value: Value| json!({ "property": format!("transaction.{property}"), "operator": operator, "value": value });
    let condition = |when: Value, yes: Value, no: Value| json!([{ "rule": "condition", "when": when, "yes": yes, "no": no }]);
    let balance = |share: u8, one: Value, other: Value| {
        json!([{ "rule": "balance", "branches": [
            { "percentage": share, "root": one }, { "percentage": 100 - share, "root": other } ] }])
    };
    let shared = balance(70, balance(50, json!([a, b]), json!([b])), json!([c]));
    let vip = json!({ "property": "metadata.vip", "type": "boolean", "operator": "eq", "value": true, "default": false });
    let by_vip = condition(vip, json!([d, a]), shared);
    let by_large = condition(compares("amount", "ge", json!(100_000)), json!([c, d]), json!([d]));
    let known = json!({ "operator": "or", "conditions": [
        compares("cardBin", "eq", json!("491674")), compares("currency", "ne", json!("BRL")) ] });
    let by_card = condition(known, by_vip, by_large);
    let by_brand = condition(compares("brand", "eq", json!("Visa")), by_card, json!([b, c]));
    let usual = json!({ "operator": "and", "conditions": [
        compares("amount", "ge", json!(100)), compares("installments", "le", json!(6)) ] });
    condition(usual, by_brand, json!([a, b]))
}

/// How many nodes are in a tree: each has a rule.
fn nodes(tree: &Value) -> usize {
    match tree {
        Value::Array(values) => values.iter().map(nodes).sum(),
        Value::Object(members) => {
            usize::from(members.contains_key("rule")) + members.values().map(nodes).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The nodes that a charge of the merchant has visited, of the flow with this id.
async fn visited(service: &Service, account: &Account, flow_id: &Value) -> Outcome<usize> {
    let flow = flow_of(service, account).await?;
    match (flow["id"] == *flow_id, flow["nodes"].as_array()) {
        (true, Some(nodes)) => Ok(nodes.len()),
        _ => Err(format!("a charge went by {flow} instead of {flow_id}").into()),
    }
}

/// The flow in the explanation of the merchant's newest charge.
async fn flow_of(service: &Service, account: &Account) -> Outcome<Value> {
    let path = format!("/v1/charges?merchantId={}&limit=1", account.merchant_id);
    let page = service.get(account, &path).await?;
    let id = page["items"][0]["id"].as_str().ok_or("no charge of the merchant")?.to_owned();
    Ok(service.get(account, &format!("/v1/charges/{id}/explanation")).await?["flow"].clone())
}
