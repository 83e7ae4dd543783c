//! What becomes of a session when buyers pay: once, several times, at once, late, and when it is canceled.

use std::time::Duration;

use axum::http::Method;
use futures_util::future::join_all;
use regente_domain::backoff::REFUNDS;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_providers::staged::Staged;
use regente_store::jobs;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::address;
use crate::support::bodies::{APPROVED, BLOCKED, WRONG_CVV, token_body};
use crate::support::charges::single_merchant;
use crate::support::disputes;
use crate::support::payers::{PAYS, happens, stopped, stored};
use crate::support::providers::books::FileBooks;
use crate::support::read::{announced, text};
use crate::support::sessions::{buyer, by_card, by_pix, create, history, pay, read, session_body};
use crate::support::time::MINUTE;

stories! {
    a_card_pays_a_session_once,
    of_buyers_who_pay_at_once_one_pays,
    an_unknown_outcome_keeps_others_off,
    whoever_pays_first_has_paid_and_the_other_gets_it_back,
    a_refund_that_comes_back_is_given_back_again,
    a_boleto_too_many_is_the_merchants_to_give_back,
    a_canceled_session_gives_back_what_is_paid,
    a_limit_counts_payments_and_ends_the_session,
    what_is_given_back_voids_the_session,
    a_session_that_only_reserves_is_paid_and_canceled,
    refused_cards_end_the_taking_of_cards,
}

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

pub(super) async fn single(app: &TestApp) -> Value {
    create(app, &session_body(&single_merchant(app).await)).await
}

/// Status, payments and whether a payment can start.
pub(super) fn state(session: &Value) -> (&str, i64, i64, &str) {
    let payments = &session["multiplePayments"];
    let number = |name: &str| payments[name].as_i64().unwrap();
    (text(&session["status"]), number("paymentCount"), number("pendingCount"), text(&payments["status"]))
}

#[track_caller]
pub(super) fn refused(body: &Value, code: &str) {
    assert_eq!(body["error"]["businessCode"], code, "{body:#}");
}

async fn charge(app: &TestApp, charge: &Value) -> Value {
    app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200)
}

async fn a_card_pays_a_session_once(app: TestApp) {
    let session = single(&app).await;
    let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
    // A refusal leaves it as it was.
    let declined = pay(&app, &session, &by_card(BLOCKED)).await.expect(201);
    assert_eq!(declined["status"], "failed");
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 0, "active"));
    let headers = [("X-Idempotency-Key", "buy")];
    // What is the session's is ignored where a buyer sends it.
    let mut body = by_card(APPROVED);
    for (name, value) in [("amount", json!(1)), ("capture", json!(false)), ("splitRules", json!([{}]))] {
        body[name] = value;
    }
    let key = buyer(&session);
    let first = app.call(&key, Method::POST, &path, &headers, Some(&body)).await;
    let paid = first.expect(201);
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(150)));
    for name in ["merchantId", "orderId", "description", "statementDescriptor"] {
        assert_eq!(paid[name], session[name], "{name}");
    }
    // The session is paid when the buyer has their answer, without a job.
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    assert_eq!(app.call(&key, Method::POST, &path, &headers, Some(&body)).await.bytes, first.bytes);
    refused(&pay(&app, &session, &body).await.expect(422), "session_disabled");
    assert_eq!(
        history(&app, &session).await,
        ["created: statusChanged", "created: ", "paid: paymentSucceeded"]
    );
    let id = text(&session["id"]);
    let before = read(&app, &session).await;
    app.later(SECOND).await;
    assert_eq!(read(&app, &session).await, before, "the jobs find everything counted");
    assert_eq!(announced(&app, id).await, ["created", "paid"]);
    let listed = app.get(&format!("/v1/charges?sessionId={id}")).await.expect(200);
    assert_eq!((&listed["meta"]["totalItems"], &listed["items"][0]["id"]), (&json!(2), &paid["id"]));
}

async fn of_buyers_who_pay_at_once_one_pays(app: TestApp) {
    let session = single(&app).await;
    let body = by_card(APPROVED);
    let answers = join_all((0..6).map(|_| pay(&app, &session, &body))).await;
    let paid = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(paid, 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        refused(&answer.expect(422), "session_disabled");
    }
    assert_eq!(app.books.effects().await.unwrap(), 1);
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
}

async fn an_unknown_outcome_keeps_others_off(app: TestApp) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(5 * SECOND).await.with_books(file.books.clone()).await;
    let session = single(&app).await;
    file.lose();
    let unknown = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(unknown["status"], "pending");
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 1, "active"));
    refused(&pay(&app, &session, &by_card(APPROVED)).await.expect(422), "session_disabled");
    file.find();
    app.later(HOUR).await;
    // Nothing was done, and the next buyer may pay.
    assert_eq!(charge(&app, &unknown).await["status"], "failed");
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 0, "active"));
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
}

