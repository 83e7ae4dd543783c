//! Unreadable stored data affects only its own webhook or delivery.

use regente_store::{Batch, Commit, Sql, args, sql};
use serde_json::json;
use uuid::Uuid;

use super::deliveries::deliveries;
use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::read::text;
use crate::support::receiver::Receiver;
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    an_unreadable_webhook_holds_up_nobody_else,
    an_unreadable_delivery_holds_up_nothing_else,
    an_event_of_an_unreadable_charge_is_left_for_later,
    what_cannot_be_signed_is_an_attempt_that_failed,
}

sql! {
    SPOIL_WEBHOOK = "UPDATE webhooks SET event = 'nonsense' WHERE client_id = :client_id AND id = :id";
    SPOIL_DELIVERY = "UPDATE deliveries SET api_version = 'nonsense' WHERE client_id = :client_id AND id = :id";
    SPOIL_CHARGE = "UPDATE charges SET status = 'nonsense' WHERE client_id = :client_id AND id = :id";
    SPOIL_KEY = "UPDATE webhooks SET private_key = public_key WHERE client_id = :client_id AND id = :id";
    WAITING = "SELECT COUNT(*) AS n FROM events WHERE client_id = :client_id AND dispatch_at IS NOT NULL";
}

async fn spoil(app: &TestApp, how: &'static Sql, id: &str) {
    let (client_id, id) = (app.client_id(), id.parse::<Uuid>().unwrap());
    let mut batch = Batch::new(client_id);
    batch.push(how, args! { client_id, id });
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
}

async fn an_unreadable_webhook_holds_up_nobody_else(app: TestApp) {
    let receiver = Receiver::start().await;
    let spoilt = webhook(&app, &receiver, "transaction.authorized", "/spoilt").await;
    webhook(&app, &receiver, "transaction.authorized", "/well").await;
    app.post(&format!("/v1/webhooks/{spoilt}/ping"), &json!({})).await.expect(202);
    spoil(&app, &SPOIL_WEBHOOK, &spoilt).await;
    any_charge(&app).await;
    app.run_jobs().await;
    let paths: Vec<String> = receiver.received().into_iter().map(|got| got.path).collect();
    assert_eq!(paths, ["/well"]);
}

async fn an_unreadable_delivery_holds_up_nothing_else(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let first = app.post(&format!("/v1/webhooks/{id}/ping"), &json!({})).await.expect(202);
    spoil(&app, &SPOIL_DELIVERY, text(&first["id"])).await;
    app.clock.advance(MINUTE);
    app.post(&format!("/v1/webhooks/{id}/ping"), &json!({})).await.expect(202);
    app.run_jobs().await;
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 1, "the one behind it");
}

async fn an_event_of_an_unreadable_charge_is_left_for_later(app: TestApp) {
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "transaction.authorized", "/").await;
    let spoilt = any_charge(&app).await;
    let well = any_charge(&app).await;
    spoil(&app, &SPOIL_CHARGE, text(&spoilt["id"])).await;
    app.run_jobs().await;
    let told: Vec<_> = receiver.received().iter().map(|got| got.json()["data"]["id"].clone()).collect();
    assert_eq!(told, [well["id"].clone()]);
    let client_id = app.client_id();
    let waiting: i64 =
        app.app.store.row(&WAITING, args! { client_id }).await.unwrap().unwrap().get("n").unwrap();
    assert_eq!(waiting, 1, "it is looked at again");
}

async fn what_cannot_be_signed_is_an_attempt_that_failed(app: TestApp) {
    let app = app.with_settings(|settings| settings.webhooks.waits = vec![MINUTE]).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    spoil(&app, &SPOIL_KEY, &id).await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(2 * MINUTE).await;
    let delivery = deliveries(&app, &id).await.remove(0);
    assert_eq!(delivery["status"], "lost");
    let failures: Vec<&str> =
        delivery["attempts"].as_array().unwrap().iter().map(|attempt| text(&attempt["failure"])).collect();
    assert_eq!(failures, ["not_sent", "not_sent"]);
    assert!(receiver.received().is_empty());
}
