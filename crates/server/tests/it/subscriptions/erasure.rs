//! A person is erased by the operator: their subscriptions end (`docs/operating.md#erasing-a-person`).

use regente_store::events::snapshots_of;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::customers::erase;
use crate::support::read::{announced, text};
use crate::support::subscriptions::{
    Parties, SUBSCRIPTIONS, ask, charges_of, complete_item, day, made, put, read,
};

use super::card_links;
use super::cycles::DAY;

stories! {
    the_subscriptions_of_a_person_end_with_them,
    a_cycle_that_is_late_when_its_person_is_erased_is_not_charged,
    the_texts_of_subscriptions_go_with_their_person,
}

async fn the_subscriptions_of_a_person_end_with_them(app: TestApp) {
    let (person, other) = (Parties::of(&app).await, Parties::of(&app).await);
    let paid = made(&app, &person.body(&json!({}))).await;
    let trial = made(&app, &person.body(&json!({ "trial": { "endAt": day(&app, 20) } }))).await;
    let others = made(&app, &other.body(&json!({}))).await;
    app.run_jobs().await;
    let session = card_links::link(&app, &trial).await;
    assert_eq!(erase(&app, &person.customer).await.subscriptions, 2);
    for (subscription, events) in
        [(&paid, ["created", "activated", "canceled"].as_slice()), (&trial, &["trial_started", "canceled"])]
    {
        assert_eq!(read(&app, subscription).await["status"], "canceled");
        assert_eq!(announced(&app, text(&subscription["id"])).await, events);
    }
    let body = json!({ "tokenId": app.card_token(APPROVED).await });
    let late = app.post(&card_links::card_path(&session), &body).await.expect(422);
    assert_eq!(late["error"]["businessCode"], "subscription_invalid_state");
    app.later(40 * DAY).await;
    assert_eq!(charges_of(&app, &paid).await.len(), 1, "nobody is charged any more");
    assert_eq!(
        announced(&app, text(&paid["id"])).await,
        ["created", "activated", "canceled"],
        "no cycle fails"
    );
    assert_eq!(
        (&read(&app, &others).await["status"], charges_of(&app, &others).await.len()),
        (&json!("active"), 2)
    );
    assert_eq!(erase(&app, &person.customer).await.subscriptions, 0, "again, it finds nothing more");
}

async fn a_cycle_that_is_late_when_its_person_is_erased_is_not_charged(app: TestApp) {
    let person = Parties::of(&app).await;
    // Due at once, and no worker has looked yet.
    let late = made(&app, &person.body(&json!({}))).await;
    assert_eq!(erase(&app, &person.customer).await.subscriptions, 1);
    app.run_jobs().await;
    let after = read(&app, &late).await;
    assert_eq!((&after["status"], charges_of(&app, &late).await.len()), (&json!("canceled"), 0));
    assert_eq!(after["lastCycle"]["status"], "canceled");
}

/// Also of one that had ended before, out of events and kept answers too. What others have subscribed to keeps its texts.
async fn the_texts_of_subscriptions_go_with_their_person(app: TestApp) {
    let (person, other) = (Parties::of(&app).await, Parties::of(&app).await);
    let texts = json!({ "name": "Aulas da Maria", "items": [complete_item()] });
    let running = app.post_with_key(SUBSCRIPTIONS, "kept", &person.body(&texts)).await.expect(201);
    let ended = made(&app, &person.body(&texts)).await;
    let others = made(&app, &other.body(&texts)).await;
    app.run_jobs().await;
    let end = json!({ "cancelAtPeriodEnd": true, "scheduledCancellationReason": "Maria viajou" });
    put(&app, &running, &end).await.expect(200);
    ask(&app, &ended, "cancel").await.expect(200);
    erase(&app, &person.customer).await;
    let emptied = json!([{ "name": "-", "amount": 100, "quantity": 2 }]);
    for subscription in [&running, &ended] {
        let after = read(&app, subscription).await;
        assert_eq!((&after["name"], &after["items"]), (&json!(""), &emptied));
        assert_eq!(after["scheduledCancellationReason"], Value::Null);
        assert_eq!((&after["amount"], &after["status"]), (&json!(200), &json!("canceled")));
        let id = text(&subscription["id"]).parse().unwrap();
        let events = snapshots_of(&app.app.store, app.client_id(), id).await.unwrap();
        assert!(events.len() > 2, "{events:?}");
        for event in events {
            let data: Value = serde_json::from_str(&event.data).unwrap();
            let told = &data["subscription"];
            assert_eq!((&told["name"], &told["items"]), (&json!(""), &emptied), "{data}");
            assert_eq!(told["scheduledCancellationReason"], Value::Null, "{data}");
        }
    }
    let again = app.post_with_key(SUBSCRIPTIONS, "kept", &person.body(&texts)).await.expect(201);
    assert_eq!((&again["id"], &again["name"], &again["items"]), (&running["id"], &json!(""), &emptied));
    let kept = read(&app, &others).await;
    assert_eq!((&kept["name"], &kept["items"]), (&texts["name"], &texts["items"]));
}
