//! A card is declined: the other cards are released, until all are or an operator is alerted.

use serde_json::{Value, json};

use super::{DAY, REFUSED, SOON, faulty, history, made, operate, statuses, story};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV};
use crate::support::purchases::{AMOUNTS, booked, read};
use crate::support::read::text;

stories! {
    a_refused_card_releases_the_others,
    a_refused_first_card_charges_nobody,
    a_capture_that_fails_gives_back_what_was_taken,
    a_rollback_that_fails_goes_on_until_it_is_done,
    a_rollback_that_never_succeeds_is_given_up,
}

async fn a_refused_card_releases_the_others(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED, REFUSED], true).await;
    assert_eq!(purchase["status"], "failed");
    assert_eq!(statuses(&purchase), ["canceled", "canceled", "failed"]);
    assert_eq!(purchase["payments"][2]["declinedCode"], "generic");
    assert_eq!(
        story(&app, &purchase).await[3..],
        [
            "rollback_started",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "rollback_completed",
            "failed: statusChanged",
        ]
    );
    let entries = history(&app, text(&purchase["id"])).await;
    let changes = json!({ "changes": { "status": { "from": "pending", "to": "failed" } } });
    assert_eq!(entries.last().unwrap()["diff"], changes);
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_refused_first_card_charges_nobody(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[WRONG_CVV, APPROVED], true).await;
    assert_eq!(statuses(&purchase), ["failed", "pending"]);
    assert_eq!(purchase["payments"][0]["declinedCode"], "invalid_cvv");
    assert_eq!(purchase["payments"][1]["chargeId"], Value::Null);
    let told = story(&app, &purchase).await;
    assert_eq!(
        told,
        ["created: statusChanged", "rollback_started", "rollback_completed", "failed: statusChanged"]
    );
}

async fn a_capture_that_fails_gives_back_what_was_taken(app: TestApp) {
    let faults = json!([{ "when": { "operation": "capture", "amount": AMOUNTS[1] }, "then": { "decline": "generic" } }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED, APPROVED], false).await;
    let purchase = operate(&app, &purchase, "capture").await;
    assert_eq!(purchase["status"], "failed");
    assert_eq!(statuses(&purchase), ["voided", "canceled", "canceled"]);
    assert_eq!(
        story(&app, &purchase).await[5..],
        [
            "rollback_started: captureFailed",
            "refund_requested: refundRequested",
            "refund_completed: refundCompleted",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "rollback_completed",
            "failed: statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_rollback_that_fails_goes_on_until_it_is_done(app: TestApp) {
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" }, "sequence": [1, 2] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, REFUSED], true).await;
    assert_eq!(
        (&purchase["status"], statuses(&purchase)),
        (&json!("failed"), vec!["pre_authorized", "failed"])
    );
    assert_eq!(booked(&app).await, (0, 10_000));
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!((&purchase["status"], statuses(&purchase)), (&json!("failed"), vec!["canceled", "failed"]));
    assert_eq!(
        story(&app, &purchase).await[2..],
        [
            "rollback_started",
            "rollback_failed: voidFailed",
            "slot_cancelled: chargeCancelled",
            "rollback_completed",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_rollback_that_never_succeeds_is_given_up(app: TestApp) {
    let merchant =
        faulty(&app, json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" } }])).await;
    let purchase = made(&app, &merchant, &[APPROVED, REFUSED], true).await;
    app.later(5 * DAY).await;
    let told = story(&app, &purchase).await;
    assert_eq!(told[2..], ["rollback_started", "rollback_failed: voidFailed", "reconciliation_failed"]);
    assert_eq!(read(&app, text(&purchase["id"])).await["status"], "failed");
}
