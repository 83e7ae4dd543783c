//! Nodes whose clocks differ by minutes: leases and due dates go by the database's clock.

use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::Method;
use regente::api::router::router;
use regente::app::App;
use regente_engine::clock::Clock;
use regente_engine::jobs::Worker;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::any_charge;
use crate::support::client::request;
use crate::support::purchases::{accepted, read};
use crate::support::receiver::{Receiver, Say};
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    a_clock_is_set_by_the_databases,
    what_is_under_way_is_not_sent_again_when_the_clock_jumps,
}

/// Longer than anything that a test waits for.
const SOON: Duration = Duration::from_secs(30);
const A_WHILE: Duration = Duration::from_millis(5);
/// And shorter than the time after which a call under way is looked up.
const LONGER_THAN_A_LEASE: Duration = Duration::from_secs(20);

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(A_WHILE).await;
        }
    };
    assert!(tokio::time::timeout(SOON, looking).await.is_ok(), "{what}");
}

/// Two nodes: the clock of one machine is a minute behind, that of the other a minute ahead.
async fn two_nodes(app: &TestApp) -> (App, App) {
    let now = app.app.store.now().await.unwrap();
    app.clock.set(now);
    let (behind, ahead) = (Clock::system_showing(now - MINUTE), Clock::system_showing(now + MINUTE));
    for clock in [&behind, &ahead] {
        clock.follow(&app.app.store).await.unwrap();
    }
    (app.another_node(&behind, 1).await, app.another_node(&ahead, 2).await)
}

fn worker(node: &App) -> Worker {
    Worker::new(node.engine.clone())
}

async fn a_clock_is_set_by_the_databases(app: TestApp) {
    let store = &app.app.store;
    for wrong in [store.now().await.unwrap() - MINUTE, store.now().await.unwrap() + MINUTE] {
        let clock = Clock::system_showing(wrong);
        clock.follow(store).await.unwrap();
        let (shown, right) = (clock.deployment().as_millis(), store.now().await.unwrap().as_millis());
        assert!((shown - right).abs() < 10_000, "{shown} {right}");
    }
    let before = app.clock.deployment();
    app.clock.follow(store).await.unwrap();
    assert_eq!(app.clock.deployment(), before, "a manual clock stays as it is");
}

async fn what_is_under_way_is_not_sent_again_when_the_clock_jumps(app: TestApp) {
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "*", "/").await;
    // An endpoint that has never answered gets one message at a time, whatever the clock shows.
    any_charge(&app).await;
    app.run_jobs().await;
    let answered = receiver.received().len();
    assert!(answered > 0);
    receiver.always(Say::Nothing);
    any_charge(&app).await;
    let sending = tokio::spawn({
        let worker = app.worker.clone();
        async move { worker.round().await }
    });
    until("it is sent", || receiver.received().len() == answered + 1).await;
    app.clock.advance(2 * MINUTE);
    let round = tokio::time::timeout(SOON / 10, app.worker.round()).await;
    assert_eq!(receiver.received().len(), answered + 1, "the first attempt has not ended");
    assert!(round.is_ok(), "nothing is left to do");
    sending.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_under_way_is_not_sent_by_another_node() {
    let app = TestApp::postgres().await;
    let (behind, ahead) = two_nodes(&app).await;
    let receiver = Receiver::start().await;
    receiver.always(Say::Nothing);
    webhook(&app, &receiver, "*", "/").await;
    any_charge(&app).await;
    let sending = tokio::spawn(async move { worker(&behind).round().await });
    until("it is sent", || receiver.received().len() == 1).await;
    let round = tokio::time::timeout(SOON / 10, worker(&ahead).round()).await;
    assert_eq!(receiver.received().len(), 1, "sent once");
    assert!(round.is_ok(), "nothing is left to do");
    sending.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_under_way_is_not_looked_up_by_another_node() {
    let app = TestApp::postgres().await.with_sandbox_deadline(Duration::from_secs(20)).await;
    let (behind, ahead) = two_nodes(&app).await;
    let merchant = app.merchant().await;
    app.wire.hold();
    let body = charge_body(&merchant, APPROVED);
    let mut charging = request(&app.client, Method::POST, "/v1/charges", &[], Some(&body));
    charging.extensions_mut().insert(ConnectInfo(std::net::SocketAddr::from(([127, 0, 0, 1], 50_000))));
    let answering = tokio::spawn(router(behind.clone()).oneshot(charging));
    until("the provider is called", || behind.in_flight.len() == 1).await;
    assert_eq!(worker(&ahead).round().await.unwrap().resolved, 0, "its node waits for the answer");
    app.wire.let_go();
    let answer = answering.await.unwrap().unwrap();
    let answer = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    let charge: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(charge["status"], json!("authorized"), "{charge}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_under_way_is_not_run_by_another_node() {
    let app = TestApp::postgres().await.with_sandbox_deadline(SOON).await;
    let (behind, ahead) = two_nodes(&app).await;
    it_is_run_by_one(&app, &behind, &ahead).await;
}

/// The clock of a machine jumps, and a round begins before it is compared with the database's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_under_way_is_not_run_by_a_node_whose_clock_has_just_jumped() {
    let app = TestApp::postgres().await.with_sandbox_deadline(SOON).await;
    let now = app.app.store.now().await.unwrap();
    app.clock.set(now);
    let (right, jumped) = (Clock::system_showing(now), Clock::system_showing(now + LONGER_THAN_A_LEASE));
    let (right, jumped) = (app.another_node(&right, 1).await, app.another_node(&jumped, 2).await);
    it_is_run_by_one(&app, &right, &jumped).await;
}

/// One node runs a job, and another one looks for jobs meanwhile.
async fn it_is_run_by_one(app: &TestApp, one: &App, other: &App) {
    let merchant = app.merchant().await;
    app.wire.hold();
    let id = accepted(app, &merchant, &[APPROVED, APPROVED], true).await;
    let running = tokio::spawn({
        let worker = worker(one);
        async move { worker.round().await }
    });
    until("the provider is called", || one.in_flight.len() == 1).await;
    assert_eq!(worker(other).round().await.unwrap().jobs, 0, "its node has the lease");
    app.wire.let_go();
    running.await.unwrap().unwrap();
    assert_eq!(read(app, &id).await["status"], "paid");
}
