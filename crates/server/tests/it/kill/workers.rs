//! Kills one of two worker nodes repeatedly during purchases and deliveries. Every purchase ends with all or none of
//! its cards charged in the simulator's transaction log, and every event arrives. `cargo xtask kill-workers` does the
//! same for longer, with the simulator over HTTP.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regente_domain::id::ClientId;
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::TestPostgres;
use regente_store::{PostgresOptions, Store, StoreOptions, events};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::{Api, Deployment, PAUSE, Process};
use crate::support::agreement::{Money, agree, agree_on_all};
use crate::support::bodies::{APPROVED, Charge, token_body};
use crate::support::read::text;
use crate::support::receiver::Receiver;

/// Concurrent clients.
const SHOPPERS: usize = 8;
/// Kills of a worker.
const KILLS: usize = 2;
/// Accepted purchases between a kill and the next step.
const ACCEPTED_BETWEEN: usize = 15;
/// An attempt whose worker died counts as lost half a minute after its time limit.
const ENDED_WITHIN: Duration = Duration::from_secs(120);
/// The amounts of each purchase's cards.
const AMOUNTS: [i64; 3] = [500, 600, 700];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_of_a_worker_loses_no_event_and_charges_no_purchase_in_part() {
    let database = TestPostgres::fresh_database().await.keep();
    let deployment = Deployment::new(Some(database.clone()));
    let _serving = deployment.start().await;
    let receiver = Receiver::start().await;
    let shop = Arc::new(Shop::open(&deployment, &receiver).await);
    let mut workers = [Some(deployment.start_worker()), Some(deployment.start_worker())];
    let shoppers: Vec<_> =
        (0..SHOPPERS).map(|number| tokio::spawn(buy_until_it_is_over(Arc::clone(&shop), number))).collect();
    for kill in 0..KILLS {
        shop.until_more_are_accepted().await;
        let which = kill % workers.len();
        drop(workers[which].take());
        shop.until_more_are_accepted().await;
        workers[which] = Some(deployment.start_worker());
    }
    shop.until_more_are_accepted().await;
    shop.is_over.store(true, Ordering::SeqCst);
    for shopper in shoppers {
        shopper.await.unwrap();
    }

    let accepted = shop.accepted.lock().unwrap().clone();
    let store = Store::open(StoreOptions::Postgres(PostgresOptions::new(database))).await.unwrap();
    let books = TransactionLog::file(&deployment.folder.path().join("books.db")).unwrap();
    let client_id: ClientId = deployment.api.client_id.parse().unwrap();
    let mut purchases = Vec::new();
    for id in &accepted {
        purchases.push(shop.when_ended(id).await);
    }
    let paid = agree_on_purchases(&books, &purchases, &deployment.api.charges().await).await;
    let mut happened = HashSet::new();
    for purchase in &purchases {
        for object in charges_of(purchase).chain([text(&purchase["id"])]) {
            let of_object = events::of_object(&store, client_id, object.parse().unwrap()).await.unwrap();
            happened.extend(of_object.into_iter().map(|event| event.id.to_string()));
        }
    }
    let has_come = async || {
        let received = receiver.received();
        let come: HashSet<&str> = received.iter().filter_map(|got| got.header("x-idempotency-key")).collect();
        happened.iter().all(|id| come.contains(id.as_str()))
    };
    until("every event arrives", has_come).await;
    println!("{} purchases, {paid} paid, {} events", accepted.len(), happened.len());
    assert!(paid > 0 && paid < accepted.len(), "some are paid, some are not");
    let doctor = deployment.regente(&["doctor"]).output().unwrap();
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let looking = async {
        while !is_so().await {
            tokio::time::sleep(PAUSE).await;
        }
    };
    assert!(tokio::time::timeout(ENDED_WITHIN, looking).await.is_ok(), "{what}");
}

impl Deployment {
    fn start_worker(&self) -> Process {
        Process(self.regente(&["work"]).spawn().unwrap())
    }
}

