//! What webhooks are told of subscriptions (`docs/interface/subscriptions.md#events`), member by member.

use regente_store::events;
use serde_json::{Value, json};

use super::cycles::{DAY, TAKEN_AWAY};
use crate::support::app::{TestApp, stories};
use crate::support::clocks::advance;
use crate::support::read::{announced, text};
use crate::support::receiver::Receiver;
use crate::support::subscriptions::{Parties, ask, charges_of, day, made, path_of, put, read};
use crate::support::webhooks::webhook;

stories! {
    the_first_paid_cycle_is_announced_with_its_attempt,
    what_is_refused_says_why,
    a_cycle_that_cannot_be_charged_is_announced_without_a_charge,
    each_change_is_announced_as_it_is_then,
    what_is_delivered_has_the_envelope_of_every_event,
    only_a_jump_of_the_clock_makes_emulated_cycles,
}

/// `data` of each event of a subscription, oldest first, with the name of the event.
async fn told(app: &TestApp, subscription: &Value) -> Vec<(String, Value)> {
    let id = text(&subscription["id"]);
    let stored = events::snapshots_of(&app.app.store, app.client_id(), id.parse().unwrap()).await.unwrap();
    let names = announced(app, id).await.into_iter();
    let names = names.map(|name| name.trim_start_matches("subscription.").to_owned());
    names.zip(stored).map(|(name, event)| (name, serde_json::from_str(&event.data).unwrap())).collect()
}

/// `data` of the newest event of this name.
async fn newest(app: &TestApp, subscription: &Value, name: &str) -> Value {
    let told = told(app, subscription).await;
    told.into_iter().rfind(|(event, _)| event == name).unwrap_or_else(|| panic!("{name} is missing")).1
}

async fn the_first_paid_cycle_is_announced_with_its_attempt(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({ "recurrence": { "interval": "monthly", "cycles": 12 } }));
    let subscription = made(&app, &body).await;
    app.run_jobs().await;
    let charges = charges_of(&app, &subscription).await;
    let data = newest(&app, &subscription, "activated").await;
    let (last, cycle) = (&data["subscription"]["lastCycle"], &data["cycle"]);
    let begins = format!("{}T00:00:00.000Z", day(&app, 0));
    let attempt = &last["paymentHistory"][0];
    assert_eq!(
        *cycle,
        json!({ "id": last["id"], "cycle": 1, "status": "authorized", "amount": 29900, "scheduledAt": begins,
            "paymentHistory": [{ "executedAt": attempt["createdAt"], "chargeId": charges[0]["id"],
                "attemptNumber": 1, "paymentMethod": "credit", "error": null }] })
    );
    assert_eq!(
        *last,
        json!({ "id": cycle["id"], "customerId": parties.customer, "merchantId": parties.merchant, "cycle": 1,
            "status": "authorized", "createdAt": last["createdAt"], "attempts": 1, "isEmulated": false,
            "scheduledAt": begins, "paymentHistory": [{ "id": attempt["id"], "createdAt": attempt["createdAt"],
                "chargeId": charges[0]["id"], "status": "authorized", "attemptNumber": 1, "error": null }] })
    );
    let mut shown = data["subscription"].clone();
    let now = read(&app, &subscription).await;
    shown["lastCycle"] = now["lastCycle"].clone();
    assert_eq!(shown, now, "the event has the whole subscription");
    assert!(data.get("errorCode").is_none(), "{data:#}");
}

async fn what_is_refused_says_why(app: TestApp) {
    let parties = Parties::of(&app).await;
    let card = app.card(TAKEN_AWAY).await;
    let by = |card: &str| {
        parties.body(&json!({ "paymentMethod": { "type": "credit", "card": { "cardId": card } } }))
    };
    let refused = made(&app, &by(&card)).await;
    app.run_jobs().await;
    let data = newest(&app, &refused, "unpaid").await;
    let last = &data["subscription"]["lastCycle"];
    assert_eq!((&data["subscription"]["status"], &last["status"]), (&json!("unpaid"), &json!("failed")));
    assert_eq!(last["paymentHistory"][0]["error"], "pickup_card", "{last:#}");
    assert!(data.get("cycle").is_none(), "{data:#}");
}

