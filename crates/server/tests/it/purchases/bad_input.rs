//! Refused purchases, in the order of `docs/interface/purchases.md#checks` and in the envelope of purchases.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::client::Client;
use crate::support::purchases::{AMOUNTS, body, send};

stories! {
    each_rule_has_its_code,
    the_first_rule_that_is_broken_is_named,
    a_bad_body_burns_no_key,
    the_key_is_required,
    what_the_body_names_must_be_there,
    whoever_may_not_ask_is_told_nothing_else,
    the_key_is_looked_up_after_the_rules_and_before_the_records,
}

const NOBODYS_ID: &str = "3f1c1b1e-2a7b-4a57-9d35-000000000000";

/// The code and the details of a refused body.
async fn refusal(app: &TestApp, body: &Value) -> (String, Vec<String>) {
    let reply = send(app, "/v1/purchases", body).await;
    let error = reply.expect(400)["error"].clone();
    assert_eq!((&error["type"], &error["code"]), (&json!("bad_request"), &json!(400)));
    (error["businessCode"].as_str().unwrap().to_owned(), reply.details(400))
}

fn with(body: &Value, pointer: &str, value: Value) -> Value {
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    let mut body = body.clone();
    let parent = body.pointer_mut(parent).unwrap();
    match (parent.as_array_mut(), member.parse::<usize>()) {
        (Some(items), Ok(index)) if index >= items.len() => items.push(value),
        (Some(items), Ok(index)) => items[index] = value,
        _ => parent[member] = value,
    }
    body
}

async fn each_rule_has_its_code(app: TestApp) {
    let merchant = app.merchant().await;
    let good = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let payment = good["payments"][0].clone();
    let four = json!([payment, payment, payment, payment]);
    let token = app.card_token(APPROVED).await;
    let other = good["payments"][1]["cardId"].clone();
    let cases = [
        ("/payments", json!([payment]), "invalid_payments_count"),
        ("/payments", four, "invalid_payments_count"),
        ("/payments", json!([]), "invalid_payments_count"),
        ("/payments/0", json!({ "amount": AMOUNTS[0] }), "payment_source_required"),
        ("/payments/0/tokenId", json!(token), "invalid_request"),
        ("/payments/0/cardId", other, "invalid_request"),
        ("/payments/0/amount", json!(99), "payment_amount_below_minimum"),
        ("/payments/0/amount", json!(0), "payment_amount_below_minimum"),
        ("/payments/0/amount", json!("1"), "invalid_request"),
        ("/payments/0/amount", json!(9_999), "payments_amount_mismatch"),
        ("/amount", json!(29_999), "payments_amount_mismatch"),
        ("/currency", json!("USD"), "currency_not_brl"),
        ("/currency", json!(7), "invalid_request"),
        ("/payments/0/nickname", json!("x"), "invalid_request"),
        ("/payments/0/card", json!({}), "pan_not_allowed"),
        ("/payments/0/cardNumber", json!(APPROVED.0), "pan_not_allowed"),
        ("/payments/0/number", json!("x"), "pan_not_allowed"),
        ("/payments/0/pan", Value::Null, "pan_not_allowed"),
        ("/payments/0/cardId", json!(APPROVED.0), "pan_not_allowed"),
        ("/payments/0/cardId", json!("4916 7451 2029 4124"), "pan_not_allowed"),
        ("/payments/0/nickname", json!({ "deep": [APPROVED.0] }), "pan_not_allowed"),
        ("/payments/0/cardCvv", json!("12345"), "invalid_request"),
        ("/payments/0/installments", json!(25), "invalid_request"),
        ("/splitRules", json!([{}]), "invalid_request"),
        ("/threeDSecure2", json!({}), "invalid_request"),
        ("/recurrence", json!("initial"), "invalid_request"),
        ("/vendor", json!({}), "invalid_request"),
        ("/merchantId", json!(NOBODYS_ID), "invalid_request"),
        ("/capture", json!("yes"), "invalid_request"),
    ];
    for (pointer, value, code) in cases {
        let (told, details) = refusal(&app, &with(&good, pointer, value.clone())).await;
        assert_eq!(told, code, "{pointer} = {value}: {details:?}");
        assert!(!details.is_empty(), "{pointer} = {value}");
        assert!(!details.concat().contains("4916"), "a card number is not repeated: {details:?}");
    }
    let unknown_at_the_top = with(&good, "/loyaltyCard", json!("x"));
    send(&app, "/v1/purchases", &unknown_at_the_top).await.expect(202);
}

async fn the_first_rule_that_is_broken_is_named(app: TestApp) {
    let merchant = app.merchant().await;
    // Each body breaks one more rule, from the last to the first.
    let steps = [
        ("/merchantId", json!(NOBODYS_ID), "invalid_request"),
        ("/amount", json!(1), "payments_amount_mismatch"),
        ("/currency", json!("EUR"), "currency_not_brl"),
        ("/payments/1/amount", json!(1), "payment_amount_below_minimum"),
        ("/payments/0", json!({ "amount": 100 }), "payment_source_required"),
        ("/payments/2", json!({ "amount": 100 }), "payment_source_required"),
        ("/payments/3", json!({ "amount": 100 }), "invalid_payments_count"),
        ("/payments/1/card", json!({}), "pan_not_allowed"),
        ("/payments/1/amount", json!("x"), "invalid_request"),
    ];
    let mut broken = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    for (pointer, value, code) in steps {
        broken = with(&broken, pointer, value);
        assert_eq!(refusal(&app, &broken).await.0, code, "{pointer}");
    }
}

