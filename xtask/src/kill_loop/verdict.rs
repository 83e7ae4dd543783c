//! Compares Regente's charges and ledger with the simulator's transaction log and with the clients' answers.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use serde_json::Value;

use super::clients::{Caller, ClientLog, Finding};
use super::cycles::Cycles;
use super::paid::Paid;
use super::sessions::{self, Examined};
use crate::Outcome;
use crate::service::{Service, Simulator};

/// Charges on a page of the list.
const PAGE: usize = 100;
/// Differences to print; the rest is counted.
const SHOWN_MAX: usize = 10;

/// The counts when everything agrees.
pub(super) struct Verdict {
    charges: usize,
    by_status: HashMap<String, usize>,
    acknowledged: usize,
    told: String,
    authorizations: usize,
    kept: Money,
    reserved: Money,
    sessions: Examined,
    cycles: Cycles,
    paid: Paid,
}

/// Amounts in minor units, as both sides report them.
struct Money {
    regente: i64,
    simulator: i64,
}

/// The holdings of one authorization in the transaction log.
pub(super) struct Balance {
    pub(super) reserved: i64,
    pub(super) kept: i64,
}

/// The cycles and the payouts are those of other accounts, whose charges are in the same log.
///
/// # Errors
/// Every difference.
pub(super) async fn examine(
    caller: &Caller,
    service: &Service,
    simulator: &Simulator,
    client_log: &ClientLog,
    (mut cycles, mut paid): (Cycles, Paid),
) -> Outcome<Verdict> {
    let mut charges = all_charges(async |path| caller.get(&path).await).await?;
    charges.extend(cycles.charges.drain());
    let mut ledger = ledger(async |path| caller.get(&path).await).await?;
    ledger.extend(cycles.ledger.drain());
    ledger.extend(paid.ledger.drain());
    // Another provider's are in the same log, and not in the file of this one.
    let apart: HashSet<String> = paid.charges.values().flat_map(keys).map(str::to_owned).collect();
    let unsettled = unsettled(service, simulator, &charges, &apart)?;
    charges.extend(paid.charges.drain());
    let mut books = balances(simulator).await?;
    let authorizations = books.len();
    let simulator_sum =
        |of: fn(&Balance) -> i64, books: &HashMap<String, Balance>| books.values().map(of).sum::<i64>();
    let mut kept = Money { regente: 0, simulator: simulator_sum(|balance| balance.kept, &books) };
    let mut reserved = Money { regente: 0, simulator: simulator_sum(|balance| balance.reserved, &books) };
    let mut by_status = HashMap::new();
    let mut differences = Vec::new();
    for charge in charges.values() {
        let status = charge["status"].as_str().unwrap_or_default();
        let amount = charge["amount"].as_i64().unwrap_or_default();
        *by_status.entry(status.to_owned()).or_insert(0) += 1;
        let booked: Vec<Balance> = keys(charge).filter_map(|key| books.remove(key)).collect();
        let (held, taken, effects) = match status {
            "authorized" | "voided" => (0, amount, 1),
            // A payer has refused: nothing was ever reserved.
            "canceled" if !was_reserved(charge) => (0, 0, 0),
            "pre_authorized" | "canceled" => (amount, 0, 1),
            // What was approved after the charge had failed was given back.
            "failed" if was_given_back(charge) => (0, 0, booked.len()),
            "failed" => (0, 0, 0),
            _ => (-1, -1, 0),
        };
        kept.regente += taken;
        reserved.regente += held;
        let says = (
            booked.iter().map(|balance| balance.reserved).sum::<i64>(),
            booked.iter().map(|balance| balance.kept).sum::<i64>(),
            booked.len(),
        );
        let posted = charge["id"].as_str().and_then(|id| ledger.get(id)).copied().unwrap_or_default();
        if posted != (says.0, says.1) {
            differences.push(format!(
                "{} is {status} with {amount}, the ledger says (reserved, kept) {posted:?}, the books {says:?}",
                charge["id"]
            ));
        }
        if says != (held, taken, effects) {
            differences.push(format!(
                "{} is {status} with {amount}, the books say (reserved, kept, effects) {says:?}; its requests: {}",
                charge["id"], charge["transactionRequests"]
            ));
        }
    }
    differences.extend(books.keys().map(|key| format!("no charge has the authorization {key} of the books")));
    let sessions = sessions::examine(async |path| caller.get(&path).await, &charges).await?;
    differences.extend(sessions.differences.iter().cloned());
    differences.extend(unkept_promises(caller, client_log, &charges, &[201]).await);
    differences.append(&mut cycles.differences);
    differences.append(&mut paid.differences);
    differences.extend(unsettled);
    if !differences.is_empty() {
        let shown = differences.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("\n");
        return Err(Finding(format!("{} differences:\n{shown}", differences.len())).into());
    }
    Ok(Verdict {
        charges: charges.len(),
        by_status,
        acknowledged: client_log.acknowledged().len(),
        told: client_log.count(),
        authorizations,
        kept,
        reserved,
        sessions,
        cycles,
        paid,
    })
}

