//! One answer for one key (`docs/interface/conventions.md#idempotency`).

mod scopes;

use std::time::Duration;

use axum::http::Method;
use futures_util::future::join_all;
use regente::access;
use regente_domain::actor::Actor;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV, charge_body, token_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::{Client, Reply, request};
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    many_identical_charges_at_once_are_one,
    many_identical_charges_by_token_at_once_are_one,
    an_answer_is_given_again_byte_for_byte,
    a_refused_charge_is_answered_again_as_well,
    an_answer_survives_a_restart_and_a_new_secret_key,
    the_same_content_written_otherwise_is_the_same_body,
    another_body_is_refused,
    a_refusal_leaves_no_claim,
    without_a_key_every_request_counts,
    an_answer_is_kept_for_a_day,
    a_charge_that_moves_again_keeps_its_first_answer,
    old_answers_are_purged,
    every_creation_is_replayed,
    a_link_is_replayed_without_a_body,
    a_caller_who_hangs_up_finds_his_answer,
    stored_claims_reveal_nothing,
}

sql! {
    COUNT_KEYS = "SELECT COUNT(*) AS n FROM idempotency WHERE client_id = :client_id";
    KEYS = "SELECT digest, fingerprint, body FROM idempotency WHERE client_id = :client_id";
}

async fn keys(app: &TestApp) -> i64 {
    let client_id = app.client_id();
    app.app.store.row(&COUNT_KEYS, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn charges(app: &TestApp) -> Value {
    app.get("/v1/charges").await.expect(200)["meta"]["totalItems"].clone()
}

async fn charge_with(app: &TestApp, key: &str, body: &Value) -> Reply {
    app.post_with_key("/v1/charges", key, body).await
}

async fn post_as(app: &TestApp, client: &Client, path: &str, key: &str, body: &Value) -> Reply {
    app.call(client, Method::POST, path, &[("X-Idempotency-Key", key)], Some(body)).await
}

fn is_replayed(reply: &Reply) -> bool {
    reply.header("idempotent-replayed") == Some("true")
}

#[track_caller]
fn assert_same(again: &Reply, first: &Reply) {
    let (again_text, first_text) =
        (String::from_utf8_lossy(&again.bytes), String::from_utf8_lossy(&first.bytes));
    assert_eq!((again.status, again_text), (first.status, first_text));
    assert!(is_replayed(again) && !is_replayed(first));
    assert_eq!(again.header("content-type"), first.header("content-type"));
}

/// Sends the same charge this often at once, and compares all answers.
async fn one_of_many(app: &TestApp, body: &Value) {
    const REQUESTS: usize = 64;
    let replies = join_all((0..REQUESTS).map(|_| charge_with(app, "same", body))).await;
    let first = replies.iter().find(|reply| reply.status == 201 && !is_replayed(reply)).unwrap();
    for reply in &replies {
        match reply.status.as_u16() {
            201 => assert_eq!(reply.bytes, first.bytes),
            _ => {
                assert_eq!(
                    reply.expect(409),
                    json!({ "error": { "type": "conflict", "code": 409, "message": "Transaction is processing",
                        "details": [] } })
                );
                assert_eq!(reply.header("retry-after"), Some("10"));
            }
        }
    }
    assert_eq!(replies.iter().filter(|reply| reply.status == 201 && !is_replayed(reply)).count(), 1);
    assert_eq!(app.books.entries().await.unwrap().len(), 1, "the provider was asked once");
    assert_eq!((charges(app).await, keys(app).await), (json!(1), 1));
    assert_eq!(app.get("/v1/cards").await.expect(200)["meta"]["totalItems"], 1);
    assert_same(&charge_with(app, "same", body).await, first);
}

async fn many_identical_charges_at_once_are_one(app: TestApp) {
    let merchant = app.merchant().await;
    one_of_many(&app, &charge_body(&merchant, APPROVED)).await;
}

/// The first charge uses up the token; the others must not be told so.
async fn many_identical_charges_by_token_at_once_are_one(app: TestApp) {
    let merchant = app.merchant().await;
    let token = app.card_token(APPROVED).await;
    one_of_many(
        &app,
        &Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": token })).body(),
    )
    .await;
}

async fn an_answer_is_given_again_byte_for_byte(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let body = Charge::by_card(&merchant, APPROVED)
        .with("orderId", "231")
        .with(
            "paymentFlow",
            json!({ "metadata": { "zebra": 1, "alpha": 2.50, "ção": [null, { "y": 1, "x": 2 }] } }),
        )
        .with("appInfo", json!({ "z": 1, "a": 1 }))
        .with("fraudAnalysis", json!({ "orderOrigin": "web", "customer": { "phone": "1", "name": "Ana" } }))
        .body();
    let first = charge_with(&app, "k", &body).await;
    assert_eq!(first.expect(201)["transactionRequests"].as_array().unwrap().len(), 2);
    for _ in 0..3 {
        app.clock.advance(Duration::from_secs(60));
        assert_same(&charge_with(&app, "k", &body).await, &first);
    }
    assert_eq!((charges(&app).await, app.books.effects().await.unwrap()), (json!(1), 1));
}

async fn a_refused_charge_is_answered_again_as_well(app: TestApp) {
    let merchant = app.merchant().await;
    for (key, card) in [("cvv", WRONG_CVV), ("silence", TIMED_OUT)] {
        let first = charge_with(&app, key, &charge_body(&merchant, card)).await;
        assert_eq!(first.expect(201)["status"], "failed");
        assert_same(&charge_with(&app, key, &charge_body(&merchant, card)).await, &first);
    }
    assert_eq!(charges(&app).await, 2);
}

async fn an_answer_survives_a_restart_and_a_new_secret_key(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, APPROVED);
    let first = charge_with(&app, "k", &body).await;
    let mut app = app.restart().await;
    assert_same(&charge_with(&app, "k", &body).await, &first);

    let client_id = app.client_id();
    let old = access::secret_keys(&app.app, client_id).await.unwrap()[0].id;
    let new = access::create_secret_key(&app.app, client_id, "new", Actor::Operator).await.unwrap();
    access::revoke_secret_key(&app.app, client_id, old, Actor::Operator).await.unwrap();
    charge_with(&app, "k", &body).await.expect(403);
    app.client.key = new.key.expose().to_owned();
    assert_same(&charge_with(&app, "k", &body).await, &first);
    assert_eq!(app.books.effects().await.unwrap(), 1);
}

async fn the_same_content_written_otherwise_is_the_same_body(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let first = charge_with(&app, "k", &charge_body(&merchant, APPROVED)).await;
    first.expect(201);
    let card = r#"{"cardExpirationDate":"12/2030","cardCvv":"560","cardNumber":"4916745120294124","cardHolderName":"JOAO DA SILVA"}"#;
    let written = format!(
        "\n{{ \"paymentSource\" : {{ \"card\": {card}, \"sourceType\": \"card\" }}, \"amount\": 150.0,
          \"paymentMethod\": {{ \"installments\": 1, \"paymentType\": \"credit\" }}, \"capture\": true,
          \"merchantId\": \"{merchant}\" }}\n"
    );
    let mut again = request(&app.client, Method::POST, "/v1/charges", &[("X-Idempotency-Key", "k")], None);
    *again.body_mut() = written.into();
    assert_same(&app.send(again).await, &first);
}

async fn another_body_is_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let first = charge_with(&app, "k", &charge_body(&merchant, APPROVED)).await;
    first.expect(201);
    let other = Charge::by_card(&merchant, APPROVED).amount(151).body();
    let refused = charge_with(&app, "k", &other).await;
    assert_eq!(
        refused.expect(409),
        json!({ "error": { "type": "conflict", "code": 409,
            "message": "Idempotency key reused with a different payload", "details": [] } })
    );
    assert!(!is_replayed(&refused));
    assert_eq!(charges(&app).await, 1);
    assert_same(&charge_with(&app, "k", &charge_body(&merchant, APPROVED)).await, &first);
    assert!(!is_replayed(&charge_with(&app, "k2", &other).await), "another key is another request");
    assert_eq!(charges(&app).await, 2);
}

