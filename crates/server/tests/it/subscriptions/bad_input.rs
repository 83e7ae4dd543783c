//! Bodies that break a rule: every problem at once, each with its path.

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::subscriptions::{Parties, SUBSCRIPTIONS, day, made, put};

stories! {
    what_is_missing_is_named,
    every_wrong_field_of_a_subscription_is_named,
    records_that_are_not_there_are_named,
    every_wrong_field_of_a_change_is_named,
}

const INTERVALS: &str = "daily, weekly, monthly, quarterly, yearly, biennial, triennial";

async fn what_is_missing_is_named(app: TestApp) {
    let details = app.post(SUBSCRIPTIONS, &json!({})).await.details(400);
    let named = ["name", "merchantId", "customerId", "items", "recurrence", "paymentMethod"];
    assert_eq!(details, named.map(|name| format!("{name} should not be empty")));
    let hollow = json!({
        "name": " ", "merchantId": null, "customerId": 1, "items": [{}], "recurrence": {}, "paymentMethod": {},
        "trial": {},
    });
    let named = [
        "name should not be empty",
        "merchantId should not be empty",
        "customerId must be a UUID",
        "items[0].name should not be empty",
        "items[0].amount should not be empty",
        "items[0].quantity should not be empty",
        "recurrence.interval should not be empty",
        "paymentMethod.type should not be empty",
        "paymentMethod.card should not be empty",
        "trial.endAt should not be empty",
    ];
    assert_eq!(app.post(SUBSCRIPTIONS, &hollow).await.details(400), named);
}

/// Members with a wrong value, each with what is said of it.
fn wrong() -> Vec<(&'static str, Value, String)> {
    let text = |chars: usize| json!("a".repeat(chars));
    vec![
        ("name", text(101), "name must be shorter than or equal to 100 characters".into()),
        ("referenceKey", text(256), "referenceKey must be shorter than or equal to 255 characters".into()),
        ("items", json!([]), "items must contain at least 1 elements".into()),
        (
            "items",
            json!([{ "name": "4916745120294124", "amount": 0, "quantity": 0, "risk": "low", "date": "2030-02-30",
                "type": 1.5, "tickets": { "batch": "1" }, "location": { "city": 1 } }]),
            "items[0].name must not contain a card number; items[0].amount must be greater than 0; \
             items[0].quantity must not be less than 1; \
             items[0].risk must be one of the following values: Low, High; \
             items[0].date must be a valid ISO 8601 date string; items[0].type must be an integer number; \
             items[0].tickets.batch must be an integer number; items[0].location.city must be a string"
                .into(),
        ),
        (
            "recurrence",
            json!({ "interval": "hourly", "cycles": 0, "startAt": "tomorrow" }),
            format!(
                "recurrence.interval must be one of the following values: {INTERVALS}; \
                 recurrence.cycles must not be less than 1; \
                 recurrence.startAt must be a valid ISO 8601 date string"
            ),
        ),
        (
            "paymentMethod",
            json!({ "type": "pix", "card": { "cardId": "x" }, "installments": 13 }),
            "paymentMethod.type must be one of the following values: credit; \
             paymentMethod.card.cardId must be a UUID; paymentMethod.installments must not be greater than 12"
                .into(),
        ),
        (
            "splitRules",
            json!([{ "sellerId": "x" }]),
            "splitRules[0].sellerId must be a UUID; splitRules[0] must have either percentage or amount"
                .into(),
        ),
        (
            "paymentSource",
            json!({ "sourceType": "token", "cardId": "3f1c1b1e-2a7b-4a57-9d35-000000000000" }),
            "paymentSource.sourceType must be one of the following values: card".into(),
        ),
    ]
}

