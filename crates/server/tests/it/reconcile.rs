//! Calls whose outcome was not recorded, because the process died or the provider did not answer. The provider's
//! transaction log decides; no call is repeated, and no other provider is called meanwhile
//! (`docs/interface/charges.md#unknown-outcomes`).

mod adapters;
mod checks;
pub(crate) mod denied;
mod orphaned;
pub(crate) mod unknown;

use std::time::Duration;

use axum::http::Method;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::LiabilityShift;
use regente_domain::charge::{CardSource, Credit, PaymentMethod};
use regente_domain::currency::Currency;
use regente_domain::id::Id;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::explanation::Stopped;
use regente_domain::time::Timestamp;
use regente_engine::jobs::Worker;
use regente_providers::outcome::Answer;
use regente_providers::provider::Provider;
use regente_providers::request::{
    Authorization, Call, CardDetails, Credentials, Instrument, Mode, Operation, Verification,
};
use regente_providers::sandbox::{Sandbox, SandboxOptions};
use regente_store::transaction_requests::StoredRequest;
use regente_store::{charges, events, transaction_requests};
use serde_json::{Map, Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV, charge_body};
use crate::support::client::{Reply, request};
use crate::support::read::{newest, text};

stories! {
    what_the_provider_did_before_the_crash_is_adopted,
    what_never_reached_the_provider_is_failed_and_nobody_else_is_asked,
    a_refusal_before_the_crash_is_adopted_and_nobody_else_is_asked,
    a_crash_at_the_second_provider_ends_there,
    a_reservation_is_adopted_as_a_reservation,
    a_call_that_still_runs_is_left_alone,
    two_workers_end_a_charge_once,
    what_was_deleted_meanwhile_does_not_matter,
    a_crash_after_the_outcome_changes_nothing,
    a_call_that_arrives_after_the_probe_is_refused,
}

/// Longer than any test: an unanswered call hangs.
const FOR_EVER: Duration = Duration::from_secs(60 * 60);
/// The time by which the reconcile job has probed such a call.
const ASKED_FOR: Duration = Duration::from_secs(60 * 60 + 60);
const KEY: &str = "the key of the charge";

/// Begins a charge that its first provider does not answer, and ends the process while it waits. Returns the stored
/// request, and the deployment after its restart.
async fn dies_during(app: TestApp, body: &Value) -> (TestApp, StoredRequest) {
    dies_in_call(app, body, 0).await
}

/// As [`dies_during`], in the call with this ordinal.
async fn dies_in_call(app: TestApp, body: &Value, ordinal: i64) -> (TestApp, StoredRequest) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let (pending, stored) = begin(&app, body, ordinal).await;
    let app = app.restart().await;
    pending.abort();
    (app, stored)
}

