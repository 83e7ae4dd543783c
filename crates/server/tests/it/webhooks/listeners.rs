//! Listeners: developers fetch the events that webhooks are sent.

use std::time::Duration;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use regente_domain::id::{DeliveryId, WebhookId};
use regente_domain::webhook::EventFilter;
use regente_engine::deliveries::listeners::{ListenError, ListenedEvent, begin, end, hear};
use regente_store::{args, listeners, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::receiver::Receiver;
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    what_happens_is_heard_once_and_in_order,
    what_happens_is_fetched_with_a_key,
    an_event_is_heard_in_the_order_of_its_object_whatever_clocks_say,
    merchants_do_not_see_who_listens,
    who_is_not_heard_of_listens_no_more,
    what_nobody_can_fetch_any_more_is_not_kept,
}

sql! {
    /// All rows of a listener.
    LEFT_OF_LISTENER = "
        SELECT (SELECT COUNT(*) FROM webhooks WHERE id = :id) + (SELECT COUNT(*) FROM deliveries WHERE webhook_id = :id) AS n";
    /// Events with a stored body.
    SAID = "SELECT COUNT(*) AS n FROM events WHERE client_id = :client_id AND snapshot IS NOT NULL";
}

async fn left(app: &TestApp, id: WebhookId) -> i64 {
    app.app.store.row(&LEFT_OF_LISTENER, args! { id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn listen(app: &TestApp, event: &str) -> regente_engine::deliveries::listeners::Listener {
    begin(&app.app, app.client_id(), EventFilter::parse(event).unwrap()).await.unwrap()
}

fn told(events: &[ListenedEvent]) -> Vec<DeliveryId> {
    events.iter().map(|event| event.delivery_id).collect()
}

fn names(events: &[ListenedEvent]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

async fn what_happens_is_heard_once_and_in_order(app: TestApp) {
    any_charge(&app).await;
    let listener = listen(&app, "*").await;
    let failures = listen(&app, "transaction.failed").await;
    let charges = [any_charge(&app).await, any_charge(&app).await];
    app.run_jobs().await;
    let events = hear(&app.app, app.client_id(), listener.id, &[]).await.unwrap();
    assert_eq!(
        names(&events),
        ["transaction.pending", "transaction.authorized"].repeat(2),
        "nothing from before"
    );
    let objects: Vec<String> = events.iter().map(|event| event.object_id.to_string()).collect();
    assert_eq!(
        objects,
        [&charges[0]["id"], &charges[0]["id"], &charges[1]["id"], &charges[1]["id"]]
            .map(|id| id.as_str().unwrap().to_owned())
    );
    assert!(listeners::waiting(&app.app.store, app.client_id(), failures.id, 10).await.unwrap().is_empty());

    let key = UnparsedPublicKey::new(&ED25519, listener.public_key);
    for event in &events {
        let header = |name: &str| {
            event.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        let dated = hex::decode(header("x-plug-signature").unwrap()).unwrap();
        let message = format!("{}\n{}", header("x-plug-date").unwrap(), event.body);
        key.verify(message.as_bytes(), &dated).unwrap();
        assert!(header("webhook-signature").unwrap().starts_with("v1a,"));
        let body: Value = serde_json::from_str(&event.body).unwrap();
        assert_eq!(header("x-idempotency-key"), body["id"].as_str());
        assert_eq!(
            format!("{}.{}", body["object"].as_str().unwrap(), body["event"].as_str().unwrap()),
            event.event
        );
        assert_eq!(body["createdAt"], json!(event.happened_at));
    }

    // Deliveries that were not reported as shown come again; the others do not.
    let again = hear(&app.app, app.client_id(), listener.id, &told(&events)[..3]).await.unwrap();
    assert_eq!(told(&again), told(&events)[3..]);
    any_charge(&app).await;
    app.run_jobs().await;
    let more = hear(&app.app, app.client_id(), listener.id, &told(&again)).await.unwrap();
    assert_eq!(names(&more), ["transaction.pending", "transaction.authorized"]);
    end(&app.app, app.client_id(), listener.id, &told(&more)).await.unwrap();
    assert!(listeners::waiting(&app.app.store, app.client_id(), listener.id, 10).await.unwrap().is_empty());
    any_charge(&app).await;
    app.run_jobs().await;
    assert!(listeners::waiting(&app.app.store, app.client_id(), listener.id, 10).await.unwrap().is_empty());
    assert!(matches!(hear(&app.app, app.client_id(), listener.id, &[]).await, Err(ListenError::Over)));
}

async fn what_happens_is_fetched_with_a_key(app: TestApp) {
    let listener = app.post("/v1/listeners", &json!({})).await.expect(201);
    assert_eq!(listener["event"], "*");
    let path = format!("/v1/listeners/{}", listener["id"].as_str().unwrap());
    let fetch = async |told: Value| app.patch(&path, &json!({ "told": told })).await.expect(200);
    assert_eq!(fetch(json!([])).await, json!({ "events": [] }));
    any_charge(&app).await;
    app.run_jobs().await;
    let heard = fetch(json!([])).await;
    let [pending, authorized] = heard["events"].as_array().unwrap().as_slice() else { panic!("{heard}") };
    assert_eq!(
        (&pending["event"], &authorized["event"]),
        (&json!("transaction.pending"), &json!("transaction.authorized"))
    );
    let body: Value = serde_json::from_str(authorized["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["data"]["status"], "authorized");
    let headers = authorized["headers"].as_array().unwrap();
    assert!(headers.contains(&json!({ "name": "webhook-id", "value": body["id"] })), "{headers:?}");

    // What was not dealt with comes again, and what was does not.
    assert_eq!(fetch(json!([pending["deliveryId"]])).await["events"], json!([authorized]));
    assert_eq!(fetch(json!([authorized["deliveryId"]])).await, json!({ "events": [] }));
    let wrong = app.patch(&path, &json!({ "told": ["x"], "waitSeconds": 11 })).await.details(400);
    assert_eq!(wrong, ["told[0] must be a UUID", "waitSeconds must not be greater than 10"]);
    app.delete(&path).await.expect(204);
    app.patch(&path, &json!({})).await.expect(404);
}

async fn an_event_is_heard_in_the_order_of_its_object_whatever_clocks_say(app: TestApp) {
    let listener = listen(&app, "*").await;
    app.clock.advance(MINUTE);
    let charged = any_charge(&app).await;
    // Another node does what follows; its clock is behind.
    app.clock.set(app.clock.deployment() - MINUTE / 2);
    let id = charged["id"].as_str().unwrap();
    app.post(&format!("/v1/charges/{id}/void"), &json!({})).await.expect(201);
    app.clock.advance(MINUTE);
    app.run_jobs().await;
    let events = hear(&app.app, app.client_id(), listener.id, &[]).await.unwrap();
    assert_eq!(names(&events), ["transaction.pending", "transaction.authorized", "transaction.voided"]);
}

async fn merchants_do_not_see_who_listens(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "*", "/").await;
    let listener = listen(&app, "*").await;
    any_charge(&app).await;
    app.run_jobs().await;
    let list = app.get("/v1/webhooks").await.expect(200);
    assert_eq!((list["meta"]["totalItems"].clone(), list["items"][0]["id"].clone()), (json!(1), json!(id)));
    let path = format!("/v1/webhooks/{}", listener.id);
    app.get(&path).await.expect(404);
    app.get(&format!("{path}/deliveries")).await.expect(404);
    app.patch(&path, &json!({ "status": false })).await.expect(404);
    app.delete(&path).await.expect(404);
    assert_eq!(receiver.received().len(), 2, "who listens takes nothing from webhooks");
    app.later(8 * 24 * 60 * MINUTE).await;
    assert_eq!(receiver.received().len(), 2);
}

async fn who_is_not_heard_of_listens_no_more(app: TestApp) {
    let listener = listen(&app, "*").await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.clock.advance(Duration::from_secs(60));
    let events = hear(&app.app, app.client_id(), listener.id, &[]).await.unwrap();
    app.clock.advance(Duration::from_secs(90));
    hear(&app.app, app.client_id(), listener.id, &told(&events)[..1])
        .await
        .expect("each time moves the end on");
    let app = app.restart().await;
    app.clock.advance(Duration::from_secs(121));
    any_charge(&app).await;
    app.run_jobs().await;
    assert!(matches!(hear(&app.app, app.client_id(), listener.id, &[]).await, Err(ListenError::Over)));
    assert_eq!(left(&app, listener.id).await, 2, "the row, and what was heard and not told");
    app.later(30 * MINUTE).await;
    assert_eq!(left(&app, listener.id).await, 0);
}

async fn said(app: &TestApp) -> i64 {
    let client_id = app.client_id();
    app.app.store.row(&SAID, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn what_nobody_can_fetch_any_more_is_not_kept(app: TestApp) {
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "transaction.authorized", "/").await;
    let (listener, other) = (listen(&app, "*").await, listen(&app, "transaction.pending").await);
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(said(&app).await, 2);
    let events = hear(&app.app, app.client_id(), listener.id, &[]).await.unwrap();
    end(&app.app, app.client_id(), listener.id, &told(&events)).await.unwrap();
    assert_eq!(said(&app).await, 2, "the webhook has one, the other listener one");
    let events = hear(&app.app, app.client_id(), other.id, &[]).await.unwrap();
    end(&app.app, app.client_id(), other.id, &told(&events)).await.unwrap();
    assert_eq!(said(&app).await, 1, "a replay sends it");

    let forgotten = listen(&app, "transaction.pending").await;
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!((said(&app).await, left(&app, forgotten.id).await), (3, 2));
    app.later(30 * MINUTE).await;
    assert_eq!((said(&app).await, left(&app, forgotten.id).await), (2, 0));

    // The listener was removed before its event became a delivery.
    let brief = listen(&app, "transaction.pending").await;
    any_charge(&app).await;
    end(&app.app, app.client_id(), brief.id, &[]).await.unwrap();
    app.run_jobs().await;
    assert_eq!(said(&app).await, 3, "of the webhook alone");
}