async fn whoever_pays_first_has_paid_and_the_other_gets_it_back(app: TestApp) {
    let session = single(&app).await;
    let pix = pay(&app, &session, &by_pix()).await.expect(201);
    assert_eq!(pix["paymentMethod"]["expiresIn"], 3600);
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 1, "active"));
    // The code does not keep the buyer from paying by card.
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 1, "disabled"));
    happens(&app, &pix, 0, PAYS).await;
    app.later(MINUTE).await;
    assert_eq!(charge(&app, &pix).await["status"], "refund_pending");
    happens(&app, &pix, 2, Staged::Refund).await;
    app.later(HOUR).await;
    assert_eq!(charge(&app, &pix).await["status"], "voided");
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));

    // A code that nobody pays expires.
    let session = single(&app).await;
    let pix = pay(&app, &session, &by_pix()).await.expect(201);
    app.later(HOUR + MINUTE).await;
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 0, "active"));
    assert_eq!(
        history(&app, &session).await,
        ["created: statusChanged", "created: paymentPending", "created: paymentExpired"]
    );
    // Who pays late has paid.
    happens(&app, &pix, 0, PAYS).await;
    app.later(24 * HOUR).await;
    assert_eq!(charge(&app, &pix).await["status"], "authorized");
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
}

async fn a_refund_that_comes_back_is_given_back_again(app: TestApp) {
    let app = app.reachable().await;
    let session = single(&app).await;
    let pix = pay(&app, &session, &by_pix()).await.expect(201);
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    happens(&app, &pix, 0, PAYS).await;
    app.later(MINUTE).await;
    let mut reverted = 0;
    for parts in [&[50, 100][..], &[150], &[150]] {
        let is_accepted = |request: &TransactionRequest| matches!(request.outcome, Outcome::Accepted(_));
        let refund = stored(&app, &pix).await.iter().rposition(is_accepted).unwrap();
        happens(&app, &pix, refund, Staged::Refund).await;
        app.later(2 * HOUR).await;
        assert_eq!(charge(&app, &pix).await["status"], "voided");
        for part in parts {
            reverted += 1;
            let notices = disputes::happens(&app, text(&pix["id"]), disputes::REVERTED(*part)).await;
            disputes::hear(&app, &notices).await;
        }
        let back = charge(&app, &pix).await;
        assert_eq!((&back["status"], &back["amount"]), (&json!("authorized"), &json!(150)));
        if !REFUNDS.is_over(reverted) {
            app.later(REFUNDS.wait(reverted) - MINUTE).await;
            assert_eq!(charge(&app, &pix).await, back, "it may come back again");
            app.later(2 * MINUTE).await;
            assert_eq!(charge(&app, &pix).await["status"], "refund_pending");
        }
    }
    // Nobody tries for ever: the operator is told, and the merchant may give it back.
    app.later(48 * HOUR).await;
    assert_eq!(charge(&app, &pix).await["status"], "authorized");
    let dead = jobs::dead(&app.app.store, 10).await.unwrap();
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert!(dead[0].why.ends_with("came back 4 times: it is not given back again"), "{}", dead[0].why);
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    let path = format!("/v1/charges/{}/void", text(&pix["id"]));
    assert_eq!(app.post(&path, &json!({})).await.expect(201)["status"], "refund_pending");
}

async fn a_boleto_too_many_is_the_merchants_to_give_back(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"][1] = json!({ "paymentType": "boleto" });
    let session = create(&app, &body).await;
    let mut by_boleto = by_pix();
    by_boleto["paymentMethod"]["paymentType"] = "boleto".into();
    by_boleto["paymentSource"]["customer"]["address"] = address();
    let boleto = pay(&app, &session, &by_boleto).await.expect(201);
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    happens(&app, &boleto, 0, PAYS).await;
    app.later(48 * HOUR).await;
    // No provider refunds a boleto: it is not tried in vain, and the history says so.
    assert_eq!(charge(&app, &boleto).await["status"], "authorized");
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    let entries = app.get(&format!("/v1/sessions/{}/history", text(&session["id"]))).await.expect(200);
    let reason = text(&entries[0]["diff"]["reason"]);
    assert_eq!(reason, "the session takes no further payment: its provider cannot give it back");
    assert!(jobs::dead(&app.app.store, 1).await.unwrap().is_empty(), "no job has failed");
}

