//! A buyer pays less than a session's amount: the session is not paid until its merchant accepts that
//! (`docs/interface/sessions.md#paid-too-little`).

use std::time::Duration;

use axum::http::Method;
use regente::metrics::Endpoint;
use regente_domain::money::Amount;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::payments::{single, state};
use crate::support::agreement::ledger_agrees;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::bodies::payers::address;
use crate::support::charges;
use crate::support::charges::single_merchant;
use crate::support::client::Reply;
use crate::support::metrics::metric;
use crate::support::payers::{happens, requests, stored, void};
use crate::support::read::{announced, newest, text};
use crate::support::sessions::{buyer, by_card, by_pix, create, history, pay, read, session_body};
use crate::support::time::MINUTE;

stories! {
    what_is_paid_too_little_is_accepted,
    what_is_paid_too_little_is_given_back_and_paid_anew,
    the_rest_is_no_second_part_but_a_payment_too_many,
    who_pays_in_full_comes_before_what_is_accepted_later,
    a_canceled_session_gives_back_what_was_paid_too_little,
    a_boleto_that_was_paid_too_little_can_only_be_accepted,
    more_than_the_amount_pays_the_session,
}

const HOUR: Duration = Duration::from_secs(3600);

fn pays(amount: i64) -> Staged {
    Staged::Payment { amount: Amount::new(amount) }
}

async fn charge(app: &TestApp, charge: &Value) -> Value {
    charges::read(app, charge).await
}

/// A session whose buyer has paid 1 of 150 by Pix, and the charge.
async fn underpaid(app: &TestApp) -> (Value, Value) {
    let session = single(app).await;
    let pix = pay(app, &session, &by_pix()).await.expect(201);
    happens(app, &pix, 0, pays(1)).await;
    app.later(10 * MINUTE).await;
    assert_eq!(state(&read(app, &session).await), ("created", 0, 1, "active"), "it is not paid");
    (session, pix)
}

async fn accept(app: &TestApp, charge: &Value, body: Value) -> Reply {
    let path = format!("/v1/charges/{}/capture", text(&charge["id"]));
    app.post_with_key(&path, "accept", &body).await
}

/// The newest entry of the history: its action, its reason, and the payment.
async fn told(app: &TestApp, session: &Value) -> (Value, Value, Value) {
    let entries = app.get(&format!("/v1/sessions/{}/history", text(&session["id"]))).await.expect(200);
    let diff = &entries[0]["diff"];
    (entries[0]["action"].clone(), diff["reason"].clone(), diff["changes"]["response"]["to"].clone())
}

async fn what_is_paid_too_little_is_accepted(app: TestApp) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let before = metric(endpoint.address(), "regente_underpaid_total").await;
    let (session, pix) = underpaid(&app).await;
    assert!(metric(endpoint.address(), "regente_underpaid_total").await > before, "the operator is told");

    // The history has the real sum, and what the merchant can do.
    let payment = json!({ "chargeId": pix["id"], "status": "authorized", "amount": 1 });
    let reason = "underpaid: the charge is captured to accept what was paid, or voided to give it back";
    assert_eq!(told(&app, &session).await, (json!("paymentPending"), json!(reason), payment.clone()));
    assert_eq!(announced(&app, text(&session["id"])).await, ["created"]);
    let short = charge(&app, &pix).await;
    assert_eq!((&short["amount"], &short["originalAmount"]), (&json!(1), &json!(150)));
    assert_eq!(requests(&short), [("authorization", "success", 1), ("pending", "success", 150)]);
    assert_eq!(newest(&short)["requestStatusReason"], "underpaid");
    let path = format!("/v1/charges/{}/explanation", text(&pix["id"]));
    let explained = app.get(&path).await.expect(200);
    let said = "took BRL 0.01 of the BRL 1.50 that were charged. The payer has paid too little";
    assert!(text(&explained["text"]).contains(said), "{explained:#}");
    // The buyer sees it at the checkout.
    let path = format!("/pay/{}/status?charge={}", text(&session["id"]), text(&pix["id"]));
    let seen = app.call(&buyer(&session), Method::GET, &path, &[], None).await.expect(200);
    assert_eq!((&seen["underpaid"], &seen["charge"]["amount"]), (&json!(true), &json!(1)));
    ledger_agrees(&app, &[without_instructions(&short)]).await;

    accept(&app, &pix, json!({ "amount": 2 })).await.expect(400);
    let accepted = accept(&app, &pix, json!({ "amount": 1 })).await;
    let amounts = |charge: &Value| (charge["status"].clone(), charge["amount"].clone());
    assert_eq!(amounts(&accepted.expect(201)), (json!("authorized"), json!(1)));
    assert_eq!(accept(&app, &pix, json!({ "amount": 1 })).await.bytes, accepted.bytes);
    app.later(MINUTE).await;
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    assert_eq!(told(&app, &session).await, (json!("paymentSucceeded"), Value::Null, payment));
    assert_eq!(announced(&app, text(&session["id"])).await, ["created", "paid"]);
    assert_eq!(announced(&app, text(&pix["id"])).await, ["pending", "authorized", "authorized"]);
    assert_eq!(requests(&charge(&app, &pix).await).len(), 2, "nobody was asked");
    let path = format!("/v1/charges/{}/capture", text(&pix["id"]));
    app.post(&path, &json!({})).await.expect(400);
    ledger_agrees(&app, &[without_instructions(&charge(&app, &pix).await)]).await;
    // It is a payment like any other from now on.
    void(&app, &pix, json!({})).await.expect(201);
    happens(&app, &pix, 2, Staged::Refund).await;
    app.later(HOUR).await;
    assert_eq!(state(&read(&app, &session).await), ("voided", 1, 0, "canceled"));
}

