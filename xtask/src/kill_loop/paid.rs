//! What receivers must have been paid in the end: each transfer of the bank for one batch, each order in one batch that is paid, and
//! orders, batches, the report and the ledger the same to the cent.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use regente_engine::clock::Clock;
use regente_store::simulated_transfers::SimulatedTransfer;
use serde_json::Value;

use super::payouts::{Known, PREPAYMENT, Receivers};
use super::{cycles, verdict};
use crate::Outcome;
use crate::service::Service;

/// The payouts of an account, with the charges and the ledger that the transaction log is compared with.
pub(super) struct Paid {
    pub(super) charges: HashMap<String, Value>,
    pub(super) ledger: HashMap<String, (i64, i64)>,
    pub(super) differences: Vec<String>,
    orders: usize,
    batches: BTreeMap<String, usize>,
    transfers: usize,
    sent_again: i64,
    /// In cents.
    amount: i64,
    prepayments: BTreeMap<String, usize>,
    told: String,
}

/// What there is of payouts.
struct Records {
    orders: Vec<Value>,
    batches: HashMap<String, Value>,
    prepayments: Vec<Value>,
    transfers: Vec<SimulatedTransfer>,
    report: Value,
}

/// # Errors
/// An answer that cannot be read.
pub(super) async fn examine(receivers: &Receivers, service: &mut Service) -> Outcome<Paid> {
    let (account, known) = (&receivers.requests.account, receivers.known());
    // The bank has no interface: its transfers are read while the service is down.
    service.kill()?;
    let inside = service.open(Clock::system()).await?;
    let transfers = inside.transfers(account).await;
    inside.close().await;
    service.start_again()?;
    let get = async |path: String| service.get(account, &path).await;
    let batches = cycles::all(get, "/v1/payouts/payment-batches?order=asc").await?;
    let mut prepayments = Vec::new();
    for id in &known.offers {
        prepayments.push(get(format!("{PREPAYMENT}/{id}")).await?);
    }
    let records = Records {
        orders: cycles::all(get, "/v1/payouts/orders?order=asc").await?,
        batches: batches.into_iter().map(|batch| (text(&batch, "id").to_owned(), batch)).collect(),
        prepayments,
        transfers: transfers?,
        report: service.told(&["payouts", "report", "--client", &account.client_id, "--json"])?,
    };
    let charges = verdict::all_charges(get).await?;
    let gone = known.charges.iter().filter(|id| !charges.contains_key(*id));
    let mut differences: Vec<String> =
        gone.map(|id| format!("the charge {id} was acknowledged and is gone")).collect();
    let verified = service.told(&["ledger", "verify", "--client", &account.client_id, "--json"])?;
    let of_clients = verified["clients"].as_array().ok_or("no verdict about the ledger")?.iter();
    differences.extend(
        of_clients.flat_map(|of| items(&of["differences"])).map(|what| format!("the ledger: {what}")),
    );
    differences.extend(records.wrong_transfers());
    differences.extend(records.wrong_batches());
    differences.extend(records.wrong_prepayments(&known));
    differences.extend(records.wrong_report()?);
    Ok(Paid {
        charges,
        ledger: verdict::ledger(get).await?,
        differences,
        orders: records.orders.len(),
        batches: counts(records.batches.values()),
        transfers: records.transfers.len(),
        sent_again: records.transfers.iter().map(|transfer| transfer.sent - 1).sum(),
        amount: records.with_status("paid").map(|batch| number(batch, "finalBalance")).sum(),
        prepayments: counts(records.prepayments.iter()),
        told: receivers.requests.to_string(),
    })
}

impl Records {
    fn with_status(&self, status: &str) -> impl Iterator<Item = &Value> {
        self.batches.values().filter(move |batch| batch["status"] == status)
    }

    /// Transfers that are of no batch or of another amount, and batches that do not say what became of their transfer.
    fn wrong_transfers(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut sent = HashSet::new();
        for transfer in &self.transfers {
            let id = transfer.id.to_string();
            match self.batches.get(&id) {
                None => wrong.push(format!("no batch has the transfer {transfer:?}")),
                Some(batch) => {
                    let is_paid = number(batch, "finalBalance") == transfer.amount.minor_units();
                    if !is_paid || batch["status"] != became_of(transfer) {
                        wrong.push(format!("the transfer {transfer:?} is of the batch {batch}"));
                    }
                }
            }
            sent.insert(id);
        }
        let is_unsent = |batch: &&Value| batch["status"] != "offset" && !sent.contains(text(batch, "id"));
        wrong.extend(
            self.batches.values().filter(is_unsent).map(|batch| format!("never transferred: {batch}")),
        );
        wrong
    }