async fn a_canceled_session_gives_back_what_is_paid(app: TestApp) {
    let session = single(&app).await;
    let path = format!("/v1/sessions/{}/cancel", text(&session["id"]));
    let pix = pay(&app, &session, &by_pix()).await.expect(201);
    let canceled = json!({ "id": session["id"], "status": "canceled" });
    assert_eq!(app.post(&path, &json!({})).await.expect(201), canceled);
    app.later(SECOND).await;
    let withdrawn = charge(&app, &pix).await;
    assert_eq!(withdrawn["status"], "failed", "nobody is waited for");
    let error = &withdrawn["transactionRequests"][0]["providerError"];
    assert_eq!(
        (&error["declinedCode"], &error["retryable"], &error["networkDeniedReason"]),
        (&json!("generic"), &json!(true), &json!("withdrawn"))
    );
    assert_eq!(stopped(&app, &pix).await, "withdrawn");
    assert_eq!(state(&read(&app, &session).await), ("canceled", 0, 0, "canceled"));
    assert_eq!(app.post(&path, &json!({})).await.expect(201), canceled, "again");
    refused(&pay(&app, &session, &by_card(APPROVED)).await.expect(422), "session_disabled");
    happens(&app, &pix, 0, PAYS).await;
    app.later(24 * HOUR).await;
    assert_eq!(
        charge(&app, &pix).await["status"],
        "refund_pending",
        "what is paid nevertheless is given back"
    );
    assert_eq!(announced(&app, text(&session["id"])).await, ["created", "canceled"]);
    assert_eq!(
        history(&app, &session).await[1..4],
        ["created: paymentPending", "canceled: statusChanged", "canceled: "].map(str::to_owned),
        "what was canceled did not expire"
    );

    let paid = single(&app).await;
    pay(&app, &paid, &by_card(APPROVED)).await.expect(201);
    let path = format!("/v1/sessions/{}/cancel", text(&paid["id"]));
    assert_eq!(app.post(&path, &json!({})).await.expect(400)["error"]["type"], "invalid_request_error");
}

async fn a_limit_counts_payments_and_ends_the_session(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"] = json!([{ "paymentType": "credit", "installments": 1 }]);
    body["maxPayments"] = 2.into();
    let session = create(&app, &body).await;
    let card = by_card(APPROVED);
    let answers = join_all((0..5).map(|_| pay(&app, &session, &card))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 2, "{answers:?}");
    let limited = read(&app, &session).await;
    assert_eq!(state(&limited), ("created", 2, 0, "disabled"));
    assert_eq!(limited["isActive"], false);
    refused(&pay(&app, &session, &card).await.expect(422), "multiple_payments_limit_reached");
    let story = history(&app, &session).await;
    assert_eq!(story.last().unwrap(), "disabled: sessionExpiredByMaxPayments");
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    let more = json!({ "isActive": true, "maxPayments": 3 });
    assert_eq!(app.patch(&path, &more).await.expect(200), json!({ "id": session["id"], "isActive": true }));
    pay(&app, &session, &card).await.expect(201);
    assert_eq!(state(&read(&app, &session).await), ("created", 3, 0, "disabled"));
}

async fn what_is_given_back_voids_the_session(app: TestApp) {
    let session = single(&app).await;
    let paid = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    let path = format!("/v1/charges/{}/void", text(&paid["id"]));
    app.post(&path, &json!({ "amount": 50 })).await.expect(201);
    app.later(SECOND).await;
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    app.post(&path, &json!({})).await.expect(201);
    app.later(SECOND).await;
    assert_eq!(state(&read(&app, &session).await), ("voided", 1, 0, "canceled"));
    assert_eq!(announced(&app, text(&session["id"])).await, ["created", "paid", "voided"]);
}

async fn a_session_that_only_reserves_is_paid_and_canceled(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["capture"] = false.into();
    let session = create(&app, &body).await;
    let reserved = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(reserved["status"], "pre_authorized");
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    app.post(&format!("/v1/charges/{}/void", text(&reserved["id"])), &json!({})).await.expect(201);
    app.later(SECOND).await;
    assert_eq!(state(&read(&app, &session).await), ("voided", 1, 0, "canceled"));
}

async fn refused_cards_end_the_taking_of_cards(app: TestApp) {
    let session = single(&app).await;
    for _ in 0..regente_domain::session::DECLINES_MAX {
        assert_eq!(pay(&app, &session, &by_card(BLOCKED)).await.expect(201)["status"], "failed");
    }
    refused(&pay(&app, &session, &by_card(APPROVED)).await.expect(422), "session_cards_blocked");
    let key = buyer(&session);
    let post = async |path: &str, body: Value| app.call(&key, Method::POST, path, &[], Some(&body)).await;
    refused(&post("/v1/sessions/tokens", token_body(APPROVED)).await.expect(422), "session_cards_blocked");
    // Its merchant switches it on again; then refused checks count, too.
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    app.patch(&path, &json!({ "isActive": true })).await.expect(200);
    let other = app.merchant().await;
    for number in 0..=regente_domain::session::DECLINES_MAX {
        let token = post("/v1/sessions/tokens", token_body(WRONG_CVV)).await;
        if number == regente_domain::session::DECLINES_MAX {
            refused(&token.expect(422), "session_cards_blocked");
            break;
        }
        let token = token.expect(201)["tokenId"].clone();
        let check = |merchant: &Value| json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true });
        let elsewhere = post("/v1/sessions/cards", check(&json!(other))).await;
        assert_eq!(elsewhere.details(400), ["merchantId must be the merchant of the session"]);
        let card = post("/v1/sessions/cards", check(&session["merchantId"])).await.expect(201);
        assert_eq!(card["status"], "failed");
    }
    assert_eq!(pay(&app, &session, &by_pix()).await.expect(201)["status"], "pending", "other methods go on");
}