async fn a_refusal_leaves_no_claim(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let nobody = app
        .merchant_with(
            json!([{ "name": "V", "priority": 1, "credentials": { "type": "VR", "affiliationId": "a" } }]),
        )
        .await;
    let used = app.card_token(APPROVED).await;
    app.post("/v1/cards", &json!({ "tokenId": used })).await.expect(201);
    let expired = |body: &mut Value| body["paymentSource"]["card"]["cardExpirationDate"] = json!("01/2020");
    let mut declined = charge_body(&merchant, APPROVED);
    expired(&mut declined);
    for (status, body) in [
        (400, json!({})),
        (400, declined),
        (400, Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": used })).body()),
        (400, charge_body(&nobody, APPROVED)),
        (404, charge_body("00000000-0000-4000-8000-000000000000", APPROVED)),
    ] {
        for _ in 0..2 {
            let refused = charge_with(&app, "k", &body).await;
            refused.expect(status);
            assert!(!is_replayed(&refused));
        }
    }
    assert_eq!(keys(&app).await, 0);
    assert!(!is_replayed(&charge_with(&app, "k", &charge_body(&merchant, APPROVED)).await));
    assert_eq!(keys(&app).await, 1);
}

async fn without_a_key_every_request_counts(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let one = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let two = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_ne!(one["id"], two["id"]);
    assert_eq!((app.books.effects().await.unwrap(), keys(&app).await), (2, 0));
}

async fn an_answer_is_kept_for_a_day(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, APPROVED);
    let first = charge_with(&app, "k", &body).await;
    let token = app.post_with_key("/v1/tokens", "k", &token_body(APPROVED)).await;
    app.clock.advance(Duration::from_millis(24 * 60 * 60 * 1000 - 1));
    assert_same(&charge_with(&app, "k", &body).await, &first);
    assert_same(&app.post_with_key("/v1/tokens", "k", &token_body(APPROVED)).await, &token);
    app.clock.advance(Duration::from_millis(1));
    let other = app.post_with_key("/v1/tokens", "k", &token_body(WRONG_CVV)).await;
    other.expect(201);
    // A charge's day begins with its last change, a millisecond after its key was claimed.
    assert_same(&charge_with(&app, "k", &body).await, &first);
    app.clock.advance(Duration::from_millis(1));
    let later = charge_with(&app, "k", &body).await;
    assert_ne!(later.expect(201)["id"], first.json()["id"], "a new request, though nothing was purged");
    assert!(!is_replayed(&later) && !is_replayed(&other));
    assert_same(&charge_with(&app, "k", &body).await, &later);
    assert_eq!(app.books.effects().await.unwrap(), 2);
}

