//! Webhooks: created, shown, changed, deleted (`docs/interface/webhooks.md#resource`).

mod addresses;
mod crashes;
mod deleted;
pub mod deliveries;
mod fairness;
mod independent;
mod listeners;
mod purchases;
mod purge;
mod replays;
mod retry_after;
mod rotation;
mod signatures;
mod unreadable;

use regente::http::rates::Rate;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::client::{Client, Reply};
use crate::support::records::put;

stories! {
    a_webhook_is_made_shown_changed_and_deleted,
    an_endpoint_is_registered_once_for_each_event,
    what_is_wrong_with_a_body_is_named,
    every_error_has_the_envelope_of_webhooks,
    what_is_refused_before_a_webhook_is_looked_at_has_that_envelope_too,
    an_endpoint_is_shown_as_it_was_sent,
    versions_are_taken_as_numbers_and_as_words,
    the_same_key_makes_one_webhook,
    private_keys_do_not_rest_in_the_clear,
}

const NOBODYS: &str = "/v1/webhooks/3f1c1b1e-2a7b-4a57-9d35-000000000000";

fn body() -> Value {
    json!({
        "event": "transaction.authorized", "endpoint": "https://shop.example/hooks", "version": 1.1, "status": true
    })
}

async fn a_webhook_is_made_shown_changed_and_deleted(app: TestApp) {
    let made = app.post("/v1/webhooks", &body()).await.expect(201);
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["clientId"], app.client.id);
    for member in ["event", "endpoint", "version", "status"] {
        assert_eq!(made[member], body()[member], "{member}");
    }
    let key = made["publicKey"].as_str().unwrap();
    assert!(key.starts_with("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA"), "{key}");
    assert!(key.ends_with("=\n-----END PUBLIC KEY-----\n"), "{key}");
    assert_eq!(made["createdAt"], made["updatedAt"]);

    let path = format!("/v1/webhooks/{id}");
    assert_eq!(app.get(&path).await.expect(200), made);
    let list = app.get("/v1/webhooks?page=1&limit=15").await.expect(200);
    assert_eq!(list["items"], json!([made]));
    assert_eq!(
        list["meta"],
        json!({ "itemCount": 1, "totalItems": 1, "itemsPerPage": 15, "totalPages": 1, "currentPage": 1 })
    );

    let off = app.patch(&path, &json!({ "status": false })).await.expect(200);
    assert!(off["updatedAt"].as_str() > made["updatedAt"].as_str());
    assert_eq!(put(off.clone(), "updatedAt", made["updatedAt"].clone()), put(made.clone(), "status", false));
    assert_eq!(app.patch(&path, &json!({})).await.expect(200), off, "a change of nothing");

    assert_eq!(app.delete(&path).await.expect(200), json!({ "id": id }));
    for reply in [app.get(&path).await, app.delete(&path).await, app.patch(&path, &json!({})).await] {
        let expected =
            json!({ "error": { "type": "api_error", "message": "webhook not found", "details": [] } });
        assert_eq!(reply.expect(404), expected);
    }
    assert_eq!(app.get("/v1/webhooks").await.expect(200)["items"], json!([]));
    app.post("/v1/webhooks", &body()).await.expect(201);
}

fn assert_duplicate(reply: &Reply) {
    let message = "webhook already registered for this endpoint";
    assert_eq!(
        reply.expect(409),
        json!({
            "statusCode": 409, "message": message,
            "error": { "type": "api_error", "message": message, "details": [] }
        })
    );
}

