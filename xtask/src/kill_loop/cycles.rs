//! What the cycles of subscriptions must be in the end: one approved charge for each that is paid, none for any other, and no
//! charge that no cycle names.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::subscriptions::{SUBSCRIPTIONS, Subscribers};
use super::verdict;
use crate::Outcome;
use crate::service::Service;

const PAGE: usize = 100;
/// How long refunds and the last looked-up outcomes may take.
const RESOLVED_WITHIN: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The subscriptions of an account, with the charges and the ledger that the transaction log is compared with.
pub(super) struct Cycles {
    pub(super) charges: HashMap<String, Value>,
    pub(super) ledger: HashMap<String, (i64, i64)>,
    pub(super) differences: Vec<String>,
    subscriptions: BTreeMap<String, usize>,
    cycles: BTreeMap<String, usize>,
    attempts: usize,
    told: String,
}

/// # Errors
/// An answer that cannot be read.
pub(super) async fn examine(subscribers: &Subscribers, service: &Service) -> Outcome<Cycles> {
    let account = &subscribers.requests.account;
    let get = async |path: String| service.get(account, &path).await;
    let started = Instant::now();
    while service.count(account, "pending,capture_pending,refund_pending").await? > 0
        && started.elapsed() < RESOLVED_WITHIN
    {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let listed = all(get, SUBSCRIPTIONS).await?;
    let mut examined = Cycles {
        charges: verdict::all_charges(get).await?,
        ledger: verdict::ledger(get).await?,
        differences: subscribers.unkept_promises(&listed),
        subscriptions: BTreeMap::new(),
        cycles: BTreeMap::new(),
        attempts: 0,
        told: subscribers.requests.to_string(),
    };
    let mut of_subscriptions = 0;
    for listed in &listed {
        let path = format!("{SUBSCRIPTIONS}/{}", listed["id"].as_str().unwrap_or_default());
        let subscription = get(path.clone()).await?;
        let mut cycles = Vec::new();
        for cycle in all(get, &format!("{path}/cycles")).await? {
            cycles.push(get(format!("{path}/cycles/{}", cycle["id"].as_str().unwrap_or_default())).await?);
        }
        let id = subscription["id"].as_str().unwrap_or_default();
        let charges = all(get, &format!("/v1/charges?subscriptionId={id}")).await?;
        of_subscriptions += charges.len();
        examined.add(&subscription, &cycles, &charges);
    }
    if of_subscriptions != examined.charges.len() {
        let charges = examined.charges.len();
        examined.differences.push(format!("{charges} charges, {of_subscriptions} of them of a subscription"));
    }
    Ok(examined)
}

impl Cycles {
    fn add(&mut self, subscription: &Value, cycles: &[Value], charges: &[Value]) {
        let status = subscription["status"].as_str().unwrap_or_default();
        *self.subscriptions.entry(status.to_owned()).or_default() += 1;
        let charges: HashMap<&str, &Value> =
            charges.iter().filter_map(|charge| Some((charge["id"].as_str()?, charge))).collect();
        let mut named = HashSet::new();
        let mut numbers = HashSet::new();
        let mut wrong = Vec::new();
        for cycle in cycles {
            *self.cycles.entry(cycle["status"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
            let number = cycle["cycle"].as_i64();
            if !numbers.insert(number) || number > subscription["recurrence"]["cycles"].as_i64() {
                wrong.push(format!("there is a cycle {number:?} too many"));
            }
            wrong.extend(paid_wrongly(subscription, cycle, &charges));
            let history = cycle["paymentHistory"].as_array().into_iter().flatten();
            for id in history.filter_map(|attempt| attempt["chargeId"].as_str()) {
                self.attempts += 1;
                if !named.insert(id) {
                    wrong.push(format!("two attempts name the charge {id}"));
                }
            }
        }
        wrong.extend(
            charges
                .iter()
                .filter(|(id, _)| !named.contains(*id))
                .map(|(id, charge)| format!("no cycle names the charge {id}, {}", told(charge))),
        );
        if !matches!(status, "expired" | "canceled") {
            wrong.push("it goes on after its last day".to_owned());
        }
        if !wrong.is_empty() {
            self.differences.push(format!("{}: the subscription {subscription}", wrong.join("; ")));
        }
    }
}

/// What a cycle says otherwise than the charges of its attempts.
fn paid_wrongly(subscription: &Value, cycle: &Value, charges: &HashMap<&str, &Value>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut approved = 0;
    let attempts = cycle["paymentHistory"].as_array().map(Vec::as_slice).unwrap_or_default();
    for attempt in attempts {
        let Some(id) = attempt["chargeId"].as_str() else {
            wrong.push(format!("an attempt without a charge: {cycle}"));
            continue;
        };
        let Some(charge) = charges.get(id) else {
            wrong.push(format!("the charge {id} of {cycle} is not there"));
            continue;
        };
        let is_approved =
            matches!(charge["status"].as_str(), Some("authorized" | "pre_authorized" | "voided"));
        approved += usize::from(is_approved);
        let says = if is_approved { "authorized" } else { "failed" };
        if attempt["status"] != says {
            wrong.push(format!("{attempt} is of {}", told(charge)));
        }
        if charge["status"] == "authorized" && charge["amount"] != subscription["amount"] {
            wrong.push(format!("the charge {id} is of {}", charge["amount"]));
        }
    }
    let is_paid = cycle["status"] == "authorized";
    if approved != usize::from(is_paid) {
        let told: Vec<String> = charges.values().map(|charge| told(charge)).collect();
        wrong.push(format!("{approved} approved charges of {cycle}, of {}", told.join(", ")));
    }
    if matches!(cycle["status"].as_str(), Some("scheduled" | "pending" | "retrying")) {
        wrong.push(format!("the cycle {cycle} waits"));
    }
    wrong
}

/// What a finding tells of a charge.
fn told(charge: &Value) -> String {
    let requests = charge["transactionRequests"].as_array().into_iter().flatten();
    let requests: Vec<String> = requests
        .map(|request| {
            format!("{} {} {}", request["requestType"], request["requestStatus"], request["idempotencyKey"])
        })
        .collect();
    format!("{} {} of {} {requests:?}", charge["id"], charge["status"], charge["createdAt"])
}

/// All items of a list.
pub(super) async fn all(get: impl AsyncFn(String) -> Outcome<Value>, path: &str) -> Outcome<Vec<Value>> {
    let first = if path.contains('?') { '&' } else { '?' };
    let mut all = Vec::new();
    for page in 1.. {
        let found = get(format!("{path}{first}limit={PAGE}&page={page}")).await?;
        let items = found["items"].as_array().ok_or("no items")?;
        all.extend(items.iter().cloned());
        if items.len() < PAGE {
            break;
        }
    }
    Ok(all)
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |counts: &BTreeMap<String, usize>| {
            let words: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
            words.join(", ")
        };
        write!(
            f,
            "{} ({}), their cycles {} ({}) with {} charges: one approved charge for each paid cycle; {}",
            self.subscriptions.values().sum::<usize>(),
            words(&self.subscriptions),
            self.cycles.values().sum::<usize>(),
            words(&self.cycles),
            self.attempts,
            self.told
        )
    }
}
