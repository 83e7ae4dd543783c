//! Jobs in parallel: a provider that does not answer delays only the jobs that wait for it.

use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::Method;
use regente_domain::time::Timestamp;
use regente_engine::jobs::Worker;
use regente_engine::queue::{Kind, Queue};
use regente_store::jobs::NewJob;
use regente_store::{Batch, Commit, args, due, jobs, sql};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::Client;
use crate::support::providers::sandbox;
use crate::support::purchases::{accepted, read};
use crate::support::read::text;
use crate::support::subscriptions::{Parties, made};

stories! {
    a_provider_that_hangs_holds_up_no_other_merchant,
    what_one_account_waits_for_leaves_room_for_another,
    an_account_has_its_turn_behind_all_that_another_has_to_do,
    what_is_due_of_subscriptions_is_done_at_a_bounded_rate,
    a_worker_that_stops_finishes_what_it_has_begun,
    a_lease_lasts_as_long_as_its_job,
}

sql! {
    LEASED = "SELECT MIN(lease_until) AS until FROM jobs WHERE client_id = :client_id";
    LAST_DUE = "SELECT MAX(run_at) AS run_at FROM jobs WHERE client_id = :client_id";
}

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_millis(5);
/// Longer than anything that a test waits for.
const SOON: Duration = Duration::from_secs(30);

/// Polls until a condition holds.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let looking = async {
        while !is_so().await {
            tokio::time::sleep(A_WHILE).await;
        }
    };
    assert!(tokio::time::timeout(SOON, looking).await.is_ok(), "{what}");
}

/// A worker that runs in the background until the sender is used.
fn begin_working(app: &TestApp) -> (tokio::sync::oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = Worker::new(app.app.engine.clone());
    (stop, tokio::spawn(worker.run_until(async move { drop(stopped.await) })))
}

/// A provider that never answers this operation.
fn silent(operation: &str) -> Value {
    let mut provider = sandbox("Silent", 1);
    let faults = json!([{ "when": { "operation": operation }, "then": { "timeout": "before_effect" } }]);
    provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
    json!([provider])
}

async fn calls_under_way(app: &TestApp, count: usize) {
    until("so many calls are under way", async || app.app.in_flight.len() == count).await;
}

async fn a_provider_that_hangs_holds_up_no_other_merchant(app: TestApp) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let (hanging, healthy) = (app.merchant_with(silent("authorization")).await, app.merchant().await);
    let mut waiting = Vec::new();
    for _ in 0..12 {
        waiting.push(accepted(&app, &hanging, &[APPROVED, APPROVED], true).await);
    }
    let (_stop, working) = begin_working(&app);
    calls_under_way(&app, waiting.len()).await;
    let done = accepted(&app, &healthy, &[APPROVED, APPROVED], true).await;
    until("the other merchant's purchase is paid", async || read(&app, &done).await["status"] == "paid")
        .await;
    for id in waiting {
        assert_eq!(read(&app, &id).await["payments"][0]["status"], "pending", "it still hangs");
    }
    working.abort();
}

/// Makes a pre-authorized charge at this provider; returns its path.
async fn reserved(app: &TestApp, client: &Client, providers: &Value) -> String {
    let merchant = json!({ "mcc": "5812", "providers": providers });
    let merchant = app.call(client, Method::POST, "/v1/merchants", &[], Some(&merchant)).await.expect(201);
    let body = Charge::by_card(text(&merchant["id"]), APPROVED).reserved().body();
    let charge = app.call(client, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    format!("/v1/charges/{}", text(&charge["id"]))
}

async fn what_one_account_waits_for_leaves_room_for_another(app: TestApp) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let other = app.another_client().await;
    // More than a process runs at once.
    for _ in 0..20 {
        reserved(&app, &app.client, &silent("void")).await;
    }
    let healthy = reserved(&app, &other, &json!([sandbox("Healthy", 1)])).await;
    app.clock.advance(Duration::from_secs(8 * 24 * 60 * 60));
    let (_stop, working) = begin_working(&app);
    let is_released = async || {
        let charge = app.call(&other, Method::GET, &healthy, &[], None).await.expect(200);
        charge["status"] == "canceled"
    };
    until("the other account's reservation is released", is_released).await;
    calls_under_way(&app, Queue::Money.concurrent_max() / 2).await;
    working.abort();
}

