//! The merchant voids a purchase: reservations are released, captured amounts refunded.

use serde_json::json;

use super::{SOON, faulty, made, operate, statuses, story};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::purchases::{AMOUNTS, booked, read};
use crate::support::read::text;

stories! {
    what_is_reserved_can_be_voided,
    a_void_that_is_refused_changes_nothing,
    a_paid_purchase_can_be_given_back,
    a_refund_that_is_refused_leaves_the_purchase_paid,
    a_refund_that_is_refused_for_the_second_card_goes_on_until_it_is_done,
    single_cards_are_not_voided_while_the_purchase_is_pending,
}

async fn what_is_reserved_can_be_voided(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("cancelled"), &json!(0)));
    assert_eq!(statuses(&purchase), ["canceled", "canceled"]);
    assert_eq!(
        story(&app, &purchase).await[3..],
        [
            "pre_authorized: statusChanged, voidRequested",
            "slot_cancelled: chargeCancelled",
            "slot_cancelled: chargeCancelled",
            "cancelled: voidCompleted, statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_void_that_is_refused_changes_nothing(app: TestApp) {
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" }, "sequence": [1] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!(purchase["status"], "pending");
    assert_eq!(statuses(&purchase), ["pre_authorized", "pre_authorized"]);
    assert_eq!(story(&app, &purchase).await[4..], ["cancel_failed: voidFailed"]);
    assert_eq!(booked(&app).await, (0, 30_000));
    let purchase = operate(&app, &purchase, "capture").await;
    assert_eq!(purchase["status"], "paid", "it is what it was before");
}

async fn a_paid_purchase_can_be_given_back(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("cancelled"), &json!(0)));
    assert_eq!(statuses(&purchase), ["voided", "voided"]);
    assert_eq!(
        story(&app, &purchase).await[5..],
        ["refund_requested: refundRequested", "refund_completed: refundCompleted, statusChanged"]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn a_refund_that_is_refused_leaves_the_purchase_paid(app: TestApp) {
    let merchant =
        faulty(&app, json!([{ "when": { "operation": "void" }, "then": { "decline": "generic" } }])).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("paid"), &json!(30_000)));
    assert_eq!(
        story(&app, &purchase).await[5..],
        ["refund_requested: refundRequested", "refund_failed: refundFailed"]
    );
    assert_eq!(booked(&app).await, (30_000, 0));
}

async fn a_refund_that_is_refused_for_the_second_card_goes_on_until_it_is_done(app: TestApp) {
    let faults = json!([{ "when": { "operation": "void", "amount": AMOUNTS[1] },
        "then": { "decline": "generic" }, "sequence": [1, 2] }]);
    let merchant = faulty(&app, faults).await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], true).await;
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!((&purchase["status"], &purchase["amount"]), (&json!("paid"), &json!(20_000)));
    app.later(SOON).await;
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(
        story(&app, &purchase).await[5..],
        [
            "refund_requested: refundRequested",
            "refund_failed: refundFailed",
            "refund_completed: refundCompleted, statusChanged",
        ]
    );
    assert_eq!(booked(&app).await, (0, 0));
}

async fn single_cards_are_not_voided_while_the_purchase_is_pending(app: TestApp) {
    let merchant = app.merchant().await;
    let purchase = made(&app, &merchant, &[APPROVED, APPROVED], false).await;
    let charge = format!("/v1/charges/{}", text(&purchase["payments"][0]["chargeId"]));
    for operation in ["capture", "void"] {
        let reply = app.post(&format!("{charge}/{operation}"), &json!({})).await;
        assert_eq!(reply.expect(400)["error"]["type"], "invalid_request_error");
    }
    let purchase = operate(&app, &purchase, "capture").await;
    app.post(&format!("{charge}/void"), &json!({ "amount": 4_000 })).await.expect(201);
    let purchase = read(&app, text(&purchase["id"])).await;
    assert_eq!((&purchase["amount"], &purchase["originalAmount"]), (&json!(26_000), &json!(30_000)));
    let purchase = operate(&app, &purchase, "void").await;
    assert_eq!(purchase["status"], "cancelled");
    assert_eq!(booked(&app).await, (0, 0));
}
