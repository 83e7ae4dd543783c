//! What providers notify: taken once, applied by a job, and never twice, whatever else tells the same.

mod crashes;
mod process;
mod refused;

use std::time::Duration;

use axum::http::Method;
use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_engine::jobs::Worker;
use regente_providers::outcome::{Approval, Finding, Instructions, Pending};
use regente_providers::sandbox::Notice;
use regente_store::provider_notifications;
use regente_store::provider_notifications::State;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::client::request;
use crate::support::notifications::{API_KEY, message, request_of, send, send_to, states};
use crate::support::providers::losing;
use crate::support::providers::payers::asking_payers;
use crate::support::read::{announced, text};

stories! {
    what_was_not_answered_is_settled_by_its_notification,
    a_notification_that_comes_twice_has_one_effect,
    a_notification_after_the_probe_changes_nothing,
    a_notification_and_a_probe_at_once_end_in_one_state,
    notifications_in_any_order_lead_to_the_same_state,
    a_refund_that_was_not_answered_is_settled_by_its_notification,
    a_notification_while_the_call_is_under_way_waits_for_it,
    an_unknown_kind_is_kept,
    a_notification_about_an_unknown_charge_waits_a_day,
    a_provider_speaks_for_its_own_requests_only,
    a_rotation_of_keys_takes_what_waits_along,
    what_is_settled_is_kept_for_a_month,
    another_node_settles_what_this_one_has_stored,
}

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A charge whose provider has approved it without an answer, and the notification about it.
async fn lost(app: &TestApp) -> (String, Notice) {
    let merchant = app.merchant_with(json!([losing(&["authorization"])])).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(charge["status"], "pending");
    let mut notices = app.wire.notices();
    assert_eq!(notices.len(), 1, "one notification about one authorization");
    (text(&charge["id"]).to_owned(), notices.remove(0))
}

async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

/// Runs the jobs that are due, without looking for outcomes by probes.
async fn settle(app: &TestApp) {
    app.prepare().await;
    let unknowns_are_not_due = app.worker.round().await.unwrap();
    assert_eq!(unknowns_are_not_due.resolved, 0);
}

fn approved() -> Value {
    json!({ "approved": { "transactionId": "t-1" } })
}

async fn agrees(app: &TestApp) {
    nothing_is_open(app).await;
    agree_on_all(&app.books, &all_charges(app).await).await;
}

async fn what_was_not_answered_is_settled_by_its_notification(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    let reply = app.deliver(&notice).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.len()), (200, 0));
    assert_eq!(read(&app, &id).await["status"], "pending", "it is answered before it is applied");
    assert_eq!(states(&app).await, ["waiting"]);
    settle(&app).await;
    let charge = read(&app, &id).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    assert_eq!(announced(&app, &id).await, ["pending", "authorized"]);
    assert_eq!(states(&app).await, ["applied"]);
    agrees(&app).await;
    app.later(DAY).await;
    assert_eq!(read(&app, &id).await, charge, "nobody asks about it any more");
}

async fn a_notification_that_comes_twice_has_one_effect(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    for _ in 0..2 {
        app.deliver(&notice).await.expect(200);
    }
    assert_eq!(states(&app).await, ["waiting"], "it is stored once");
    settle(&app).await;
    let charge = read(&app, &id).await;
    app.deliver(&notice).await.expect(200);
    // The same under another id, as a provider sends what it has lost track of.
    let request = request_of(&app, &id).await;
    let again = message(&request, "again", "payment.outcome", &approved());
    assert_eq!(send(&app, &request, &again, API_KEY).await, 200);
    settle(&app).await;
    assert_eq!(states(&app).await, ["applied", "applied"]);
    assert_eq!(read(&app, &id).await, charge);
    assert_eq!(announced(&app, &id).await, ["pending", "authorized"]);
    agrees(&app).await;
}

/// A charge whose answer is lost, with that of the first probe.
async fn lost_for_a_while(app: &TestApp, merchant: &str) -> String {
    let body = Charge::by_card(merchant, APPROVED)
        .with(
            "paymentFlow",
            json!({ "metadata": { "sandboxFaults": [
        { "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "reset": "before_effect" }, "sequence": [1] },
    ] } }),
        )
        .body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "pending");
    text(&charge["id"]).to_owned()
}

async fn a_notification_after_the_probe_changes_nothing(app: TestApp) {
    let app = app.reachable().await;
    let id = lost_for_a_while(&app, &app.merchant().await).await;
    app.later(10 * SECOND).await;
    let found = read(&app, &id).await;
    assert_eq!(found["status"], "authorized");
    for notice in app.wire.notices() {
        app.deliver(&notice).await.expect(200);
    }
    app.run_jobs().await;
    assert_eq!(states(&app).await, ["applied"]);
    assert_eq!(read(&app, &id).await, found);
    agrees(&app).await;
}