async fn an_endpoint_is_registered_once_for_each_event(app: TestApp) {
    app.post("/v1/webhooks", &body()).await.expect(201);
    assert_duplicate(&app.post("/v1/webhooks", &body()).await);
    // Another spelling of the same address.
    assert_duplicate(
        &app.post("/v1/webhooks", &put(body(), "endpoint", "HTTPS://Shop.Example:443/hooks")).await,
    );
    let other = app.post("/v1/webhooks", &put(body(), "event", "*")).await.expect(201);
    let path = format!("/v1/webhooks/{}", other["id"].as_str().unwrap());
    assert_duplicate(&app.patch(&path, &json!({ "event": "transaction.authorized" })).await);
    app.patch(&path, &json!({ "event": "transaction.failed" })).await.expect(200);

    let racing = put(body(), "endpoint", "https://shop.example/race");
    let make = || app.post("/v1/webhooks", &racing);
    let made = futures_util::future::join_all((0..6).map(|_| make())).await;
    let statuses = |status| made.iter().filter(|reply| reply.status == status).count();
    assert_eq!((statuses(201), statuses(409)), (1, 5), "at once");

    let strangers = app.another_client().await;
    let reply = app.call(&strangers, axum::http::Method::POST, "/v1/webhooks", &[], Some(&body())).await;
    reply.expect(201);
    let app = app
        .with_settings(|settings| settings.webhooks.endpoints = regente_engine::settings::EndpointUse::Once)
        .await;
    assert_duplicate(&app.post("/v1/webhooks", &put(body(), "event", "transaction.voided")).await);
    app.patch(&path, &json!({ "status": false })).await.expect(200);
    assert_duplicate(&app.patch(&path, &json!({ "event": "transaction.voided" })).await);
}

async fn what_is_wrong_with_a_body_is_named(app: TestApp) {
    for (member, value, named) in [
        ("event", json!(null), "event should not be empty"),
        ("event", json!("transaction.autorized"), "not `transaction.autorized`"),
        ("event", json!("transaction.*"), "not `transaction.*`"),
        ("event", json!(7), "event must be `*` or one of"),
        ("endpoint", json!(null), "endpoint should not be empty"),
        ("endpoint", json!("shop.example"), "endpoint must be a URL address"),
        ("endpoint", json!("ftp://shop.example/"), "endpoint must be an https address"),
        ("endpoint", json!("http://10.0.0.1/"), "endpoint must lead to a public network address"),
        ("version", json!(1.2), "version must be one of"),
        ("version", json!("2"), "version must be one of"),
        ("status", json!("perhaps"), "status must be a boolean"),
    ] {
        let details = app.post("/v1/webhooks", &put(body(), member, value.clone())).await.details(400);
        assert!(details.len() == 1 && details[0].contains(named), "{member} {value}: {details:?}");
    }
    assert_eq!(app.post("/v1/webhooks", &json!({})).await.details(400).len(), 2);
    assert_eq!(app.get("/v1/webhooks").await.expect(200)["meta"]["totalItems"], 0);
}

async fn every_error_has_the_envelope_of_webhooks(app: TestApp) {
    let malformed = axum::http::Request::builder()
        .method("POST")
        .uri("/v1/webhooks")
        .header("X-Client-Id", &app.client.id)
        .header("X-Api-Key", &app.client.key)
        .body(axum::body::Body::from("{ no JSON"))
        .unwrap();
    let replies = [
        (400, app.send(malformed).await),
        (400, app.post("/v1/webhooks", &json!({})).await),
        (400, app.get("/v1/webhooks?limit=0").await),
        (404, app.get(NOBODYS).await),
        (404, app.get("/v1/webhooks/not-a-uuid").await),
        (404, app.get(&format!("{NOBODYS}/deliveries")).await),
        (404, app.post(&format!("{NOBODYS}/ping"), &json!({})).await),
    ];
    for (status, reply) in replies {
        assert_envelope(&reply, status);
    }
}

#[track_caller]
fn assert_envelope(reply: &Reply, status: u16) {
    let error = reply.expect(status);
    let members: Vec<&String> = error["error"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["type", "message", "details"], "{error}");
    assert_eq!(error["error"]["type"], "api_error");
    assert_eq!(error.as_object().unwrap().len(), 1, "{error}");
}

