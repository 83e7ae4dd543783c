//! Captures and refunds with unknown outcomes: they stay pending, end when the same request is sent again, and are
//! given up with a warning when the provider never answers.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_engine::captures_and_voids;
use regente_store::transaction_requests;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::{capture, void};
use crate::support::crashes::stopped_while;
use crate::support::read::{announced, is, text, told};

stories! {
    a_capture_without_an_answer_is_pending_and_then_done,
    a_refund_without_an_answer_is_announced_and_then_done,
    while_an_operation_is_open_another_one_is_a_409,
    the_key_of_an_open_operation_leads_to_its_answer,
    what_stays_unknown_is_given_up_after_the_whole_schedule,
    a_refund_that_a_crash_cut_off_is_announced_when_its_answer_does_not_come,
    what_is_known_to_be_unknown_is_asked_for_after_the_first_wait,
    what_is_repeated_at_once_was_sent_when_it_was_repeated,
    an_outcome_that_another_node_has_written_is_left_alone,
    faults_that_cannot_be_read_are_named,
}

/// Makes a charge whose operation `operation` gets no answer the first `times` times; returns its id.
async fn silent(app: &TestApp, captured: bool, operation: &str, then: &str, times: &[u32]) -> String {
    let mut body =
        Charge::by_card(&app.merchant().await, APPROVED).amount(100).with("capture", captured).body();
    let fault = json!({
        "when": { "operation": operation }, "then": { "timeout": then }, "sequence": times,
    });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [fault] } });
    text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned()
}

async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

async fn a_capture_without_an_answer_is_pending_and_then_done(app: TestApp) {
    for then in ["before_effect", "after_effect"] {
        let id = silent(&app, false, "capture", then, &[1, 2]).await;
        let charge = capture(&app, &id, json!({ "amount": 80 })).await.expect(201);
        assert_eq!(told(&charge), is("capture_pending", 100, 100, ("capture", "running", 80)));
        app.later(Duration::from_secs(120)).await;
        assert_eq!(told(&read(&app, &id).await), is("authorized", 80, 100, ("capture", "success", 80)));
        assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "authorized"]);
    }
}

async fn a_refund_without_an_answer_is_announced_and_then_done(app: TestApp) {
    for then in ["before_effect", "after_effect"] {
        let id = silent(&app, true, "void", then, &[1, 2]).await;
        let charge = void(&app, &id, json!({ "amount": 30 })).await.expect(201);
        assert_eq!(told(&charge), is("refund_pending", 100, 100, ("void", "running", 30)));
        assert_eq!(announced(&app, &id).await, ["pending", "authorized", "refund_pending"]);
        app.later(Duration::from_secs(120)).await;
        assert_eq!(told(&read(&app, &id).await), is("authorized", 70, 100, ("void", "success", 30)));
        assert_eq!(announced(&app, &id).await, ["pending", "authorized", "refund_pending", "voided"]);
        // The effect happens once, despite the lost answers.
        let charge = void(&app, &id, json!({})).await.expect(201);
        assert_eq!(told(&charge), is("voided", 0, 100, ("void", "success", 70)));
    }
}

async fn while_an_operation_is_open_another_one_is_a_409(app: TestApp) {
    let id = silent(&app, true, "void", "before_effect", &[1, 2]).await;
    void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    for operation in ["void", "capture"] {
        let error = app.post(&format!("/v1/charges/{id}/{operation}"), &json!({})).await.expect(409);
        assert_eq!(error["error"]["message"], "Transaction is processing");
    }
    app.post(&format!("/v1/charges/{id}"), &json!({ "status": "voided" })).await.expect(409);
}

async fn the_key_of_an_open_operation_leads_to_its_answer(app: TestApp) {
    let id = silent(&app, true, "void", "after_effect", &[1, 2]).await;
    let path = format!("/v1/charges/{id}/void");
    let body = json!({ "amount": 30 });
    assert_eq!(app.post_with_key(&path, "key", &body).await.expect(201)["status"], "refund_pending");
    let running = app.post_with_key(&path, "key", &body).await;
    running.expect(409);
    assert!(running.header("Retry-After").is_some());
    app.later(Duration::from_secs(120)).await;
    let replay = app.post_with_key(&path, "key", &body).await;
    assert_eq!(told(&replay.expect(201)), is("authorized", 70, 100, ("void", "success", 30)));
    assert_eq!(replay.header("Idempotent-Replayed"), Some("true"));
}