    /// Orders in no batch, and batches that are not the sum of their orders. An order names one batch: one that a failed batch has
    /// kept, or that two have paid, is missing in a sum.
    fn wrong_batches(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut sums: HashMap<&str, (i64, i64)> = HashMap::new();
        for order in &self.orders {
            match order["paymentBatchId"].as_str() {
                None => wrong.push(format!("the order {order} is in no batch")),
                Some(id) => {
                    let (amount, fee) = sums.entry(id).or_default();
                    *amount += number(order, "amount");
                    *fee += number(order, "totalFeeAmount");
                }
            }
        }
        for (id, batch) in &self.batches {
            let sum = sums.remove(id.as_str());
            let is_right = match text(batch, "status") {
                "failed" => sum.is_none(),
                "paid" | "offset" => sum.is_some_and(|(amount, fee)| {
                    let set_off = discount(batch) + number(batch, "balanceAmount");
                    fee == number(batch, "feeAmount") && amount - set_off == number(batch, "finalBalance")
                }),
                _ => false,
            };
            if !is_right {
                wrong.push(format!("orders of (amount, fee) {sum:?} are in the batch {batch}"));
            }
        }
        wrong.extend(sums.keys().map(|id| format!("there is no batch {id}, which has orders")));
        wrong
    }

    /// Commits that were acknowledged and have led to nothing, and receivables that were paid early twice, or not at all.
    fn wrong_prepayments(&self, known: &Known) -> Vec<String> {
        let mut wrong = Vec::new();
        let orders: HashMap<&str, &Value> =
            self.orders.iter().map(|order| (text(order, "id"), order)).collect();
        let mut paid_early = HashSet::new();
        for prepayment in &self.prepayments {
            let is_promised = known.committed.contains(text(prepayment, "id"));
            match text(prepayment, "status") {
                "paid" => {}
                "expired" if !is_promised => continue,
                _ => {
                    wrong.push(format!("the prepayment has not ended: {prepayment}"));
                    continue;
                }
            }
            for item in items(&prepayment["items"]) {
                let id = text(item, "receivableUnitExternalId");
                let batch = orders.get(id).and_then(|order| self.batches.get(text(order, "paymentBatchId")));
                let is_paid = batch.is_some_and(|batch| batch["status"] != "failed");
                if !paid_early.insert(id.to_owned()) || !is_paid {
                    wrong.push(format!("{item} of the prepayment {} is in {batch:?}", prepayment["id"]));
                }
            }
        }
        wrong
    }

    /// What the report of payouts says otherwise than the ledger, the orders and the batches.
    fn wrong_report(&self) -> Outcome<Vec<String>> {
        let lines = self.report["report"].as_array().ok_or("no report of payouts")?;
        let mut wrong = Vec::new();
        for line in lines {
            let of = |name: &str| number(line, name);
            let net = of("captured") - of("refunded") - of("charged_back") - of("fees") - of("prepaid");
            let is_left = of("on_its_way") + of("due") + of("later");
            if is_left != 0 || net != of("paid") - of("debt") || -of("debt") != of("ledger") {
                wrong.push(format!("the report does not add up: {line}"));
            }
        }
        let reported = |name: &str| lines.iter().map(|line| number(line, name)).sum::<i64>();
        let of_orders: i64 = self.orders.iter().map(|order| number(order, "amount")).sum();
        let of_batches: i64 = self.with_status("paid").map(|batch| number(batch, "finalBalance")).sum();
        let discounts: i64 =
            self.batches.values().filter(|batch| batch["status"] != "failed").map(discount).sum();
        let by_bank = self.transfers.iter().filter(|transfer| became_of(transfer) == "paid");
        let by_bank: i64 = by_bank.map(|transfer| transfer.amount.minor_units()).sum();
        let due = reported("captured") - reported("refunded") - reported("charged_back") - reported("fees");
        let sums = [
            ("due", due, of_orders),
            ("paid", reported("paid"), of_batches),
            ("paid by the bank", reported("paid"), by_bank),
            ("kept for early payments", reported("prepaid"), discounts),
        ];
        let differ = sums.iter().filter(|(_, here, there)| here != there);
        wrong.extend(
            differ.map(|(what, here, there)| format!("{what}: {here} in the report, {there} elsewhere")),
        );
        Ok(wrong)
    }
}

/// The status of a batch once everything about its transfer is known: this account's clock is days ahead of the last one.
const fn became_of(transfer: &SimulatedTransfer) -> &'static str {
    match transfer.last_digit {
        Some('7' | '9') => "failed",
        Some(_) | None => "paid",
    }
}

/// What it has cost to be paid early.
fn discount(batch: &Value) -> i64 {
    number(batch, "totalFeeAmount") - number(batch, "feeAmount")
}

/// How many have which status.
fn counts<'a>(all: impl Iterator<Item = &'a Value>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(text(one, "status").to_owned()).or_default() += 1;
    }
    counts
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn number(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or_default()
}

impl fmt::Display for Paid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |counts: &BTreeMap<String, usize>| {
            let words: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
            words.join(", ")
        };
        let Self { orders, transfers, sent_again, amount, told, .. } = self;
        write!(
            f,
            "{orders} orders, each in one batch that stands; {} batches ({}), {amount} cents paid; {transfers} transfers, each of one \
             batch, {sent_again} sent again; {} offers of early payment ({}); {told}",
            self.batches.values().sum::<usize>(),
            words(&self.batches),
            self.prepayments.values().sum::<usize>(),
            words(&self.prepayments),
        )
    }
}
