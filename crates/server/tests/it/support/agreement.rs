//! Compares the money of charges with the simulator's transaction log.

use std::collections::HashSet;
use std::ops::AddAssign;
use std::time::Duration;

use regente_domain::ledger::{Entry, Purpose};
use regente_domain::time::Timestamp;
use regente_engine::ledger::{Repair, compare};
use regente_engine::rates;
use regente_providers::sandbox::{Filter, Holding, Holdings, Order, TransactionLog};
use regente_store::sessions::tries;
use regente_store::{ledger, transaction_requests};
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::read::text;

/// The money of charges, in minor units, by the charges or by the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// Authorized and not captured.
    pub reserved: i64,
    /// Captured and neither refunded nor charged back.
    pub kept: i64,
    /// How many authorizations hold or have captured an amount.
    pub effects: usize,
}

impl Money {
    fn of(holding: &Holding) -> Self {
        Self { reserved: holding.reserved.minor_units(), kept: holding.kept().minor_units(), effects: 1 }
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.reserved += other.reserved;
        self.kept += other.kept;
        self.effects += other.effects;
    }
}

/// Compares every charge of a deployment with the log: each agrees, and the log has no other authorizations. That finds
/// money captured for a charge that was never recorded.
pub async fn agree_on_all(books: &TransactionLog, charges: &[Value]) {
    let mut money = Money::default();
    for charge in charges {
        money += agree(books, charge).await;
    }
    nothing_besides(books, Timestamp::from_millis(0), money).await;
}

/// The books of money say what these charges and the log say, to the cent, and are right in themselves.
pub async fn ledger_agrees(app: &TestApp, charges: &[Value]) {
    entries_agree(app, charges).await;
    ledger_is_right(app).await;
}

/// The entries of these charges say what the charges and the log say.
pub async fn entries_agree(app: &TestApp, charges: &[Value]) {
    for charge in charges {
        let money = agree(&app.books, charge).await;
        let id = text(&charge["id"]).parse().unwrap();
        let entries = ledger::of_sources(&app.app.store, app.client_id(), &[id]).await.unwrap();
        let of = |purpose: Purpose| -> i64 {
            let side = |of: Purpose, sign: i64| if of == purpose { sign } else { 0 };
            let moved =
                |entry: &Entry| entry.amount.minor_units() * (side(entry.debit, 1) + side(entry.credit, -1));
            entries.iter().map(moved).sum()
        };
        let posted = (of(Purpose::Hold), of(Purpose::ProviderReceivable));
        assert_eq!(posted, (money.reserved, money.kept), "{charge:#}: {entries:#?}");
    }
}

/// Every balance is the sum of its entries, every account's debits are somebody's credits, and the entries of each charge
/// are what it holds.
pub async fn ledger_is_right(app: &TestApp) {
    let (store, client_id) = (&app.app.store, app.client_id());
    assert_eq!(ledger::wrong_balances(store, client_id, 10).await.unwrap(), []);
    assert_eq!(ledger::wrong_spans(store, client_id).await.unwrap(), 0);
    assert_eq!(ledger::unbalanced(store, client_id).await.unwrap(), []);
    let compared = compare(&app.app, client_id, Repair::Leave).await.unwrap();
    assert_eq!((compared.differing, compared.posted, compared.busy), (Vec::new(), 0, 0));
    rates_are_right(app).await;
}

/// What is kept of the rates is what the requests say.
pub async fn rates_are_right(app: &TestApp) {
    assert_eq!(rates::compare(&app.app, app.client_id()).await.unwrap(), []);
}

/// All authorizations in the log, from this time on, add up to this money.
pub async fn nothing_besides(books: &TransactionLog, since: Timestamp, money: Money) {
    assert_eq!(booked_since(books, since).await, money, "the log has authorizations that no charge has");
}

/// The money of all authorizations in the log from this time on, with their captures and voids.
pub async fn booked_since(books: &TransactionLog, since: Timestamp) -> Money {
    let filter = Filter { since: Some(since), ..Filter::default() };
    let stored = books.page(filter, Order::OldestFirst, None, usize::MAX).await.unwrap();
    let mut money = Money::default();
    for (_, holding) in Holdings::of(stored.iter().map(|stored| &stored.entry)).iter() {
        money += Money::of(&holding);
    }
    money
}

