//! Fairness: no endpoint, account or early request takes all of the capacity.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::Method;
use regente_engine::deliveries::DeliveryWorker;
use serde_json::json;

use super::deliveries::{start_delivery_worker, until};
use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::client::Client;
use crate::support::read::text;
use crate::support::receiver::{Receiver, Say};
use crate::support::webhooks::webhook;

stories! {
    a_hanging_server_gets_one_attempt_whatever_its_paths,
    hanging_endpoints_leave_half_of_the_room_of_their_account,
    an_account_leaves_half_of_the_room_to_others,
    who_found_no_room_is_the_first_of_the_next_round,
}

async fn ping(app: &TestApp, webhook: &str) {
    app.post(&format!("/v1/webhooks/{webhook}/ping"), &json!({})).await.expect(202);
}

async fn theirs(app: &TestApp, client: &Client, receiver: &Receiver) {
    let body = json!({ "event": "transaction.authorized", "endpoint": receiver.url("/theirs") });
    let made = app.call(client, Method::POST, "/v1/webhooks", &[], Some(&body)).await.expect(201);
    let path = format!("/v1/webhooks/{}/ping", text(&made["id"]));
    app.call(client, Method::POST, &path, &[], Some(&json!({}))).await.expect(202);
}

async fn a_hanging_server_gets_one_attempt_whatever_its_paths(app: TestApp) {
    let app =
        app.with_settings(|settings| settings.webhooks.first_answer_max = Duration::from_secs(60)).await;
    let (hanging, quick) = (Receiver::start().await, Receiver::start().await);
    hanging.always(Say::Nothing);
    for path in ["/1", "/2", "/3"] {
        webhook(&app, &hanging, "transaction.authorized", path).await;
    }
    webhook(&app, &quick, "transaction.authorized", "/").await;
    let running = start_delivery_worker(&app);
    any_charge(&app).await;
    until(|| quick.received().len() == 1 && hanging.received().len() == 1).await;
    any_charge(&app).await;
    until(|| quick.received().len() == 2).await;
    assert_eq!(hanging.received().len(), 1);
    running.abort();
}

async fn hanging_endpoints_leave_half_of_the_room_of_their_account(app: TestApp) {
    let app = app
        .with_settings(|settings| {
            settings.webhooks.first_answer_max = Duration::from_secs(60);
            settings.webhooks.concurrent_max = 8;
        })
        .await;
    let quick = Receiver::start().await;
    webhook(&app, &quick, "transaction.authorized", "/").await;
    let running = start_delivery_worker(&app);
    any_charge(&app).await;
    until(|| quick.received().len() == 1).await;
    let mut hanging = Vec::new();
    for _ in 0..4 {
        let receiver = Receiver::start().await;
        receiver.always(Say::Nothing);
        webhook(&app, &receiver, "transaction.authorized", "/").await;
        hanging.push(receiver);
    }
    let reached = || hanging.iter().map(|receiver| receiver.received().len()).sum::<usize>();
    any_charge(&app).await;
    until(|| reached() == 2).await;
    for _ in 0..8 {
        any_charge(&app).await;
    }
    until(|| quick.received().len() == 10).await;
    assert_eq!(reached(), 2, "half of what the account may have");
    running.abort();
}

async fn an_account_leaves_half_of_the_room_to_others(app: TestApp) {
    let app = app
        .with_settings(|settings| {
            settings.webhooks.first_answer_max = Duration::from_secs(60);
            settings.webhooks.concurrent_max = 4;
        })
        .await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let running = start_delivery_worker(&app);
    ping(&app, &id).await;
    until(|| receiver.received().len() == 1).await;
    receiver.always(Say::Nothing);
    for _ in 0..6 {
        ping(&app, &id).await;
    }
    until(|| receiver.received().len() == 3).await;
    let other = Receiver::start().await;
    theirs(&app, &app.another_client().await, &other).await;
    until(|| other.received().len() == 1).await;
    assert_eq!(receiver.received().len(), 3, "half of the room, whatever its endpoint may have");
    running.abort();
}

async fn who_found_no_room_is_the_first_of_the_next_round(app: TestApp) {
    let app = app.with_settings(|settings| settings.webhooks.concurrent_max = 1).await;
    let receivers = [Receiver::start().await, Receiver::start().await, Receiver::start().await];
    for receiver in &receivers {
        let id = webhook(&app, receiver, "transaction.authorized", "/").await;
        for _ in 0..4 {
            ping(&app, &id).await;
        }
    }
    let delivery_worker = DeliveryWorker::new(app.app.engine.clone());
    for _ in 0..4 {
        delivery_worker.round().await.unwrap();
    }
    let served: BTreeSet<usize> =
        (0..receivers.len()).filter(|number| !receivers[*number].received().is_empty()).collect();
    assert_eq!(served.len(), 3, "each has had its turn");
}