async fn every_wrong_field_of_a_subscription_is_named(app: TestApp) {
    let parties = Parties::of(&app).await;
    for (member, value, said) in wrong() {
        let details = app.post(SUBSCRIPTIONS, &parties.body(&json!({ member: value }))).await.details(400);
        assert_eq!(details.join("; "), said);
    }
    let dates = [
        (
            "recurrence",
            json!({ "interval": "monthly", "startAt": day(&app, -1) }),
            "recurrence.startAt must not be in the past",
        ),
        ("trial", json!({ "endAt": day(&app, 0) }), "trial.endAt must be after today"),
        ("trial", json!({ "endAt": "soon" }), "trial.endAt must be a valid ISO 8601 date string"),
    ];
    for (member, value, said) in dates {
        let details = app.post(SUBSCRIPTIONS, &parties.body(&json!({ member: value }))).await.details(400);
        assert_eq!(details, [said]);
    }
    let code = json!({ "type": "credit", "card": { "cardId": parties.card, "cvv": "12" } });
    let details =
        app.post(SUBSCRIPTIONS, &parties.body(&json!({ "paymentMethod": code }))).await.details(400);
    assert_eq!(details, ["paymentMethod.card.cvv must be 3 or 4 digits"]);
    let dear = json!([{ "name": "A", "amount": 9_007_199_254_740_991_i64, "quantity": 2 }]);
    assert_eq!(app.post(SUBSCRIPTIONS, &parties.body(&json!({ "items": dear }))).await.details(400).len(), 1);
    assert_eq!(app.get(SUBSCRIPTIONS).await.expect(200)["meta"]["totalItems"], 0);
}

async fn records_that_are_not_there_are_named(app: TestApp) {
    let parties = Parties::of(&app).await;
    let nobody = "3f1c1b1e-2a7b-4a57-9d35-000000000000";
    let card = json!({ "type": "credit", "card": { "cardId": nobody } });
    let rules = json!([{ "sellerId": nobody, "percentage": 10, "processingFee": false }]);
    let not_there = |path: &str| format!("{path} was not found");
    let cases = [
        ("merchantId", json!(nobody), not_there("merchantId")),
        ("customerId", json!(nobody), not_there("customerId")),
        ("paymentMethod", card, not_there("paymentMethod.card.cardId")),
        ("splitRules", rules, not_there(&format!("seller {nobody}"))),
    ];
    let stored = made(&app, &parties.body(&json!({}))).await;
    for (member, value, said) in cases {
        let body = parties.body(&json!({ member: value }));
        let replies = [
            app.post(SUBSCRIPTIONS, &body).await,
            app.post(&format!("{SUBSCRIPTIONS}/preview"), &body).await,
            put(&app, &stored, &json!({ member: value })).await,
        ];
        // A buyer cannot be changed, so `customerId` of a change is not looked at.
        let looked_at = if member == "customerId" { 2 } else { 3 };
        for reply in replies.iter().take(looked_at) {
            let shown = reply.json();
            assert_eq!(reply.status, 400, "{member}: {shown}");
            assert_eq!(shown["error"]["type"], "invalid_request_error");
            assert_eq!(shown["error"]["details"], json!([said]));
        }
    }
}

async fn every_wrong_field_of_a_change_is_named(app: TestApp) {
    let parties = Parties::of(&app).await;
    let stored = made(&app, &parties.body(&json!({}))).await;
    for (member, value, said) in wrong() {
        let details = put(&app, &stored, &json!({ member: value })).await.details(400);
        assert_eq!(details.join("; "), said);
    }
    let empty = put(
        &app,
        &stored,
        &json!({ "name": null, "merchantId": null, "items": null, "recurrence": null, "paymentMethod": null,
            "cancelAtPeriodEnd": "yes", "scheduledCancellationAt": "soon" }),
    )
    .await
    .details(400);
    let named = [
        "name should not be empty",
        "merchantId should not be empty",
        "items should not be empty",
        "recurrence should not be empty",
        "paymentMethod should not be empty",
        "cancelAtPeriodEnd must be a boolean",
        "scheduledCancellationAt must be a valid ISO 8601 date string",
    ];
    assert_eq!(empty, named);
    let reason = put(&app, &stored, &json!({ "scheduledCancellationReason": "Moved" })).await.details(400);
    let said = "scheduledCancellationReason must come with cancelAtPeriodEnd or scheduledCancellationAt";
    assert_eq!(reason, [said]);
    let past = put(&app, &stored, &json!({ "scheduledCancellationAt": day(&app, -1) })).await.details(400);
    assert_eq!(past, ["scheduledCancellationAt must not be in the past"]);
}