async fn a_bad_body_burns_no_key(app: TestApp) {
    let merchant = app.merchant().await;
    let good = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let bad = with(&good, "/amount", json!(1));
    assert_eq!(app.post_with_key("/v1/purchases", "one", &bad).await.status, 400);
    let unknown = with(&good, "/payments/0/cardId", json!(NOBODYS_ID));
    assert_eq!(app.post_with_key("/v1/purchases", "one", &unknown).await.status, 400);
    app.post_with_key("/v1/purchases", "one", &good).await.expect(202);
}

async fn the_key_is_required(app: TestApp) {
    let merchant = app.merchant().await;
    let good = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let long = "k".repeat(256);
    let (capture, void) =
        (format!("/v1/purchases/{NOBODYS_ID}/capture"), format!("/v1/purchases/{NOBODYS_ID}/void"));
    let nothing = json!({});
    for key in [None, Some(""), Some(long.as_str())] {
        let headers: Vec<(&str, &str)> = key.map(|key| ("X-Idempotency-Key", key)).into_iter().collect();
        let cases: [(&str, &Value); 4] =
            [("/v1/purchases", &good), ("/v1/purchases", &nothing), (&capture, &nothing), (&void, &nothing)];
        for (path, body) in cases {
            let reply = app.call(&app.client, Method::POST, path, &headers, Some(body)).await;
            assert_eq!(reply.expect(400)["error"]["businessCode"], "invalid_request", "{path} {key:?}");
            assert!(reply.details(400)[0].starts_with("X-Idempotency-Key "), "{path} {key:?}");
        }
    }
}

async fn what_the_body_names_must_be_there(app: TestApp) {
    let other = app.another_client().await;
    let merchant = app.merchant().await;
    let good = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let token = app.card_token(APPROVED).await;
    let spent = app.card_token(APPROVED).await;
    app.post("/v1/cards", &json!({ "tokenId": spent })).await.expect(201);
    let by_token =
        |token: &str| with(&good, "/payments/0", json!({ "tokenId": token, "amount": AMOUNTS[0] }));
    for (wrong, place) in [
        (with(&good, "/merchantId", json!(NOBODYS_ID)), "merchantId"),
        (with(&good, "/customerId", json!(NOBODYS_ID)), "customerId"),
        (with(&good, "/payments/1/cardId", json!(NOBODYS_ID)), "payments[1].cardId"),
        (with(&good, "/payments/1/tokenCvv", json!(NOBODYS_ID)), "payments[1].tokenCvv"),
        (by_token(NOBODYS_ID), "payments[0].tokenId"),
        (by_token(&spent), "payments[0].tokenId"),
    ] {
        let (code, details) = refusal(&app, &wrong).await;
        assert_eq!(code, "invalid_request");
        assert!(details[0].starts_with(place), "{place}: {details:?}");
    }
    let key = [("X-Idempotency-Key", "one")];
    let reply = app.call(&other, Method::POST, "/v1/purchases", &key, Some(&by_token(&token))).await;
    assert_eq!(reply.expect(400)["error"]["businessCode"], "invalid_request", "records of another account");
    send(&app, "/v1/purchases", &by_token(&token)).await.expect(202);
}

async fn whoever_may_not_ask_is_told_nothing_else(app: TestApp) {
    let stranger = Client { id: NOBODYS_ID.to_owned(), ..app.client.clone() };
    let wrong_key = Client { key: "no-key-of-anybody".to_owned(), ..app.client.clone() };
    let public_key = app.client_token(json!(["cards"])).await;
    let bad = json!({ "payments": 7 });
    for (client, status) in [(&stranger, 401), (&wrong_key, 403), (&public_key, 403)] {
        let reply = app.call(client, Method::POST, "/v1/purchases", &[], Some(&bad)).await;
        let told = reply.expect(status);
        assert_eq!(told["error"].get("businessCode"), None, "{told}");
    }
}

/// A body that breaks a rule is refused whatever its key was used for; a used key is replayed whatever has become of
/// the records (`docs/interface/purchases.md#checks`).
async fn the_key_is_looked_up_after_the_rules_and_before_the_records(app: TestApp) {
    let merchant = app.merchant().await;
    let good = body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let first = app.post_with_key("/v1/purchases", "one", &good).await;
    first.expect(202);
    let bad = with(&good, "/currency", json!("USD"));
    let reply = app.post_with_key("/v1/purchases", "one", &bad).await;
    assert_eq!(reply.expect(400)["error"]["businessCode"], "currency_not_brl");
    let nobodys = with(&good, "/merchantId", json!(NOBODYS_ID));
    let reply = app.post_with_key("/v1/purchases", "one", &nobodys).await;
    assert_eq!(reply.expect(409)["error"]["businessCode"], "idempotency_key_payload_mismatch");
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    let again = app.post_with_key("/v1/purchases", "one", &good).await;
    assert_eq!((again.status, again.bytes), (first.status, first.bytes));
}
