//! Charges that await their payer: the answer carries the provider's instructions, and the payer's decision arrives by
//! a probe, by the provider's notification, or too late.

mod crashes;

use std::time::Duration;

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::time::Timestamp;
use regente_engine::charges::late_answer;
use regente_store::{args, sql, transaction_requests};
use serde_json::{Value, json};

use crate::support::agreement::agree_on_all;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::providers::payers::{Act, EXPIRES_IN, asking_payers, outcome};
use crate::support::providers::sandbox;
use crate::support::read::{announced, text};

stories! {
    the_instructions_are_the_answer_of_the_key,
    a_payer_who_pays_is_found_by_a_probe,
    what_a_payer_has_paid_can_be_given_back,
    a_payer_who_turns_back_is_taken_to_the_next_provider_with_his_security_code,
    a_security_code_is_held_for_fifteen_minutes,
    a_payer_who_does_not_come_lets_the_charge_expire,
    what_is_paid_too_late_makes_the_charge_good,
    what_is_paid_too_late_is_found_by_a_probe,
    what_is_never_paid_is_not_asked_about_for_ever,
    what_two_providers_have_taken_is_given_back_to_one,
    a_notification_and_a_probe_are_written_once,
    a_refusal_that_is_told_twice_leads_to_one_further_provider,
    what_is_not_decided_cannot_be_captured_or_voided,
}

sql! {
    HELD = "SELECT COUNT(*) AS n FROM held_security_codes WHERE client_id = :client_id";
}

const KEY: &str = "the key of the charge";
const MINUTE: Duration = Duration::from_secs(60);

/// A merchant whose first provider asks payers and whose second provider decides at once.
async fn merchant(app: &TestApp) -> String {
    app.merchant_with(json!([asking_payers("Asks", 1), sandbox("Decides", 2)])).await
}

/// A charge that awaits its payer, as it was answered.
async fn awaiting(app: &TestApp) -> Value {
    let body = charge_body(&merchant(app).await, APPROVED);
    app.post_with_key("/v1/charges", KEY, &body).await.expect(201)
}

async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

async fn held(app: &TestApp) -> i64 {
    let rows = app.app.store.rows(&HELD, args! { client_id: app.client_id() }).await.unwrap();
    rows[0].get("n").unwrap()
}

/// Type and status of each request, newest first.
fn requests(charge: &Value) -> Vec<(&str, &str)> {
    let requests = charge["transactionRequests"].as_array().unwrap();
    requests.iter().map(|request| (text(&request["requestType"]), text(&request["requestStatus"]))).collect()
}

async fn stored(app: &TestApp, charge: &Value) -> Vec<TransactionRequest> {
    let id = text(&charge["id"]).parse().unwrap();
    let stored = transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    stored.into_iter().map(|stored| stored.request).collect()
}

/// When the provider is asked about the first request again.
async fn due(app: &TestApp, charge: &Value) -> Option<Timestamp> {
    let id = text(&charge["id"]).parse().unwrap();
    transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap().remove(0).due_at
}

/// The provider notifies Regente of the state of the first request.
async fn notify(app: &TestApp, charge: &Value) {
    let request = stored(app, charge).await.remove(0);
    let finding = app.wire.payers().finding(request.provider_key()).unwrap();
    late_answer::notified(&app.app, &request, outcome(finding)).await.unwrap();
}

async fn agrees(app: &TestApp, charge: &Value) {
    // The request with the instructions and the one with the payer's decision have the same key.
    let mut charge = charge.clone();
    let requests = charge["transactionRequests"].as_array_mut().unwrap();
    requests.retain(|request| request["requestType"] != "pending");
    agree_on_all(&app.books, &[charge]).await;
}

async fn the_instructions_are_the_answer_of_the_key(app: TestApp) {
    let body = charge_body(&merchant(&app).await, APPROVED);
    let first = app.post_with_key("/v1/charges", KEY, &body).await;
    let charge = first.expect(201);
    assert_eq!(charge["status"], "pending");
    assert_eq!(charge["responsibleProviderType"], "SANDBOX");
    assert_eq!(requests(&charge), [("pending", "success")]);
    let request = &charge["transactionRequests"][0];
    assert!(text(&request["transactionId"]).starts_with("pending-"), "{request:#}");
    assert_eq!(held(&app).await, 1);
    let id = text(&charge["id"]);
    // It was announced when the charge was accepted.
    assert_eq!(announced(&app, id).await, ["pending"]);
    let page = app.get("/v1/charges?status=pending").await.expect(200);
    assert_eq!((&page["meta"]["totalItems"], &page["items"][0]), (&json!(1), &charge));

    let again = app.post_with_key("/v1/charges", KEY, &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    app.wire.payers().act(Act::Pays, &app.books).await;
    app.later(MINUTE).await;
    assert_eq!(read(&app, id).await["status"], "authorized");
    let again = app.post_with_key("/v1/charges", KEY, &body).await;
    assert_eq!(again.bytes, first.bytes, "what was answered first is answered again");
}

async fn a_payer_who_pays_is_found_by_a_probe(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.later(MINUTE).await;
    assert_eq!(read(&app, id).await, charge, "a payer who is away changes nothing");
    app.wire.payers().act(Act::Pays, &app.books).await;
    app.later(5 * MINUTE).await;
    let paid = read(&app, id).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(150)));
    assert_eq!(requests(&paid), [("authorization", "success"), ("pending", "success")]);
    assert_eq!(paid["transactionRequests"][1], charge["transactionRequests"][0], "it stays what it was");
    assert_eq!(announced(&app, id).await, ["pending", "authorized"]);
    assert_eq!(held(&app).await, 0);
    agrees(&app, &paid).await;
    let unknown = transaction_requests::unknown(&app.app.store, app.clock.deployment()).await.unwrap();
    assert_eq!(unknown.open, 0);
    let told = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    assert_eq!(told["steps"][0]["outcome"], "instructed", "{told:#}");
}

