//! Whether a charge and the simulator's books say the same about its money.

use regente_providers::sandbox::TransactionLog;
use regente_store::transaction_requests;
use serde_json::Value;

use crate::charges::text;
use crate::harness::TestApp;

/// What both sides say of the money of a charge, in minor units.
#[derive(Debug, PartialEq, Eq)]
struct Money {
    /// Held and not taken.
    reserved: i64,
    /// Taken and not given back.
    kept: i64,
    /// How many providers hold or have taken something.
    effects: usize,
}

/// Holds every charge of a deployment against the books: each agrees, and the books have nothing besides. Money that was
/// taken for a charge that nobody has written down is found in no other way.
pub async fn agree_on_all(books: &TransactionLog, charges: &[Value]) {
    let mut effects = 0;
    for charge in charges {
        effects += agree(books, charge).await;
    }
    nothing_besides(books, effects).await;
}

/// The books have these effects of charges that agree, and no other.
pub async fn nothing_besides(books: &TransactionLog, effects: usize) {
    assert_eq!(books.effects().await.unwrap(), effects, "the books have effects that no charge has");
}

/// Holds a charge, as the interface shows it, against the books: authorized with one effect, or failed with none. How
/// many effects it has.
pub async fn agree(books: &TransactionLog, charge: &Value) -> usize {
    let (status, amount) = (text(&charge["status"]), charge["amount"].as_i64().unwrap());
    let told = match status {
        "authorized" | "voided" => Money { reserved: 0, kept: amount, effects: 1 },
        "pre_authorized" | "canceled" => Money { reserved: amount, kept: 0, effects: 1 },
        "failed" => Money { reserved: 0, kept: 0, effects: 0 },
        other => panic!("a charge that is {other} in the end: {charge:#}"),
    };
    let mut booked = Money { reserved: 0, kept: 0, effects: 0 };
    for request in charge["transactionRequests"].as_array().unwrap() {
        // What follows an authorization shows no key and stands in its balance.
        let Some(key) = request["idempotencyKey"].as_str() else { continue };
        if let Some(balance) = books.holding(key.parse().unwrap()).await.unwrap() {
            booked.reserved += balance.reserved.minor_units();
            booked.kept += balance.kept().minor_units();
            booked.effects += 1;
        }
    }
    assert_eq!(told, booked, "{charge:#}");
    told.effects
}

/// Every charge of the account, as the interface shows it.
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

/// Whether nobody is asked for an answer any more.
pub async fn is_nothing_open(app: &TestApp) -> bool {
    let far = regente_domain::time::Timestamp::from_millis(i64::MAX / 2);
    transaction_requests::open(&app.app.store, far, 1).await.unwrap().is_empty()
}

/// Nobody is waiting for an answer any more, and nobody was given up.
pub async fn nothing_is_open(app: &TestApp) {
    let far = regente_domain::time::Timestamp::from_millis(i64::MAX / 2);
    let open = transaction_requests::open(&app.app.store, far, 10).await.unwrap();
    assert!(open.is_empty(), "{open:#?}");
    let given_up = transaction_requests::given_up(&app.app.store, 10).await.unwrap();
    assert!(given_up.is_empty(), "{given_up:#?}");
}
