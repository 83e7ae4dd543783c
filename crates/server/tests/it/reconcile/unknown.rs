//! A provider that fails with an unknown outcome: the caller gets `pending`, and the outcome is found later.

use std::time::Duration;

use regente_store::{args, sql};
use serde_json::{Value, json};

use super::{
    KEY, again, authorization, event_names, is_processing, it_stays_so, open, provider_gets, replays,
    the_only_charge,
};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body, token_body};
use crate::support::providers::books::FileBooks;
use crate::support::read::{newest, text};

stories! {
    the_caller_gets_pending_and_nobody_else_is_asked,
    it_is_asked_for_again_on_a_schedule,
    a_running_claim_is_never_purged,
    a_pending_charge_is_read_and_listed,
}

sql! {
    COUNT_KEYS = "SELECT COUNT(*) AS n FROM idempotency WHERE client_id = :client_id";
}

/// A charge whose outcome is unknown.
async fn unknown(app: TestApp) -> (TestApp, FileBooks, Value, Value) {
    let file = FileBooks::new();
    // A missing log fails at once; once it is back, a busy machine may need this long.
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, APPROVED);
    file.lose();
    let charge = app.post_with_key("/v1/charges", KEY, &body).await.expect(201);
    (app, file, body, charge)
}

async fn the_caller_gets_pending_and_nobody_else_is_asked(app: TestApp) {
    let (app, file, body, charge) = unknown(app).await;
    assert_eq!((&charge["status"], &charge["responsibleProviderType"]), (&json!("pending"), &Value::Null));
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1, "the spare one was not asked");
    let request = newest(&charge);
    assert_eq!((&request["requestStatus"], &request["responseTs"]), (&json!("running"), &Value::Null));
    assert!(request.get("providerError").is_none());
    is_processing(&app, &body).await;
    assert_eq!(event_names(&app, &charge).await, ["pending"]);

    file.find();
    let stored = open(&app).await.remove(0);
    provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    app.later(Duration::from_secs(60)).await;
    let charge = the_only_charge(&app).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(event_names(&app, &charge).await, ["pending", "authorized"]);
    replays(&app, &body).await;
    assert_eq!(app.books.effects().await.unwrap(), 1);
    it_stays_so(&app).await;
}

async fn it_is_asked_for_again_on_a_schedule(app: TestApp) {
    let (app, file, body, charge) = unknown(app).await;
    let first = open(&app).await[0].due_at.unwrap();
    let mut probed_at = Vec::new();
    while probed_at.len() < 7 {
        let due_at = open(&app).await[0].due_at.unwrap();
        app.later(due_at.since(app.clock.deployment())).await;
        probed_at.push(due_at.since(first).as_secs());
        assert_eq!(open(&app).await[0].probes, i64::try_from(probed_at.len()).unwrap());
    }
    assert_eq!(probed_at, [0, 5, 35, 155, 755, 2555, 6155], "often first, then seldom");
    assert_eq!(the_only_charge(&app).await, charge, "nothing is guessed");
    file.find();
    app.later(Duration::from_secs(7200)).await;
    assert_eq!(the_only_charge(&app).await["status"], "failed", "nothing was in the books");
    replays(&app, &body).await;
}

async fn a_running_claim_is_never_purged(app: TestApp) {
    let (app, file, body, _) = unknown(app).await;
    app.post_with_key("/v1/tokens", "finished", &token_body(APPROVED)).await.expect(201);
    app.later(Duration::from_secs(3 * 24 * 60 * 60)).await;
    is_processing(&app, &body).await;
    assert_eq!(keys(&app).await, 1, "the finished one is gone, the running one is not");
    let app = app.restart().await;
    is_processing(&app, &body).await;
    file.find();
    app.later(Duration::from_secs(4 * 60 * 60)).await;
    replays(&app, &body).await;
    // The retention counts from the answer.
    app.later(Duration::from_secs(19 * 60 * 60)).await;
    assert_eq!(again(&app, &body).await.header("idempotent-replayed"), Some("true"));
    app.later(Duration::from_secs(6 * 60 * 60)).await;
    assert_eq!(keys(&app).await, 0);
}

async fn keys(app: &TestApp) -> i64 {
    let counted = app.app.store.row(&COUNT_KEYS, args! { client_id: app.client_id() }).await;
    counted.unwrap().unwrap().get("n").unwrap()
}

async fn a_pending_charge_is_read_and_listed(app: TestApp) {
    let (app, _file, _, charge) = unknown(app).await;
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read, charge);
    let page = app.get("/v1/charges?status=pending").await.expect(200);
    assert_eq!((&page["items"], &page["meta"]["totalItems"]), (&json!([charge]), &json!(1)));
    let page = app.get("/v1/charges?status=authorized,failed").await.expect(200);
    assert_eq!((&page["items"], &page["meta"]["totalItems"]), (&json!([]), &json!(0)));
    let by_provider = app.get("/v1/charges?providerType=SANDBOX").await.expect(200);
    assert_eq!(by_provider["meta"]["totalItems"], 0, "nobody has handled it yet");
}