async fn what_a_payer_has_paid_can_be_given_back(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.wire.payers().act(Act::Pays, &app.books).await;
    notify(&app, &charge).await;
    let path = format!("/v1/charges/{id}/void");
    let part = app.post(&path, &json!({ "amount": 50 })).await.expect(201);
    assert_eq!((&part["status"], &part["amount"]), (&json!("authorized"), &json!(100)), "{part:#}");
    agrees(&app, &part).await;
    let stored = stored(&app, &charge).await;
    assert_eq!(stored[2].follows, Some(stored[1].id), "a void names what it undoes");
    assert_eq!(stored[1].follows, Some(stored[0].id));
    assert_eq!(stored[0].follows, None);
}

async fn a_payer_who_turns_back_is_taken_to_the_next_provider_with_his_security_code(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.wire.payers().act(Act::TurnsBack, &app.books).await;
    app.later(MINUTE).await;
    let paid = read(&app, id).await;
    assert_eq!(paid["status"], "authorized");
    assert_eq!(
        requests(&paid),
        [("authorization", "success"), ("authorization", "failed"), ("pending", "success")]
    );
    assert_eq!(app.wire.payers().codes(), [true], "the second provider gets the code");
    assert_eq!(held(&app).await, 0, "it is gone once it was used");
    assert_eq!(announced(&app, id).await, ["pending", "authorized"]);
    agrees(&app, &paid).await;
}

async fn a_security_code_is_held_for_fifteen_minutes(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.later(Duration::from_millis(15 * 60 * 1000 - 1)).await;
    assert_eq!(held(&app).await, 1);
    app.later(Duration::from_millis(1)).await;
    assert_eq!(held(&app).await, 0);
    assert_eq!(read(&app, id).await["status"], "pending", "the payer has more time than the code");
    app.wire.payers().act(Act::TurnsBack, &app.books).await;
    app.later(EXPIRES_IN).await;
    let failed = read(&app, id).await;
    assert_eq!(failed["status"], "failed", "without the code nobody else is asked");
    assert_eq!(requests(&failed), [("authorization", "failed"), ("pending", "success")]);
    assert_eq!(app.wire.payers().codes(), [false; 0]);
    let told = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    assert_eq!(told["stopped"], "interrupted", "{told:#}");
    // A charge with a single provider stores no security code.
    let alone = app.merchant_with(json!([asking_payers("Alone", 1)])).await;
    app.post("/v1/charges", &charge_body(&alone, APPROVED)).await.expect(201);
    assert_eq!(held(&app).await, 0);
}

async fn a_payer_who_does_not_come_lets_the_charge_expire(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.later(EXPIRES_IN - Duration::from_secs(1)).await;
    assert_eq!(read(&app, id).await["status"], "pending");
    app.later(Duration::from_secs(1)).await;
    let failed = read(&app, id).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(requests(&failed), [("authorization", "failed"), ("pending", "success")]);
    assert_eq!(failed["transactionRequests"][0]["providerError"]["declinedCode"], "generic");
    assert_eq!(announced(&app, id).await, ["pending", "failed"]);
    let told = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    assert_eq!(told["stopped"], "expired", "{told:#}");
    agrees(&app, &failed).await;
    app.later(24 * 60 * MINUTE).await;
    assert_eq!(read(&app, id).await, failed);
}

async fn what_is_paid_too_late_makes_the_charge_good(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.later(EXPIRES_IN).await;
    assert_eq!(read(&app, id).await["status"], "failed");
    app.wire.payers().act(Act::Pays, &app.books).await;
    notify(&app, &charge).await;
    let paid = read(&app, id).await;
    assert_eq!(paid["status"], "authorized");
    let all = [("authorization", "success"), ("authorization", "failed"), ("pending", "success")];
    assert_eq!(requests(&paid), all);
    assert_eq!(announced(&app, id).await, ["pending", "failed", "authorized"]);
    notify(&app, &charge).await;
    assert_eq!(read(&app, id).await, paid, "said again, it changes nothing");
    let told = app.get(&format!("/v1/charges/{id}/explanation")).await.expect(200);
    assert_eq!(told["stopped"], Value::Null);
    agrees(&app, &paid).await;
    let card = app.get(&format!("/v1/cards/{}", text(&charge["paymentSource"]["cardId"]))).await.expect(200);
    assert_eq!(card["status"], "active", "an expiry says nothing about the card");
}