/// What the simulator's settlement files of all days say otherwise than the records, without the payments of another provider,
/// and what it owes by the ledger after they are posted.
fn unsettled(
    service: &Service,
    simulator: &Simulator,
    charges: &HashMap<String, Value>,
    apart: &HashSet<String>,
) -> Outcome<Vec<String>> {
    let day = |charge: &Value| charge["createdAt"].as_str().and_then(|at| at.get(..10)).map(str::to_owned);
    let days: BTreeSet<String> = charges.values().filter_map(day).collect();
    let mut unsettled = Vec::new();
    let mut owed = Value::Null;
    for day in days {
        let report = service.settle(simulator, &day, apart)?;
        let findings = report["findings"].as_array().into_iter().flatten();
        unsettled.extend(findings.map(|found| {
            let id = found["chargeId"].as_str().unwrap_or_default();
            let charge = charges.values().find(|charge| charge["id"] == id);
            let requests = charge.map(|charge| &charge["transactionRequests"]);
            format!(
                "the settlement file of {day}: {found}; its requests: {}",
                requests.unwrap_or(&Value::Null)
            )
        }));
        owed = report["owed"].clone();
    }
    let is_open = |(_, owed): &(&String, &Value)| owed.as_i64() != Some(0);
    let open = owed.as_object().into_iter().flatten().filter(is_open);
    unsettled
        .extend(open.map(|(currency, owed)| format!("the simulator owes {currency} {owed} by the ledger")));
    Ok(unsettled)
}

/// Finds acknowledged operations that are missing or answered differently now.
pub(super) async fn unkept_promises(
    caller: &Caller,
    client_log: &ClientLog,
    charges: &HashMap<String, Value>,
    answers: &[u16],
) -> Vec<String> {
    let mut broken = Vec::new();
    for (operation, first) in client_log.acknowledged() {
        let told = first.json();
        let id = told["id"].as_str().unwrap_or_default();
        let Some(charge) = charges.get(id) else {
            broken.push(format!("{id} was acknowledged and is gone"));
            continue;
        };
        let request = &told["transactionRequests"][0];
        let is_there = charge["transactionRequests"]
            .as_array()
            .is_some_and(|requests| requests.iter().any(|stored| stored["id"] == request["id"]));
        if !is_there {
            broken.push(format!("{} of {id} was acknowledged and is gone", request["requestType"]));
        }
        let Some(again) = caller.send(&operation).await else {
            broken.push(format!("{} is not answered any more", operation.path));
            continue;
        };
        // A refund that was unknown at first may have been accepted, which answers its key for good.
        if again != first && !(first.is_pending() && answers.contains(&again.status)) {
            let (first, again) = (String::from_utf8_lossy(&first.body), String::from_utf8_lossy(&again.body));
            broken.push(format!(
                "{} {} was answered {first} and is {again} now",
                operation.path, operation.key
            ));
        }
    }
    broken
}

fn was_reserved(charge: &Value) -> bool {
    let reserves = |request: &Value| request["requestType"] == "pre_authorization";
    charge["transactionRequests"].as_array().is_some_and(|requests| requests.iter().any(reserves))
}