async fn an_account_has_its_turn_behind_all_that_another_has_to_do(app: TestApp) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let other = app.another_client().await;
    for _ in 0..Queue::Money.concurrent_max() / 2 {
        reserved(&app, &app.client, &silent("void")).await;
    }
    let (store, client_id) = (&app.app.store, app.client_id());
    let row = store.row(&LAST_DUE, args! { client_id }).await.unwrap().unwrap();
    let run_at = row.get::<Timestamp>("run_at").unwrap() + MINUTE;
    // More than a look reads, before what the other account has to do.
    let mut batch = Batch::new(client_id);
    for number in 0..due::ROWS_MAX + 100 {
        let id = app.app.chance.id(app.clock.deployment());
        let (kind, queue, key) = (Kind::ExpireReservation.word(), Queue::Money.word(), number.to_string());
        jobs::enqueue(&mut batch, &NewJob { id, kind, queue, key: &key, payload: "{}", run_at });
    }
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    app.clock.advance(2 * MINUTE);
    let healthy = reserved(&app, &other, &json!([sandbox("Healthy", 1)])).await;
    app.clock.advance(Duration::from_secs(8 * 24 * 60 * 60));
    let (_stop, working) = begin_working(&app);
    let is_released = async || {
        let charge = app.call(&other, Method::GET, &healthy, &[], None).await.expect(200);
        charge["status"] == "canceled"
    };
    until("the other account's reservation is released", is_released).await;
    calls_under_way(&app, Queue::Money.concurrent_max() / 2).await;
    working.abort();
}

async fn what_is_due_of_subscriptions_is_done_at_a_bounded_rate(app: TestApp) {
    let app = app.with_settings(|settings| settings.subscription_jobs_per_second = NonZeroU32::new(50)).await;
    let parties = Parties::of(&app).await;
    for _ in 0..12 {
        made(&app, &parties.body(&json!({}))).await;
    }
    let (_stop, working) = begin_working(&app);
    until("every subscription is charged", async || {
        let page = app.get("/v1/charges?status=authorized&limit=1").await.expect(200);
        page["meta"]["totalItems"] == 12
    })
    .await;
    working.abort();
}

async fn a_worker_that_stops_finishes_what_it_has_begun(app: TestApp) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let merchant = app.merchant().await;
    app.wire.hold();
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let (stop, working) = begin_working(&app);
    calls_under_way(&app, 1).await;
    stop.send(()).unwrap();
    // Jobs enqueued later are left to other workers.
    let later = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    assert!(!working.is_finished());
    app.wire.let_go();
    tokio::time::timeout(SOON, working).await.unwrap().unwrap();
    assert_eq!(read(&app, &id).await["status"], "paid");
    assert_eq!(read(&app, &later).await["payments"][0]["chargeId"], Value::Null);
    assert_eq!(leased(&app).await, None, "no lease is left");
}

/// The end of the lease of the account's job.
async fn leased(app: &TestApp) -> Option<Timestamp> {
    let row = app.app.store.row(&LEASED, args! { client_id: app.client_id() }).await.unwrap().unwrap();
    row.get("until").unwrap()
}

async fn a_lease_lasts_as_long_as_its_job(app: TestApp) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let merchant = app.merchant().await;
    app.wire.hold();
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let (stop, working) = begin_working(&app);
    calls_under_way(&app, 1).await;
    let first = leased(&app).await.unwrap();
    until("the lease lasts longer", async || leased(&app).await.is_some_and(|until| until > first)).await;
    app.wire.let_go();
    until("the purchase is paid", async || read(&app, &id).await["status"] == "paid").await;
    stop.send(()).unwrap();
    working.await.unwrap();
}