async fn what_is_paid_too_late_is_found_by_a_probe(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    app.later(EXPIRES_IN + MINUTE).await;
    assert_eq!(read(&app, id).await["status"], "failed");
    app.wire.payers().act(Act::Pays, &app.books).await;
    app.later(4 * 60 * MINUTE).await;
    let paid = read(&app, id).await;
    assert_eq!(paid["status"], "authorized");
    assert_eq!(announced(&app, id).await, ["pending", "failed", "authorized"]);
    agrees(&app, &paid).await;
    assert_eq!(due(&app, &charge).await, None, "the outcome is known");
}

async fn what_is_never_paid_is_not_asked_about_for_ever(app: TestApp) {
    let silent = awaiting(&app).await;
    app.later(EXPIRES_IN).await;
    assert!(due(&app, &silent).await.is_some());
    app.later(5 * 24 * 60 * MINUTE).await;
    assert_eq!(due(&app, &silent).await, None, "the schedule is over");
    assert_eq!(read(&app, text(&silent["id"])).await["status"], "failed");
    let given_up = transaction_requests::given_up(&app.app.store, 10).await.unwrap();
    assert!(given_up.is_empty(), "the provider has answered: {given_up:?}");

    let turns_back = app.post("/v1/charges", &charge_body(&merchant(&app).await, APPROVED)).await.expect(201);
    app.later(EXPIRES_IN).await;
    app.wire.payers().act(Act::TurnsBack, &app.books).await;
    // A payment may still be on its way to the provider.
    app.later(5 * 24 * 60 * MINUTE).await;
    assert_eq!(due(&app, &turns_back).await, None, "the schedule is over");
    assert_eq!(read(&app, text(&turns_back["id"])).await["status"], "failed");
}

async fn what_two_providers_have_taken_is_given_back_to_one(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    let first = stored(&app, &charge).await.remove(0);
    // The provider reports the payer's refusal, and captures the money nevertheless.
    let refused = regente_domain::decline::Decline::of(regente_domain::decline::DeclinedCode::TryAgain);
    let refused = regente_domain::charge::attempt::Outcome::Declined(refused);
    late_answer::notified(&app.app, &first, refused).await.unwrap();
    assert_eq!(read(&app, id).await["status"], "authorized", "the second provider has taken it");
    app.wire.payers().act(Act::Pays, &app.books).await;
    notify(&app, &charge).await;
    app.later(60 * MINUTE).await;
    let charge = read(&app, id).await;
    assert_eq!((&charge["status"], requests(&charge)[0]), (&json!("authorized"), ("void", "success")));
    let void = stored(&app, &charge).await.pop().unwrap();
    assert_eq!(void.follows, Some(first.id), "it names what it undoes");
    let given_back = app.books.holding(first.provider_key()).await.unwrap().unwrap();
    assert_eq!(given_back.kept().minor_units(), 0);
    assert_eq!(announced(&app, id).await, ["pending", "authorized", "probe_void"]);
}

async fn a_notification_and_a_probe_are_written_once(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    notify(&app, &charge).await;
    assert_eq!(read(&app, id).await, charge, "that the payer is still away is no news");
    app.wire.payers().act(Act::Pays, &app.books).await;
    let both = tokio::join!(notify(&app, &charge), notify(&app, &charge), app.later(MINUTE));
    let ((), (), ()) = both;
    let paid = read(&app, id).await;
    assert_eq!(requests(&paid), [("authorization", "success"), ("pending", "success")]);
    assert_eq!(announced(&app, id).await, ["pending", "authorized"]);
    agrees(&app, &paid).await;
}

/// Both notifications move the charge alike, in the same millisecond.
async fn a_refusal_that_is_told_twice_leads_to_one_further_provider(app: TestApp) {
    let mut charges = Vec::new();
    for _ in 0..4 {
        let body = charge_body(&merchant(&app).await, APPROVED);
        let charge = app.post("/v1/charges", &body).await.expect(201);
        let before = app.books.effects().await.unwrap();
        app.wire.payers().act(Act::TurnsBack, &app.books).await;
        let both = tokio::join!(notify(&app, &charge), notify(&app, &charge));
        let ((), ()) = both;
        let paid = read(&app, text(&charge["id"])).await;
        assert_eq!(paid["status"], "authorized");
        assert_eq!(app.books.effects().await.unwrap() - before, 1, "one provider has taken the money");
        charges.push(paid);
    }
    agree_on_all(&app.books, &charges).await;
}

async fn what_is_not_decided_cannot_be_captured_or_voided(app: TestApp) {
    let charge = awaiting(&app).await;
    let id = text(&charge["id"]);
    for (operation, participle) in [("capture", "captured"), ("void", "voided")] {
        let refused = app.post(&format!("/v1/charges/{id}/{operation}"), &json!({})).await.expect(400);
        let message = format!("charge cannot be {participle} in status pending");
        assert_eq!(refused["error"]["message"], message);
    }
    assert_eq!(read(&app, id).await, charge);
}