async fn a_notification_and_a_probe_at_once_end_in_one_state(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant().await;
    app.prepare().await;
    for number in 0..8 {
        let id = lost_for_a_while(&app, &merchant).await;
        for notice in app.wire.notices() {
            app.deliver(&notice).await.expect(200);
        }
        // The probe is due now, and so is the job of the notification.
        app.clock.advance(5 * SECOND);
        let (one, other) = tokio::join!(app.worker.round(), app.worker.round());
        one.unwrap();
        other.unwrap();
        app.later(60 * SECOND).await;
        assert_eq!(read(&app, &id).await["status"], "authorized", "charge {number}");
        assert_eq!(announced(&app, &id).await, ["pending", "authorized"], "charge {number}");
    }
    agrees(&app).await;
}

async fn notifications_in_any_order_lead_to_the_same_state(app: TestApp) {
    let pending = Finding::Pending(Box::new(Pending {
        reference: Approval { transaction_id: Some("t-1".to_owned()), ..Approval::default() },
        instructions: Instructions::Redirect { url: "https://bank.example".to_owned() },
        expires_at: None,
    }));
    let pending = serde_json::to_value(pending).unwrap();
    let refused = Finding::Declined(Decline::of(DeclinedCode::TryAgain));
    let refused = serde_json::to_value(refused).unwrap();
    for (order, told) in [[&approved(), &pending], [&pending, &approved()]].into_iter().enumerate() {
        let merchant = app.merchant_with(json!([asking_payers("Asks", 1)])).await;
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        let id = text(&charge["id"]);
        let request = request_of(&app, id).await;
        for (number, data) in told.into_iter().chain([&refused]).enumerate() {
            let message = message(&request, &format!("{order}.{number}"), "payment.outcome", data);
            assert_eq!(send(&app, &request, &message, "asks-payers-1234").await, 200);
            app.run_jobs().await;
        }
        let charge = read(&app, id).await;
        assert_eq!(charge["status"], "authorized", "{charge:#}");
        assert_eq!(announced(&app, id).await, ["pending", "authorized"]);
    }
    // The provider, which is asked, still approves what the last message refuses: it is asked again later.
    assert_eq!(states(&app).await, ["applied", "applied", "waiting", "applied", "applied", "waiting"]);
}

async fn a_refund_that_was_not_answered_is_settled_by_its_notification(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant_with(json!([losing(&["void"])])).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    let id = text(&charge["id"]);
    let voided = app.post(&format!("/v1/charges/{id}/void"), &json!({})).await.expect(201);
    assert_ne!(voided["status"], "voided", "{voided:#}");
    let notices = app.wire.notices();
    assert_eq!(notices.len(), 2, "it was sent twice, and neither was answered");
    for notice in &notices {
        app.deliver(notice).await.expect(200);
    }
    settle(&app).await;
    assert_eq!(read(&app, id).await["status"], "voided");
    assert_eq!(states(&app).await, ["applied"], "both say the same");
    agrees(&app).await;
}

async fn a_notification_while_the_call_is_under_way_waits_for_it(app: TestApp) {
    let app = app.with_sandbox_deadline(20 * SECOND).await.reachable().await;
    let merchant = app.merchant().await;
    app.wire.hold();
    let body = charge_body(&merchant, APPROVED);
    let call = request(&app.client, Method::POST, "/v1/charges", &[], Some(&body));
    let answering = app.begin(call);
    let id = loop {
        match all_charges(&app).await.pop() {
            Some(charge) => break text(&charge["id"]).to_owned(),
            None => tokio::task::yield_now().await,
        }
    };
    let request = request_of(&app, &id).await;
    let early = message(&request, "early", "payment.outcome", &approved());
    assert_eq!(send(&app, &request, &early, API_KEY).await, 200);
    app.prepare().await;
    app.worker.round().await.unwrap();
    assert_eq!(states(&app).await, ["waiting"]);
    assert_eq!(read(&app, &id).await["status"], "pending");
    app.wire.let_go();
    let answer = answering.await.unwrap().expect(201);
    assert_eq!(answer["status"], "authorized");
    app.later(2 * SECOND).await;
    assert_eq!(states(&app).await, ["applied"]);
    assert_eq!(read(&app, &id).await, answer);
    agrees(&app).await;
}

