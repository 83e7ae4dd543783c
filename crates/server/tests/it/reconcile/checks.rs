//! Card checks whose outcome was not recorded.

use std::time::Duration;

use axum::http::Method;
use regente_providers::sandbox::TransactionLog;
use serde_json::{Value, json};

use super::{ASKED_FOR, FOR_EVER, KEY, open, provider_gets, verification};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, WRONG_CVV};
use crate::support::client::{Reply, request};
use crate::support::providers::books::FileBooks;
use crate::support::read::text;

stories! {
    a_check_that_was_made_is_adopted,
    a_check_that_was_refused_makes_a_failed_card,
    a_check_that_never_arrived_leaves_no_card,
    a_card_that_is_being_checked_is_not_there_yet,
    a_check_that_nobody_answers_is_given_up,
}

/// Begins a check that the provider answers slowly, and ends the process while it waits. Returns the deployment after
/// its restart, with an empty transaction log.
async fn dies_during_a_check(app: TestApp) -> (TestApp, Value) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(FOR_EVER).await.with_books(file.books.clone()).await;
    let merchant = app.merchant().await;
    let body = json!({ "tokenId": app.card_token(APPROVED).await, "merchantId": merchant, "cvvCheck": true });
    let busy = file.occupy();
    let headers = [("X-Idempotency-Key", KEY)];
    let pending = app.begin(request(&app.client, Method::POST, "/v1/cards", &headers, Some(&body)));
    while app.app.in_flight.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let app = app.with_books(TransactionLog::memory()).await;
    pending.abort();
    drop(busy);
    (app, body)
}

async fn post(app: &TestApp, body: &Value) -> Reply {
    app.post_with_key("/v1/cards", KEY, body).await
}

async fn total(app: &TestApp) -> Value {
    app.get("/v1/cards").await.expect(200)["meta"]["totalItems"].clone()
}

async fn a_check_that_was_made_is_adopted(app: TestApp) {
    let (app, body) = dies_during_a_check(app).await;
    let stored = open(&app).await.remove(0);
    provider_gets(&app, &stored.request, verification(APPROVED)).await;
    assert_eq!(post(&app, &body).await.expect(409)["error"]["message"], "Transaction is processing");
    app.later(ASKED_FOR).await;
    let answer = post(&app, &body).await;
    let card = answer.expect(201);
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
    assert_eq!((&card["status"], &card["cvvChecked"]), (&json!("active"), &json!(true)));
    assert_eq!(card["cardHolderName"], "JOAO DA SILVA");
    assert_eq!(card["transactionRequests"][0]["requestStatus"], "success");
    let read = app.get(&format!("/v1/cards/{}", text(&card["id"]))).await.expect(200);
    assert_eq!((&read["status"], total(&app).await), (&json!("active"), json!(1)));
    assert!(open(&app).await.is_empty());
    app.later(Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!(app.books.entries().await.unwrap().len(), 1, "it was not made again");
}

async fn a_check_that_was_refused_makes_a_failed_card(app: TestApp) {
    let (app, body) = dies_during_a_check(app).await;
    let stored = open(&app).await.remove(0);
    provider_gets(&app, &stored.request, verification(WRONG_CVV)).await;
    app.later(ASKED_FOR).await;
    let card = post(&app, &body).await.expect(201);
    assert_eq!((&card["status"], &card["statusReason"]), (&json!("failed"), &json!("Invalid CVV")));
}

async fn a_check_that_never_arrived_leaves_no_card(app: TestApp) {
    let (app, body) = dies_during_a_check(app).await;
    app.later(ASKED_FOR).await;
    let answer = post(&app, &body).await;
    assert_eq!(answer.expect(424)["error"]["details"], json!(["the provider did not answer"]));
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
    assert_eq!(total(&app).await, 0);
    let token = app.post("/v1/cards", &json!({ "tokenId": body["tokenId"] })).await.expect(400);
    assert_eq!(token["error"]["message"], "token not found or expired", "the call had used it up");
    assert!(open(&app).await.is_empty());
}

async fn a_card_that_is_being_checked_is_not_there_yet(app: TestApp) {
    let (app, _) = dies_during_a_check(app).await;
    let id = open(&app).await[0].request.object_id.to_string();
    let path = format!("/v1/cards/{id}");
    app.get(&path).await.expect(404);
    app.delete(&path).await.expect(404);
    assert_eq!(total(&app).await, 0);
    let merchant = app.merchant().await;
    let source = json!({ "sourceType": "card", "cardId": id });
    let charge = app.post("/v1/charges", &Charge::by_source(&merchant, source).body()).await;
    assert_eq!(charge.details(404), ["paymentSource.cardId was not found"]);
    let customer = json!({ "name": "Ana", "email": "ana@example.com", "phoneNumber": "1",
        "document": { "type": "cpf", "number": "97055503019" } });
    let customer = app.post("/v1/customers", &customer).await.expect(201);
    let link = format!("/v1/customers/{}/cards", text(&customer["id"]));
    let link = app.call(&app.client, Method::POST, &link, &[], Some(&json!({ "cardId": id }))).await;
    assert_eq!(link.details(404), ["cardId was not found"]);
}

/// The caller is told that there is no card. Whatever the log says later, there is none.
async fn a_check_that_nobody_answers_is_given_up(app: TestApp) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    let merchant = app.merchant().await;
    let body = json!({ "tokenId": app.card_token(APPROVED).await, "merchantId": merchant, "cvvCheck": true });
    file.lose();
    let answer = post(&app, &body).await;
    assert_eq!(
        answer.expect(424),
        json!({ "error": { "type": "failed_dependency", "code": 424, "message": "Card validation is not available",
            "details": ["the provider did not answer"] } })
    );
    let stored = open(&app).await.remove(0);
    file.find();
    provider_gets(&app, &stored.request, verification(APPROVED)).await;
    app.later(ASKED_FOR).await;
    assert!(open(&app).await.is_empty());
    assert_eq!(total(&app).await, 0);
    let again = post(&app, &body).await;
    assert_eq!((again.expect(424), again.bytes), (answer.json(), answer.bytes));
    let token = app.post("/v1/cards", &json!({ "tokenId": body["tokenId"] })).await.expect(400);
    assert_eq!(token["error"]["message"], "token not found or expired", "the call had used it up");
}
