//! `sendAllCharges`: the provider of risk is told of charges that it did not analyse.

use std::time::Duration;

use regente_domain::charge::ChargeStatus;
use regente_providers::sandbox::Analysed;
use serde_json::{Value, json};

use super::read;
use crate::support::anti_fraud::{APPROVED_RISK, analysed, analysing, requests};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, charge_body};
use crate::support::read::text;

stories! {
    a_charge_that_was_not_analysed_is_fed_once,
    what_was_analysed_is_not_fed,
    without_the_option_nothing_is_fed,
    a_feeding_that_was_not_answered_is_repeated,
    a_refused_charge_is_fed_although_it_came_for_analysis,
    a_pix_is_not_analysed_and_is_fed_when_it_is_paid,
}

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn feeding(app: &TestApp) -> String {
    analysing(app, &json!({ "sendAllCharges": true, "captureOnApproved": true })).await
}

/// What the provider of risk was told.
async fn fed(app: &TestApp) -> Vec<ChargeStatus> {
    let analyses = app.books.analyses().await.unwrap();
    let told = analyses.into_iter().filter_map(|entry| match entry.record {
        Analysed::Feeding { status } => Some(status),
        Analysed::Analysis { .. } => None,
    });
    told.collect()
}

async fn charged(app: &TestApp, body: &Value) -> String {
    text(&app.post("/v1/charges", body).await.expect(201)["id"]).to_owned()
}

async fn a_charge_that_was_not_analysed_is_fed_once(app: TestApp) {
    let merchant = feeding(&app).await;
    let voucher = Charge::by_card(&merchant, APPROVED)
        .with("paymentMethod", json!({ "paymentType": "voucher" }))
        .body();
    let reserved = Charge::by_card(&merchant, APPROVED).reserved().body();
    let paid = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let with_voucher = charged(&app, &voucher).await;
    let failed = charged(&app, &charge_body(&merchant, TIMED_OUT)).await;
    let reserved = charged(&app, &reserved).await;
    app.later(HOUR).await;
    for (id, newest) in [
        (&paid, "anti_fraud_feeding success"),
        (&with_voucher, "anti_fraud_feeding success"),
        (&failed, "anti_fraud_feeding success"),
        (&reserved, "pre_authorization success"),
    ] {
        assert_eq!(requests(&read(&app, id).await)[0], newest);
    }
    let request = &read(&app, &paid).await["transactionRequests"][0];
    assert_eq!(request["providerType"], "SANDBOX_ANTIFRAUD");
    assert!(request.get("fraudAnalysis").is_none());
    assert_eq!(read(&app, &paid).await["responsibleProviderType"], "SANDBOX");
    app.post(&format!("/v1/charges/{paid}/void"), &json!({})).await.expect(201);
    app.post(&format!("/v1/charges/{reserved}/void"), &json!({})).await.expect(201);
    app.later(HOUR).await;
    let mut told = fed(&app).await;
    told.sort_unstable();
    let (authorized, failed, canceled) =
        (ChargeStatus::Authorized, ChargeStatus::Failed, ChargeStatus::Canceled);
    assert_eq!(told, [authorized, authorized, failed, canceled], "each once, when it ended first");
}

async fn a_pix_is_not_analysed_and_is_fed_when_it_is_paid(app: TestApp) {
    let merchant = feeding(&app).await;
    let mut body = pix_body(&merchant, described(jose()));
    body["fraudAnalysis"] = analysed(&merchant, APPROVED_RISK, true)["fraudAnalysis"].clone();
    let id = charged(&app, &body).await;
    app.later(HOUR / 2).await;
    assert_eq!(requests(&read(&app, &id).await), ["pending success"]);
    app.post(&format!("/v1/charges/{id}"), &json!({ "status": "authorized" })).await.expect(200);
    app.later(HOUR).await;
    let told = ["anti_fraud_feeding success", "authorization success", "pending success"];
    assert_eq!(requests(&read(&app, &id).await), told);
    assert_eq!(fed(&app).await, [ChargeStatus::Authorized]);
}

async fn what_was_analysed_is_not_fed(app: TestApp) {
    let merchant = feeding(&app).await;
    let id = charged(&app, &analysed(&merchant, APPROVED_RISK, true)).await;
    app.later(HOUR).await;
    assert_eq!(requests(&read(&app, &id).await)[0], "capture success");
    assert!(fed(&app).await.is_empty());
}

async fn without_the_option_nothing_is_fed(app: TestApp) {
    let merchant = analysing(&app, &json!({})).await;
    let id = charged(&app, &charge_body(&merchant, APPROVED)).await;
    app.later(HOUR).await;
    assert_eq!(requests(&read(&app, &id).await), ["authorization success"]);
    assert!(app.books.analyses().await.unwrap().is_empty());
}

async fn a_feeding_that_was_not_answered_is_repeated(app: TestApp) {
    let merchant = feeding(&app).await;
    let mut body = charge_body(&merchant, APPROVED);
    let broken = json!({ "when": { "operation": "anti_fraud" }, "then": { "reset": "after_effect" }, "sequence": [1] });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [broken] } });
    let id = charged(&app, &body).await;
    app.later(HOUR).await;
    let told = requests(&read(&app, &id).await);
    assert_eq!(told, ["anti_fraud_feeding success", "authorization success"]);
    assert_eq!(fed(&app).await, [ChargeStatus::Authorized], "under one key");
}

async fn a_refused_charge_is_fed_although_it_came_for_analysis(app: TestApp) {
    let merchant = feeding(&app).await;
    let mut body = analysed(&merchant, APPROVED_RISK, true);
    body["paymentSource"] = charge_body(&merchant, TIMED_OUT)["paymentSource"].clone();
    let id = charged(&app, &body).await;
    app.later(HOUR).await;
    assert_eq!(requests(&read(&app, &id).await)[0], "anti_fraud_feeding success");
}