/// Its card is gone, so that no charge can be made.
async fn a_cycle_that_cannot_be_charged_is_announced_without_a_charge(app: TestApp) {
    let parties = Parties::of(&app).await;
    let begins = day(&app, 1);
    let body = parties.body(&json!({ "recurrence": { "interval": "monthly", "startAt": begins } }));
    let subscription = made(&app, &body).await;
    app.delete(&format!("/v1/cards/{}", parties.card)).await.expect(204);
    app.later(DAY).await;
    let data = newest(&app, &subscription, "cycle_failed").await;
    let mut shown = read(&app, &subscription).await;
    let (cycle, attempt) = (&shown["lastCycle"], &shown["lastCycle"]["paymentHistory"][0]);
    shown["lastCycle"] = json!({
        "id": cycle["id"], "customerId": parties.customer, "merchantId": parties.merchant, "cycle": 1, "attempts": 1,
        "status": "pending", "isEmulated": false, "createdAt": cycle["createdAt"],
        "scheduledAt": format!("{begins}T00:00:00.000Z"),
        "paymentHistory": [{ "id": attempt["id"], "createdAt": attempt["createdAt"], "chargeId": null,
            "status": "failed", "attemptNumber": 1, "error": null }]
    });
    assert_eq!(shown["status"], "created");
    assert_eq!(data, json!({ "subscription": shown, "errorCode": 404 }));
}

async fn each_change_is_announced_as_it_is_then(app: TestApp) {
    let parties = Parties::of(&app).await;
    let trial = json!({ "trial": { "endAt": day(&app, 2) } });
    let subscription = made(&app, &parties.body(&trial)).await;
    put(&app, &subscription, &json!({ "name": "Gold" })).await.expect(200);
    app.later(3 * DAY).await;
    for verb in ["pause", "resume", "cancel"] {
        ask(&app, &subscription, verb).await.expect(200);
    }
    let told = told(&app, &subscription).await;
    let said: Vec<_> = told
        .iter()
        .map(|(event, data)| {
            let subscription = &data["subscription"];
            (event.as_str(), text(&subscription["status"]), text(&subscription["name"]))
        })
        .collect();
    assert_eq!(
        said,
        [
            ("trial_started", "trialing", "Premium"),
            ("updated", "trialing", "Gold"),
            ("activated", "active", "Gold"),
            ("paused", "paused", "Gold"),
            ("resumed", "active", "Gold"),
            ("canceled", "canceled", "Gold"),
        ]
    );
    let ended =
        made(&app, &parties.body(&json!({ "recurrence": { "interval": "daily", "cycles": 1 } }))).await;
    app.run_jobs().await;
    let data = newest(&app, &ended, "expired").await;
    assert_eq!(data["subscription"]["status"], "expired", "{data:#}");
    let (_, first) = &self::told(&app, &ended).await[0];
    assert_eq!(
        (&first["subscription"]["status"], &first["subscription"]["lastCycle"]),
        (&json!("created"), &Value::Null)
    );
}

async fn what_is_delivered_has_the_envelope_of_every_event(app: TestApp) {
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "subscription.activated", "/hook").await;
    let subscription = made(&app, &Parties::of(&app).await.body(&json!({}))).await;
    app.run_jobs().await;
    let event = receiver.received()[0].json();
    let data = newest(&app, &subscription, "activated").await;
    assert_eq!(
        event,
        json!({ "id": event["id"], "apiVersion": "1.1", "object": "subscription", "event": "activated",
            "createdAt": event["createdAt"], "data": data })
    );
}

async fn only_a_jump_of_the_clock_makes_emulated_cycles(app: TestApp) {
    let parties = Parties::of(&app).await;
    let jumped = made(
        &app,
        &parties.body(&json!({ "recurrence": { "interval": "monthly", "startAt": day(&app, 3) } })),
    )
    .await;
    advance(&app, "4d").await;
    let is_emulated = async |subscription: &Value| {
        newest(&app, subscription, "activated").await["subscription"]["lastCycle"]["isEmulated"].clone()
    };
    assert_eq!(is_emulated(&jumped).await, true, "{}", path_of(&jumped));
    let by_itself = made(&app, &parties.body(&json!({}))).await;
    app.run_jobs().await;
    assert_eq!(is_emulated(&by_itself).await, false);
}
