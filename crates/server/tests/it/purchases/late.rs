//! Late and missing outcomes: answers after the rollback was given up, lasting errors, a node that was suspended.

use std::time::Duration;

use regente::admin::{Answer, Command, run};
use regente::config::Config;
use regente_domain::actor::Actor;
use regente_domain::charge::FollowUpKind;
use regente_domain::id::TransactionRequestId;
use regente_domain::time::Timestamp;
use regente_engine::captures_and_voids::{self, NewFollowUp};
use regente_engine::error::Error;
use regente_store::purchases::PurchaseVersion;
use regente_store::{Batch, Commit, args, purchases, sql};
use serde_json::{Value, json};

use super::{DAY, REFUSED, SOON, faulty, made, operate, statuses, story};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV};
use crate::support::purchases::{AMOUNTS, accepted, booked, read, send};
use crate::support::read::text;

stories! {
    what_comes_to_light_after_it_was_given_up_is_given_back,
    nothing_is_given_up_while_somebody_asks,
    an_error_that_lasts_is_given_up_too,
    a_node_that_slept_opens_nothing,
    a_refund_counts_only_what_it_gave_back_itself,
    single_cards_are_never_captured_and_voided_only_at_rest,
    a_tester_changes_no_card_of_a_pending_purchase,
    security_codes_of_cards_that_are_not_charged_are_gone,
}

sql! {
    LOSE_REQUESTS = "DELETE FROM transaction_requests WHERE object_id = :object_id AND client_id = :client_id";
}

/// A merchant whose provider captures the second card and answers neither the call, which is sent once, nor this many
/// probes.
async fn silent(app: &TestApp, looks: u32) -> String {
    let looks: Vec<u32> = (1..=1 + looks).collect();
    let faults = json!([
        { "when": { "operation": "authorization", "amount": AMOUNTS[1] }, "then": { "timeout": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "timeout": "before_effect" }, "sequence": looks },
    ]);
    faulty(app, faults).await
}

async fn given_up(app: &TestApp) -> TransactionRequestId {
    match run(&app.app, &Config::default(), Command::UnknownsList).await {
        Ok(Answer::Unknowns { unknowns, .. }) => unknowns[0].request_id,
        _ => panic!("no list"),
    }
}

async fn what_comes_to_light_after_it_was_given_up_is_given_back(app: TestApp) {
    let app = app.with_settings(|settings| settings.reconcile_waits = vec![Duration::from_secs(60); 2]).await;
    let merchant = silent(&app, 3).await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.later(DAY).await;
    let purchase = read(&app, &id).await;
    assert_eq!((&purchase["status"], statuses(&purchase)), (&json!("failed"), vec!["canceled", "pending"]));
    let told = story(&app, &purchase).await;
    assert_eq!(told.last().unwrap(), "reconciliation_failed", "nobody asks any more");

    let command = Command::UnknownsRetry { request_id: given_up(&app).await };
    assert!(matches!(run(&app.app, &Config::default(), command).await, Ok(Answer::Resumed { .. })));
    app.later(SOON).await;
    let purchase = read(&app, &id).await;
    assert_eq!((&purchase["status"], statuses(&purchase)), (&json!("failed"), vec!["canceled", "canceled"]));
    let resumed = ["rollback_started", "slot_cancelled: chargeCancelled", "rollback_completed"];
    assert_eq!(story(&app, &purchase).await[told.len()..], resumed);
    assert_eq!(booked(&app).await, (0, 0));
}

async fn nothing_is_given_up_while_somebody_asks(app: TestApp) {
    let merchant = silent(&app, 12).await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.later(3 * DAY).await;
    let purchase = read(&app, &id).await;
    assert_eq!(statuses(&purchase), ["canceled", "pending"]);
    app.later(2 * DAY).await;
    let purchase = read(&app, &id).await;
    assert_eq!((&purchase["status"], statuses(&purchase)), (&json!("failed"), vec!["canceled", "canceled"]));
    let told = story(&app, &purchase).await;
    assert!(!told.contains(&"reconciliation_failed".to_owned()), "{told:?}");
    assert_eq!(told.last().unwrap(), "rollback_completed");
    assert_eq!(booked(&app).await, (0, 0));
}

async fn an_error_that_lasts_is_given_up_too(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let charge: uuid::Uuid = text(&purchase["payments"][1]["chargeId"]).parse().unwrap();
    let mut batch = Batch::new(app.client_id());
    batch.push(&LOSE_REQUESTS, args! { object_id: charge, client_id: app.client_id() });
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    // The purchase expires uncaptured, and it cannot be released: the record of the authorization is lost.
    app.later(7 * DAY).await;
    app.later(5 * DAY).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!(
        (&purchase["status"], statuses(&purchase)),
        (&json!("failed"), vec!["canceled", "pre_authorized"])
    );
    let told = story(&app, &purchase).await;
    assert_eq!(
        told[4..],
        [
            "abandoned",
            "slot_cancelled: chargeCancelled",
            "cancel_failed: voidFailed",
            "reconciliation_failed"
        ]
    );
}

