//! Compares the money of charges with the simulator's transaction log.

use std::collections::HashSet;

use regente_providers::sandbox::TransactionLog;
use regente_store::transaction_requests;
use serde_json::Value;

use crate::charges::text;
use crate::harness::TestApp;

/// The money of a charge, in minor units, by the charge or by the log.
#[derive(Debug, PartialEq, Eq)]
struct Money {
    /// Authorized and not captured.
    reserved: i64,
    /// Captured and not refunded.
    kept: i64,
    /// How many providers hold or have captured an amount.
    effects: usize,
}

/// Compares every charge of a deployment with the log: each agrees, and the log has no other effects. That finds money
/// captured for a charge that was never recorded.
pub async fn agree_on_all(books: &TransactionLog, charges: &[Value]) {
    let mut effects = 0;
    for charge in charges {
        effects += agree(books, charge).await;
    }
    nothing_besides(books, effects).await;
}

/// The log has these effects and no others.
pub async fn nothing_besides(books: &TransactionLog, effects: usize) {
    assert_eq!(books.effects().await.unwrap(), effects, "the books have effects that no charge has");
}

/// Compares a charge, as an answer shows it, with the log: an authorized one has one effect, a failed one none. Returns
/// the number of effects.
pub async fn agree(books: &TransactionLog, charge: &Value) -> usize {
    let (status, amount) = (text(&charge["status"]), charge["amount"].as_i64().unwrap());
    let told = match status {
        "authorized" | "voided" => Money { reserved: 0, kept: amount, effects: 1 },
        "pre_authorized" | "canceled" => Money { reserved: amount, kept: 0, effects: 1 },
        "failed" => Money { reserved: 0, kept: 0, effects: 0 },
        other => panic!("a charge that is {other} in the end: {charge:#}"),
    };
    let mut booked = Money { reserved: 0, kept: 0, effects: 0 };
    let mut keys = HashSet::new();
    for request in charge["transactionRequests"].as_array().unwrap() {
        // A follow-up shows no key; its money is part of its authorization's.
        let Some(key) = request["idempotencyKey"].as_str() else { continue };
        // What a payer did is told by further requests with the same key.
        if !keys.insert(key) {
            continue;
        }
        if let Some(balance) = books.holding(key.parse().unwrap()).await.unwrap() {
            booked.reserved += balance.reserved.minor_units();
            booked.kept += balance.kept().minor_units();
            booked.effects += 1;
        }
    }
    assert_eq!(told, booked, "{charge:#}");
    told.effects
}

/// Every charge of the account, as answers show it.
pub async fn all_charges(app: &TestApp) -> Vec<Value> {
    let mut charges = Vec::new();
    for page in 1.. {
        let found = app.get(&format!("/v1/charges?limit=100&page={page}")).await.expect(200);
        let items = found["items"].as_array().unwrap();
        charges.extend(items.iter().cloned());
        if items.len() < 100 {
            break;
        }
    }
    charges
}

/// Whether no outcome is unknown.
pub async fn is_nothing_open(app: &TestApp) -> bool {
    let far = regente_domain::time::Timestamp::from_millis(i64::MAX / 2);
    transaction_requests::open(&app.app.store, far, 1).await.unwrap().is_empty()
}

/// No outcome is unknown, and no request was given up.
pub async fn nothing_is_open(app: &TestApp) {
    let far = regente_domain::time::Timestamp::from_millis(i64::MAX / 2);
    let open = transaction_requests::open(&app.app.store, far, 10).await.unwrap();
    assert!(open.is_empty(), "{open:#?}");
    let given_up = transaction_requests::given_up(&app.app.store, 10).await.unwrap();
    assert!(given_up.is_empty(), "{given_up:#?}");
}
