//! The events of a purchase: those of its cards as for any charge, and its own only for webhooks that name them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV};
use crate::support::providers::sandbox;
use crate::support::purchases;
use crate::support::purchases::{accepted, read, send};
use crate::support::read::text;
use crate::support::receiver::{Got, Receiver};
use crate::support::webhooks::webhook;

stories! {
    a_purchase_is_announced_to_webhooks_that_name_its_events,
    webhooks_for_everything_hear_of_the_cards_alone,
    what_is_announced_is_the_record_at_that_moment,
    a_failure_is_announced_once_however_long_the_cards_take,
    a_void_that_comes_to_nothing_is_not_announced,
}

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const CARDS: [(&str, &str); 2] = [APPROVED, APPROVED];

/// A receiver with a webhook for all events, and one for each event of purchases.
struct Ears {
    all: Receiver,
    purchases: Receiver,
}

async fn listen(app: &TestApp) -> Ears {
    let ears = Ears { all: Receiver::start().await, purchases: Receiver::start().await };
    webhook(app, &ears.all, "*", "/all").await;
    for event in ["purchase.paid", "purchase.failed", "purchase.cancelled"] {
        webhook(app, &ears.purchases, event, &format!("/{event}")).await;
    }
    ears
}

async fn made(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> String {
    let id = accepted(app, merchant, cards, capture).await;
    app.later(SECOND).await;
    id
}

async fn operate(app: &TestApp, id: &str, operation: &str) {
    send(app, &format!("/v1/purchases/{id}/{operation}"), &json!({})).await.expect(202);
    app.later(SECOND).await;
}

/// A merchant with one simulator that declines voids: the first ones of each charge, or all when `first` is empty.
async fn refusing_voids(app: &TestApp, first: &[u64]) -> String {
    let mut provider = sandbox("Faulty", 1);
    let mut fault = json!({ "when": { "operation": "void" }, "then": { "decline": "generic" } });
    if !first.is_empty() {
        fault["sequence"] = json!(first);
    }
    provider["options"] = json!({ "type": "SANDBOX", "faults": [fault] });
    app.merchant_with(json!([provider])).await
}

fn about(receiver: &Receiver, id: &str) -> Vec<String> {
    let of_object = |got: &Got| got.json()["data"]["id"] == id;
    receiver.received().iter().filter(|got| of_object(got)).map(Got::event).collect()
}

async fn a_purchase_is_announced_to_webhooks_that_name_its_events(app: TestApp) {
    let merchant = app.merchant().await;
    let ears = listen(&app).await;
    let paid = made(&app, &merchant, &CARDS, true).await;
    assert_eq!(about(&ears.purchases, &paid), ["purchase.paid"]);
    operate(&app, &paid, "void").await;
    assert_eq!(about(&ears.purchases, &paid), ["purchase.paid", "purchase.cancelled"]);

    let refused = made(&app, &merchant, &[APPROVED, WRONG_CVV], true).await;
    assert_eq!(about(&ears.purchases, &refused), ["purchase.failed"]);

    let reserved = made(&app, &merchant, &CARDS, false).await;
    assert!(about(&ears.purchases, &reserved).is_empty(), "nothing has ended yet");
    operate(&app, &reserved, "capture").await;
    assert_eq!(about(&ears.purchases, &reserved), ["purchase.paid"]);

    let forgotten = made(&app, &merchant, &CARDS, false).await;
    app.later(8 * DAY).await;
    assert_eq!(about(&ears.purchases, &forgotten), ["purchase.cancelled"]);

    for got in ears.purchases.received() {
        assert_eq!(got.path, format!("/{}", got.event()), "each went to the webhook that names it");
        assert!(got.header("x-plug-signature").is_some());
    }
    assert!(ears.all.events().iter().all(|event| event.starts_with("transaction.")));
}

/// Each card is a charge, and each of its changes has one event (`docs/interface/webhooks.md#events`).
async fn webhooks_for_everything_hear_of_the_cards_alone(app: TestApp) {
    let merchant = app.merchant().await;
    let ears = listen(&app).await;
    let charged = ["transaction.pending", "transaction.pre_authorized", "transaction.authorized"];
    let released = ["transaction.pending", "transaction.pre_authorized", "transaction.canceled"];
    let refunded = [charged.as_slice(), &["transaction.voided"]].concat();
    let refused = ["transaction.pending", "transaction.failed"];

    let paid = made(&app, &merchant, &CARDS, true).await;
    heard(&app, &ears.all, &paid, &[&charged, &charged]).await;
    operate(&app, &paid, "void").await;
    heard(&app, &ears.all, &paid, &[&refunded, &refunded]).await;
    let failed = made(&app, &merchant, &[APPROVED, WRONG_CVV], true).await;
    heard(&app, &ears.all, &failed, &[&released, &refused]).await;
    let voided = made(&app, &merchant, &CARDS, false).await;
    operate(&app, &voided, "void").await;
    heard(&app, &ears.all, &voided, &[&released, &released]).await;
    let captured = made(&app, &merchant, &CARDS, false).await;
    operate(&app, &captured, "capture").await;
    heard(&app, &ears.all, &captured, &[&charged, &charged]).await;

    let got = ears.all.received();
    assert!(got.iter().all(|got| got.json()["object"] == "transaction"));
    for got in &got {
        let body = got.json();
        assert_eq!(body["event"], body["data"]["status"], "a snapshot of that moment");
    }
}

/// The events of a purchase's cards, card by card, in order of arrival.
async fn heard(app: &TestApp, receiver: &Receiver, purchase: &str, expected: &[&[&str]]) {
    let payments = read(app, purchase).await["payments"].as_array().unwrap().clone();
    assert_eq!(payments.len(), expected.len());
    for (payment, expected) in payments.iter().zip(expected) {
        assert_eq!(about(receiver, text(&payment["chargeId"])), *expected);
    }
}

async fn what_is_announced_is_the_record_at_that_moment(app: TestApp) {
    let merchant = app.merchant().await;
    let ears = listen(&app).await;
    let mut body = purchases::body(&app, &merchant, &CARDS, true).await;
    body["orderId"] = json!("order-77");
    body["metadata"] = json!({ "secret": "of the merchant" });
    let second = app.card_token(APPROVED).await;
    body["payments"][1] = json!({ "tokenId": second, "amount": body["payments"][1]["amount"] });
    let id = text(&send(&app, "/v1/purchases", &body).await.expect(202)["id"]).to_owned();
    app.later(SECOND).await;
    let mut paid = read(&app, &id).await;
    operate(&app, &id, "void").await;

    let got = ears.purchases.received();
    let event = got[0].json();
    let members: Vec<&String> = event.as_object().unwrap().keys().collect();
    assert_eq!(members, ["id", "apiVersion", "object", "event", "createdAt", "data"]);
    assert_eq!((&event["object"], &event["event"]), (&json!("purchase"), &json!("paid")));
    let metadata = paid.as_object_mut().unwrap().shift_remove("metadata");
    assert_eq!(metadata, Some(json!({ "secret": "of the merchant" })), "shown in answers alone");
    assert_eq!(event["data"], paid, "the record of docs/interface/purchases.md#record");
    assert_eq!((&paid["orderId"], &paid["payments"][1]["tokenId"]), (&json!("order-77"), &Value::Null));
    assert!(!paid.to_string().contains(&second), "the id of a used token is in no event");
    let mut cancelled = read(&app, &id).await;
    cancelled.as_object_mut().unwrap().shift_remove("metadata");
    assert_eq!(got[1].json()["data"], cancelled);
    assert_eq!(got[1].json()["data"]["amount"], 0);
}

async fn a_failure_is_announced_once_however_long_the_cards_take(app: TestApp) {
    for (first, ends) in [([1, 2].as_slice(), "rollback_completed"), (&[], "reconciliation_failed")] {
        let merchant = refusing_voids(&app, first).await;
        let ears = listen(&app).await;
        let id = made(&app, &merchant, &[APPROVED, WRONG_CVV], true).await;
        assert_eq!(about(&ears.purchases, &id), ["purchase.failed"]);
        let said = ears.purchases.received()[0].json();
        assert_eq!(said["data"]["payments"][0]["status"], "pre_authorized", "still reserved");
        app.later(6 * DAY).await;
        let history: Value = app.get(&format!("/v1/purchases/{id}/history")).await.expect(200);
        assert_eq!(history.as_array().unwrap().last().unwrap()["status"], ends);
        assert_eq!(about(&ears.purchases, &id), ["purchase.failed"], "it has failed only once");
    }
}

async fn a_void_that_comes_to_nothing_is_not_announced(app: TestApp) {
    let merchant = refusing_voids(&app, &[1]).await;
    let ears = listen(&app).await;
    let id = made(&app, &merchant, &CARDS, false).await;
    operate(&app, &id, "void").await;
    assert_eq!(read(&app, &id).await["status"], "pending");
    assert!(ears.purchases.received().is_empty());
    operate(&app, &id, "void").await;
    assert_eq!(about(&ears.purchases, &id), ["purchase.cancelled"]);
}