async fn a_node_that_slept_opens_nothing(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let (client_id, id) = (app.client_id(), text(&purchase["id"]).parse().unwrap());
    let slept = purchases::find(&app.app.store, client_id, id).await.unwrap().unwrap().purchase;
    let purchase = operate(&app, &purchase, "capture").await;
    let effects = app.books.effects().await.unwrap();
    let void = |version| NewFollowUp {
        client_id,
        charge_id: text(&purchase["payments"][0]["chargeId"]).parse().unwrap(),
        operation: FollowUpKind::Void,
        amount: None,
        delay_to_compose: None,
        returns: Vec::new(),
        purchase: Some(version),
        claim: None,
        actor: Actor::Job("purchase"),
        seed: None,
    };
    let late = captures_and_voids::create(app.app.engine.clone(), void(PurchaseVersion::of(&slept))).await;
    assert!(matches!(late, Err(Error::Unavailable { .. })), "the purchase has moved on");
    assert_eq!(app.books.effects().await.unwrap(), effects);
    assert_eq!(statuses(&read(&app, text(&purchase["id"])).await), ["authorized", "authorized"]);
    let now = purchases::find(&app.app.store, client_id, id).await.unwrap().unwrap().purchase;
    assert!(
        captures_and_voids::create(app.app.engine.clone(), void(PurchaseVersion::of(&now))).await.is_ok()
    );
}

async fn a_refund_counts_only_what_it_gave_back_itself(app: TestApp) {
    let faults =
        json!([{ "when": { "operation": "void", "amount": AMOUNTS[1] }, "then": { "decline": "generic" } }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let first = format!("/v1/charges/{}/void", text(&purchase["payments"][0]["chargeId"]));
    app.post(&first, &json!({})).await.expect(201);
    // Twice: the operation has ended each time and may be requested again.
    for count in 1..=2 {
        let purchase = operate(&app, &purchase, "void").await;
        assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("paid"), &json!(AMOUNTS[1])));
        let told = story(&app, &purchase).await;
        let refused = ["refund_requested: refundRequested", "refund_failed: refundFailed"];
        assert_eq!(told[told.len() - 2..], refused);
        assert_eq!(told.len(), 5 + 2 * count);
    }
    assert_eq!(booked(&app).await, (AMOUNTS[1], 0));
}

/// The sentence of a refusal.
async fn refused(app: &TestApp, path: &str, body: &Value) -> String {
    text(&send(app, path, body).await.expect(400)["error"]["message"]).to_owned()
}

async fn single_cards_are_never_captured_and_voided_only_at_rest(app: TestApp) {
    // The first try, and one after each wait.
    let tries: Vec<usize> = (1..=regente_domain::purchase::UNDO_WAITS.len() + 1).collect();
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" }, "sequence": tries }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, REFUSED], true).await;
    let id = text(&purchase["id"]);
    let charge = format!("/v1/charges/{}", text(&purchase["payments"][0]["chargeId"]));
    let (capture, void) = (format!("{charge}/capture"), format!("{charge}/void"));
    let captured = format!("charge is part of purchase {id}, and captured only with it");
    assert_eq!(refused(&app, &capture, &json!({})).await, captured);
    let undone = format!("charge is part of purchase {id}, which is being given back");
    assert_eq!(refused(&app, &void, &json!({})).await, undone);
    app.later(5 * DAY).await;
    assert_eq!(story(&app, &purchase).await.last().unwrap(), "reconciliation_failed");
    assert_eq!(refused(&app, &capture, &json!({})).await, captured, "nothing is taken for what has failed");
    app.post(&void, &json!({})).await.expect(201);
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_tester_changes_no_card_of_a_pending_purchase(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let charge = format!("/v1/charges/{}", text(&purchase["payments"][0]["chargeId"]));
    let pending = format!("charge is part of purchase {}, which is pending", text(&purchase["id"]));
    for status in ["voided", "authorized", "failed"] {
        assert_eq!(refused(&app, &charge, &json!({ "status": status })).await, pending);
    }
    let purchase = operate(&app, &purchase, "capture").await;
    app.post(&charge, &json!({ "status": "charged_back" })).await.expect(200);
    assert_eq!(statuses(&read(&app, text(&purchase["id"])).await), ["charged_back", "authorized"]);
}

async fn security_codes_of_cards_that_are_not_charged_are_gone(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[WRONG_CVV, APPROVED, APPROVED], true).await;
    assert_eq!(purchase["status"], "failed");
    let far = Timestamp::from_millis(i64::MAX / 2);
    let all = regente_store::accounts::Accounts::AllBut(Vec::new());
    let left = regente_store::tokens::EXPIRING.clients(&app.app.store, &all, far, 10).await.unwrap();
    assert!(left.is_empty(), "no token is left: {left:?}");
}
