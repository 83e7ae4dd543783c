//! The purge of the log of deliveries: what is deleted, and what never is.

use std::time::Duration;

use axum::http::Method;
use regente_domain::id::{Id, WebhookId, of};
use regente_domain::webhook::{DeliveryStatus, Version};
use regente_store::deliveries::{Attempt, Begun, Delivery};
use regente_store::{Batch, Commit, args, deliveries, events, sql};
use serde_json::{Value, json};
use uuid::Uuid;

use super::deliveries::deliveries as listed;
use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::read::text;
use crate::support::receiver::{Receiver, Say};
use crate::support::webhooks::webhook;

stories! {
    a_delivery_is_listed_for_its_time_and_no_longer,
    a_replay_keeps_a_delivery_for_longer,
    what_still_waits_is_never_deleted,
    events_are_kept_longer_than_what_they_say,
    many_deliveries_are_deleted_page_by_page,
}

sql! {
    COUNT_ATTEMPTS = "SELECT COUNT(*) AS n FROM delivery_attempts WHERE client_id = :client_id";
    COUNT_SAID = "SELECT COUNT(*) AS n FROM events WHERE client_id = :client_id AND snapshot IS NOT NULL";
    COUNT_LEFT = "SELECT COUNT(*) AS n FROM deliveries WHERE client_id = :client_id";
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// One retry, deliveries kept for two days, and events for four.
async fn forgetful(app: TestApp) -> TestApp {
    app.with_settings(|settings| {
        settings.webhooks.waits = vec![MINUTE];
        settings.webhooks.delivery_retention = 2 * DAY;
        settings.webhooks.event_retention = 4 * DAY;
    })
    .await
}

async fn count(app: &TestApp, statement: &'static regente_store::Sql) -> i64 {
    let client_id = app.client_id();
    app.app.store.row(statement, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn events_of(app: &TestApp, object: &Value) -> Vec<String> {
    let id: Uuid = text(object).parse().unwrap();
    let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    events.into_iter().map(|event| event.name).collect()
}

async fn a_delivery_is_listed_for_its_time_and_no_longer(app: TestApp) {
    let app = forgetful(app).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    receiver.say(&[Say::Status(200), Say::Status(500), Say::Status(500)]);
    any_charge(&app).await;
    app.run_jobs().await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(2 * MINUTE).await;
    let statuses = async || -> Vec<String> {
        listed(&app, &id).await.iter().map(|delivery| text(&delivery["status"]).to_owned()).collect()
    };
    assert_eq!(statuses().await, ["lost", "delivered"]);
    let stranger = app.another_client().await;
    let theirs = json!({ "event": "*", "endpoint": receiver.url("/theirs") });
    let theirs = app.call(&stranger, Method::POST, "/v1/webhooks", &[], Some(&theirs)).await.expect(201);
    let path = format!("/v1/webhooks/{}", text(&theirs["id"]));
    app.call(&stranger, Method::POST, &format!("{path}/ping"), &[], Some(&json!({}))).await.expect(202);
    app.run_jobs().await;

    app.later(2 * DAY - HOUR).await;
    assert_eq!(statuses().await, ["lost", "delivered"]);
    assert_eq!((count(&app, &COUNT_ATTEMPTS).await, count(&app, &COUNT_SAID).await), (3, 2));
    let lost = listed(&app, &id).await.remove(0);
    app.later(2 * HOUR + 5 * MINUTE).await;
    assert_eq!(statuses().await, [""; 0]);
    assert_eq!((count(&app, &COUNT_ATTEMPTS).await, count(&app, &COUNT_SAID).await), (0, 0));
    let list = app.call(&stranger, Method::GET, &format!("{path}/deliveries"), &[], None).await.expect(200);
    assert_eq!(list["items"], json!([]), "of every account");
    let replay = format!("/v1/webhooks/{id}/deliveries/{}/replay", text(&lost["id"]));
    app.post(&replay, &json!({})).await.expect(404);
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(statuses().await, ["delivered"], "and everything goes on");
}

async fn a_replay_keeps_a_delivery_for_longer(app: TestApp) {
    let app = forgetful(app).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let other = webhook(&app, &receiver, "*", "/other").await;
    let charged = any_charge(&app).await;
    app.run_jobs().await;
    app.later(DAY).await;
    let first = listed(&app, &id).await.remove(0);
    let replay = format!("/v1/webhooks/{id}/deliveries/{}/replay", text(&first["id"]));
    app.post(&replay, &json!({})).await.expect(202);
    app.run_jobs().await;
    app.later(DAY + 2 * HOUR).await;
    assert!(listed(&app, &other).await.is_empty(), "what nobody asked for again is gone");
    let kept = listed(&app, &id).await.remove(0);
    assert_eq!(kept["attempts"].as_array().unwrap().len(), 2);
    app.post(&replay, &json!({})).await.expect(202);
    app.run_jobs().await;
    let got = receiver.received();
    let (before, after) = (&got[0], got.last().unwrap());
    assert_eq!(after.json()["data"]["id"], charged["id"]);
    assert_eq!(before.json()["data"]["id"], charged["id"], "what it says is still there");
    assert_eq!(after.path, "/");
}

async fn what_still_waits_is_never_deleted(app: TestApp) {
    let app = forgetful(app).await;
    let app = app.with_settings(|settings| settings.webhooks.event_retention = DAY).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "*", "/").await;
    receiver.say(&[Say::Status(500)]);
    let charged = any_charge(&app).await;
    app.run_jobs().await;
    let path = format!("/v1/webhooks/{id}");
    app.patch(&path, &json!({ "status": false })).await.expect(200);
    app.later(6 * DAY).await;
    assert_eq!(events_of(&app, &charged["id"]).await, ["pending", "authorized"]);
    app.patch(&path, &json!({ "status": true })).await.expect(200);
    app.run_jobs().await;
    let got = receiver.received();
    assert_eq!(receiver.events(), ["transaction.pending", "transaction.pending", "transaction.authorized"]);
    assert_eq!(got[0].body, got[1].body);
}

async fn events_are_kept_longer_than_what_they_say(app: TestApp) {
    let app = forgetful(app).await;
    let receiver = Receiver::start().await;
    let charged = any_charge(&app).await;
    let explanation = format!("/v1/charges/{}/explanation", text(&charged["id"]));
    let explained = app.get(&explanation).await.expect(200);
    webhook(&app, &receiver, "transaction.authorized", "/").await;
    let announced = any_charge(&app).await;
    app.run_jobs().await;
    for (days, named) in [(3, vec!["pending", "authorized"]), (2, vec![])] {
        app.later(days * DAY).await;
        for charge in [&charged, &announced] {
            assert_eq!(events_of(&app, &charge["id"]).await, named, "after {days} more days");
        }
        assert_eq!(count(&app, &COUNT_SAID).await, 0);
    }
    assert_eq!(app.get(&explanation).await.expect(200), explained, "a charge explains itself all the same");
    let id = text(&charged["id"]);
    app.post(&format!("/v1/charges/{id}/void"), &json!({})).await.expect(201);
    assert_eq!(events_of(&app, &charged["id"]).await, ["voided"]);
}

async fn many_deliveries_are_deleted_page_by_page(app: TestApp) {
    let app = forgetful(app).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.failed", "/").await;
    app.run_jobs().await;
    for _ in 0..3 {
        deliver_many(&app, id.parse().unwrap(), 700).await;
    }
    app.later_with_every_recurrence(2 * DAY + MINUTE).await;
    assert_eq!(count(&app, &COUNT_LEFT).await, 2100, "the next look is in an hour");
    app.later_with_every_recurrence(HOUR - MINUTE).await;
    assert_eq!(count(&app, &COUNT_LEFT).await, 100);
    app.later_with_every_recurrence(Duration::from_secs(1)).await;
    assert_eq!((count(&app, &COUNT_LEFT).await, count(&app, &COUNT_ATTEMPTS).await), (0, 0));
}

/// Marks this many events as delivered.
async fn deliver_many(app: &TestApp, webhook_id: WebhookId, many: usize) {
    let now = app.clock.deployment();
    let delivery = |event_id: Id<of::Event>| Delivery {
        id: app.app.chance.id(now),
        client_id: app.client_id(),
        webhook_id,
        event_id,
        event: "transaction.failed".to_owned(),
        object_id: event_id.uuid(),
        object_version: 1,
        ordinal: 0,
        api_version: Version::V1_1,
        status: DeliveryStatus::Pending,
        attempts: 0,
        tries: 0,
        due_at: Some(now),
        began_at: None,
        updated_at: now,
    };
    let made: Vec<Delivery> = (0..many).map(|_| delivery(app.app.chance.id(now))).collect();
    let duration = Duration::from_millis(1);
    let attempt = Attempt { began_at: now, duration, http_status: Some(200), failure: None, answer: None };
    let begun = Begun { at: now, lost_at: now + MINUTE };
    let (insert, begin, end): (Step<'_>, Step<'_>, Step<'_>) = (
        &|batch, delivery| deliveries::insert(batch, delivery),
        &|batch, delivery| deliveries::begin_attempt(batch, delivery, begun),
        &|batch, delivery| {
            deliveries::end_attempt(batch, delivery, begun, &attempt, DeliveryStatus::Delivered, None);
        },
    );
    // Guards are checked before a batch's statements, so each step is a batch of its own.
    for step in [insert, begin, end] {
        let mut batch = Batch::new(app.client_id());
        made.iter().for_each(|delivery| step(&mut batch, delivery));
        assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    }
}

type Step<'a> = &'a (dyn Fn(&mut Batch, &Delivery) + Sync);
