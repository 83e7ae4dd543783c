//! Risk analysis of the cards of a purchase: all of them are let through, or none is charged.

use std::time::Duration;

use serde_json::{Value, json};

use super::{FAILED_RISK, decide};
use crate::support::agreement::{agree_on_all, all_charges};
use crate::support::anti_fraud::{APPROVED_RISK, PENDING, REPROVED, analysing};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::purchases::{body, booked, read, send};
use crate::support::read::text;

stories! {
    what_is_approved_is_paid,
    what_is_not_approved_is_given_back,
    a_purchase_waits_for_a_verdict,
    a_verdict_that_never_comes_gives_everything_back,
}

async fn accepted(app: &TestApp, options: &Value, identity: &str) -> String {
    let merchant = analysing(app, options).await;
    let mut order = body(app, &merchant, &[APPROVED, APPROVED], true).await;
    order["fraudAnalysis"] = json!({ "customer": { "identity": identity } });
    let accepted = send(app, "/v1/purchases", &order).await.expect(202);
    app.later(Duration::from_secs(1)).await;
    text(&accepted["id"]).to_owned()
}

async fn what_is_approved_is_paid(app: TestApp) {
    for options in [json!({}), json!({ "captureOnApproved": true }), json!({ "runBeforeCharge": true })] {
        let id = accepted(&app, &options, APPROVED_RISK).await;
        assert_eq!(read(&app, &id).await["status"], "paid", "{options}");
    }
    let id = accepted(&app, &json!({ "captureOnError": true }), FAILED_RISK).await;
    assert_eq!(read(&app, &id).await["status"], "paid");
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn what_is_not_approved_is_given_back(app: TestApp) {
    for (options, identity) in [
        (json!({}), REPROVED),
        (json!({ "refundOnReproved": true }), REPROVED),
        (json!({ "runBeforeCharge": true }), REPROVED),
        (json!({}), FAILED_RISK),
        (json!({ "refundOnError": true }), FAILED_RISK),
    ] {
        let id = accepted(&app, &options, identity).await;
        app.later(Duration::from_secs(60)).await;
        let purchase = read(&app, &id).await;
        assert_eq!(purchase["status"], "failed", "{options} {identity}");
        assert_eq!(booked(&app).await, (0, 0), "{options} {identity}");
        if identity == REPROVED {
            assert!(purchase.to_string().contains("fraud_suspect"), "{purchase:#}");
        }
    }
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_purchase_waits_for_a_verdict(app: TestApp) {
    let id = accepted(&app, &json!({ "productType": "ASYNC" }), PENDING).await;
    for _ in 0..2 {
        assert_eq!(read(&app, &id).await["status"], "pending");
        let charges = all_charges(&app).await;
        let waiting = charges.iter().find(|charge| {
            let newest = &charge["transactionRequests"][0];
            newest["fraudAnalysis"]["status"] == "pending"
        });
        decide(&app, text(&waiting.unwrap()["id"]), "approved").await.expect(200);
        app.later(Duration::from_secs(10)).await;
    }
    assert_eq!(read(&app, &id).await["status"], "paid");
}

async fn a_verdict_that_never_comes_gives_everything_back(app: TestApp) {
    let id = accepted(&app, &json!({ "productType": "ASYNC" }), PENDING).await;
    app.later(Duration::from_secs(60 * 60)).await;
    assert_eq!(read(&app, &id).await["status"], "failed");
    assert_eq!(booked(&app).await, (0, 0));
}