async fn what_stays_unknown_is_given_up_after_the_whole_schedule(app: TestApp) {
    let times: Vec<u32> = (1..=20).collect();
    let app = app.with_settings(|settings| settings.reconcile_waits = vec![Duration::from_secs(60); 3]).await;
    let id = silent(&app, true, "void", "before_effect", &times).await;
    void(&app, &id, json!({})).await.expect(201);
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(read(&app, &id).await["status"], "refund_pending", "nothing is guessed");
    assert!(transaction_requests::open(&app.app.store, app.clock.deployment(), 10).await.unwrap().is_empty());
    let given_up = transaction_requests::given_up(&app.app.store, 10).await.unwrap();
    assert_eq!(given_up.len(), 1);
    assert_eq!(given_up[0].probes, 4, "three waits have four looks around them");
    assert!(given_up[0].request.open_reason.is_some());
}

/// Another node sends the request again while the first call is only slow, and both get an answer.
async fn an_outcome_that_another_node_has_written_is_left_alone(app: TestApp) {
    let id = silent(&app, true, "void", "before_effect", &[1]).await;
    let charge = void(&app, &id, json!({ "amount": 30 })).await.expect(201);
    let before = announced(&app, &id).await;
    let requests = transaction_requests::of_object(&app.app.store, app.client_id(), id.parse().unwrap());
    let late = requests.await.unwrap().pop().unwrap().request;
    captures_and_voids::recover(&app.app, late, &Actor::Operator).await.unwrap();
    assert_eq!(told(&read(&app, &id).await), told(&charge));
    assert_eq!(announced(&app, &id).await, before);
}

async fn faults_that_cannot_be_read_are_named(app: TestApp) {
    let body = Charge::by_card(&app.merchant().await, APPROVED)
        .amount(0)
        .with("paymentFlow", json!({ "metadata": { "sandboxFaults": [{ "then": { "explode": true } }, 7] } }))
        .body();
    let details = app.post("/v1/charges", &body).await.details(400);
    assert!(details.iter().any(|detail| detail.starts_with("amount ")), "{details:?}");
    let at = |path: &str| details.iter().any(|detail| detail.starts_with(path));
    assert!(at("paymentFlow.metadata.sandboxFaults.0.then"), "{details:?}");
    assert!(at("paymentFlow.metadata.sandboxFaults.1 must"), "{details:?}");
}

async fn a_refund_that_a_crash_cut_off_is_announced_when_its_answer_does_not_come(app: TestApp) {
    let id = silent(&app, true, "void", "before_effect", &[1]).await;
    // The process stops after the intent is written and before the call.
    let (app, is_answered) = stopped_while(app, 2, async |app| {
        void(app, &id, json!({ "amount": 30 })).await;
    })
    .await;
    assert!(!is_answered);
    app.later(Duration::from_secs(120)).await;
    assert_eq!(told(&read(&app, &id).await), is("authorized", 70, 100, ("void", "success", 30)));
    assert_eq!(announced(&app, &id).await, ["pending", "authorized", "refund_pending", "voided"]);
}

async fn what_is_known_to_be_unknown_is_asked_for_after_the_first_wait(app: TestApp) {
    let id = silent(&app, true, "void", "before_effect", &[1, 2]).await;
    void(&app, &id, json!({})).await.expect(201);
    let open = transaction_requests::open(&app.app.store, app.clock.deployment(), 10).await.unwrap();
    let first_wait = app.app.settings.reconcile_waits[0];
    assert_eq!(open[0].due_at, Some(app.clock.deployment() + first_wait));
}

async fn what_is_repeated_at_once_was_sent_when_it_was_repeated(app: TestApp) {
    let id = silent(&app, true, "void", "before_effect", &[1, 2]).await;
    let (began, call) = (app.clock.deployment(), Duration::from_secs(3));
    app.wire.slow_down(&app.clock, call);
    void(&app, &id, json!({})).await.expect(201);
    let open = transaction_requests::open(&app.app.store, app.clock.deployment(), 10).await.unwrap();
    assert_eq!(open[0].request.sent_at, began + call, "the first call took that long");
}