async fn an_unknown_kind_is_kept(app: TestApp) {
    let charge = app.post("/v1/charges", &charge_body(&app.merchant().await, APPROVED)).await.expect(201);
    let id = text(&charge["id"]);
    let request = request_of(&app, id).await;
    let told = message(&request, "1", "payment.vanished", &Value::Null);
    assert_eq!(send(&app, &request, &told, API_KEY).await, 200);
    app.run_jobs().await;
    assert_eq!(states(&app).await, ["kept"]);
    assert_eq!(read(&app, id).await, charge);
    let before = app.clock.deployment() + SECOND;
    let left = provider_notifications::left(&app.app.store, before).await.unwrap();
    assert_eq!(left.iter().map(|left| (left.state, left.count)).collect::<Vec<_>>(), [(State::Kept, 1)]);
}

async fn a_notification_about_an_unknown_charge_waits_a_day(app: TestApp) {
    let charge = app.post("/v1/charges", &charge_body(&app.merchant().await, APPROVED)).await.expect(201);
    let request = request_of(&app, text(&charge["id"])).await;
    let strange = TransactionRequest { object_id: Uuid::from_u128(7), ..request.clone() };
    let told = message(&strange, "strange", "payment.outcome", &approved());
    assert_eq!(send(&app, &request, &told, API_KEY).await, 200);
    app.later(23 * DAY / 24).await;
    assert_eq!(states(&app).await, ["waiting"]);
    let rounds = (0..3).map(|_| app.worker.round());
    for round in rounds {
        assert_eq!(round.await.unwrap().jobs, 0, "it is not tried all the time");
    }
    app.later(2 * DAY / 24).await;
    assert_eq!(states(&app).await, ["unmatched"]);
    let dead = regente_store::jobs::dead(&app.app.store, 10).await.unwrap();
    assert!(dead.is_empty(), "{dead:?}");
}

async fn a_provider_speaks_for_its_own_requests_only(app: TestApp) {
    let app = app.reachable().await;
    let (id, _) = lost(&app).await;
    let request = request_of(&app, &id).await;
    let other = app.merchant().await;
    let other = app.get(&format!("/v1/merchants/{other}")).await.expect(200);
    let other = text(&other["providers"][0]["id"]).parse().unwrap();
    let told = message(&request, "theirs", "payment.outcome", &approved());
    assert_eq!(send_to(&app, other, &told, API_KEY).await, 200, "it is signed by that provider");
    settle(&app).await;
    assert_eq!(read(&app, &id).await["status"], "pending");
    assert_eq!(states(&app).await, ["waiting"]);
}

async fn a_rotation_of_keys_takes_what_waits_along(app: TestApp) {
    let charge = app.post("/v1/charges", &charge_body(&app.merchant().await, APPROVED)).await.expect(201);
    let request = request_of(&app, text(&charge["id"])).await;
    let strange = TransactionRequest { object_id: Uuid::from_u128(7), ..request.clone() };
    let told = message(&strange, "strange", "payment.outcome", &approved());
    assert_eq!(send(&app, &request, &told, API_KEY).await, 200);
    app.app.vault.rotate(Actor::Operator).await.unwrap();
    app.later(DAY / 2).await;
    let keys = regente_store::data_keys::all(&app.app.store).await.unwrap();
    let destroyed = keys.iter().filter(|key| key.wrapped.is_empty()).count();
    assert_eq!((destroyed, keys.len()), (1, 2), "the former key is destroyed");
    app.later(DAY).await;
    assert_eq!(states(&app).await, ["unmatched"], "it could be read all the time");
}

async fn what_is_settled_is_kept_for_a_month(app: TestApp) {
    let app = app.reachable().await;
    let (_, notice) = lost(&app).await;
    app.deliver(&notice).await.expect(200);
    settle(&app).await;
    app.later(29 * DAY).await;
    assert_eq!(states(&app).await, ["applied"]);
    app.later(2 * DAY).await;
    assert_eq!(states(&app).await, [""; 0]);
}

async fn another_node_settles_what_this_one_has_stored(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    app.prepare().await;
    app.deliver(&notice).await.expect(200);
    let worker = match app.app.store.database_kind() {
        regente_store::DatabaseKind::Postgres => app.another_worker().await,
        // One process has the file.
        regente_store::DatabaseKind::Sqlite => Worker::new(app.app.engine.clone()),
    };
    let (one, other) = tokio::join!(worker.round(), app.worker.round());
    one.unwrap();
    other.unwrap();
    app.run_jobs().await;
    assert_eq!(read(&app, &id).await["status"], "authorized");
    assert_eq!(announced(&app, &id).await, ["pending", "authorized"]);
    agrees(&app).await;
}
