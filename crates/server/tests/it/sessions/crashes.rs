//! The process stops at each step while a session is paid, and while what was paid too much is given back.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, WRONG_CVV, token_body};
use crate::support::charges::single_merchant;
use crate::support::crashes::stopped_while;
use crate::support::payers::{PAYS, happens};
use crate::support::read::text;
use crate::support::sessions::{buyer, by_card, by_pix, create, pay, read, session_body};
use crate::support::time::MINUTE;

stories! {
    while_a_session_is_paid,
    while_a_card_is_refused,
    while_a_card_is_checked,
    while_a_further_payment_is_given_back,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(60 * 60);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 60;

async fn while_a_session_is_paid(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let session = create(&app, &session_body(&merchant)).await;
        let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
        let (key, headers, body) = (buyer(&session), [("X-Idempotency-Key", "pay")], by_card(APPROVED));
        let is_answered;
        (app, is_answered) = stopped_while(app, steps, async |app| {
            app.call(&key, Method::POST, &path, &headers, Some(&body)).await;
        })
        .await;
        app.later(LATER).await;
        nothing_is_open(&app).await;
        // Whoever was interrupted pays again: with their key, or as another buyer where they were refused.
        let again = app.call(&key, Method::POST, &path, &headers, Some(&body)).await.expect(201);
        if again["status"] == "failed" {
            assert_eq!(read(&app, &session).await["multiplePayments"]["pendingCount"], 0, "{steps}");
            assert_eq!(pay(&app, &session, &body).await.expect(201)["status"], "authorized", "{steps}");
        }
        app.later(LATER).await;
        let paid = read(&app, &session).await;
        let expected = json!({ "allow": false, "maxPayments": null, "paymentCount": 1, "pendingCount": 0, "status": "disabled" });
        assert_eq!((&paid["status"], &paid["multiplePayments"]), (&json!("paid"), &expected), "{steps}");
        let charges = app.get(&format!("/v1/charges?sessionId={}", text(&session["id"]))).await.expect(200);
        let charges = charges["items"].as_array().unwrap();
        let authorized = charges.iter().filter(|charge| charge["status"] == "authorized").count();
        assert_eq!(authorized, 1, "after {steps} steps: {charges:#?}");
        let charges = all_charges(&app).await;
        agree_on_all(&app.books, &charges).await;
        ledger_agrees(&app, &charges).await;
        if is_answered {
            assert!(steps >= 7, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

/// The process stops at each step of what a buyer sends until it is answered: its place is free then, and its refusal
/// counts once at most.
async fn sweep_a_try(
    mut app: TestApp,
    prepare: impl AsyncFn(&TestApp, &Value) -> (String, Value),
    steps_min: u64,
) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let session = create(&app, &session_body(&merchant)).await;
        let key = buyer(&session);
        let (path, body) = prepare(&app, &session).await;
        let is_answered;
        (app, is_answered) = stopped_while(app, steps, async |app| {
            app.call(&key, Method::POST, &path, &[], Some(&body)).await;
        })
        .await;
        app.later(LATER).await;
        nothing_is_open(&app).await;
        let path = format!("/v1/sessions/{}", text(&session["id"]));
        app.patch(&path, &json!({ "isActive": false })).await.expect(200);
        app.patch(&path, &json!({ "isActive": true })).await.expect(200);
        let entries = app.get(&format!("{path}/history")).await.expect(200);
        let forgotten = &entries[0]["diff"]["changes"]["refusedCards"]["from"];
        // What was found out after a crash may have had no effect at the provider.
        assert!(forgotten.is_null() || *forgotten == 1, "after {steps} steps: {entries:#}");
        if is_answered {
            assert_eq!(*forgotten, 1, "{entries:#}");
            assert!(steps >= steps_min, "the flow has {steps} steps: some are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_card_is_refused(app: TestApp) {
    let prepare = async |_: &TestApp, session: &Value| {
        (format!("/v1/sessions/{}/charge", text(&session["id"])), by_card(BLOCKED))
    };
    sweep_a_try(app, prepare, 5).await;
}

async fn while_a_card_is_checked(app: TestApp) {
    let prepare = async |app: &TestApp, session: &Value| {
        let (key, body) = (buyer(session), token_body(WRONG_CVV));
        let token = app.call(&key, Method::POST, "/v1/sessions/tokens", &[], Some(&body)).await.expect(201);
        let merchant = &session["merchantId"];
        let body = json!({ "tokenId": token["tokenId"], "merchantId": merchant, "cvvCheck": true });
        ("/v1/sessions/cards".to_owned(), body)
    };
    sweep_a_try(app, prepare, 4).await;
}

async fn while_a_further_payment_is_given_back(mut app: TestApp) {
    let merchant = single_merchant(&app).await;
    for steps in 0..STEPS_MAX {
        let session = create(&app, &session_body(&merchant)).await;
        let pix = pay(&app, &session, &by_pix()).await.expect(201);
        pay(&app, &session, &by_card(APPROVED)).await.expect(201);
        app.run_jobs().await;
        happens(&app, &pix, 0, PAYS).await;
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| app.later(MINUTE).await).await;
        app.later(LATER / 2).await;
        let charge = app.get(&format!("/v1/charges/{}", text(&pix["id"]))).await.expect(200);
        assert_eq!(charge["status"], "refund_pending", "after {steps} steps: {charge:#}");
        let requests = charge["transactionRequests"].as_array().unwrap();
        let voids = requests.iter().filter(|request: &&Value| request["requestType"] == "void").count();
        assert_eq!(voids, 1, "after {steps} steps: it is given back once");
        let paid = read(&app, &session).await;
        assert_eq!((&paid["status"], &paid["multiplePayments"]["paymentCount"]), (&json!("paid"), &json!(1)));
        if is_done {
            assert!(steps >= 6, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}
