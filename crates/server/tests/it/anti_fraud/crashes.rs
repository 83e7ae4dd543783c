//! The process stops at each step around a verdict that comes later: it is recorded once, and what follows is done once.

use std::time::Duration;

use serde_json::json;

use super::{decide, read};
use crate::support::agreement::{agree_on_all, all_charges, ledger_agrees, nothing_is_open};
use crate::support::anti_fraud::{APPROVED_RISK, PENDING, REPROVED, analysed, analysing, requests};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::crashes::stopped_while;
use crate::support::read::{announced, text};

stories! {
    while_a_tester_decides,
    while_the_provider_is_asked_for_its_verdict,
    while_a_charge_is_fed,
}

/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;
/// More steps than a verdict that comes later and its follow-up have.
const STEPS_OF_A_LATE_VERDICT: u64 = 24;
/// More steps than a feeding has.
const STEPS_OF_A_FEEDING: u64 = 20;
const LATER: Duration = Duration::from_secs(60 * 60);

async fn while_a_tester_decides(mut app: TestApp) {
    let options = json!({ "captureOnApproved": true, "refundOnReproved": true });
    let merchant = analysing(&app, &options).await;
    for steps in 0..STEPS_MAX {
        let charge = app.post("/v1/charges", &analysed(&merchant, PENDING, true)).await.expect(201);
        let id = text(&charge["id"]).to_owned();
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| {
            decide(app, &id, "approved").await.expect(200);
        })
        .await;
        app.later(LATER).await;
        if read(&app, &id).await["status"] == "pre_authorized" {
            decide(&app, &id, "approved").await.expect(200);
        }
        let charge = read(&app, &id).await;
        assert_eq!(charge["status"], "authorized", "after {steps} steps");
        assert_eq!(requests(&charge).len(), 4, "after {steps} steps: {charge:#}");
        assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", "authorized"]);
        nothing_is_open(&app).await;
        if is_done {
            assert!(steps >= 6, "writes and calls are missing: {steps}");
            let charges = all_charges(&app).await;
            agree_on_all(&app.books, &charges).await;
            ledger_agrees(&app, &charges).await;
            return;
        }
    }
    panic!("it does not end");
}

async fn while_the_provider_is_asked_for_its_verdict(mut app: TestApp) {
    let options = json!({ "captureOnApproved": true, "refundOnReproved": true, "productType": "ASYNC" });
    let merchant = analysing(&app, &options).await;
    let mut decided = Vec::new();
    // Jobs that recur run after the verdict: the process is stopped in those, too.
    for steps in 0..STEPS_OF_A_LATE_VERDICT {
        let identity = if steps % 2 == 0 { APPROVED_RISK } else { REPROVED };
        let charge = app.post("/v1/charges", &analysed(&merchant, identity, true)).await.expect(201);
        let id = text(&charge["id"]).to_owned();
        (app, _) = stopped_while(app, steps, async |app| app.later(LATER).await).await;
        decided.push(read(&app, &id).await["status"] != "pre_authorized");
        app.later(LATER).await;
        let charge = read(&app, &id).await;
        let status = if identity == APPROVED_RISK { "authorized" } else { "canceled" };
        assert_eq!(charge["status"], status, "after {steps} steps: {charge:#}");
        assert_eq!(requests(&charge).len(), 4, "after {steps} steps: {charge:#}");
        assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", status]);
        nothing_is_open(&app).await;
    }
    assert_eq!((decided.first(), decided.last()), (Some(&false), Some(&true)), "every step was met");
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn while_a_charge_is_fed(mut app: TestApp) {
    let merchant = analysing(&app, &json!({ "sendAllCharges": true })).await;
    let mut fed = Vec::new();
    for steps in 0..STEPS_OF_A_FEEDING {
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        let id = text(&charge["id"]).to_owned();
        (app, _) = stopped_while(app, steps, async |app| app.later(LATER).await).await;
        fed.push(requests(&read(&app, &id).await).len() == 2);
        app.later(LATER).await;
        let told = requests(&read(&app, &id).await);
        assert_eq!(told, ["anti_fraud_feeding success", "authorization success"], "after {steps} steps");
        let told = u64::try_from(app.books.analyses().await.unwrap().len()).unwrap();
        assert_eq!(told, steps + 1, "each charge once, after {steps} steps");
    }
    assert_eq!((fed.first(), fed.last()), (Some(&false), Some(&true)), "every step was met");
}
