//! The process stops after every write and around every send while events become deliveries and deliveries are sent,
//! one step after the other, until the work completes. Nothing is lost or duplicated, except that the request under way
//! may arrive twice, with the same id and bytes.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use regente_engine::deliveries::DeliveryWorker;
use serde_json::{Value, json};

use super::deliveries::deliveries;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::charges::any_charge;
use crate::support::crashes::stopped_while;
use crate::support::purchases::{accepted, read};
use crate::support::read::text;
use crate::support::receiver::{Receiver, Say};
use crate::support::webhooks::webhook;

stories! {
    while_events_are_handed_over,
    while_messages_are_lost_and_their_webhook_is_switched_off,
    while_a_purchase_is_announced,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(60 * 60);
const MINUTE: Duration = Duration::from_secs(60);
/// More steps than any of this work has.
const STEPS_MAX: u64 = 120;

/// Runs all webhook work that is due.
async fn deliver(app: &TestApp) {
    let delivery_worker = DeliveryWorker::new(app.app.engine.clone());
    while delivery_worker.round().await.unwrap() > 0 {}
}

/// Stops the process at a step of `work`, also at those of the receiver, unless it ends before; whether it did.
async fn stopped(
    app: TestApp,
    receiver: &Receiver,
    steps: u64,
    work: impl AsyncFnOnce(&TestApp),
) -> (TestApp, bool) {
    receiver.stops_with(&app.fuse);
    let (app, is_done) = stopped_while(app, steps, work).await;
    receiver.stops_with(&app.fuse);
    (app, is_done)
}

/// The ids that arrived at a path since `from`, in the order of their first arrival; repeated arrivals are equal.
fn arrived(receiver: &Receiver, path: &str, from: usize) -> Vec<(String, String)> {
    let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut order = Vec::new();
    for got in receiver.received().into_iter().skip(from).filter(|got| got.path == path) {
        let id = text(&got.json()["id"]).to_owned();
        match bodies.get(&id) {
            Some(before) => assert_eq!(*before, got.body, "the same bytes in every attempt"),
            None => {
                order.push((id.clone(), got.event()));
                bodies.insert(id, got.body);
            }
        }
    }
    order
}

fn events(arrived: &[(String, String)]) -> Vec<&str> {
    arrived.iter().map(|(_, event)| event.as_str()).collect()
}

fn statuses(deliveries: &[Value]) -> Vec<&str> {
    deliveries.iter().map(|delivery| text(&delivery["status"])).collect()
}

async fn while_events_are_handed_over(mut app: TestApp) {
    let receiver = Receiver::start().await;
    let all = webhook(&app, &receiver, "*", "/all").await;
    let named = webhook(&app, &receiver, "transaction.authorized", "/named").await;
    app.run_jobs().await;
    for steps in 0..STEPS_MAX {
        let from = receiver.received().len();
        any_charge(&app).await;
        let is_done;
        (app, is_done) = stopped(app, &receiver, steps, async |app| deliver(app).await).await;
        app.later(LATER).await;
        let to_all = arrived(&receiver, "/all", from);
        assert_eq!(events(&to_all), ["transaction.pending", "transaction.authorized"], "after {steps} steps");
        assert_eq!(arrived(&receiver, "/named", from), to_all[1..], "after {steps} steps");
        let made = usize::try_from(steps).unwrap() + 1;
        for (id, each) in [(&all, 2), (&named, 1)] {
            let made = (made * each).min(100);
            assert_eq!(statuses(&deliveries(&app, id).await), vec!["delivered"; made], "after {steps} steps");
        }
        if is_done {
            let sent = receiver.received().len() - from;
            assert_eq!(sent, 3, "undisturbed, each once");
            assert!(steps >= 15, "writes and sends are missing: {steps}");
            return;
        }
    }
    panic!("it does not end");
}

async fn while_messages_are_lost_and_their_webhook_is_switched_off(app: TestApp) {
    let mut app = app
        .with_settings(|settings| {
            settings.webhooks.waits = vec![MINUTE];
            settings.webhooks.disable_after = NonZeroU32::new(1);
        })
        .await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let path = format!("/v1/webhooks/{id}");
    app.run_jobs().await;
    for steps in 0..STEPS_MAX {
        let from = receiver.received().len();
        receiver.always(Say::Status(500));
        for _ in 0..2 {
            any_charge(&app).await;
        }
        let is_done;
        (app, is_done) = stopped(app, &receiver, steps, async |app| {
            deliver(app).await;
            app.clock.advance(2 * MINUTE);
            deliver(app).await;
        })
        .await;
        app.later(LATER).await;
        let mut found = deliveries(&app, &id).await;
        found.truncate(2);
        let lost: Vec<&Value> = found.iter().filter(|delivery| delivery["status"] == "lost").collect();
        assert!(!lost.is_empty(), "after {steps} steps: {found:#?}");
        if lost.len() == 1 {
            let webhook = app.get(&path).await.expect(200);
            assert_eq!(webhook["status"], false, "what is not lost waits for a webhook that is off");
        }
        receiver.always(Say::Status(200));
        app.patch(&path, &json!({ "status": true })).await.expect(200);
        for lost in lost {
            let replay = format!("{path}/deliveries/{}/replay", text(&lost["id"]));
            app.post(&replay, &json!({})).await.expect(202);
        }
        app.run_jobs().await;
        let found = deliveries(&app, &id).await;
        assert_eq!(statuses(&found[..2]), ["delivered"; 2], "after {steps} steps");
        assert_eq!(arrived(&receiver, "/", from).len(), 2, "after {steps} steps");
        if is_done {
            assert_eq!(found.len() as u64, (2 * (steps + 1)).min(100), "nothing was made twice");
            // One write begins both attempts of a round.
            assert!(steps >= 18, "writes and sends are missing: {steps}");
            return;
        }
    }
    panic!("it does not end");
}

async fn while_a_purchase_is_announced(mut app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "purchase.paid", "/paid").await;
    let merchant = app.merchant().await;
    app.run_jobs().await;
    let mut expected = Vec::new();
    // Every third step suffices for this long a flow: another test sweeps the purchase's own steps.
    for steps in (0..STEPS_MAX).step_by(3) {
        let purchase = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
        let is_done;
        (app, is_done) = stopped(app, &receiver, steps, async |app| app.run_jobs().await).await;
        app.later(LATER).await;
        let ended = read(&app, &purchase).await;
        match text(&ended["status"]) {
            "paid" => expected.push(ended["id"].clone()),
            status => assert_eq!(status, "failed", "after {steps} steps"),
        }
        let got = receiver.received();
        let mut said: Vec<Value> = got.iter().map(|got| got.json()["data"]["id"].clone()).collect();
        said.dedup();
        assert_eq!(said, expected, "whoever is paid for is announced, after {steps} steps");
        let found = deliveries(&app, &id).await;
        assert_eq!(statuses(&found), vec!["delivered"; expected.len()], "once, after {steps} steps");
        assert_eq!(arrived(&receiver, "/paid", 0).len(), expected.len());
        if is_done {
            assert!(steps >= 30 && expected.len() > 2, "writes and calls are missing: {steps}");
            return;
        }
    }
    panic!("it does not end");
}