async fn a_charge_that_moves_again_keeps_its_first_answer(app: TestApp) {
    let mut body = Charge::by_card(&app.merchant().await, APPROVED).reserved().body();
    let fault = json!({ "when": { "operation": "capture" }, "then": { "timeout": "before_effect" } });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [fault] } });
    let first = charge_with(&app, "k", &body).await;
    let id = text(&first.json()["id"]).to_owned();
    app.clock.advance(Duration::from_secs(23 * 60 * 60));
    let captured = app.post(&format!("/v1/charges/{id}/capture"), &json!({})).await;
    assert_eq!(captured.expect(201)["status"], "capture_pending");
    app.clock.advance(Duration::from_secs(2 * 60 * 60));
    assert_same(&charge_with(&app, "k", &body).await, &first);
}

async fn old_answers_are_purged(app: TestApp) {
    let other = app.another_client().await;
    app.post_with_key("/v1/tokens", "old", &token_body(APPROVED)).await.expect(201);
    post_as(&app, &other, "/v1/tokens", "old", &token_body(APPROVED)).await.expect(201);
    app.later(Duration::from_secs(12 * 60 * 60)).await;
    app.post_with_key("/v1/tokens", "new", &token_body(APPROVED)).await.expect(201);
    assert_eq!(keys(&app).await, 2);
    app.later(Duration::from_secs(12 * 60 * 60 + 11 * 60)).await;
    assert_eq!(keys(&app).await, 1);
    assert!(is_replayed(&app.post_with_key("/v1/tokens", "new", &token_body(APPROVED)).await));
    let theirs = args! { client_id: other.id.parse::<regente_domain::id::ClientId>().unwrap() };
    let left: i64 = app.app.store.row(&COUNT_KEYS, theirs).await.unwrap().unwrap().get("n").unwrap();
    assert_eq!(left, 0, "of every client");
}

