//! Cards that a provider checks with a zero amount (`docs/interface/tokens-and-cards.md#checks`).

use axum::http::Method;
use regente_store::{audit, transaction_requests};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{read, total};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, WRONG_CVV};
use crate::support::charges::{charged, single_merchant};
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    a_checked_card_is_active,
    a_card_that_the_provider_refuses_is_failed,
    the_nested_members_win,
    without_both_members_nothing_is_checked,
    without_a_capable_provider_there_is_no_card,
    a_brand_that_the_provider_cannot_check_goes_to_the_next_one,
    a_provider_that_cannot_be_asked_makes_no_card,
    an_unknown_merchant_is_named,
    a_check_is_made_once_for_its_key,
    identical_checks_at_once_make_one_card,
    a_check_leaves_its_trace,
    a_check_moves_no_money,
}

fn cielo(priority: i64) -> Value {
    json!({ "name": "Cielo", "priority": priority,
        "credentials": { "type": "CIELO", "merchantId": "m", "merchantKey": "k" } })
}

async fn body(app: &TestApp, card: (&str, &str), merchant: &str) -> Value {
    json!({ "tokenId": app.card_token(card).await, "merchantId": merchant, "cvvCheck": true })
}

async fn a_checked_card_is_active(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.post("/v1/cards", &body(&app, APPROVED, &merchant).await).await.expect(201);
    assert_eq!(
        (&card["status"], &card["statusReason"], &card["cvvChecked"]),
        (&json!("active"), &Value::Null, &json!(true))
    );
    let check = &card["transactionRequests"][0];
    let provider =
        app.get(&format!("/v1/merchants/{merchant}")).await.expect(200)["providers"][0]["id"].clone();
    assert_eq!(
        card["transactionRequests"],
        json!([{ "id": check["id"], "createdAt": "2026-03-23T15:12:38.379Z", "providerId": provider,
            "providerType": "SANDBOX", "requestStatus": "success", "requestType": "zero_dollar",
            "responseTs": check["responseTs"] }])
    );
    assert!(text(&check["responseTs"]).ends_with("ms"));
    let mut later = card.clone();
    later.as_object_mut().unwrap().remove("transactionRequests");
    assert_eq!(read(&app, text(&card["id"])).await, later, "the check is shown once");
    assert_eq!(app.get("/v1/cards").await.expect(200)["items"], json!([later]));
}

async fn a_card_that_the_provider_refuses_is_failed(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.post("/v1/cards", &body(&app, WRONG_CVV, &merchant).await).await.expect(201);
    assert_eq!(
        (&card["status"], &card["statusReason"], &card["cvvChecked"]),
        (&json!("failed"), &json!("Invalid CVV"), &json!(false))
    );
    assert_eq!(card["transactionRequests"][0]["requestStatus"], "failed");
    let source = json!({ "sourceType": "card", "cardId": card["id"] });
    let refused = app.post("/v1/charges", &Charge::by_source(&merchant, source).body()).await.expect(400);
    assert_eq!(refused["error"]["message"], "card cannot be used in status failed");
}

async fn the_nested_members_win(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let nobody = app
        .merchant_with(json!([{ "name": "V", "priority": 1,
        "credentials": { "type": "VR", "affiliationId": "a" } }]))
        .await;
    let mut sent = body(&app, APPROVED, &nobody).await;
    sent["cvvCheck"] = json!(false);
    sent["zeroDollar"] = json!({ "merchantId": merchant, "cvvCheck": true });
    assert_eq!(app.post("/v1/cards", &sent).await.expect(201)["status"], "active");
    let mut sent = body(&app, APPROVED, &merchant).await;
    sent["zeroDollar"] = json!({ "cvvCheck": false });
    assert_eq!(app.post("/v1/cards", &sent).await.expect(201)["status"], "pending");
    let mut sent = body(&app, APPROVED, &merchant).await;
    sent["zeroDollar"] = json!({});
    assert_eq!(app.post("/v1/cards", &sent).await.expect(201)["status"], "active", "nothing is nested");
}

async fn without_both_members_nothing_is_checked(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let (no_merchant, not_asked) = ("cvv check was sent without merchantId", "cvv check was sent as false");
    for (change, reason) in [
        (json!({ "merchantId": null }), no_merchant),
        (json!({ "cvvCheck": false }), not_asked),
        (json!({ "cvvCheck": null }), not_asked),
        (json!({ "merchantId": null, "cvvCheck": null }), not_asked),
        (json!({ "merchantId": null, "cvvCheck": null, "zeroDollar": { "cvvCheck": true } }), no_merchant),
    ] {
        let mut sent = body(&app, WRONG_CVV, &merchant).await;
        sent.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let card = app.post("/v1/cards", &sent).await.expect(201);
        assert_eq!((&card["status"], &card["statusReason"]), (&json!("pending"), &json!(reason)), "{change}");
        assert!(card.get("transactionRequests").is_none());
        assert_eq!(
            read(&app, card["id"].as_str().unwrap()).await["statusReason"],
            reason,
            "also when it is read"
        );
    }
}

