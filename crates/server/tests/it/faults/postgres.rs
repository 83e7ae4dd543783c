//! PostgreSQL crashes under load and restarts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{LOOKS_MAX, PAUSE, assert_agrees, charge, settled, until_charged};
use regente_engine::settings::Settings;
use regente_store::testing::{FreshDatabase, TestDatabase, TestPostgres};
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::client::assert_unavailable;

const CLIENTS: usize = 8;
/// Answers of one kind that are awaited before the next step.
const ANSWERS: usize = 40;

#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    taken: AtomicUsize,
    refused: AtomicUsize,
    answers: Mutex<BTreeMap<String, Value>>,
    refused_keys: Mutex<Vec<String>>,
}

impl Seen {
    async fn wait_for(counter: &AtomicUsize, more: usize) {
        let target = counter.load(Ordering::SeqCst) + more;
        for _ in 0..LOOKS_MAX {
            if counter.load(Ordering::SeqCst) >= target {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("{} of {target}", counter.load(Ordering::SeqCst));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_crashes_under_load_and_nothing_is_lost() {
    let server = TestPostgres::alone();
    let database = TestDatabase::Postgres(FreshDatabase::at(server.empty_database().await));
    let app = Arc::new(TestApp::on(database, Settings::default()).await);
    let merchant = app.merchant().await;
    let seen = Arc::new(Seen::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(charge_until_told(app.clone(), merchant.clone(), number, seen.clone())))
        .collect();
    for _ in 0..2 {
        Seen::wait_for(&seen.taken, ANSWERS).await;
        server.crash();
        Seen::wait_for(&seen.refused, ANSWERS).await;
        app.get("/health/ready").await.expect(503);
        app.get("/health/live").await.expect(200);
        server.start_again();
    }
    Seen::wait_for(&seen.taken, ANSWERS).await;
    seen.stop.store(true, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    until_charged(&app, &merchant, "after").await;

    let charges = settled(&app).await;
    for (key, answer) in seen.answers.lock().unwrap().iter() {
        let charge = charges.get(key).unwrap_or_else(|| panic!("an answered charge is gone: {answer}"));
        if answer["status"] != "pending" {
            assert_eq!(charge, answer, "what was answered is what is there");
        }
    }
    // A retried key has one outcome, whatever was under way when the server crashed.
    let refused: Vec<String> = seen.refused_keys.lock().unwrap().iter().step_by(7).cloned().collect();
    for key in &refused {
        charge(&app, &merchant, key).await.expect(201);
    }
    assert_agrees(&app.books, &settled(&app).await).await;
}

async fn charge_until_told(app: Arc<TestApp>, merchant: String, client: usize, seen: Arc<Seen>) {
    for number in 0.. {
        if seen.stop.load(Ordering::SeqCst) {
            return;
        }
        let key = format!("{client}-{number}");
        let reply = charge(&app, &merchant, &key).await;
        if reply.status.as_u16() == 201 {
            seen.answers.lock().unwrap().insert(key, reply.json());
            seen.taken.fetch_add(1, Ordering::SeqCst);
        } else {
            assert_unavailable(&reply);
            seen.refused_keys.lock().unwrap().push(key);
            seen.refused.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
