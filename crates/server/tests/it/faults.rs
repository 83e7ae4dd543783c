//! Faults of the machine: a full disk, a read-only database, a PostgreSQL that crashes and restarts, a clock that
//! jumps. Callers get 503 with `Retry-After`, nothing is lost, and service continues without a restart.

mod clock;
mod commits;
mod disk;
mod overload;
mod postgres;
mod shares;
mod unreachable;

use std::collections::BTreeMap;
use std::time::Duration;

use regente_providers::sandbox::TransactionLog;
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::{Reply, assert_unavailable};

/// More polls, one each [`PAUSE`], than anything here needs.
const LOOKS_MAX: usize = 1200;
const PAUSE: Duration = Duration::from_millis(25);

/// A charge whose key is also its reference.
async fn charge(app: &TestApp, merchant: &str, key: &str) -> Reply {
    let body = Charge::by_card(merchant, APPROVED).with("orderId", key).body();
    app.post_with_key("/v1/charges", key, &body).await
}

/// Charges under numbered keys until one succeeds; returns that key.
async fn until_charged(app: &TestApp, merchant: &str, name: &str) -> String {
    for look in 0..LOOKS_MAX {
        let key = format!("{name}-{look}");
        let reply = charge(app, merchant, &key).await;
        if reply.status.as_u16() == 201 {
            return key;
        }
        assert_unavailable(&reply);
        tokio::time::sleep(PAUSE).await;
    }
    panic!("service does not go on");
}

/// Every charge by its reference, after recovery.
async fn settled(app: &TestApp) -> BTreeMap<String, Value> {
    app.later(Duration::from_secs(60 * 60)).await;
    let mut charges = BTreeMap::new();
    for page in 1.. {
        let list = app.get(&format!("/v1/charges?limit=100&sort=ASC&page={page}")).await.expect(200);
        let items = list["items"].as_array().unwrap();
        for charge in items {
            let reference = charge["orderId"].as_str().unwrap().to_owned();
            assert!(charges.insert(reference, charge.clone()).is_none(), "two charges for one key");
        }
        if items.len() < 100 {
            break;
        }
    }
    charges
}

/// Compares the charges with the simulator's transaction log: one effect for each authorized charge, and no others.
async fn assert_agrees(books: &TransactionLog, charges: &BTreeMap<String, Value>) {
    let mut authorized = 0;
    for charge in charges.values() {
        assert!(charge["status"] == "authorized" || charge["status"] == "failed", "{charge}");
        authorized += usize::from(charge["status"] == "authorized");
    }
    assert_eq!(books.effects().await.unwrap(), authorized, "an effect for each authorized charge");
}
