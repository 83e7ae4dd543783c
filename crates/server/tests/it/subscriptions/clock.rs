//! Subscriptions of an account that moves its time (`docs/interface/sandbox.md#clock`).

use axum::http::Method;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use super::cycles::{REFUSED, charges_of};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::BLOCKED;
use crate::support::clocks::advance;
use crate::support::read::{announced, text};
use crate::support::subscriptions::{Parties, day, made, path_of, read};

stories! {
    a_year_at_once_does_the_same_as_ten_days_at_a_time,
    a_subscription_is_advanced_to_what_it_has_due,
}

/// Subscriptions of every interval, with month ends, a leap day, a trial, and cards that are refused.
async fn several(app: &TestApp) -> Vec<Value> {
    let parties = Parties::of(app).await;
    let (refused, blocked) = (app.card(REFUSED).await, app.card(BLOCKED).await);
    let recurrences = [
        json!({ "interval": "weekly", "cycles": 30 }),
        json!({ "interval": "monthly", "startAt": "2026-03-31" }),
        json!({ "interval": "quarterly", "startAt": "2026-08-31" }),
        json!({ "interval": "yearly", "startAt": "2026-12-29" }),
        json!({ "interval": "monthly", "startAt": "2026-11-30", "cycles": 4 }),
    ];
    let mut all = Vec::new();
    for recurrence in recurrences {
        all.push(made(app, &parties.body(&json!({ "recurrence": recurrence }))).await);
    }
    all.push(made(app, &parties.body(&json!({ "trial": { "endAt": day(app, 40) } }))).await);
    for card in [refused, blocked] {
        let body = json!({ "paymentMethod": { "type": "credit", "card": { "cardId": card } } });
        all.push(made(app, &parties.body(&body)).await);
    }
    all
}

/// What has become of a subscription: its status, its events, and each charge with its time, amount and status.
async fn became(app: &TestApp, subscription: &Value) -> (String, Vec<String>, Vec<(i64, i64, String)>) {
    let status = text(&read(app, subscription).await["status"]).to_owned();
    let charges = charges_of(app, subscription).await;
    let charge = |charge: &Value| {
        let at = Timestamp::parse(text(&charge["createdAt"])).unwrap();
        // Ids of accounts whose times are close share a line, so an id may be ahead by some seconds, and the time of billing of a
        // subscription is spread by its id.
        (at.as_millis() / 86_400_000, charge["amount"].as_i64().unwrap(), text(&charge["status"]).to_owned())
    };
    (status, announced(app, text(&subscription["id"])).await, charges.iter().map(charge).collect())
}

async fn a_year_at_once_does_the_same_as_ten_days_at_a_time(mut app: TestApp) {
    let other = app.another_client().await;
    let at_once = several(&app).await;
    advance(&app, "370d").await;
    let mut first = Vec::new();
    for subscription in &at_once {
        first.push(became(&app, subscription).await);
    }
    let cycle = app.get(&format!("{}/cycles?limit=1", path_of(&at_once[0]))).await.expect(200);
    assert_eq!(cycle["items"][0]["cycle"], 30, "{cycle:#}");
    app.client = other;
    let by_days = several(&app).await;
    for _ in 0..37 {
        advance(&app, "10d").await;
    }
    for (subscription, first) in by_days.iter().zip(first) {
        assert_eq!(became(&app, subscription).await, first, "{subscription:#}");
    }
}

async fn a_subscription_is_advanced_to_what_it_has_due(app: TestApp) {
    let parties = Parties::of(&app).await;
    let advance = async |subscription: &Value| {
        app.post(&format!("{}/advance", path_of(subscription)), &json!({})).await
    };
    let body = json!({ "recurrence": { "interval": "monthly", "cycles": 2, "startAt": "2026-03-31" } });
    let subscription = made(&app, &parties.body(&body)).await;
    let first = advance(&subscription).await.expect(200);
    assert_eq!((&first["status"], &first["lastCycle"]["cycle"]), (&json!("active"), &json!(1)));
    assert!(text(&first["updatedAt"]).starts_with("2026-03-31T0"), "{first:#}");
    assert_eq!(first, read(&app, &subscription).await);
    let path = format!("{}/advance", path_of(&subscription));
    let second = app.post_with_key(&path, "one", &json!({})).await.expect(200);
    assert_eq!((&second["status"], &second["lastCycle"]["cycle"]), (&json!("expired"), &json!(2)));
    assert!(text(&second["updatedAt"]).starts_with("2026-04-30T0"), "{second:#}");
    assert_eq!(app.post_with_key(&path, "one", &json!({})).await.expect(200), second, "once for its key");
    assert_eq!(charges_of(&app, &subscription).await.len(), 2);
    assert_eq!(
        advance(&subscription).await.expect(422)["error"]["businessCode"],
        "subscription_invalid_state"
    );

    // What is due already is done: the clock goes on by a moment.
    let today = made(&app, &parties.body(&json!({}))).await;
    assert_eq!(advance(&today).await.expect(200)["status"], "active");
    // A trial ends first, and the first cycle is billed some hours later.
    let trial = made(&app, &parties.body(&json!({ "trial": { "endAt": "2026-05-10" } }))).await;
    assert_eq!(advance(&trial).await.expect(200)["status"], "created");
    assert_eq!(advance(&trial).await.expect(200)["status"], "active");
    // It is one clock for the account, so others fall due, too; another account has its own.
    assert_eq!(read(&app, &today).await["recurrence"]["nextDueDate"], "2026-05-30");
    let stranger = app.another_client().await;
    assert_eq!(app.call(&stranger, Method::POST, &path, &[], None).await.status, 404);
}
