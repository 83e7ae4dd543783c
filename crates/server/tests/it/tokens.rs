//! Tokens: card data for two hours and one use (`docs/interface/tokens-and-cards.md#tokens`).

use std::time::Duration;

use axum::http::Method;
use regente_domain::id::TokenId;
use regente_engine::vault::token_digest;
use regente_store::{args, sql, tokens};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, token_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::read::{newest, text};

stories! {
    a_card_becomes_a_token,
    a_security_code_becomes_a_token,
    both_together_are_a_card_with_the_newer_code,
    every_wrong_member_is_named,
    numbers_may_be_written_in_groups,
    a_wrong_check_digit_is_a_declined_card,
    an_expired_card_is_a_declined_card,
    a_token_is_used_once_whoever_is_first,
    a_token_made_with_a_key_is_made_once,
    a_public_key_makes_tokens_in_its_scope,
    used_tokens_leave_no_row,
    tokens_that_nobody_used_are_purged,
    a_token_works_after_a_restart,
}

sql! {
    COUNT_TOKENS = "SELECT COUNT(*) AS n FROM tokens WHERE client_id = :client_id";
}

async fn rows(app: &TestApp) -> i64 {
    let client_id = app.client_id();
    app.app.store.row(&COUNT_TOKENS, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn a_card_becomes_a_token(app: TestApp) {
    let body = app.post("/v1/tokens", &token_body(APPROVED)).await.expect(201);
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    let id: uuid::Uuid = text(&body["tokenId"]).parse().unwrap();
    assert_eq!(id.get_version_num(), 4, "nobody can guess it");
    let card = app.post("/v1/cards", &json!({ "tokenId": id })).await.expect(201);
    assert_eq!((&card["first6digits"], &card["last4digits"]), (&json!("491674"), &json!("4124")));
}

async fn a_security_code_becomes_a_token(app: TestApp) {
    for cvv in ["120", "1200"] {
        let body = app.post("/v1/tokens", &json!({ "cvvUpdate": cvv })).await.expect(201);
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        let refused = app.post("/v1/cards", &json!({ "tokenId": body["tokenId"] })).await.expect(400);
        assert_eq!(refused["error"]["message"], "token not found or expired", "it is no card");
    }
}

async fn both_together_are_a_card_with_the_newer_code(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut body = token_body((APPROVED.0, "321"));
    for (cvv, code) in [("560", None), ("561", Some("invalid_cvv"))] {
        body["cvvUpdate"] = json!(cvv);
        let token = app.post("/v1/tokens", &body).await.expect(201);
        let source = json!({ "sourceType": "token", "tokenId": token["tokenId"] });
        let charge = charged(&app, &Charge::by_source(&merchant, source).body()).await;
        assert_eq!(newest(&charge)["providerError"]["declinedCode"].as_str(), code);
        body.as_object_mut().unwrap().remove("cardCvv");
    }
}

async fn every_wrong_member_is_named(app: TestApp) {
    let details = app.post("/v1/tokens", &json!({})).await.details(400);
    let names = ["cardHolderName", "cardNumber", "cardCvv", "cardExpirationDate"];
    assert_eq!(details, names.map(|name| format!("{name} should not be empty")));
    let wrong =
        json!({ "cardHolderName": 1, "cardNumber": "1", "cardCvv": "x", "cardExpirationDate": "1/30" });
    assert_eq!(
        app.post("/v1/tokens", &wrong).await.details(400),
        [
            "cardHolderName must be a string",
            "cardNumber must be a card number of 13 to 19 digits",
            "cardCvv must be 3 or 4 digits",
            "cardExpirationDate must be a month in the form MM/YYYY",
        ]
    );
    assert_eq!(
        app.post("/v1/tokens", &json!({ "cvvUpdate": "12" })).await.details(400),
        ["cvvUpdate must be 3 or 4 digits"]
    );
    assert_eq!(rows(&app).await, 0);
}

async fn numbers_may_be_written_in_groups(app: TestApp) {
    let mut body = token_body(APPROVED);
    for number in ["4916 7451 2029 4124", "4916-7451-2029-4124"] {
        body["cardNumber"] = json!(number);
        let token = app.post("/v1/tokens", &body).await.expect(201);
        let card = app.post("/v1/cards", &token).await.expect(201);
        assert_eq!((&card["first6digits"], &card["last4digits"]), (&json!("491674"), &json!("4124")));
    }
}

async fn a_wrong_check_digit_is_a_declined_card(app: TestApp) {
    let refused = app.post("/v1/tokens", &token_body(("4929564637987815", "320"))).await;
    assert_eq!(
        refused.expect(400),
        json!({ "error": { "type": "card_declined", "code": 400, "declinedCode": "invalid_number",
            "declined_code": "invalid_number", "message": "invalid card number", "details": [] } })
    );
}

async fn an_expired_card_is_a_declined_card(app: TestApp) {
    let mut body = token_body(APPROVED);
    body["cardExpirationDate"] = json!("02/2026");
    let error = app.post("/v1/tokens", &body).await.expect(400)["error"].clone();
    assert_eq!((&error["type"], &error["declinedCode"]), (&json!("card_declined"), &json!("expired_card")));
    body["cardExpirationDate"] = json!("03/2026");
    app.post("/v1/tokens", &body).await.expect(201);
    // The month ends in São Paulo, three hours after it ends in Greenwich.
    app.clock.set(regente_domain::time::Timestamp::parse("2026-04-01T02:59:59Z").unwrap());
    app.post("/v1/tokens", &body).await.expect(201);
    app.clock.advance(Duration::from_secs(1));
    app.post("/v1/tokens", &body).await.expect(400);
}

async fn a_token_is_used_once_whoever_is_first(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let token = app.card_token(APPROVED).await;
    let charge = Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": token })).body();
    let card = json!({ "tokenId": token });
    let mut calls = Vec::new();
    for _ in 0..8 {
        calls.push(("/v1/charges", &charge));
        calls.push(("/v1/cards", &card));
    }
    let replies = futures_util::future::join_all(calls.iter().map(|(path, body)| app.post(path, body))).await;
    let good = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!(good, 1, "one of all");
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        assert_eq!(reply.expect(400)["error"]["message"], "token not found or expired");
    }
    assert_eq!(app.get("/v1/cards").await.expect(200)["meta"]["totalItems"], 1);
}

async fn a_token_made_with_a_key_is_made_once(app: TestApp) {
    let first = app.post_with_key("/v1/tokens", "k", &token_body(APPROVED)).await;
    let second = app.post_with_key("/v1/tokens", "k", &token_body(APPROVED)).await;
    assert_eq!((first.expect(201), &first.bytes), (second.expect(201), &second.bytes));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(rows(&app).await, 1);
    let other = app.post_with_key("/v1/tokens", "k", &token_body(("4916878170842862", "650"))).await;
    assert_eq!(other.expect(409)["error"]["message"], "Idempotency key reused with a different payload");
}

async fn a_public_key_makes_tokens_in_its_scope(app: TestApp) {
    let public = app.client_token(json!(["tokens"])).await;
    let post = async |path: &str, body: &Value| app.call(&public, Method::POST, path, &[], Some(body)).await;
    let token = post("/v1/tokens", &token_body(APPROVED)).await.expect(201);
    assert_eq!(post("/v1/cards", &token).await.expect(403), json!({ "message": "Forbidden" }));
    app.post("/v1/cards", &token).await.expect(201);
}

async fn used_tokens_leave_no_row(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let cvv = app.post("/v1/tokens", &json!({ "cvvUpdate": "560" })).await.expect(201)["tokenId"].clone();
    let card = app.card(APPROVED).await;
    let source = json!({ "sourceType": "card", "cardId": card, "tokenCvv": cvv });
    charged(&app, &Charge::by_source(&merchant, source).body()).await;
    let token = app.card_token(APPROVED).await;
    charged(&app, &Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": token })).body())
        .await;
    assert_eq!(rows(&app).await, 0, "no security code is left");
}

async fn tokens_that_nobody_used_are_purged(app: TestApp) {
    app.card_token(APPROVED).await;
    app.later(Duration::from_secs(60 * 60)).await;
    let kept: TokenId = app.card_token(APPROVED).await.parse().unwrap();
    app.later(Duration::from_secs(60 * 60 + 11 * 60)).await;
    assert_eq!(rows(&app).await, 1, "the older one is gone");
    let (store, now) = (&app.app.store, app.clock.deployment());
    let found = tokens::find(store, app.client_id(), token_digest(kept), now).await.unwrap();
    assert!(found.is_some());
    app.later(Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!(rows(&app).await, 0);
}

async fn a_token_works_after_a_restart(app: TestApp) {
    let token = app.card_token(APPROVED).await;
    let app = app.restart().await;
    app.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201);
}
