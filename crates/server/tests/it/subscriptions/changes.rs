//! PUT of a subscription: what is absent stays.

use std::time::Duration;

use serde_json::{Value, json};

use super::cycles::TAKEN_AWAY;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::read::{announced, text};
use crate::support::subscriptions::{Parties, charges_of, day, made, put, read};
use crate::support::vendors::with;

stories! {
    what_is_to_begin_today_begins_at_once,
    what_is_sent_changes_and_what_is_absent_stays,
    what_was_read_can_be_sent_back,
    a_card_that_has_failed_can_be_sent_back,
    an_end_is_set_and_taken_back,
    null_removes_what_may_be_absent,
}

/// What a change leaves out of account.
fn without_time(shown: &Value) -> Value {
    with(shown, &json!({ "updatedAt": null }))
}

async fn what_is_sent_changes_and_what_is_absent_stays(app: TestApp) {
    let parties = Parties::of(&app).await;
    let start = json!({ "interval": "monthly", "startAt": day(&app, 10) });
    let before = made(&app, &parties.body(&json!({ "referenceKey": "A", "recurrence": start }))).await;
    let (other, card) = (Parties::of(&app).await.merchant, app.card(APPROVED).await);
    let changes = json!({
        "name": "Basic", "merchantId": other, "referenceKey": "B",
        "items": [{ "name": "Plan", "amount": 100, "quantity": 2 }],
        "recurrence": { "interval": "weekly", "cycles": 2, "startAt": day(&app, 20) },
        "paymentMethod": { "card": { "cardId": card }, "installments": 2 },
    });
    let after = put(&app, &before, &changes).await.expect(200);
    let expected = json!({
        "name": "Basic", "merchantId": other, "referenceKey": "B", "items": changes["items"], "amount": 200,
        "recurrence": { "interval": "weekly", "cycles": 2, "startAt": day(&app, 20), "endAt": day(&app, 27),
            "nextDueDate": day(&app, 20) },
        "paymentMethod": { "type": "credit", "card": { "cardId": card }, "installments": 2 },
    });
    assert_eq!(without_time(&after), without_time(&with(&before, &expected)));
    assert_ne!(after["updatedAt"], before["updatedAt"]);
    assert_eq!(read(&app, &before).await, after);
    let one = put(&app, &before, &json!({ "recurrence": { "cycles": 3 } })).await.expect(200);
    assert_eq!((&one["recurrence"]["interval"], &one["recurrence"]["cycles"]), (&json!("weekly"), &json!(3)));
    let events = announced(&app, text(&before["id"])).await;
    assert_eq!(events, ["created", "updated", "updated"]);
    // The older shape says the card, too.
    let older = json!({ "paymentSource": { "sourceType": "card", "cardId": parties.card } });
    let shown = put(&app, &before, &older).await.expect(200);
    let paid = json!({ "type": "credit", "card": { "cardId": parties.card }, "installments": 2 });
    assert_eq!(shown["paymentMethod"], paid);
}

async fn what_was_read_can_be_sent_back(app: TestApp) {
    let parties = Parties::of(&app).await;
    let before = made(&app, &parties.body(&json!({ "trial": { "endAt": day(&app, 10) } }))).await;
    assert_eq!(put(&app, &before, &before).await.expect(200), before);
    let set = put(&app, &before, &json!({ "cancelAtPeriodEnd": true })).await.expect(200);
    assert_eq!(put(&app, &set, &set).await.expect(200), set);
    // What cannot be changed is not looked at.
    let other =
        json!({ "trial": { "endAt": day(&app, 50) }, "customerId": Parties::of(&app).await.customer });
    assert_eq!(put(&app, &set, &other).await.expect(200), set);
}

