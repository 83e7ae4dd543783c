//! Where every cent is at the end: charges, orders, batches, the ledger and the bank say the same.

use std::collections::BTreeMap;

use regente_domain::payout::{BatchStatus, Receiver};
use regente_engine::bank::{Answer, Bank, Found};
use regente_engine::payouts::statement::ReceiverStatement;
use regente_store::charges::Direction;
use regente_store::payouts::batches::PaymentBatch;
use regente_store::payouts::{BatchFilter, OrderFilter, list_batches, list_orders};

use super::trade::{Totals, Trade};
use crate::support::app::TestApp;
use crate::support::payouts::{every_cent_is_accounted_for, transfers};

/// Rows that one query reads.
const PAGE: i64 = 5_000;

/// Everything that was due is paid, set off or owed, and nothing is missing.
pub async fn every_cent(app: &TestApp, trade: &Trade) {
    let statements = every_cent_is_accounted_for(app).await;
    show(&statements);
    for line in &statements {
        assert_eq!((line.on_its_way, line.due, line.later), (0, 0, 0), "{line:#?}");
    }
    let sum = |of: fn(&ReceiverStatement) -> i64| statements.iter().map(of).sum::<i64>();
    let Totals { captured, refunded, charged_back } = trade.totals;
    println!("by the trade: {captured} captured, {refunded} refunded, {charged_back} charged back");
    // What moves between receivers of one charge is on both sides.
    assert_eq!(
        sum(|line| line.captured) - sum(|line| line.refunded) - sum(|line| line.charged_back),
        captured - refunded - charged_back,
        "what charges have brought, less what payers and their banks have back"
    );
    let kept: i64 = trade.left.values().sum();
    assert_eq!(
        sum(|line| line.paid) - sum(|line| line.debt) + sum(|line| line.fees) + sum(|line| line.prepaid),
        kept,
        "what payers have paid in the end is with receivers and the provider, or owed"
    );
    orders_are_of_charges(app, trade).await;
    let paid = bank_and_batches_agree(app).await;
    for line in &statements {
        assert_eq!(line.paid, paid.get(&line.receiver).copied().unwrap_or(0), "{line:#?}");
    }
    assert_eq!(sum(|line| line.paid), paid.values().sum::<i64>());
}

/// The rows of every page: how many, and from which one on.
async fn all<T>(page: impl AsyncFn((i64, i64)) -> Vec<T>) -> Vec<T> {
    let mut rows = Vec::new();
    loop {
        let found = page((PAGE, i64::try_from(rows.len()).unwrap())).await;
        if found.is_empty() {
            return rows;
        }
        rows.extend(found);
    }
}

/// The orders of each charge add up to what is left of it, and all of them are in a batch.
async fn orders_are_of_charges(app: &TestApp, trade: &Trade) {
    let (store, filter) = (&app.app.store, OrderFilter::default());
    let page = async |slice| {
        list_orders(store, app.client_id(), &filter, Direction::Ascending, slice).await.unwrap()
    };
    let mut of_charges: BTreeMap<String, i64> = BTreeMap::new();
    for order in all(page).await {
        assert!(order.batch_id.is_some(), "{order:#?}");
        *of_charges.entry(order.charge_id.to_string()).or_default() += order.gross;
    }
    for (charge, left) in &trade.left {
        assert_eq!(of_charges.remove(charge), Some(*left), "the orders of {charge}");
    }
    assert_eq!(of_charges, BTreeMap::new(), "orders of charges that were never made");
}

/// Each transfer of the bank is of one batch, was sent once, and the batch says what became of it; what each receiver has from the
/// bank.
async fn bank_and_batches_agree(app: &TestApp) -> BTreeMap<Receiver, i64> {
    let (store, filter) = (&app.app.store, BatchFilter::default());
    let page = async |slice| {
        list_batches(store, app.client_id(), &filter, Direction::Ascending, slice).await.unwrap()
    };
    let mut batches: BTreeMap<_, PaymentBatch> =
        all(page).await.into_iter().map(|batch| (batch.id, batch)).collect();
    let transfers = transfers(app).await;
    let count = |status: BatchStatus| batches.values().filter(|batch| batch.status == status).count();
    println!(
        "{} batches: {} paid, {} failed, {} offset; {} transfers",
        batches.len(),
        count(BatchStatus::Paid),
        count(BatchStatus::Failed),
        count(BatchStatus::Offset),
        transfers.len()
    );
    for status in [BatchStatus::Paid, BatchStatus::Failed, BatchStatus::Offset] {
        assert!(count(status) > 0, "no batch is {status:?}");
    }
    let mut paid: BTreeMap<Receiver, i64> = BTreeMap::new();
    let now = app.clock.deployment();
    let bank = app.bank();
    for transfer in transfers.into_values() {
        let batch = batches.remove(&transfer.id).expect("a transfer is of a batch");
        assert_eq!(
            (transfer.sent, transfer.amount.minor_units()),
            (1, batch.figures.final_balance()),
            "{batch:#?}"
        );
        let status = match bank.find(app.client_id(), transfer.id, now).await {
            Found::Told(Answer::Paid) => BatchStatus::Paid,
            Found::Told(Answer::Refused { .. } | Answer::Returned { .. }) => BatchStatus::Failed,
            found @ (Found::Told(Answer::Pending | Answer::Unknown) | Found::Absent) => panic!("{found:?}"),
        };
        assert_eq!(batch.status, status, "{batch:#?}");
        if status == BatchStatus::Paid {
            *paid.entry(batch.group.owner.receiver).or_default() += transfer.amount.minor_units();
        }
    }
    for batch in batches.values() {
        assert_eq!(batch.status, BatchStatus::Offset, "no transfer was made of {batch:#?}");
    }
    paid
}

/// Prints what became of the money of each receiver, in cents.
fn show(statements: &[ReceiverStatement]) {
    let titles = ["captured", "refunded", "charged back", "fees", "prepaid", "paid", "debt"];
    println!("{:36} {}", "receiver", columns(&titles));
    for line in statements {
        let receiver = line.receiver.map_or_else(|| "the account".to_owned(), |seller| seller.to_string());
        let ReceiverStatement { captured, refunded, charged_back, fees, prepaid, paid, debt, .. } = line;
        let figures = [captured, refunded, charged_back, fees, prepaid, paid, debt];
        println!("{receiver:36} {}", columns(&figures));
    }
}

/// Aligned to the right.
fn columns<T: ToString>(cells: &[T]) -> String {
    cells.iter().map(|cell| format!("{:>13}", cell.to_string())).collect()
}
