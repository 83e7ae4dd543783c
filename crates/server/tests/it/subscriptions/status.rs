//! Cancel, pause and resume, by PATCH and by POST, and in the wrong states.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::read::{announced, text};
use crate::support::subscriptions::{Parties, ask, day, made, path_of, put, read};

stories! {
    a_subscription_is_paused_resumed_and_canceled,
    both_verbs_do_the_same,
    a_wrong_state_is_a_422,
    cycles_are_found_under_their_subscription_alone,
}

/// A subscription that begins later.
async fn ahead(app: &TestApp, parties: &Parties) -> Value {
    let start = json!({ "interval": "monthly", "startAt": day(app, 10) });
    made(app, &parties.body(&json!({ "recurrence": start }))).await
}

async fn a_subscription_is_paused_resumed_and_canceled(app: TestApp) {
    let one = ahead(&app, &Parties::of(&app).await).await;
    for (verb, status, message) in [
        ("pause", "paused", "Subscription paused"),
        ("resume", "created", "Subscription resumed"),
        ("cancel", "canceled", "Subscription canceled"),
    ] {
        let shown = ask(&app, &one, verb).await.expect(200);
        let stored = read(&app, &one).await;
        let expected = json!({ "id": one["id"], "status": status, "message": message, "updatedAt": stored["updatedAt"] });
        assert_eq!((&shown, &stored["status"]), (&expected, &json!(status)), "{verb}");
    }
    assert_eq!(read(&app, &one).await["recurrence"]["nextDueDate"], Value::Null);
    let events = ["created", "paused", "resumed", "canceled"];
    assert_eq!(announced(&app, text(&one["id"])).await, events);
}

async fn both_verbs_do_the_same(app: TestApp) {
    let parties = Parties::of(&app).await;
    let (patched, posted) = (ahead(&app, &parties).await, ahead(&app, &parties).await);
    for verb in ["pause", "resume", "cancel"] {
        let by_patch = ask(&app, &patched, verb).await.expect(200);
        let path = format!("{}/{verb}", path_of(&posted));
        let by_post = app.post_with_key(&path, verb, &json!({})).await.expect(200);
        for member in ["status", "message"] {
            assert_eq!(by_patch[member], by_post[member], "{verb}");
        }
        // With the same key it is done once.
        assert_eq!(app.post_with_key(&path, verb, &json!({})).await.expect(200), by_post);
    }
    let path = format!("{}/cancel", path_of(&posted));
    assert_eq!(app.post(&path, &json!({})).await.status, 422);
    assert_eq!(announced(&app, text(&posted["id"])).await.len(), 4);
}

async fn a_wrong_state_is_a_422(app: TestApp) {
    let parties = Parties::of(&app).await;
    let refused = async |one: &Value, verb: &str, message: &str| {
        let envelope = json!({ "error": { "type": "bad_request", "code": 422, "message": message,
            "businessCode": "subscription_invalid_state", "details": [] } });
        for method in [Method::PATCH, Method::POST] {
            let path = format!("{}/{verb}", path_of(one));
            assert_eq!(app.call(&app.client, method, &path, &[], None).await.expect(422), envelope, "{verb}");
        }
    };
    let created = ahead(&app, &parties).await;
    refused(&created, "resume", "subscription is created").await;
    ask(&app, &created, "pause").await.expect(200);
    refused(&created, "pause", "subscription is paused").await;
    ask(&app, &created, "cancel").await.expect(200);
    for verb in ["cancel", "pause", "resume"] {
        refused(&created, verb, "subscription is canceled").await;
    }
    let change = put(&app, &created, &json!({ "name": "Other" })).await.expect(422);
    assert_eq!(change["error"]["businessCode"], "subscription_invalid_state");

    // A trial has nothing to pause, and may be canceled.
    let trial = made(&app, &parties.body(&json!({ "trial": { "endAt": day(&app, 5) } }))).await;
    refused(&trial, "pause", "subscription is trialing").await;
    ask(&app, &trial, "cancel").await.expect(200);
}

async fn cycles_are_found_under_their_subscription_alone(app: TestApp) {
    let parties = Parties::of(&app).await;
    let (one, other) = (made(&app, &parties.body(&json!({}))).await, ahead(&app, &parties).await);
    app.run_jobs().await;
    let shown = read(&app, &one).await;
    let last = &shown["lastCycle"];
    let history = json!([{ "id": last["paymentHistory"][0]["id"], "createdAt": last["paymentHistory"][0]["createdAt"],
        "chargeId": last["paymentHistory"][0]["chargeId"], "status": "authorized" }]);
    let listed = json!({ "id": last["id"], "customerId": parties.customer, "merchantId": parties.merchant,
        "cycle": 1, "status": "authorized", "createdAt": last["createdAt"] });
    let mut cycle = listed.clone();
    cycle["paymentHistory"] = history;
    assert_eq!((last, &shown["status"]), (&cycle, &json!("active")));

    let path = format!("{}/cycles", path_of(&one));
    let page = app.get(&path).await.expect(200);
    assert_eq!((&page["items"], &page["meta"]["itemsPerPage"]), (&json!([listed]), &json!(10)));
    assert_eq!(app.get(&format!("{path}?page=2&limit=1")).await.expect(200)["items"], json!([]));
    assert_eq!(app.get(&format!("{path}?limit=0")).await.details(400).len(), 1);
    let id = text(&last["id"]);
    assert_eq!(app.get(&format!("{path}/{id}")).await.expect(200), cycle);
    let elsewhere = format!("{}/cycles", path_of(&other));
    assert_eq!(app.get(&elsewhere).await.expect(200)["meta"]["totalItems"], 0);
    assert_eq!(app.get(&format!("{elsewhere}/{id}")).await.status, 404);
    let stranger = app.another_client().await;
    for path in [path.clone(), format!("{path}/{id}")] {
        assert_eq!(app.call(&stranger, Method::GET, &path, &[], None).await.status, 404, "{path}");
    }
}
