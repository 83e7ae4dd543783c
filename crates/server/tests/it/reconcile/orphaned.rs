//! Orphaned authorizations: a provider reports a request absent and carries it out when it arrives late. The charge has
//! ended by then, so the authorization is voided and the merchant is notified.

use std::time::Duration;

use axum::http::Method;
use regente_domain::charge::attempt::Outcome;
use regente_engine::charges::late_answer;
use regente_providers::outcome::Finding;
use regente_store::{Batch, Commit, args, sql, transaction_requests};
use serde_json::json;

use super::{ASKED_FOR, FOR_EVER, KEY};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::client::request;
use crate::support::read::{announced, text};
use crate::support::wire::REFUSED;

stories! {
    what_a_provider_took_although_it_had_refused_it_is_given_back,
}

sql! {
    FORGET_CHARGES = "DELETE FROM charges WHERE client_id = :client_id";
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_whose_charge_is_gone_is_no_201() {
    let app = TestApp::sqlite().await.with_sandbox_deadline(FOR_EVER).await;
    app.wire.hold();
    let (pending, _) = super::begin(&app, &charge_body(&app.merchant().await, APPROVED), 0).await;
    // The state after a restore of an older backup.
    let mut batch = Batch::new(app.client_id());
    batch.push_any(&FORGET_CHARGES, args! { client_id: app.client_id() });
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    app.wire.let_go();
    pending.await.unwrap().expect(500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_goes_on_when_its_caller_hangs_up_and_the_process_knows_of_it() {
    let app = TestApp::sqlite().await.with_sandbox_deadline(FOR_EVER).await;
    app.wire.hold();
    let (pending, _) = super::begin(&app, &charge_body(&app.merchant().await, APPROVED), 0).await;
    pending.abort();
    assert!(pending.await.unwrap_err().is_cancelled());
    assert_eq!(app.app.in_flight.tasks(), 1);
    app.wire.let_go();
    while app.app.in_flight.tasks() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let charges = app.get("/v1/charges").await.expect(200)["items"].clone();
    assert_eq!(charges[0]["status"], "authorized");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_provider_took_after_it_had_denied_it_is_given_back() {
    let app = TestApp::postgres().await.with_sandbox_deadline(FOR_EVER).await;
    let merchant = app.merchant().await;
    app.wire.hold();
    app.wire.forget();
    let headers = [("X-Idempotency-Key", KEY)];
    let body = charge_body(&merchant, APPROVED);
    let (pending, _) = super::begin(&app, &body, 0).await;
    // Another node takes this one for dead, and its probe is answered with "absent".
    app.clock.advance(ASKED_FOR);
    let other = app.another_worker().await;
    assert_eq!(other.round().await.unwrap().resolved, 1);
    let charges = app.get("/v1/charges").await.expect(200)["items"].clone();
    assert_eq!(charges[0]["status"], "failed");

    app.wire.let_go();
    let late = pending.await.unwrap().expect(201);
    assert_eq!(late["status"], "failed", "the charge stays what the merchant may have been told");
    assert_eq!(app.books.effects().await.unwrap(), 1);
    app.later(ASKED_FOR * 2).await;
    let id = text(&late["id"]);
    let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    assert_eq!((&charge["status"], &charge["amount"]), (&json!("failed"), &json!(150)));
    let newest = &charge["transactionRequests"][0];
    assert_eq!((&newest["requestType"], &newest["requestStatus"]), (&json!("void"), &json!("success")));
    let key = charge["transactionRequests"][1]["idempotencyKey"].as_str().unwrap();
    let balance = app.books.holding(key.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((balance.captured, balance.refunded.minor_units()), (balance.authorized, 150));
    assert_eq!(announced(&app, id).await, ["pending", "failed", "probe_void"]);
    // The key still replays the first answer.
    let again = app.send(request(&app.client, Method::POST, "/v1/charges", &headers, Some(&body))).await;
    assert_eq!(again.expect(201)["transactionRequests"].as_array().unwrap().len(), 1);
}

async fn what_a_provider_took_although_it_had_refused_it_is_given_back(app: TestApp) {
    app.wire.contradict();
    let refused = app.post("/v1/charges", &charge_body(&app.merchant().await, APPROVED)).await.expect(201);
    assert_eq!(refused["status"], "failed");
    assert_eq!(
        refused["transactionRequests"][0]["transactionId"],
        json!(null),
        "answers show it of successes"
    );
    let id = text(&refused["id"]);
    let requests = transaction_requests::of_object(&app.app.store, app.client_id(), id.parse().unwrap());
    let request = requests.await.unwrap().remove(0).request;
    assert_eq!(request.transaction_id(), Some(REFUSED));
    let entry = app.books.find(request.provider_key()).await.unwrap().unwrap();
    let Finding::Approved(approval) = entry.answered().unwrap().finding.clone() else { panic!("{entry:?}") };
    for _ in 0..2 {
        let approved = Outcome::Approved(approval.clone());
        late_answer::notified(&app.app, &request, approved).await.unwrap();
    }
    app.later(ASKED_FOR).await;
    let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    let requests = charge["transactionRequests"].as_array().unwrap();
    assert_eq!((charge["status"].as_str(), requests.len()), (Some("failed"), 2), "{charge:#}");
    assert_eq!(
        (&requests[0]["requestType"], &requests[0]["requestStatus"]),
        (&json!("void"), &json!("success"))
    );
    let holding = app.books.holding(request.provider_key()).await.unwrap().unwrap();
    assert_eq!(holding.kept().minor_units(), 0);
    assert_eq!(announced(&app, id).await, ["pending", "failed", "probe_void"]);
}
