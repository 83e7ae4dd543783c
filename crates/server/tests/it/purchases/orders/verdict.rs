//! Checks how a purchase ended: by its status, the simulator's transaction log, and its history.

use serde_json::Value;

use super::super::history;
use super::Round;
use super::order::Order;
use crate::support::agreement::{
    Money, agree, charges_since, entries_agree, nothing_besides, nothing_is_open,
};
use crate::support::app::TestApp;
use crate::support::purchases::read;
use crate::support::read::text;

/// How a purchase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every card is charged.
    Paid,
    /// No card is charged, since one failed.
    Failed,
    /// No card is charged, as the merchant requested.
    Cancelled,
    /// No card is charged, and every card is still reserved.
    Reserved,
}

/// Compares purchases that have ended, one for each order, with the log: all cards of each are charged or none is, and
/// no other charge and no other authorization was made meanwhile. Returns how they ended.
pub async fn verdicts(app: &TestApp, round: &Round, orders: &[Order]) -> Vec<End> {
    nothing_is_open(app).await;
    let charges = charges_since(app, round.since).await;
    let (mut ends, mut money, mut of_purchases) = (Vec::new(), Money::default(), 0);
    for (order, id) in orders.iter().zip(&round.ids) {
        let purchase = read(app, id).await;
        let own: Vec<&Value> =
            charges.iter().filter(|charge| charge["orderId"] == purchase["orderId"]).collect();
        let (end, kept) = verdict(app, &purchase, &own, order).await;
        ends.push(end);
        money += kept;
        of_purchases += own.len();
    }
    assert_eq!(of_purchases, charges.len(), "a charge belongs to no purchase: {charges:#?}");
    nothing_besides(&app.books, round.since, money).await;
    entries_agree(app, &charges).await;
    ends
}

/// Compares a purchase that has ended with all charges that have its reference. Returns how it ended, with its money.
async fn verdict(app: &TestApp, purchase: &Value, charges: &[&Value], order: &Order) -> (End, Money) {
    let end = match text(&purchase["status"]) {
        "paid" => End::Paid,
        "failed" => End::Failed,
        "cancelled" => End::Cancelled,
        "pending" => End::Reserved,
        other => panic!("{order:?}: {other}"),
    };
    let payments = purchase["payments"].as_array().unwrap();
    let mut named: Vec<&str> = payments.iter().filter_map(|payment| payment["chargeId"].as_str()).collect();
    let mut made: Vec<&str> = charges.iter().map(|charge| text(&charge["id"])).collect();
    named.sort_unstable();
    made.sort_unstable();
    assert_eq!(made, named, "{order:?}: one charge for each card that was tried: {purchase:#} {charges:#?}");
    let mut money = Money::default();
    for charge in charges {
        money += agree(&app.books, charge).await;
    }
    let all: i64 = order.amounts().sum();
    let expected = match end {
        End::Paid => (all, 0),
        End::Failed | End::Cancelled => (0, 0),
        End::Reserved => (0, all),
    };
    assert_eq!((money.kept, money.reserved), expected, "{order:?}: {purchase:#}");
    complete(&history(app, text(&purchase["id"])).await, purchase, end, order);
    (end, money)
}

/// Checks the history: it begins with the creation, follows `docs/interface/purchases.md#history`, repeats nothing, and
/// ends with the result.
fn complete(entries: &[Value], purchase: &Value, end: End, order: &Order) {
    let told: Vec<&str> = entries.iter().map(|entry| text(&entry["status"])).collect();
    let context = format!("{order:?}: {told:?}");
    let count = |milestone: &str| told.iter().filter(|other| **other == milestone).count();
    let place = |milestone: &str| told.iter().position(|other| *other == milestone);
    let slots = |milestone: &str| -> Vec<u64> {
        let of_slots = entries.iter().filter(|entry| entry["status"] == milestone);
        of_slots.filter_map(|entry| entry["diff"]["changes"]["slot"]["index"].as_u64()).collect()
    };
    assert_eq!((told[0], count("created")), ("created", 1), "{context}");
    assert_eq!(count("reconciliation_failed"), 0, "{context}");
    for once in ["pre_authorized", "paid", "failed", "cancelled", "rollback_started", "rollback_completed"] {
        assert!(count(once) <= 1, "{once}: {context}");
    }

    // Cards are reserved one after the other, all of them before the first capture.
    let cards = order.authorizations.len();
    let reserved: Vec<u64> = slots("slot_authorized");
    let in_order: Vec<u64> = (0..reserved.len() as u64).collect();
    assert_eq!(reserved, in_order, "{context}");
    match place("pre_authorized") {
        Some(at) => assert_eq!((at, reserved.len()), (cards + 1, cards), "{context}"),
        None => assert!(end == End::Failed && count("paid") == 0, "{context}"),
    }

    // A rollback or a release has one entry for each card.
    let mut released = [slots("slot_cancelled"), slots("refund_completed")].concat();
    released.sort_unstable();
    let payments = purchase["payments"].as_array().unwrap();
    let given_back = |status: &Value| *status == "canceled" || *status == "voided";
    let expected: Vec<u64> = (0..)
        .zip(payments)
        .filter(|(_, payment)| given_back(&payment["status"]))
        .map(|(index, _)| index)
        .collect();
    let is_refunded_at_once = count("paid") == 1;
    assert_eq!(released, if is_refunded_at_once { Vec::new() } else { expected }, "{context}");
    let (mut requested, mut completed) = (slots("refund_requested"), slots("refund_completed"));
    requested.sort_unstable();
    completed.sort_unstable();
    assert_eq!(requested, completed, "{context}");

    // The last entry.
    let last = *told.last().unwrap();
    let is_last = match end {
        End::Paid => last == "paid" || last == "refund_failed",
        End::Reserved => last == "cancel_failed",
        End::Cancelled => last == "cancelled" || last == "refund_completed",
        // A rollback that does not succeed at first is recorded as failed at once.
        End::Failed => match count("rollback_failed") {
            0 => last == "failed",
            _ => count("failed") == 0 && last == "rollback_completed",
        },
    };
    assert!(is_last, "{context}");
    if end == End::Failed {
        assert!(place("rollback_started") < place("rollback_completed"), "{context}");
        assert_eq!((count("rollback_started"), count("rollback_completed")), (1, 1), "{context}");
    } else {
        assert_eq!(count("rollback_started"), 0, "{context}");
    }
}
