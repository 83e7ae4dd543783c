//! Subscriptions of an account that moves its time (`docs/interface/sandbox.md#clock`).
//!
//! `REGENTE_SUBSCRIPTIONS=500` compares so many drawn ones, five years at once with a day at a time.

use std::time::Duration;

use axum::http::Method;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use super::cycles::REFUSED;
use crate::support::app::{TestApp, stories};
use crate::support::bank::faults::Dice;
use crate::support::bodies::BLOCKED;
use crate::support::clocks::advance;
use crate::support::read::{announced, text};
use crate::support::subscriptions::{Parties, ask, charges_of, day, made, path_of, read};

stories! {
    years_at_once_do_the_same_as_days_at_a_time,
    a_subscription_is_advanced_to_what_it_has_due,
}

/// How much of a subscriber's life is compared.
struct Span {
    /// Drawn subscriptions, besides those of [`named`].
    drawn: u64,
    /// Three parts: some are paused after the first, and resumed after the second.
    parts: [u64; 3],
    /// Days of one advance, where it is not all at once.
    step: u64,
}

impl Span {
    fn of_this_run() -> Self {
        match std::env::var("REGENTE_SUBSCRIPTIONS") {
            Err(_) => Self { drawn: 4, parts: [120, 50, 200], step: 10 },
            Ok(number) => {
                let drawn = number.parse().expect("REGENTE_SUBSCRIPTIONS is a number");
                Self { drawn, parts: [500, 70, 1256], step: 1 }
            }
        }
    }
}

/// Subscriptions of every interval, with month ends, a leap day, a trial, and cards that are refused.
async fn named(app: &TestApp, parties: &Parties, [refused, blocked]: [&str; 2]) -> Vec<Value> {
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

/// Any interval, beginning within two months, with or without an end and a trial, of a card that is mostly good.
async fn drawn(app: &TestApp, parties: &Parties, refused: &str, dice: &mut Dice) -> Value {
    let interval = dice.pick(&["daily", "weekly", "monthly", "quarterly", "yearly", "biennial", "triennial"]);
    let mut recurrence = json!({ "interval": interval, "startAt": day(app, dice.below(60) as i64) });
    // A list shows a hundred charges at once.
    let most = if interval == "daily" { 40 } else { 90 };
    if ["daily", "weekly"].contains(&interval) || dice.one_in(3) {
        recurrence["cycles"] = json!(1 + dice.below(most));
    }
    let mut members = json!({ "recurrence": recurrence });
    if dice.one_in(5) {
        members["trial"] = json!({ "endAt": day(app, 1 + dice.below(90) as i64) });
    }
    if dice.one_in(5) {
        // One that fails for good has its own, or the first of them to be charged would decide for all.
        let card = if dice.one_in(2) { refused.to_owned() } else { app.card(BLOCKED).await };
        members["paymentMethod"] = json!({ "type": "credit", "card": { "cardId": card } });
    }
    members["items"] = json!([{ "name": "Plan", "amount": 100 + dice.below(900), "quantity": 1 }]);
    parties.body(&members)
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

/// What becomes of all subscriptions of an account whose clock advances by so many days at once.
async fn lived(app: &TestApp, span: &Span, step: u64) -> Vec<(String, Vec<String>, Vec<(i64, i64, String)>)> {
    let parties = Parties::of(app).await;
    let (refused, blocked) = (app.card(REFUSED).await, app.card(BLOCKED).await);
    let mut all = named(app, &parties, [&refused, &blocked]).await;
    let mut dice = Dice(7);
    for _ in 0..span.drawn {
        all.push(made(app, &drawn(app, &parties, &refused, &mut dice).await).await);
    }
    for (part, verb) in span.parts.into_iter().zip(["pause", "resume", ""]) {
        let mut left = part;
        while left > 0 {
            let days = left.min(step);
            advance(app, &format!("{days}d")).await;
            left -= days;
        }
        for subscription in all.iter().step_by(3).filter(|_| !verb.is_empty()) {
            let status = ask(app, subscription, verb).await.status;
            assert!([200, 422].contains(&status.as_u16()), "{verb}: {status}");
        }
    }
    let mut became_all = Vec::new();
    for subscription in &all {
        became_all.push(became(app, subscription).await);
    }
    became_all
}

async fn years_at_once_do_the_same_as_days_at_a_time(app: TestApp) {
    let span = Span::of_this_run();
    // On a busy machine a worker goes on with an advance, and then cleans up by the account's time.
    let kept_for = Duration::from_secs(10 * 366 * 86_400);
    let mut app = app.with_settings(|settings| settings.webhooks.event_retention = kept_for).await;
    let other = app.another_client().await;
    let at_once = lived(&app, &span, u64::MAX).await;
    app.client = other;
    let by_days = lived(&app, &span, span.step).await;
    for (number, (one, other)) in at_once.iter().zip(&by_days).enumerate() {
        assert_eq!(one, other, "subscription {number}");
    }
    let charges: usize = at_once.iter().map(|(_, _, charges)| charges.len()).sum();
    println!("{} subscriptions, {charges} charges", at_once.len());
    assert!(charges > 60, "the subscriptions no longer live long");
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