async fn every_creation_is_replayed(app: TestApp) {
    let card_token = app.card_token(APPROVED).await;
    let creations = [
        ("/v1/auth", json!({ "scope": ["charges"], "expires": 600 })),
        ("/v1/tokens", token_body(APPROVED)),
        ("/v1/cards", json!({ "tokenId": card_token })),
        (
            "/v1/customers",
            json!({ "name": "Ana", "email": "ana@example.com", "phoneNumber": "1",
                "document": { "type": "cpf", "number": "97055503019" } }),
        ),
        ("/v1/merchants", json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] })),
    ];
    for (path, body) in &creations {
        let replies = join_all((0..8).map(|_| app.post_with_key(path, "k", body))).await;
        let first = replies.iter().find(|reply| !is_replayed(reply) && reply.status == 201).unwrap();
        for reply in replies.iter().filter(|reply| !std::ptr::eq(*reply, first)) {
            assert_same(reply, first);
        }
        let mut other = body.clone();
        other["oneMember"] = json!("more");
        let refused = app.post_with_key(path, "k", &other).await;
        assert_eq!(refused.expect(409)["error"]["type"], "conflict", "{path}");
    }
    assert_eq!(keys(&app).await, 5);
    assert_eq!(app.get("/v1/cards").await.expect(200)["meta"]["totalItems"], 1);
    assert_eq!(app.get("/v1/merchants").await.expect(200)["meta"]["totalItems"], 1);
}

async fn a_link_is_replayed_without_a_body(app: TestApp) {
    let customer = json!({ "name": "Ana", "email": "ana@example.com", "phoneNumber": "1",
        "document": { "type": "cpf", "number": "97055503019" } });
    let customer = app.post("/v1/customers", &customer).await.expect(201);
    let card = app.card(APPROVED).await;
    let path = format!("/v1/customers/{}/cards", text(&customer["id"]));
    let body = json!({ "cardId": card });
    let first = app.post_with_key(&path, "k", &body).await;
    app.delete(&format!("/v1/cards/{card}")).await.expect(204);
    let again = app.post_with_key(&path, "k", &body).await;
    assert_same(&again, &first);
    assert_eq!((again.expect(204), again.bytes.len()), (Value::Null, 0), "also when the card is gone");
}

async fn a_caller_who_hangs_up_finds_his_answer(app: TestApp) {
    // Nothing ends the call but the wire, however busy the machine is.
    let app = app.with_sandbox_deadline(Duration::from_secs(60)).await;
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, APPROVED);
    app.wire.hold();
    let sent = app.begin(request(
        &app.client,
        Method::POST,
        "/v1/charges",
        &[("X-Idempotency-Key", "k")],
        Some(&body),
    ));
    while app.app.in_flight.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let running = charge_with(&app, "k", &body).await;
    assert_eq!(running.expect(409)["error"]["message"], "Transaction is processing");
    sent.abort();
    app.wire.let_go();
    let answer = loop {
        let reply = charge_with(&app, "k", &body).await;
        if reply.status != 409 {
            break reply;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(answer.expect(201)["status"], "authorized", "the charge went on to its end");
    assert!(is_replayed(&answer));
    assert_eq!(charges(&app).await, 1);
}

async fn stored_claims_reveal_nothing(app: TestApp) {
    let merchant = single_merchant(&app).await;
    charge_with(&app, "the callers key", &charge_body(&merchant, APPROVED)).await.expect(201);
    let other = app.another_client().await;
    post_as(&app, &other, "/v1/tokens", "the callers key", &token_body(APPROVED)).await.expect(201);
    app.post_with_key("/v1/tokens", "the callers key", &token_body(APPROVED)).await.expect(201);
    let rows_of = async |client: &Client| {
        let client_id: regente_domain::id::ClientId = client.id.parse().unwrap();
        app.app.store.rows(&KEYS, args! { client_id }).await.unwrap()
    };
    let (own, theirs) = (rows_of(&app.client).await, rows_of(&other).await);
    assert_eq!((own.len(), theirs.len()), (2, 1));
    let fingerprint = |row: &regente_store::Row| row.get::<Vec<u8>>("fingerprint").unwrap();
    for row in own.iter().chain(&theirs) {
        let body: Option<Vec<u8>> = row.get("body").unwrap();
        let body = body.unwrap_or_default();
        assert!(!body.windows(7).any(|part| part == b"tokenId"), "answers rest sealed");
        assert_eq!(fingerprint(row).len(), 32);
    }
    assert!(own.iter().all(|row| fingerprint(row) != fingerprint(&theirs[0])), "the hash is keyed by client");
}