/// By the router, the limits and the gate. Only an account that is not known and a refused key look as everywhere.
async fn what_is_refused_before_a_webhook_is_looked_at_has_that_envelope_too(app: TestApp) {
    let put = axum::http::Method::PUT;
    assert_envelope(&app.call(&app.client, put, "/v1/webhooks", &[], None).await, 405);
    assert_envelope(&app.get("/v1/webhooks/a/b/c/d").await, 404);
    assert_envelope(&app.get("/v1/webhooks/%FF").await, 404);
    let large = json!({ "event": "*".repeat(2 * 1024 * 1024) });
    assert_envelope(&app.post("/v1/webhooks", &large).await, 413);
    let nobody = Client { id: app.client.id.clone(), key: "wrong".to_owned() };
    let refused = app.call(&nobody, axum::http::Method::GET, "/v1/webhooks", &[], None).await;
    assert_eq!(refused.expect(403), json!({ "message": "Forbidden" }));
    let nobody = Client { id: "nobody".to_owned(), key: app.client.key.clone() };
    let unknown = app.call(&nobody, axum::http::Method::GET, "/v1/webhooks", &[], None).await;
    assert_eq!(unknown.expect(401)["error"]["code"], 401);

    let app = app
        .with_limits(|limits| {
            limits.rates.secret_key_requests = Rate::per_second(1);
        })
        .await;
    app.get("/v1/cards").await.expect(200);
    let mut too_many = app.get("/v1/webhooks").await;
    while too_many.status == 200 {
        too_many = app.get("/v1/webhooks").await;
    }
    assert_envelope(&too_many, 429);
    assert!(too_many.header("retry-after").is_some());
    let app = app.with_limits(|limits| limits.rates.secret_key_requests = None).await;
    app.get("/v1/webhooks").await.expect(200);
    app.app.store.close().await;
    let gone = app.get("/v1/webhooks").await;
    assert_envelope(&gone, 503);
    assert!(gone.header("retry-after").is_some());
}

async fn an_endpoint_is_shown_as_it_was_sent(app: TestApp) {
    let sent = "HTTPS://Shop.Example:443/a/../hooks";
    let made = app.post("/v1/webhooks", &put(body(), "endpoint", sent)).await.expect(201);
    assert_eq!(made["endpoint"], sent);
    let path = format!("/v1/webhooks/{}", made["id"].as_str().unwrap());
    assert_eq!(app.get(&path).await.expect(200)["endpoint"], sent);
    let id = made["id"].as_str().unwrap().parse().unwrap();
    let stored = regente_store::webhooks::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap();
    assert_eq!(stored.endpoint, "https://shop.example/hooks", "what was checked is called");
    assert_duplicate(&app.post("/v1/webhooks", &body()).await);

    let other = "https://SHOP.example";
    let changed = app.patch(&path, &json!({ "endpoint": other })).await.expect(200);
    assert_eq!(changed["endpoint"], other);
    assert_eq!(app.get("/v1/webhooks").await.expect(200)["items"][0]["endpoint"], other);
    let same = app.patch(&path, &json!({ "status": true })).await.expect(200);
    assert_eq!(same["endpoint"], other);
}

async fn versions_are_taken_as_numbers_and_as_words(app: TestApp) {
    let cases =
        [(json!(1.1), 1.1), (json!("1.1"), 1.1), (json!(1.0), 1.0), (json!("1.0"), 1.0), (json!(1), 1.0)];
    for (number, (given, shown)) in cases.into_iter().enumerate() {
        let body = put(put(body(), "version", given), "endpoint", format!("https://shop.example/{number}"));
        assert_eq!(app.post("/v1/webhooks", &body).await.expect(201)["version"], shown);
    }
    let body = json!({ "event": "*", "endpoint": "https://shop.example/defaults" });
    let made = app.post("/v1/webhooks", &body).await.expect(201);
    assert_eq!((&made["version"], &made["status"]), (&json!(1.1), &json!(true)));
}

async fn the_same_key_makes_one_webhook(app: TestApp) {
    let first = app.post_with_key("/v1/webhooks", "k1", &body()).await;
    let again = app.post_with_key("/v1/webhooks", "k1", &body()).await;
    first.expect(201);
    assert_eq!(again.bytes, first.bytes);
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
}

async fn private_keys_do_not_rest_in_the_clear(app: TestApp) {
    let made = app.post("/v1/webhooks", &body()).await.expect(201);
    let id = made["id"].as_str().unwrap().parse().unwrap();
    let stored = regente_store::webhooks::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap();
    let binding = regente_engine::vault::Binding::new(
        regente_engine::vault::Purpose::WebhookKey,
        app.client_id(),
        id.uuid(),
    );
    let seed = app.app.vault.open(binding, &stored.key.private).await.unwrap();
    assert!(!stored.key.private.bytes.windows(seed.len()).any(|window| window == seed.as_slice()));
    let key = regente_engine::deliveries::signature::SigningKey::from_seed(&seed).unwrap();
    assert_eq!(key.public(), stored.key.public);
    assert!(!format!("{key:?}").contains(&hex::encode(&*seed)));
}