async fn begin(app: &TestApp, body: &Value, ordinal: i64) -> (tokio::task::JoinHandle<Reply>, StoredRequest) {
    let headers = [("X-Idempotency-Key", KEY)];
    let pending = app.begin(request(&app.client, Method::POST, "/v1/charges", &headers, Some(body)));
    loop {
        let running = open(app).await.pop().filter(|stored| stored.request.ordinal == ordinal);
        match running.filter(|stored| app.app.in_flight.contains(stored.request.id)) {
            Some(stored) => return (pending, stored),
            None => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

async fn open(app: &TestApp) -> Vec<StoredRequest> {
    transaction_requests::open(&app.app.store, Timestamp::from_millis(i64::MAX / 2), 100).await.unwrap()
}

/// Delivers the call to the simulator, which treats it by this card.
async fn provider_gets(app: &TestApp, request: &TransactionRequest, operation: Operation) -> Answer {
    let options = SandboxOptions::new(7, zeroize::Zeroizing::new(vec![5; 32]));
    let call = Call {
        key: request.provider_key(),
        object_id: request.object_id,
        notify: None,
        at: app.clock.deployment(),
        begun_at: app.clock.deployment(),
        provider_type: ProviderType::Sandbox,
        credentials: Credentials::new(Map::new()),
        options: Map::new(),
        mode: Mode::Sandbox,
        test_overrides: None,
        operation,
    };
    Sandbox::new(options, app.books.clone()).call(call).await
}

fn details((number, cvv): (&str, &str)) -> CardDetails {
    CardDetails {
        number: regente_domain::card::CardNumber::parse(number).unwrap(),
        holder_name: "JOAO DA SILVA".to_owned(),
        expiry: regente_domain::card::Expiry::parse("12/2030").unwrap(),
        cvv: regente_domain::card::Cvv::parse(cvv),
    }
}

fn authorization(request: &TransactionRequest, card: (&str, &str)) -> Operation {
    Operation::Authorize(Authorization {
        amount: request.amount,
        currency: Currency::BRL,
        capture: CaptureMode::Automatic,
        method: PaymentMethod::Credit(Credit {
            source: CardSource::Card { card_id: Id::new(uuid::Uuid::nil()) },
            installments: 1,
            recurrence: None,
        }),
        instrument: Instrument::Card(details(card)),
        buyer: None,
        statement_descriptor: None,
        order_id: None,
        description: None,
        provider_reference_key: None,
        merchant_mcc: None,
        vendor: None,
        proof: None,
        liability_shift: LiabilityShift::NotRequired,
        division: None,
        network_transaction_id: None,
    })
}

fn verification(card: (&str, &str)) -> Operation {
    Operation::VerifyCard(Verification { currency: Currency::BRL, card: details(card), merchant_mcc: None })
}

async fn again(app: &TestApp, body: &Value) -> Reply {
    app.post_with_key("/v1/charges", KEY, body).await
}

/// The key is claimed and has no answer yet.
async fn is_processing(app: &TestApp, body: &Value) {
    let running = again(app, body).await;
    assert_eq!(running.expect(409)["error"]["message"], "Transaction is processing");
    assert_eq!(running.header("retry-after"), Some("10"));
}

async fn the_only_charge(app: &TestApp) -> Value {
    let page = app.get("/v1/charges").await.expect(200);
    assert_eq!(page["meta"]["totalItems"], 1);
    page["items"][0].clone()
}

/// A retried key is answered with the charge as it reads now.
async fn replays(app: &TestApp, body: &Value) {
    let replay = again(app, body).await;
    assert_eq!(replay.expect(201), the_only_charge(app).await);
    assert_eq!(replay.header("idempotent-replayed"), Some("true"));
    assert_eq!(again(app, body).await.bytes, replay.bytes);
}

async fn event_names(app: &TestApp, charge: &Value) -> Vec<String> {
    let id = text(&charge["id"]).parse().unwrap();
    let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    events.into_iter().map(|event| event.name).collect()
}

async fn stopped(app: &TestApp, charge: &Value) -> Option<Stopped> {
    let id = text(&charge["id"]).parse().unwrap();
    charges::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap().charge.explanation.stopped
}

/// Nothing is left to reconcile, and two days later everything is unchanged.
async fn it_stays_so(app: &TestApp) {
    let (charge, entries) = (the_only_charge(app).await, app.books.entries().await.unwrap());
    assert!(open(app).await.is_empty());
    app.later(Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!((the_only_charge(app).await, app.books.entries().await.unwrap()), (charge, entries));
}

async fn what_the_provider_did_before_the_crash_is_adopted(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (app, stored) = dies_during(app, &body).await;
    let answer = provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    let Answer::Approved(approval) = answer else { panic!("{answer:?}") };

    let charge = the_only_charge(&app).await;
    assert_eq!((&charge["status"], &charge["responsibleProviderType"]), (&json!("pending"), &Value::Null));
    assert_eq!(newest(&charge)["requestStatus"], "running");
    assert_eq!(event_names(&app, &charge).await, ["pending"]);
    is_processing(&app, &body).await;
    app.run_jobs().await;
    is_processing(&app, &body).await;

    app.later(ASKED_FOR).await;
    let charge = the_only_charge(&app).await;
    assert_eq!(
        (&charge["status"], &charge["responsibleProviderType"]),
        (&json!("authorized"), &json!("SANDBOX"))
    );
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    let request = newest(&charge);
    assert_eq!((&request["requestStatus"], &request["responseTs"]), (&json!("success"), &Value::Null));
    assert_eq!(request["transactionId"].as_str(), approval.transaction_id.as_deref());
    assert_eq!(request["authorizationCode"].as_str(), approval.authorization_code.as_deref());
    assert_eq!(event_names(&app, &charge).await, ["pending", "authorized"]);
    let card = text(&charge["paymentSource"]["cardId"]);
    assert_eq!(app.get(&format!("/v1/cards/{card}")).await.expect(200)["status"], "active");
    replays(&app, &body).await;
    assert_eq!(app.books.effects().await.unwrap(), 1);
    it_stays_so(&app).await;
    let id = text(&charge["id"]).parse().unwrap();
    let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    assert!(events[0].actor.starts_with("key:"));
    assert_eq!(events[1].actor, "job:reconcile");
}

async fn what_never_reached_the_provider_is_failed_and_nobody_else_is_asked(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (app, _) = dies_during(app, &body).await;
    is_processing(&app, &body).await;
    app.later(ASKED_FOR).await;
    let charge = the_only_charge(&app).await;
    assert_eq!(charge["status"], "failed");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1, "the spare one was not asked");
    let request = newest(&charge);
    assert_eq!(request["requestStatus"], "timeout");
    let error = &request["providerError"];
    assert_eq!((&error["declinedCode"], &error["retryable"]), (&json!("try_again"), &json!(true)));
    assert_eq!(error["networkDeniedReason"], "request_not_sent");
    assert_eq!(event_names(&app, &charge).await, ["pending", "failed"]);
    assert_eq!(stopped(&app, &charge).await, Some(Stopped::Interrupted));
    let card = text(&charge["paymentSource"]["cardId"]);
    assert_eq!(app.get(&format!("/v1/cards/{card}")).await.expect(200)["status"], "pending");
    replays(&app, &body).await;
    assert_eq!(app.books.effects().await.unwrap(), 0);
    it_stays_so(&app).await;
}

async fn a_refusal_before_the_crash_is_adopted_and_nobody_else_is_asked(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (app, stored) = dies_during(app, &body).await;
    // Digit 7: a retryable decline, after which a caller's own request would try the spare provider.
    provider_gets(&app, &stored.request, authorization(&stored.request, ("4485406132091427", "170"))).await;
    app.later(ASKED_FOR).await;
    let charge = the_only_charge(&app).await;
    assert_eq!(
        (&charge["status"], newest(&charge)["requestStatus"].as_str()),
        (&json!("failed"), Some("failed"))
    );
    assert_eq!(newest(&charge)["providerError"]["declinedCode"], "pickup_card");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    assert_eq!(stopped(&app, &charge).await, Some(Stopped::Interrupted));
    let card = text(&charge["paymentSource"]["cardId"]);
    assert_eq!(app.get(&format!("/v1/cards/{card}")).await.expect(200)["status"], "failed");
    replays(&app, &body).await;
    it_stays_so(&app).await;
}

async fn a_crash_at_the_second_provider_ends_there(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (app, stored) = dies_in_call(app, &body, 1).await;
    is_processing(&app, &body).await;
    provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    app.later(ASKED_FOR).await;
    let charge = the_only_charge(&app).await;
    assert_eq!(charge["status"], "authorized");
    let statuses: Vec<&Value> = charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| &request["requestStatus"])
        .collect();
    assert_eq!(statuses, ["success", "failed"]);
    assert_eq!(event_names(&app, &charge).await, ["pending", "authorized"]);
    replays(&app, &body).await;
    it_stays_so(&app).await;
}

async fn a_reservation_is_adopted_as_a_reservation(app: TestApp) {
    let merchant = app.merchant().await;
    let body = Charge::by_card(&merchant, TIMED_OUT).reserved().body();
    let (app, stored) = dies_during(app, &body).await;
    provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    app.later(ASKED_FOR).await;
    let charge = the_only_charge(&app).await;
    assert_eq!(charge["status"], "pre_authorized");
    assert_eq!(newest(&charge)["requestType"], "pre_authorization");
    assert_eq!(event_names(&app, &charge).await, ["pending", "pre_authorized"]);
    replays(&app, &body).await;
}

async fn a_call_that_still_runs_is_left_alone(app: TestApp) {
    let app = app.with_sandbox_deadline(FOR_EVER).await;
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (pending, _) = begin(&app, &body, 0).await;
    app.clock.advance(ASKED_FOR);
    for _ in 0..3 {
        assert_eq!(app.worker.round().await.unwrap().resolved, 0);
    }
    assert_eq!(app.books.entries().await.unwrap(), [], "the provider was not asked what became of it");
    assert_eq!(open(&app).await[0].probes, 0);
    is_processing(&app, &body).await;
    assert!(!pending.is_finished());
    pending.abort();
}

async fn two_workers_end_a_charge_once(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (app, stored) = dies_during(app, &body).await;
    provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    app.clock.advance(ASKED_FOR);
    let workers: Vec<Worker> = (0..4).map(|_| Worker::new(app.app.engine.clone())).collect();
    let rounds = futures_util::future::join_all(workers.iter().map(Worker::round)).await;
    let resolved: usize = rounds.into_iter().map(|round| round.unwrap().resolved).sum();
    assert_eq!(resolved, 1);
    let charge = the_only_charge(&app).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(event_names(&app, &charge).await, ["pending", "authorized"]);
    replays(&app, &body).await;
}

async fn what_was_deleted_meanwhile_does_not_matter(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, TIMED_OUT);
    let (app, stored) = dies_during(app, &body).await;
    provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    let card = text(&the_only_charge(&app).await["paymentSource"]["cardId"]).to_owned();
    app.delete(&format!("/v1/cards/{card}")).await.expect(204);
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    app.later(ASKED_FOR).await;
    assert_eq!(the_only_charge(&app).await["status"], "authorized");
    app.get(&format!("/v1/cards/{card}")).await.expect(404);
    replays(&app, &body).await;
}

async fn a_crash_after_the_outcome_changes_nothing(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    for (key, card) in [("approved", APPROVED), ("refused", WRONG_CVV)] {
        let body = charge_body(&merchant, card);
        app.post_with_key("/v1/charges", key, &body).await.expect(201);
    }
    let before = app.get("/v1/charges").await.expect(200);
    let app = app.restart().await;
    app.later(ASKED_FOR).await;
    assert_eq!(app.get("/v1/charges").await.expect(200), before);
    let replay = app.post_with_key("/v1/charges", "approved", &charge_body(&merchant, APPROVED)).await;
    assert_eq!(replay.expect(201), before["items"][1]);
}

async fn a_call_that_arrives_after_the_probe_is_refused(app: TestApp) {
    let merchant = app.merchant().await;
    let (app, stored) = dies_during(app, &charge_body(&merchant, TIMED_OUT)).await;
    app.later(ASKED_FOR).await;
    let late = provider_gets(&app, &stored.request, authorization(&stored.request, APPROVED)).await;
    assert!(matches!(late, Answer::Declined(_)), "{late:?}");
    assert_eq!(the_only_charge(&app).await["status"], "failed");
    assert_eq!(app.books.effects().await.unwrap(), 0);
}
