//! Time limits of purchases: 15 minutes for a result, seven days for a capture.

use std::time::Duration;

use regente_domain::purchase::RESULT_WITHIN;
use serde_json::json;

use super::{DAY, SOON, faulty, made, statuses, story};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::purchases::{AMOUNTS, accepted, booked, read};
use crate::support::read::text;

stories! {
    what_nobody_captures_is_released_after_seven_days,
    a_release_that_is_refused_goes_on_until_it_is_done,
    without_a_result_a_purchase_is_abandoned,
    what_nobody_works_on_in_time_is_not_begun_any_more,
    captures_without_a_result_are_given_back,
}

async fn what_nobody_captures_is_released_after_seven_days(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    app.later(7 * DAY - SOON).await;
    assert_eq!(booked(&app).await, (0, 30_000));
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(
        story(&app, &purchase).await[4..],
        [
            "abandoned",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "cancelled: statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn without_a_result_a_purchase_is_abandoned(app: TestApp) {
    // Neither the authorization nor any probe is answered.
    let faults = json!([
        { "when": { "operation": "authorization", "amount": AMOUNTS[1] }, "then": { "timeout": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "timeout": "before_effect" }, "sequence": [1, 2, 3, 4, 5, 6] },
    ]);
    let merchant = faulty(&app, faults).await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.later(Duration::from_secs(14 * 60)).await;
    let purchase = read(&app, &id).await;
    assert_eq!(
        (&purchase["status"], statuses(&purchase)),
        (&json!("pending"), vec!["pre_authorized", "pending"])
    );
    app.later(DAY).await;
    let purchase = read(&app, &id).await;
    assert_eq!(purchase["status"], "failed");
    assert_eq!(statuses(&purchase), ["canceled", "canceled"], "what came to light later was released too");
    let told = story(&app, &purchase).await;
    assert_eq!(
        told[..5],
        [
            "created: statusChanged",
            "slot_authorized",
            "abandoned",
            "rollback_started",
            "slot_cancelled: chargeCancelled"
        ]
    );
    assert_eq!(told.last().unwrap(), "rollback_completed");
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_release_that_is_refused_goes_on_until_it_is_done(app: TestApp) {
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" }, "sequence": [1, 2] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    app.later(7 * DAY).await;
    assert_eq!(read(&app, text(&purchase["id"])).await["status"], "pending");
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(
        story(&app, &purchase).await[4..],
        [
            "abandoned",
            "cancel_failed: voidFailed",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "cancelled: statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

/// Every worker is away for longer than a purchase may take.
async fn what_nobody_works_on_in_time_is_not_begun_any_more(app: TestApp) {
    let merchant = app.merchant().await;
    let early = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.clock.advance(RESULT_WITHIN - Duration::from_secs(1));
    app.run_jobs().await;
    assert_eq!(read(&app, &early).await["status"], "paid", "a second before that it is not too late");
    let late = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.clock.advance(RESULT_WITHIN);
    app.run_jobs().await;
    let late = read(&app, &late).await;
    assert_eq!((&late["status"], statuses(&late)), (&json!("failed"), vec!["pending", "pending"]));
    assert_eq!(
        story(&app, &late).await,
        [
            "created: statusChanged",
            "abandoned",
            "rollback_started",
            "rollback_completed",
            "failed: statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (30_000, 0), "of the first one");
}

async fn captures_without_a_result_are_given_back(app: TestApp) {
    // The second card is captured, and the provider reports it only after the purchase was given up.
    let faults = json!([{ "when": { "operation": "capture", "amount": AMOUNTS[1] },
        "then": { "timeout": "after_effect" }, "sequence": [1, 2, 3, 4, 5, 6, 7, 8] }]);
    let merchant = faulty(&app, faults).await;
    let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
    app.later(RESULT_WITHIN - SOON).await;
    let purchase = read(&app, &id).await;
    assert_eq!(
        (&purchase["status"], statuses(&purchase)),
        (&json!("pending"), vec!["authorized", "capture_pending"])
    );
    app.later(2 * SOON).await;
    let purchase = read(&app, &id).await;
    assert_eq!(statuses(&purchase), ["voided", "capture_pending"], "what is known is given back at once");
    app.later(DAY).await;
    let purchase = read(&app, &id).await;
    assert_eq!((&purchase["status"], statuses(&purchase)), (&json!("failed"), vec!["voided", "voided"]));
    let told = story(&app, &purchase).await;
    assert_eq!(
        told[3..8],
        [
            "pre_authorized: captureRequested",
            "abandoned",
            "rollback_started",
            "refund_requested: refundRequested",
            "refund_completed: refundCompleted",
        ]
    );
    assert_eq!(told.last().unwrap(), "rollback_completed");
    assert_eq!(booked(&app).await, (0, 0));
}