/// It is in use, and stays so: nobody asks to try it.
async fn a_card_that_has_failed_can_be_sent_back(app: TestApp) {
    let parties = Parties { card: app.card(TAKEN_AWAY).await, ..Parties::of(&app).await };
    let subscription = made(&app, &parties.body(&json!({}))).await;
    app.run_jobs().await;
    let unpaid = read(&app, &subscription).await;
    assert_eq!(unpaid["status"], "unpaid");
    let ending = with(&unpaid, &json!({ "cancelAtPeriodEnd": true }));
    assert_eq!(without_time(&put(&app, &unpaid, &ending).await.expect(200)), without_time(&ending));
}

async fn an_end_is_set_and_taken_back(app: TestApp) {
    let parties = Parties::of(&app).await;
    let start = json!({ "interval": "monthly", "startAt": day(&app, 10) });
    let one = made(&app, &parties.body(&json!({ "recurrence": start }))).await;
    let end = async |changes: Value| {
        let shown = put(&app, &one, &changes).await.expect(200);
        assert_eq!(shown["status"], "created");
        json!([
            shown["cancelAtPeriodEnd"],
            shown["scheduledCancellationAt"],
            shown["scheduledCancellationReason"]
        ])
    };
    let on = day(&app, 30);
    let all = json!({ "cancelAtPeriodEnd": true, "scheduledCancellationAt": on,
        "scheduledCancellationReason": "Customer asked" });
    assert_eq!(end(all.clone()).await, json!([true, on, "Customer asked"]));
    // At the end of the period: there is no day any more.
    assert_eq!(end(json!({ "cancelAtPeriodEnd": true })).await, json!([true, null, null]));
    // A change of something else keeps it.
    assert_eq!(end(json!({ "name": "Other" })).await, json!([true, null, null]));
    assert_eq!(end(json!({ "cancelAtPeriodEnd": false })).await, json!([false, null, null]));
    // A day alone sets it, and false takes it back whatever else is sent.
    assert_eq!(end(json!({ "scheduledCancellationAt": on })).await, json!([true, on, null]));
    assert_eq!(end(with(&all, &json!({ "cancelAtPeriodEnd": false }))).await, json!([false, null, null]));
}

async fn null_removes_what_may_be_absent(app: TestApp) {
    let parties = Parties::of(&app).await;
    let recurrence = json!({ "interval": "monthly", "cycles": 5 });
    let one = made(&app, &parties.body(&json!({ "referenceKey": "A", "recurrence": recurrence }))).await;
    let nulls = json!({ "referenceKey": null, "recurrence": { "cycles": null }, "splitRules": null,
        "scheduledCancellationAt": null, "scheduledCancellationReason": null });
    let shown = put(&app, &one, &nulls).await.expect(200);
    assert_eq!(shown["referenceKey"], Value::Null);
    assert_eq!((&shown["recurrence"]["cycles"], &shown["recurrence"]["endAt"]), (&Value::Null, &Value::Null));
    assert_eq!((&shown["splitRules"], &shown["cancelAtPeriodEnd"]), (&json!([]), &json!(false)));
}

async fn what_is_to_begin_today_begins_at_once(app: TestApp) {
    let parties = Parties::of(&app).await;
    let tomorrow = json!({ "recurrence": { "interval": "monthly", "startAt": day(&app, 1) } });
    let (moved, waited) =
        (made(&app, &parties.body(&tomorrow)).await, made(&app, &parties.body(&tomorrow)).await);
    put(&app, &moved, &json!({ "recurrence": { "startAt": day(&app, 0) } })).await.expect(200);
    app.run_jobs().await;
    assert_eq!(read(&app, &moved).await["status"], "active");
    // Early on the very day, before the time of billing.
    app.later(Duration::from_secs(9 * 60 * 60)).await;
    assert_eq!(read(&app, &waited).await["status"], "created");
    put(&app, &waited, &json!({ "recurrence": { "startAt": day(&app, 0) } })).await.expect(200);
    app.run_jobs().await;
    assert_eq!(read(&app, &waited).await["status"], "active");
    put(&app, &waited, &json!({ "recurrence": { "startAt": day(&app, 0) } })).await.expect(200);
    app.run_jobs().await;
    assert_eq!(charges_of(&app, &waited).await.len(), 1, "once");
}