fn without_instructions(charge: &Value) -> Value {
    let mut charge = charge.clone();
    charge["transactionRequests"]
        .as_array_mut()
        .unwrap()
        .retain(|request| request["requestType"] != "pending");
    charge
}

async fn what_is_paid_too_little_is_given_back_and_paid_anew(app: TestApp) {
    let (session, pix) = underpaid(&app).await;
    void(&app, &pix, json!({ "amount": 2 })).await.expect(400);
    assert_eq!(void(&app, &pix, json!({})).await.expect(201)["status"], "refund_pending");
    happens(&app, &pix, 2, Staged::Refund).await;
    app.later(HOUR).await;
    let voided = charge(&app, &pix).await;
    assert_eq!((&voided["status"], &voided["amount"]), (&json!("voided"), &json!(0)));
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 0, "active"));
    accept(&app, &pix, json!({})).await.expect(400);
    ledger_agrees(&app, &[without_instructions(&voided)]).await;
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    assert_eq!(
        history(&app, &session).await[1..],
        ["created: paymentPending", "created: paymentPending", "created: ", "paid: paymentSucceeded"]
    );
}

async fn the_rest_is_no_second_part_but_a_payment_too_many(app: TestApp) {
    let (session, pix) = underpaid(&app).await;
    happens(&app, &pix, 0, Staged::FurtherPayment { amount: Amount::new(149) }).await;
    app.later(HOUR).await;
    let both = charge(&app, &pix).await;
    let given_back = [("void", "processing", 149), ("authorization", "success", 149)];
    assert_eq!(requests(&both)[..2], given_back, "each payment is its own");
    happens(&app, &pix, 3, Staged::Refund).await;
    app.later(HOUR).await;
    assert_eq!(charge(&app, &pix).await["amount"], 1);
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 1, "active"));
}

async fn who_pays_in_full_comes_before_what_is_accepted_later(app: TestApp) {
    let (session, pix) = underpaid(&app).await;
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 1, "disabled"));
    accept(&app, &pix, json!({})).await.expect(201);
    app.later(MINUTE).await;
    assert_eq!(charge(&app, &pix).await["status"], "refund_pending", "the session takes no further payment");
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
}

async fn a_canceled_session_gives_back_what_was_paid_too_little(app: TestApp) {
    let (session, pix) = underpaid(&app).await;
    app.post(&format!("/v1/sessions/{}/cancel", text(&session["id"])), &json!({})).await.expect(201);
    app.later(MINUTE).await;
    assert_eq!(charge(&app, &pix).await["status"], "refund_pending");
    let refund = stored(&app, &pix).await.len() - 1;
    happens(&app, &pix, refund, Staged::Refund).await;
    app.later(HOUR).await;
    assert_eq!(charge(&app, &pix).await["status"], "voided");
    assert_eq!(state(&read(&app, &session).await), ("canceled", 0, 0, "canceled"));
}

async fn a_boleto_that_was_paid_too_little_can_only_be_accepted(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"][1] = json!({ "paymentType": "boleto" });
    let session = create(&app, &body).await;
    let mut by_boleto = by_pix();
    by_boleto["paymentMethod"]["paymentType"] = "boleto".into();
    by_boleto["paymentSource"]["customer"]["address"] = address();
    let boleto = pay(&app, &session, &by_boleto).await.expect(201);
    happens(&app, &boleto, 0, pays(149)).await;
    app.later(24 * HOUR).await;
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 1, "active"));
    void(&app, &boleto, json!({})).await.expect(400);
    accept(&app, &boleto, json!({})).await.expect(201);
    app.later(MINUTE).await;
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
}

async fn more_than_the_amount_pays_the_session(app: TestApp) {
    let session = single(&app).await;
    let pix = pay(&app, &session, &by_pix()).await.expect(201);
    happens(&app, &pix, 0, pays(175)).await;
    app.later(10 * MINUTE).await;
    assert_eq!(state(&read(&app, &session).await), ("paid", 1, 0, "disabled"));
    let (action, _, payment) = told(&app, &session).await;
    assert_eq!((action, &payment["amount"]), (json!("paymentSucceeded"), &json!(175)));
    assert_eq!(newest(&charge(&app, &pix).await)["requestStatusReason"], Value::Null);
    // What is above the amount may be given back.
    void(&app, &pix, json!({ "amount": 25 })).await.expect(201);
}
