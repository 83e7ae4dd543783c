//! Replays: of one delivery by its merchant, of a span of time by an operator.

use regente_domain::id::WebhookId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, EventName};
use regente_engine::deliveries::replay::{Replayed, replay};
use regente_store::deliveries;
use regente_store::deliveries::DeliveryRange;
use serde_json::{Value, json};

use super::deliveries::deliveries as listed;
use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::receiver::{Receiver, Say};
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    what_was_lost_is_sent_again_on_request,
    a_span_of_time_names_the_deliveries_that_were_made_in_it,
    what_is_under_way_is_not_sent_again,
}

async fn what_was_lost_is_sent_again_on_request(app: TestApp) {
    let app = app.with_settings(|settings| settings.webhooks.waits = vec![MINUTE]).await;
    let receiver = Receiver::start().await;
    receiver.say(&[Say::Status(500), Say::Status(500), Say::Status(500)]);
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(2 * MINUTE).await;
    let lost = listed(&app, &id).await.remove(0);
    assert_eq!(lost["status"], "lost");
    let replay = format!("/v1/webhooks/{id}/deliveries/{}/replay", lost["id"].as_str().unwrap());
    let replayed = app.post(&replay, &json!({})).await.expect(202);
    assert_eq!((&replayed["status"], replayed["attempts"].as_array().unwrap().len()), (&json!("pending"), 2));
    app.run_jobs().await;
    app.later(2 * MINUTE).await;
    let taken = listed(&app, &id).await.remove(0);
    assert_eq!((&taken["status"], taken["attempts"].as_array().unwrap().len()), (&json!("delivered"), 4));
    let ids: Vec<Value> = receiver.received().iter().map(|got| got.json()["id"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "the same event");
    app.post_with_key(&replay, "once", &json!({})).await.expect(202);
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 5, "what was delivered can be sent again, too");
    let again = app.post_with_key(&replay, "once", &json!({})).await;
    assert_eq!((again.status.as_u16(), again.header("Idempotent-Replayed")), (202, Some("true")));
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 5, "once for each key");

    let other = webhook(&app, &receiver, "transaction.failed", "/other").await;
    let foreign = format!("/v1/webhooks/{other}/deliveries/{}/replay", lost["id"].as_str().unwrap());
    assert_eq!(app.post(&foreign, &json!({})).await.expect(404)["error"]["message"], "delivery not found");
}

async fn a_span_of_time_names_the_deliveries_that_were_made_in_it(app: TestApp) {
    let app = app.with_settings(|settings| settings.webhooks.waits = vec![]).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "*", "/").await;
    let other = webhook(&app, &receiver, "transaction.authorized", "/other").await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.clock.advance(MINUTE);
    let from = app.clock.deployment();
    receiver.always(Say::Status(500));
    any_charge(&app).await;
    app.run_jobs().await;
    receiver.always(Say::Status(200));
    any_charge(&app).await;
    app.run_jobs().await;
    app.clock.advance(MINUTE);
    let to = app.clock.deployment();
    any_charge(&app).await;
    app.run_jobs().await;

    let webhook_id: WebhookId = id.parse().unwrap();
    let whole = DeliveryRange { client_id: app.client_id(), webhook_id, from, to, status: None, event: None };
    let lost = DeliveryRange { status: Some(DeliveryStatus::Lost), ..whole };
    let failed = DeliveryRange { event: EventName::parse("transaction.failed"), ..whole };
    let pending = DeliveryRange { event: EventName::parse("transaction.pending"), ..lost };
    let theirs = DeliveryRange { client_id: app.another_client().await.id.parse().unwrap(), ..whole };
    let count =
        async |range: &DeliveryRange| deliveries::count_in_range(&app.app.store, range, 100).await.unwrap();
    for (range, number) in [(&whole, 4), (&lost, 2), (&failed, 0), (&pending, 1), (&theirs, 0)] {
        assert_eq!(count(range).await, number, "{range:?}");
    }
    assert_eq!(
        deliveries::count_in_range(&app.app.store, &whole, 3).await.unwrap(),
        3,
        "no further than asked"
    );
    let page = async |after, limit| deliveries::in_range(&app.app.store, &whole, after, limit).await.unwrap();
    let first = page(None, 3).await;
    let rest = page(first.last().copied(), 3).await;
    assert_eq!((first.len(), rest.len(), page(rest.last().copied(), 3).await.len()), (3, 1, 0));
    assert!(first.is_sorted() && first[2] < rest[0], "oldest first");
    let known: Vec<Timestamp> = [first, rest].concat().iter().map(|id| id.created_at()).collect();
    assert!(known.iter().all(|at| from <= *at && *at < to));
    assert_eq!(listed(&app, &other).await.len(), 4, "of another webhook");
}

async fn what_is_under_way_is_not_sent_again(app: TestApp) {
    let receiver = Receiver::start().await;
    receiver.say(&[Say::Nothing]);
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    any_charge(&app).await;
    let worker = app.worker.clone();
    let running = tokio::spawn(async move { worker.round().await.map(|_| ()) });
    while receiver.received().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let delivery = listed(&app, &id).await.remove(0)["id"].as_str().unwrap().to_owned();
    let refused = app.post(&format!("/v1/webhooks/{id}/deliveries/{delivery}/replay"), &json!({})).await;
    refused.expect(409);
    let (webhook_id, delivery_id) = (id.parse().unwrap(), delivery.parse().unwrap());
    let replayed = replay(&app.app, app.client_id(), webhook_id, delivery_id).await.unwrap();
    assert_eq!(replayed, Replayed::UnderWay);
    running.abort();
}