/// Compares a charge, as an answer shows it, with the log: an authorized one has one effect, a failed one none, and
/// whatever a provider took beyond that was given back. Returns its money; an authorization that was given back counts
/// as an effect.
pub async fn agree(books: &TransactionLog, charge: &Value) -> Money {
    let (status, amount) = (text(&charge["status"]), charge["amount"].as_i64().unwrap());
    let told = match status {
        "authorized" | "voided" => Money { reserved: 0, kept: amount, effects: 1 },
        "charged_back" => Money { reserved: 0, kept: amount - lost(charge), effects: 1 },
        "canceled" if !was_reserved(charge) => Money::default(),
        "pre_authorized" | "canceled" => Money { reserved: amount, kept: 0, effects: 1 },
        "failed" => Money::default(),
        other => panic!("a charge that is {other} in the end: {charge:#}"),
    };
    let (mut booked, mut orphans) = (Money::default(), 0);
    let mut keys = HashSet::new();
    let requests = charge["transactionRequests"].as_array().unwrap();
    for request in requests {
        // A follow-up shows no key; its money is part of its authorization's.
        let Some(key) = request["idempotencyKey"].as_str() else { continue };
        // What a payer did is told by further requests with the same key.
        if !keys.insert(key) {
            continue;
        }
        let Some(holding) = books.holding(key.parse().unwrap()).await.unwrap() else { continue };
        let of_key = |request: &&Value| request["idempotencyKey"] == key;
        // What was paid for a charge that had failed, or that its payer had refused, is given back.
        let has_failed = status == "failed" || (status == "canceled" && !was_reserved(charge));
        if !has_failed && requests.iter().filter(of_key).any(is_approved) {
            booked += Money::of(&holding);
        } else {
            let left = (holding.reserved.minor_units(), holding.kept().minor_units());
            assert_eq!(left, (0, 0), "an orphaned authorization was not given back: {charge:#}");
            orphans += 1;
        }
    }
    assert_eq!(told, booked, "{charge:#}");
    Money { effects: told.effects + orphans, ..told }
}

/// What the cases of a charge that are lost have taken of it: the newest end of each says so.
fn lost(charge: &Value) -> i64 {
    let ends = ["charge_back", "dispute_closed"];
    let mut cases = HashSet::new();
    let requests = charge["transactionRequests"].as_array().unwrap().iter();
    let newest = requests
        .filter(|request| ends.contains(&text(&request["requestType"])))
        .filter(|request| cases.insert(request["transactionId"].to_string()));
    let taken = newest.filter(|end| end["requestType"] == "charge_back");
    let sum: i64 = taken.map(|end| end["amount"].as_i64().unwrap()).sum();
    sum.min(charge["amount"].as_i64().unwrap())
}

/// Whether it was reserved before it was canceled: what its payer has refused never was.
fn was_reserved(charge: &Value) -> bool {
    charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .any(|request| request["requestType"] == "pre_authorization" && request["requestStatus"] == "success")
}

/// Whether an authorization was approved, as the charge shows it.
fn is_approved(request: &Value) -> bool {
    request["requestStatus"] == "success" && request["requestType"] != "pending"
}

/// Every charge of the account, as answers show it.
pub async fn all_charges(app: &TestApp) -> Vec<Value> {
    every_page(app, "").await
}

/// Every charge of the account that was made at this time or later.
pub async fn charges_since(app: &TestApp, since: Timestamp) -> Vec<Value> {
    every_page(app, &format!("&created.gt={}", since - Duration::from_millis(1))).await
}

async fn every_page(app: &TestApp, filter: &str) -> Vec<Value> {
    let mut charges = Vec::new();
    for page in 1.. {
        let found = app.get(&format!("/v1/charges?limit=100&page={page}{filter}")).await.expect(200);
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
    let far = Timestamp::from_millis(i64::MAX / 2);
    transaction_requests::open(&app.app.store, far, 1).await.unwrap().is_empty()
}

/// No outcome is unknown, and no request was given up.
pub async fn nothing_is_open(app: &TestApp) {
    let far = Timestamp::from_millis(i64::MAX / 2);
    let open = transaction_requests::open(&app.app.store, far, 10).await.unwrap();
    assert!(open.is_empty(), "{open:#?}");
    let given_up = transaction_requests::given_up(&app.app.store, 10).await.unwrap();
    assert!(given_up.is_empty(), "{given_up:#?}");
    assert_eq!(places(app).await, 0, "no card is tried");
}

/// How many places cards hold at sessions: those of the cards that are being tried.
pub async fn places(app: &TestApp) -> i64 {
    let (store, client_id) = (&app.app.store, app.client_id());
    let wrong = tries::wrong(store, client_id).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
    tries::count(store, client_id).await.unwrap()
}