/// A merchant whose provider fails often, its stored cards, and webhooks for all events.
struct Shop {
    api: Api,
    merchant: String,
    cards: Vec<String>,
    accepted: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Shop {
    async fn open(deployment: &Deployment, receiver: &Receiver) -> Self {
        let api = deployment.api.clone();
        let mut cards = Vec::new();
        for _ in AMOUNTS {
            let token = api.must("/v1/tokens", &token_body(APPROVED), 201).await;
            let card = api.must("/v1/cards", &json!({ "tokenId": token["tokenId"] }), 201).await;
            cards.push(text(&card["id"]).to_owned());
        }
        // A card whose first charge fails cannot be used again, so the first charges meet no faults.
        let healthy = deployment.make_merchants().await.swap_remove(0);
        for card in &cards {
            let charge = Charge::by_source(&healthy, json!({ "sourceType": "card", "cardId": card }))
                .amount(100)
                .body();
            api.must("/v1/charges", &charge, 201).await;
        }
        for event in ["*", "purchase.paid", "purchase.failed", "purchase.cancelled"] {
            let webhook = json!({ "event": event, "endpoint": receiver.url("/hook"), "version": 1.1 });
            api.must("/v1/webhooks", &webhook, 201).await;
        }
        let fault = |operation: &str, then: Value, probability: f64| json!({ "when": { "operation": operation }, "then": then, "probability": probability });
        let faults = json!([
            fault("authorization", json!({ "decline": "generic" }), 0.1),
            fault("authorization", json!({ "timeout": "after_effect" }), 0.1),
            fault("capture", json!({ "decline": "generic" }), 0.05),
            fault("capture", json!({ "timeout": "after_effect" }), 0.1),
            fault("void", json!({ "timeout": "before_effect" }), 0.2),
        ]);
        let provider = json!({ "name": "Faulty", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" },
            "options": { "type": "SANDBOX", "faults": faults } });
        let merchant = json!({ "mcc": "5812", "providers": [provider] });
        let merchant = text(&api.must("/v1/merchants", &merchant, 201).await["id"]).to_owned();
        Self { api, merchant, cards, accepted: Mutex::default(), is_over: AtomicBool::new(false) }
    }

    async fn until_more_are_accepted(&self) {
        let accepted = || self.accepted.lock().unwrap().len();
        let enough = accepted() + ACCEPTED_BETWEEN;
        until("purchases are accepted", async || accepted() >= enough).await;
    }

    /// The purchase, once no operation is under way.
    async fn when_ended(&self, id: &str) -> Value {
        let path = format!("/v1/purchases/{id}");
        let has_ended = async || is_at_rest(&self.api.must_get(&path).await);
        until(&format!("purchase {id} ends"), has_ended).await;
        self.api.must_get(&path).await
    }
}

async fn buy_until_it_is_over(shop: Arc<Shop>, shopper: usize) {
    for number in 0.. {
        if shop.is_over.load(Ordering::SeqCst) {
            return;
        }
        let payments: Vec<Value> = AMOUNTS
            .iter()
            .zip(&shop.cards)
            .take(2 + number % 2)
            .map(|(amount, card)| json!({ "cardId": card, "amount": amount }))
            .collect();
        let amount: i64 = payments.iter().map(|payment| payment["amount"].as_i64().unwrap()).sum();
        let key = format!("{shopper}-{number}");
        let body = json!({ "merchantId": shop.merchant, "amount": amount, "capture": true, "orderId": key,
            "payments": payments });
        let answer = shop.api.post("/v1/purchases", &key, &body).await;
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
        let purchase: Value = answer.json().await.unwrap();
        shop.accepted.lock().unwrap().push(text(&purchase["id"]).to_owned());
        tokio::time::sleep(PAUSE).await;
    }
}

fn statuses(purchase: &Value) -> impl Iterator<Item = &str> {
    purchase["payments"].as_array().unwrap().iter().map(|payment| text(&payment["status"]))
}

fn is_at_rest(purchase: &Value) -> bool {
    let begun =
        purchase["payments"].as_array().unwrap().iter().filter(|payment| payment["chargeId"].is_string());
    let mut begun = begun.map(|payment| text(&payment["status"]));
    match text(&purchase["status"]) {
        "paid" => true,
        "failed" => begun.all(|status| ["failed", "canceled", "voided"].contains(&status)),
        _ => false,
    }
}

/// Compares purchases with all charges of the account and with the log: each has one charge for each card that was
/// tried, all of its cards are charged or none is, and nothing else was authorized. Returns how many are paid.
async fn agree_on_purchases(books: &TransactionLog, purchases: &[Value], charges: &[Value]) -> usize {
    let mut named: Vec<&str> = purchases.iter().flat_map(charges_of).collect();
    let of_purchases = charges.iter().filter(|charge| charge["orderId"].is_string());
    let mut made: Vec<&str> = of_purchases.map(|charge| text(&charge["id"])).collect();
    named.sort_unstable();
    made.sort_unstable();
    assert_eq!(made, named, "one charge for each card that was tried");
    for purchase in purchases {
        let is_paid = purchase["status"] == "paid";
        assert!(!is_paid || statuses(purchase).all(|status| status == "authorized"), "{purchase:#}");
        let amounts = purchase["payments"].as_array().unwrap().iter();
        let all: i64 = amounts.map(|payment| payment["amount"].as_i64().unwrap()).sum();
        let mut money = Money::default();
        for charge in charges.iter().filter(|charge| charge["orderId"] == purchase["orderId"]) {
            money += agree(books, charge).await;
        }
        let expected = if is_paid { (all, 0) } else { (0, 0) };
        assert_eq!((money.kept, money.reserved), expected, "{purchase:#}");
    }
    agree_on_all(books, charges).await;
    purchases.iter().filter(|purchase| purchase["status"] == "paid").count()
}

/// The charges that a purchase names.
fn charges_of(purchase: &Value) -> impl Iterator<Item = &str> {
    purchase["payments"].as_array().unwrap().iter().filter_map(|payment| payment["chargeId"].as_str())
}

impl Api {
    async fn post(&self, path: &str, key: &str, body: &Value) -> Response {
        let request = self.request(Method::POST, path).header("X-Idempotency-Key", key);
        request.json(body).send().await.unwrap()
    }

    /// Sends a request that must be answered with `status`.
    async fn must(&self, path: &str, body: &Value, status: u16) -> Value {
        let answer = self.request(Method::POST, path).json(body).send().await.unwrap();
        let (told, body) = (answer.status().as_u16(), answer.json::<Value>().await.unwrap());
        assert_eq!(told, status, "{path}: {body}");
        body
    }

    async fn must_get(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        answer.error_for_status().unwrap().json().await.unwrap()
    }
}