fn was_given_back(charge: &Value) -> bool {
    let gives_back =
        |request: &Value| request["requestType"] == "void" && request["requestStatus"] == "success";
    charge["transactionRequests"].as_array().is_some_and(|requests| requests.iter().any(gives_back))
}

/// The provider keys of a charge's authorizations.
pub(super) fn keys(charge: &Value) -> impl Iterator<Item = &str> {
    let requests = charge["transactionRequests"].as_array().into_iter().flatten();
    requests.filter_map(|request| request["idempotencyKey"].as_str())
}

/// What the ledger says that providers have reserved and owe, by charge.
pub(super) async fn ledger(
    get: impl AsyncFn(String) -> Outcome<Value>,
) -> Outcome<HashMap<String, (i64, i64)>> {
    let mut charges: HashMap<String, (i64, i64)> = HashMap::new();
    for page in 1.. {
        let found = get(format!("/v1/ledger/entries?sort=ASC&limit={PAGE}&page={page}")).await?;
        let items = found["items"].as_array().ok_or("no items")?;
        for entry in items {
            let amount = entry["amount"].as_i64().unwrap_or_default();
            let moved = |purpose: &str| {
                let signed = |side: &str, sign: i64| if entry[side] == purpose { sign * amount } else { 0 };
                signed("debit", 1) + signed("credit", -1)
            };
            let of_charge = charges.entry(entry["sourceId"].as_str().unwrap_or_default().to_owned());
            let (held, taken) = of_charge.or_default();
            *held += moved("hold");
            *taken += moved("provider_receivable");
        }
        if items.len() < PAGE {
            break;
        }
    }
    Ok(charges)
}

/// Every charge of an account, by id.
pub(super) async fn all_charges(
    get: impl AsyncFn(String) -> Outcome<Value>,
) -> Outcome<HashMap<String, Value>> {
    let mut charges = HashMap::new();
    for page in 1.. {
        let found = get(format!("/v1/charges?sort=ASC&limit={PAGE}&page={page}")).await?;
        let items = found["items"].as_array().ok_or("no items")?;
        for charge in items {
            charges.insert(charge["id"].as_str().ok_or("no id")?.to_owned(), charge.clone());
        }
        if items.len() < PAGE {
            break;
        }
    }
    Ok(charges)
}

/// The holdings in the transaction log, by the provider key of the authorization.
pub(super) async fn balances(simulator: &Simulator) -> Outcome<HashMap<String, Balance>> {
    let mut balances = HashMap::new();
    let mut path = "/v1/balances?limit=10000".to_owned();
    loop {
        let page = simulator.get(&path).await?;
        for item in page["items"].as_array().ok_or("no items")? {
            let number = |name: &str| item[name].as_i64().unwrap_or_default();
            let balance = Balance { reserved: number("reserved"), kept: number("kept") };
            balances.insert(item["authorizationKey"].as_str().ok_or("no key")?.to_owned(), balance);
        }
        let Some(next) = page["next"].as_str() else { return Ok(balances) };
        path = format!("/v1/balances?limit=10000&after={next}");
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut by_status: Vec<String> =
            self.by_status.iter().map(|(status, count)| format!("{count} {status}")).collect();
        by_status.sort();
        writeln!(f, "  charges         {} ({})", self.charges, by_status.join(", "))?;
        writeln!(f, "  clients         {}", self.told)?;
        writeln!(f, "  acknowledged    {}: every one is there, with the same answer", self.acknowledged)?;
        writeln!(
            f,
            "  authorizations  {} in the books, each of one charge, no charge with two",
            self.authorizations
        )?;
        writeln!(f, "  kept            {} here, {} in the books", self.kept.regente, self.kept.simulator)?;
        writeln!(
            f,
            "  reserved        {} here, {} in the books",
            self.reserved.regente, self.reserved.simulator
        )?;
        writeln!(f, "  sessions        {}", self.sessions)?;
        writeln!(f, "  subscriptions   {}", self.cycles)?;
        write!(f, "  payouts         {}", self.paid)
    }
}
