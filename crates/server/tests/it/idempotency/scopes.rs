//! The scope of a key, and the headers that carry it (`docs/interface/conventions.md#idempotency`).

use axum::http::Method;
use serde_json::json;

use super::{assert_same, charge_with, charges, is_replayed, keys, post_as};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body, token_body};
use crate::support::charges::single_merchant;
use crate::support::read::text;

stories! {
    another_operation_has_a_scope_of_its_own,
    another_record_has_a_scope_of_its_own,
    another_client_has_a_scope_of_its_own,
    each_public_key_has_a_scope_of_its_own,
    the_standard_header_means_the_same,
    wrong_keys_are_refused,
}

async fn another_operation_has_a_scope_of_its_own(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let token = app.post_with_key("/v1/tokens", "k", &token_body(APPROVED)).await;
    let card = app.post_with_key("/v1/cards", "k", &token.expect(201)).await;
    let source = json!({ "sourceType": "card", "cardId": card.expect(201)["id"] });
    let charge = charge_with(&app, "k", &Charge::by_source(&merchant, source).body()).await;
    charge.expect(201);
    assert!(![token, card, charge].iter().any(is_replayed));
    assert_eq!(keys(&app).await, 3);
    let read = app.call(&app.client, Method::GET, "/v1/charges", &[("X-Idempotency-Key", "k")], None).await;
    assert!(!is_replayed(&read), "reading needs no key");
}

async fn another_record_has_a_scope_of_its_own(app: TestApp) {
    let buyer = |email: &str, number: &str| json!({ "name": "A", "email": email, "phoneNumber": "1", "document": { "type": "cpf", "number": number } });
    let mut customers = Vec::new();
    for (email, number) in [("a@example.com", "97055503019"), ("b@example.com", "72912053013")] {
        let customer = app.post("/v1/customers", &buyer(email, number)).await.expect(201);
        customers.push(text(&customer["id"]).to_owned());
    }
    let body = json!({ "cardId": app.card(APPROVED).await });
    let path = |customer: &str| format!("/v1/customers/{customer}/cards");
    app.post_with_key(&path(&customers[0]), "k", &body).await.expect(204);
    let other = app.post_with_key(&path(&customers[1]), "k", &body).await;
    other.expect(409);
    assert!(
        !is_replayed(&other) && other.json()["error"]["type"] == "invalid_request_error",
        "it was looked at"
    );
}

async fn another_client_has_a_scope_of_its_own(app: TestApp) {
    let other = app.another_client().await;
    let first = app.post_with_key("/v1/tokens", "k", &token_body(APPROVED)).await;
    let theirs = post_as(&app, &other, "/v1/tokens", "k", &token_body(APPROVED)).await;
    assert_ne!(first.expect(201), theirs.expect(201));
    assert!(!is_replayed(&theirs));
}

async fn each_public_key_has_a_scope_of_its_own(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, APPROVED);
    let (one, two) = (app.client_token(json!(["charges"])).await, app.client_token(json!(["charges"])).await);
    let first = post_as(&app, &one, "/v1/charges", "k", &body).await;
    first.expect(201);
    for stranger in [&two, &app.client] {
        let theirs = post_as(&app, stranger, "/v1/charges", "k", &body).await;
        assert_ne!(theirs.expect(201)["id"], first.json()["id"]);
        assert!(!is_replayed(&theirs), "nobody gets the answer of another one");
    }
    assert_same(&post_as(&app, &one, "/v1/charges", "k", &body).await, &first);
}

async fn the_standard_header_means_the_same(app: TestApp) {
    let key = "4d8a0b0c-8f0e-4a70-9c5d-6f2b6f1f8f11";
    let post = async |headers: &[(&str, &str)]| {
        app.call(&app.client, Method::POST, "/v1/tokens", headers, Some(&token_body(APPROVED))).await
    };
    let first = post(&[("X-Idempotency-Key", key)]).await;
    let quoted = format!("\"{key}\"");
    for headers in [
        &[("Idempotency-Key", quoted.as_str())][..],
        &[("Idempotency-Key", key)],
        &[("idempotency-key", key), ("x-idempotency-key", key)],
        &[("Idempotency-Key", &quoted), ("X-Idempotency-Key", key)],
    ] {
        assert_same(&post(headers).await, &first);
    }
    let escaped = post(&[("Idempotency-Key", r#""a\"b\\c""#)]).await;
    assert_same(&post(&[("X-Idempotency-Key", r#"a"b\c"#)]).await, &escaped);
    let differ = post(&[("Idempotency-Key", "other"), ("X-Idempotency-Key", key)]).await;
    assert!(differ.details(400)[0].starts_with("X-Idempotency-Key "));
}

async fn wrong_keys_are_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = charge_body(&merchant, APPROVED);
    let (longest, too_long) = ("x".repeat(255), "x".repeat(256));
    for headers in [
        &[("X-Idempotency-Key", too_long.as_str())][..],
        &[("X-Idempotency-Key", "")],
        &[("X-Idempotency-Key", "   ")],
        &[("X-Idempotency-Key", "ação")],
        &[("X-Idempotency-Key", "a\tb")],
        &[("X-Idempotency-Key", "a"), ("X-Idempotency-Key", "a")],
        &[("Idempotency-Key", "\"open")],
        &[("Idempotency-Key", "\"a\"b")],
        &[("Idempotency-Key", "\"\"")],
    ] {
        let refused = app.call(&app.client, Method::POST, "/v1/charges", headers, Some(&body)).await;
        let details = refused.details(400);
        assert!(details[0].contains("Idempotency-Key "), "{headers:?}: {details:?}");
    }
    assert_eq!((charges(&app).await, keys(&app).await), (json!(0), 0));
    charge_with(&app, &longest, &body).await.expect(201);
    assert!(is_replayed(&charge_with(&app, &longest, &body).await));
}
