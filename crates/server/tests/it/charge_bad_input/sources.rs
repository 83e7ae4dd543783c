//! Cards, tokens and buyers with which a charge is refused.

use serde_json::{Value, json};

use super::{nothing_happened, problems, refused, with};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::charges::{charged, single_merchant};

stories! {
    a_card_must_have_its_shape,
    a_wrong_check_digit_is_a_declined_card,
    an_expired_card_is_a_declined_card,
    sources_are_checked,
    unknown_references_are_named,
    a_token_of_the_wrong_kind_is_not_found,
    an_expired_token_is_not_found,
}

async fn a_card_must_have_its_shape(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (member, wrong) in [
        ("cardNumber", json!("411111111111")),
        ("cardNumber", json!("41111111111111111111")),
        ("cardNumber", json!("4111x11111111111")),
        ("cardNumber", json!("４１１１１１１１１１１１１１１１")),
        ("cardNumber", json!(4111111111111111_i64)),
        ("cardNumber", json!("")),
        ("cardCvv", json!("12")),
        ("cardCvv", json!("12345")),
        ("cardCvv", json!("12a")),
        ("cardCvv", json!(120)),
        ("cardExpirationDate", json!("13/2030")),
        ("cardExpirationDate", json!("00/2030")),
        ("cardExpirationDate", json!("12/30")),
        ("cardExpirationDate", json!("2030-12")),
        ("cardHolderName", json!("  ")),
        ("cardHolderName", json!("x".repeat(257))),
    ] {
        let reply =
            refused(&app, &with(&merchant, |body| body["paymentSource"]["card"][member] = wrong.clone()))
                .await;
        let problems = problems(&reply);
        assert!(problems[0].starts_with(&format!("paymentSource.card.{member} ")), "{wrong}: {problems:?}");
        let body = String::from_utf8(reply.bytes.clone()).unwrap();
        assert!(!body.contains("4111"), "nothing of a card number is repeated: {body}");
    }
    nothing_happened(&app, &merchant).await;
}

async fn a_wrong_check_digit_is_a_declined_card(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body =
        with(&merchant, |body| body["paymentSource"]["card"]["cardNumber"] = json!("4929564637987815"));
    assert_eq!(
        refused(&app, &body).await.expect(400),
        json!({ "error": { "type": "card_declined", "code": 400, "declinedCode": "invalid_number",
            "declined_code": "invalid_number", "message": "invalid card number", "details": [] } })
    );
    nothing_happened(&app, &merchant).await;
}

async fn an_expired_card_is_a_declined_card(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for expiry in ["02/2026", "12/2025", "01/1999"] {
        let body =
            with(&merchant, |body| body["paymentSource"]["card"]["cardExpirationDate"] = json!(expiry));
        let error = refused(&app, &body).await.expect(400)["error"].clone();
        assert_eq!(
            (&error["type"], &error["declinedCode"]),
            (&json!("card_declined"), &json!("expired_card"))
        );
        assert_eq!(error["declined_code"], "expired_card");
    }
    nothing_happened(&app, &merchant).await;
    let body = with(&merchant, |body| body["paymentSource"]["card"]["cardExpirationDate"] = json!("03/2026"));
    assert_eq!(charged(&app, &body).await["status"], "authorized", "good until the end of its month");
}

async fn sources_are_checked(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for (source, path) in [
        (json!({ "sourceType": "onetime" }), "paymentSource.sourceType"),
        (json!({ "sourceType": "Card", "cardId": merchant }), "paymentSource.sourceType"),
        (json!({ "cardId": merchant }), "paymentSource.sourceType"),
        (json!({ "sourceType": "card" }), "paymentSource.cardId"),
        (json!({ "sourceType": "card", "cardId": "not-a-uuid" }), "paymentSource.cardId"),
        (json!({ "sourceType": "card", "cardId": merchant, "cardCvv": "1" }), "paymentSource.cardCvv"),
        (json!({ "sourceType": "card", "cardId": merchant, "tokenCvv": "1" }), "paymentSource.tokenCvv"),
        (json!({ "sourceType": "card", "card": "4111" }), "paymentSource.card"),
        (json!({ "sourceType": "token" }), "paymentSource.tokenId"),
        (json!({ "sourceType": "token", "tokenId": merchant.replace('-', "") }), "paymentSource.tokenId"),
        (json!({ "sourceType": "customer" }), "paymentSource.customerId"),
        (json!({ "sourceType": "customer", "customerId": 7 }), "paymentSource.customerId"),
        (json!([]), "paymentSource"),
    ] {
        let problems = problems(&refused(&app, &Charge::by_source(&merchant, source.clone()).body()).await);
        assert!(
            problems.len() == 1 && problems[0].starts_with(&format!("{path} ")),
            "{source}: {problems:?}"
        );
    }
    nothing_happened(&app, &merchant).await;
}

async fn unknown_references_are_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let unknown = "00000000-0000-4000-8000-000000000000";
    for (body, path) in [
        (charge_body(unknown, APPROVED), "merchantId"),
        (with(&merchant, |body| body["customerId"] = json!(unknown)), "customerId"),
        (
            Charge::by_source(&merchant, json!({ "sourceType": "card", "cardId": unknown })).body(),
            "paymentSource.cardId",
        ),
        (
            Charge::by_source(&merchant, json!({ "sourceType": "customer", "customerId": unknown })).body(),
            "paymentSource.customerId",
        ),
    ] {
        assert_eq!(
            refused(&app, &body).await.expect(404),
            json!({ "error": { "type": "invalid_request_error", "code": 404, "message": "Resource not found",
                "details": [format!("{path} was not found")] } })
        );
    }
    nothing_happened(&app, &merchant).await;
}

async fn a_token_of_the_wrong_kind_is_not_found(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let cvv = app.post("/v1/tokens", &json!({ "cvvUpdate": "120" })).await.expect(201)["tokenId"].clone();
    let card_token = app.card_token(APPROVED).await;
    let by_cvv = Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": cvv })).body();
    assert_eq!(refused(&app, &by_cvv).await.expect(400)["error"]["message"], "token not found or expired");
    nothing_happened(&app, &merchant).await;
    let card = app.card(APPROVED).await;
    let source = |token: &Value| json!({ "sourceType": "card", "cardId": card, "tokenCvv": token });
    let wrong = app
        .post("/v1/charges", &Charge::by_source(&merchant, source(&json!(card_token))).body())
        .await
        .expect(400);
    assert_eq!(wrong["error"]["message"], "token not found or expired");
    for body in [
        Charge::by_source(&merchant, source(&cvv)).body(),
        Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": card_token })).body(),
    ] {
        assert_eq!(charged(&app, &body).await["status"], "authorized", "the refusals used nothing up");
    }
}

async fn an_expired_token_is_not_found(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let token = app.card_token(APPROVED).await;
    let late = app.card_token(APPROVED).await;
    let body =
        |token: &str| Charge::by_source(&merchant, json!({ "sourceType": "token", "tokenId": token })).body();
    app.clock.advance(std::time::Duration::from_secs(2 * 60 * 60 - 1));
    assert_eq!(charged(&app, &body(&token)).await["status"], "authorized", "a second before its end");
    app.clock.advance(std::time::Duration::from_secs(1));
    let refused = refused(&app, &body(&late)).await.expect(400);
    assert_eq!(refused["error"]["message"], "token not found or expired");
    assert_eq!(refused["error"]["type"], "invalid_request_error");
    assert_eq!(app.books.effects().await.unwrap(), 1);
}