async fn without_a_capable_provider_there_is_no_card(app: TestApp) {
    let barte = json!({ "name": "B", "priority": 1, "credentials": { "type": "BARTE", "tokenApi": "t" } });
    let merchant = app.merchant_with(json!([barte])).await;
    let sent = body(&app, APPROVED, &merchant).await;
    for _ in 0..2 {
        assert_eq!(
            app.post_with_key("/v1/cards", "k", &sent).await.expect(424),
            json!({ "error": { "type": "failed_dependency", "code": 424,
                "message": "Card validation is not available",
                "details": ["merchant has no provider with zero dollar support"] } })
        );
    }
    assert_eq!(total(&app).await, 0);
    let unchecked = app.post_with_key("/v1/cards", "k", &json!({ "tokenId": sent["tokenId"] })).await;
    assert_eq!(unchecked.expect(201)["status"], "pending", "neither the token nor the key was used up");
}

async fn a_brand_that_the_provider_cannot_check_goes_to_the_next_one(app: TestApp) {
    let merchant = app.merchant_with(json!([cielo(1), sandbox("Main", 2)])).await;
    let card =
        app.post("/v1/cards", &body(&app, ("371511430434941", "6560"), &merchant).await).await.expect(201);
    assert_eq!((&card["brand"], &card["status"]), (&json!("American Express"), &json!("active")));
    assert_eq!(card["transactionRequests"][0]["providerType"], "SANDBOX");
}

/// A type without adapter refuses the merchant; the card is not judged.
async fn a_provider_that_cannot_be_asked_makes_no_card(app: TestApp) {
    let merchant = app.merchant_with(json!([cielo(1)])).await;
    let sent = body(&app, APPROVED, &merchant).await;
    let refused = app.post_with_key("/v1/cards", "k", &sent).await;
    assert_eq!(refused.expect(424)["error"]["type"], "failed_dependency");
    assert_eq!(total(&app).await, 0);
    let again = app.post_with_key("/v1/cards", "k", &sent).await;
    assert_eq!((again.expect(424), &again.bytes), (refused.json(), &refused.bytes));
    assert_eq!(again.header("idempotent-replayed"), Some("true"), "an error after a call is replayed");
    let other = app.post("/v1/cards", &json!({ "tokenId": sent["tokenId"] })).await.expect(400);
    assert_eq!(other["error"]["message"], "token not found or expired", "a call uses the token up");
}

async fn an_unknown_merchant_is_named(app: TestApp) {
    let mut sent = body(&app, APPROVED, "00000000-0000-4000-8000-000000000000").await;
    assert_eq!(app.post("/v1/cards", &sent).await.details(404), ["merchantId was not found"]);
    sent["merchantId"] = json!(single_merchant(&app).await);
    app.post("/v1/cards", &sent).await.expect(201);
}

async fn a_check_is_made_once_for_its_key(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let sent = body(&app, APPROVED, &merchant).await;
    let first = app.post_with_key("/v1/cards", "k", &sent).await;
    let card = first.expect(201);
    // The card changes later; the stored answer does not.
    charged(
        &app,
        &Charge::by_source(&merchant, json!({ "sourceType": "card", "cardId": card["id"] })).body(),
    )
    .await;
    app.delete(&format!("/v1/cards/{}", text(&card["id"]))).await.expect(204);
    let app = app.restart().await;
    let second = app.post_with_key("/v1/cards", "k", &sent).await;
    assert_eq!((second.expect(201), &second.bytes), (card, &first.bytes));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(total(&app).await, 0, "it was not made again");
}

async fn identical_checks_at_once_make_one_card(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let sent = body(&app, APPROVED, &merchant).await;
    let replies =
        futures_util::future::join_all((0..16).map(|_| app.post_with_key("/v1/cards", "k", &sent))).await;
    let answer = replies.iter().find(|reply| reply.status == 201).unwrap();
    for reply in &replies {
        match reply.status.as_u16() {
            201 => assert_eq!(reply.json(), answer.json()),
            _ => assert_eq!(reply.expect(409)["error"]["message"], "Transaction is processing"),
        }
    }
    assert_eq!(total(&app).await, 1);
    assert_eq!(app.books.entries().await.unwrap().len(), 1, "the provider was asked once");
}

async fn a_check_leaves_its_trace(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let public = app.client_token(json!(["cards"])).await;
    let sent = body(&app, APPROVED, &merchant).await;
    let card = app.call(&public, Method::POST, "/v1/cards", &[], Some(&sent)).await.expect(201);
    let id: Uuid = text(&card["id"]).parse().unwrap();
    let trail = audit::of_object(&app.app.store, app.client_id(), id, 10).await.unwrap();
    assert_eq!((trail.len(), trail[0].action.as_str()), (1, "card.created"));
    assert!(trail[0].actor.starts_with("client_token:"));
    let requests = transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].card_id.map(|id| id.uuid()), Some(id), "the number was opened for it");
}

async fn a_check_moves_no_money(app: TestApp) {
    let merchant = single_merchant(&app).await;
    app.post("/v1/cards", &body(&app, APPROVED, &merchant).await).await.expect(201);
    assert_eq!(app.books.effects().await.unwrap(), 0);
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}
