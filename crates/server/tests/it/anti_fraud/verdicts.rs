//! Verdicts that come later, what providers refuse, and who is analysed at all.

use std::time::Duration;

use axum::http::Method;
use regente_engine::settings::Mode;
use serde_json::{Value, json};

use super::{FAILED_RISK, decide, read};
use crate::support::anti_fraud::{APPROVED_RISK, PENDING, REPROVED, analysed, analysing, requests, risk};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::providers::sandbox;
use crate::support::read::{announced, text};

stories! {
    a_tester_decides_a_pending_analysis,
    a_verdict_is_shown_as_the_interface_says,
    there_is_nothing_to_decide_without_a_pending_analysis,
    in_production_nobody_decides,
    what_the_merchant_has_done_meanwhile_stays,
    a_refused_capture_leaves_the_reservation,
    a_refused_void_leaves_the_reservation_to_the_merchant,
    a_reproved_charge_asks_no_payment_provider,
    an_unanswered_analysis_has_failed,
    an_answer_is_repeated_byte_for_byte,
    only_credit_cards_with_data_are_analysed,
    the_first_provider_of_risk_by_priority_analyses,
    a_provider_without_an_adapter_fails_the_analysis,
    a_reservation_that_nobody_decides_expires,
    the_explanation_tells_of_the_analysis,
    a_refused_reservation_is_not_analysed,
}

const EVERYTHING: fn() -> Value = || json!({ "captureOnApproved": true, "refundOnReproved": true, "refundOnError": true, "productType": "ASYNC" });

async fn pending(app: &TestApp, options: &Value, capture: bool) -> String {
    let merchant = analysing(app, options).await;
    let charge = app.post("/v1/charges", &analysed(&merchant, PENDING, capture)).await.expect(201);
    assert_eq!(charge["status"], "pre_authorized");
    text(&charge["id"]).to_owned()
}

async fn a_tester_decides_a_pending_analysis(app: TestApp) {
    for product in ["SYNC", "ASYNC"] {
        for (verdict, status, then) in [
            ("approved", "authorized", "capture success"),
            ("reproved", "canceled", "void success"),
            ("failed", "canceled", "void success"),
        ] {
            let mut options = EVERYTHING();
            options["productType"] = json!(product);
            let id = pending(&app, &options, true).await;
            let charge = decide(&app, &id, verdict).await.expect(200);
            let ended = if verdict == "failed" { "failed" } else { "success" };
            let verdict = format!("anti_fraud {ended} {verdict}");
            let told = requests(&charge);
            let expected = [then, &verdict, "anti_fraud success pending", "pre_authorization success"];
            assert_eq!((text(&charge["status"]), told), (status, expected.map(str::to_owned).to_vec()));
            assert_eq!(read(&app, &id).await, charge);
            assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", status]);
            app.later(Duration::from_secs(60 * 60)).await;
            assert_eq!(read(&app, &id).await, charge, "the provider is not asked for the verdict any more");
        }
    }
}

async fn a_verdict_is_shown_as_the_interface_says(app: TestApp) {
    let id = pending(&app, &EVERYTHING(), true).await;
    let charge = decide(&app, &id, "approved").await.expect(200);
    let [_, later, first, _] = charge["transactionRequests"].as_array().unwrap().as_slice() else {
        panic!("four requests: {charge:#}");
    };
    assert_eq!(first["providerType"], "SANDBOX_ANTIFRAUD");
    assert_eq!(first["fraudAnalysis"], json!({ "score": null, "status": "pending" }));
    assert!(first["idempotencyKey"].is_string() && first["responseTs"].is_string());
    assert_eq!(first["amount"], 150);
    assert_eq!(later["fraudAnalysis"], json!({ "score": 85, "status": "approved" }));
    assert_eq!(later["providerType"], "SANDBOX_ANTIFRAUD");
    for absent in ["idempotencyKey", "responseTs", "amount"] {
        assert_eq!(later[absent], json!(null), "{absent}");
    }
    assert_eq!(charge["responsibleProviderType"], "SANDBOX");
    assert_eq!(charge["fraudAnalysisMetadata"]["customer"]["identity"], PENDING);
    let merchant = analysing(&app, &json!({})).await;
    let failed = app.post("/v1/charges", &analysed(&merchant, FAILED_RISK, true)).await.expect(201);
    let error = &failed["transactionRequests"][0]["providerError"];
    assert_eq!((&error["declinedCode"], &error["retryable"]), (&json!(null), &json!(false)));
    assert!(["timeout", "processing_error"].contains(&text(&error["networkDeniedReason"])), "{error}");
    let reproved = app.post("/v1/charges", &analysed(&merchant, REPROVED, true)).await.expect(201);
    assert_eq!(reproved["transactionRequests"][0]["fraudAnalysis"]["score"], 97);
    assert!(reproved["transactionRequests"][0].get("providerError").is_none());
}

async fn there_is_nothing_to_decide_without_a_pending_analysis(app: TestApp) {
    let merchant = analysing(&app, &json!({ "captureOnApproved": true })).await;
    let decided = app.post("/v1/charges", &analysed(&merchant, APPROVED_RISK, true)).await.expect(201);
    let plain = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    for charge in [decided, plain] {
        let refused = decide(&app, text(&charge["id"]), "approved").await.expect(400);
        assert_eq!(refused["error"]["message"], "charge has no pending anti-fraud analysis");
    }
    let id = pending(&app, &EVERYTHING(), true).await;
    for wrong in [json!("pending"), json!("x"), json!(1), json!(null)] {
        let path = format!("/v1/charges/{id}/antifraud");
        let details = app.patch(&path, &json!({ "status": wrong })).await.details(400);
        assert!(details[0].starts_with("status "), "{details:?}");
    }
    let other = app.another_client().await;
    let (path, body) = (format!("/v1/charges/{id}/antifraud"), json!({ "status": "approved" }));
    app.call(&other, Method::PATCH, &path, &[], Some(&body)).await.expect(404);
    assert_eq!(read(&app, &id).await["status"], "pre_authorized");
}

async fn in_production_nobody_decides(app: TestApp) {
    let id = pending(&app, &EVERYTHING(), true).await;
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    decide(&app, &id, "approved").await.expect(404);
    assert_eq!(read(&app, &id).await["status"], "pre_authorized");
}

async fn what_the_merchant_has_done_meanwhile_stays(app: TestApp) {
    for (operation, status, verdict) in
        [("capture", "authorized", "reproved"), ("void", "canceled", "approved")]
    {
        let id = pending(&app, &EVERYTHING(), true).await;
        app.post(&format!("/v1/charges/{id}/{operation}"), &json!({})).await.expect(201);
        let charge = decide(&app, &id, verdict).await.expect(200);
        assert_eq!(charge["status"], status);
        assert_eq!(requests(&charge)[0], format!("anti_fraud success {verdict}"));
        assert_eq!(announced(&app, &id).await, ["pending", "pre_authorized", status], "nothing more");
    }
}

/// A charge with a fault of its payment provider.
fn faulty(merchant: &str, identity: &str, operation: &str) -> Value {
    let mut body = analysed(merchant, identity, true);
    let fault =
        json!({ "when": { "operation": operation }, "then": { "decline": "generic" }, "sequence": [1] });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [fault] } });
    body
}

async fn a_refused_capture_leaves_the_reservation(app: TestApp) {
    let merchant = analysing(&app, &json!({ "captureOnApproved": true })).await;
    let charge = app.post("/v1/charges", &faulty(&merchant, APPROVED_RISK, "capture")).await.expect(201);
    assert_eq!(charge["status"], "pre_authorized");
    assert_eq!(requests(&charge)[..2], ["capture failed", "anti_fraud success approved"]);
    let id = text(&charge["id"]);
    assert_eq!(announced(&app, id).await, ["pending", "pre_authorized"]);
    app.post(&format!("/v1/charges/{id}/capture"), &json!({})).await.expect(201);
    assert_eq!(announced(&app, id).await, ["pending", "pre_authorized", "authorized"]);
}

async fn a_refused_void_leaves_the_reservation_to_the_merchant(app: TestApp) {
    let merchant = analysing(&app, &json!({ "refundOnReproved": true })).await;
    let charge = app.post("/v1/charges", &faulty(&merchant, REPROVED, "void")).await.expect(201);
    assert_eq!((text(&charge["status"]), &charge["amount"]), ("pre_authorized", &json!(150)));
    assert_eq!(requests(&charge)[..2], ["void failed", "anti_fraud success reproved"]);
    let id = text(&charge["id"]);
    assert_eq!(announced(&app, id).await, ["pending", "pre_authorized"]);
    let charge = app.post(&format!("/v1/charges/{id}/void"), &json!({})).await.expect(201);
    assert_eq!((text(&charge["status"]), &charge["amount"]), ("canceled", &json!(0)));
}

async fn a_reproved_charge_asks_no_payment_provider(app: TestApp) {
    let merchant = analysing(&app, &json!({ "runBeforeCharge": true })).await;
    let charge = app.post("/v1/charges", &analysed(&merchant, REPROVED, true)).await.expect(201);
    assert_eq!(
        (text(&charge["status"]), requests(&charge)),
        ("failed", vec!["anti_fraud failed reproved".to_owned()])
    );
    let error = &charge["transactionRequests"][0]["providerError"];
    assert_eq!((&error["declinedCode"], &error["retryable"]), (&json!("fraud_suspect"), &json!(false)));
    assert_eq!(charge["responsibleProviderType"], "SANDBOX_ANTIFRAUD");
    assert!(app.books.entries().await.unwrap().is_empty(), "nobody was asked for money");
    assert_eq!(app.books.analyses().await.unwrap().len(), 1);
}

async fn an_unanswered_analysis_has_failed(app: TestApp) {
    let app = app.with_sandbox_deadline(Duration::from_millis(50)).await;
    for (options, status) in [
        (json!({}), "pre_authorized"),
        (json!({ "captureOnError": true }), "authorized"),
        (json!({ "refundOnError": true }), "canceled"),
    ] {
        let merchant = analysing(&app, &options).await;
        let mut body = analysed(&merchant, APPROVED_RISK, true);
        let silence = json!({ "when": { "operation": "anti_fraud" }, "then": { "timeout": "after_effect" } });
        body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [silence] } });
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(charge["status"], status);
        let requests = charge["transactionRequests"].as_array().unwrap();
        let analysis = requests.iter().find(|request| request["requestType"] == "anti_fraud").unwrap();
        assert_eq!(analysis["requestStatus"], "timeout");
        assert_eq!(analysis["fraudAnalysis"], json!({ "score": null, "status": "failed" }));
        let error = &analysis["providerError"];
        assert_eq!(
            (&error["declinedCode"], &error["networkDeniedReason"]),
            (&json!(null), &json!("timeout"))
        );
    }
}

async fn an_answer_is_repeated_byte_for_byte(app: TestApp) {
    for (options, identity) in [
        (json!({ "captureOnApproved": true }), APPROVED_RISK),
        (json!({ "refundOnReproved": true }), REPROVED),
        (json!({ "runBeforeCharge": true }), APPROVED_RISK),
        (EVERYTHING(), APPROVED_RISK),
    ] {
        let merchant = analysing(&app, &options).await;
        let (key, body) = (format!("key {merchant}"), analysed(&merchant, identity, true));
        let first = app.post_with_key("/v1/charges", &key, &body).await;
        first.expect(201);
        app.later(Duration::from_secs(60 * 60)).await;
        let again = app.post_with_key("/v1/charges", &key, &body).await;
        assert_eq!((first.status, &first.bytes), (again.status, &again.bytes), "{options}");
    }
}

async fn only_credit_cards_with_data_are_analysed(app: TestApp) {
    let merchant = analysing(&app, &json!({ "refundOnReproved": true })).await;
    let mut voucher = analysed(&merchant, REPROVED, true);
    voucher["paymentMethod"] = json!({ "paymentType": "voucher" });
    for body in [voucher, charge_body(&merchant, APPROVED)] {
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(
            (text(&charge["status"]), requests(&charge)),
            ("authorized", vec!["authorization success".to_owned()])
        );
    }
    let nothing = Charge::by_card(&merchant, APPROVED).with("fraudAnalysis", json!({})).body();
    let charge = app.post("/v1/charges", &nothing).await.expect(201);
    assert_eq!(charge["status"], "canceled", "the presence of the data asks for the analysis");
    let nobody = app.merchant().await;
    let charge = app.post("/v1/charges", &analysed(&nobody, REPROVED, true)).await.expect(201);
    assert_eq!(requests(&charge), ["authorization success"]);
    app.later(Duration::from_secs(60 * 60)).await;
    assert_eq!(app.books.analyses().await.unwrap().len(), 1);
}

async fn the_first_provider_of_risk_by_priority_analyses(app: TestApp) {
    let mut second = risk(&json!({ "refundOnReproved": true }));
    second["priority"] = json!(3);
    let first = risk(&json!({ "captureOnApproved": true }));
    let merchant = app.merchant_with(json!([second, sandbox("Only", 1), first])).await;
    let charge = app.post("/v1/charges", &analysed(&merchant, REPROVED, true)).await.expect(201);
    assert_eq!(charge["status"], "pre_authorized");
}

async fn a_provider_without_an_adapter_fails_the_analysis(app: TestApp) {
    let konduto = json!({
        "name": "Risk", "priority": 2, "credentials": { "type": "KONDUTO", "secretKey": "k" },
        "options": { "type": "ANTIFRAUD", "refundOnError": true },
    });
    let merchant = app.merchant_with(json!([sandbox("Only", 1), konduto])).await;
    let charge = app.post("/v1/charges", &analysed(&merchant, APPROVED_RISK, true)).await.expect(201);
    assert_eq!(charge["status"], "canceled");
    assert_eq!(requests(&charge)[1], "anti_fraud failed failed");
    let error = &charge["transactionRequests"][1]["providerError"];
    assert_eq!(error["networkDeniedReason"], "no_adapter");
}

async fn a_reservation_that_nobody_decides_expires(app: TestApp) {
    let mut ids = vec![pending(&app, &EVERYTHING(), true).await];
    let merchant = analysing(&app, &json!({ "refundOnReproved": true })).await;
    for body in [analysed(&merchant, APPROVED_RISK, true), faulty(&merchant, REPROVED, "void")] {
        ids.push(text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned());
    }
    for id in &ids {
        assert_eq!(read(&app, id).await["status"], "pre_authorized");
    }
    app.later(Duration::from_secs(8 * 24 * 60 * 60)).await;
    for id in &ids {
        assert_eq!(read(&app, id).await["status"], "canceled");
    }
}

async fn the_explanation_tells_of_the_analysis(app: TestApp) {
    let id = pending(&app, &EVERYTHING(), true).await;
    let path = format!("/v1/charges/{id}/explanation");
    let told = app.get(&path).await.expect(200);
    assert_eq!(told["steps"][1]["outcome"], "verdict_pending");
    assert!(text(&told["text"]).contains("to analyse the risk of BRL 1.50; it decides later"), "{told:#}");
    decide(&app, &id, "reproved").await.expect(200);
    let told = app.get(&path).await.expect(200);
    assert!(text(&told["text"]).contains("decided later: it found the risk too high."), "{told:#}");
    let merchant = analysing(&app, &json!({ "runBeforeCharge": true })).await;
    let failed = app.post("/v1/charges", &analysed(&merchant, REPROVED, true)).await.expect(201);
    let told = app.get(&format!("/v1/charges/{}/explanation", text(&failed["id"]))).await.expect(200);
    assert_eq!((text(&told["stopped"]), text(&told["steps"][0]["then"])), ("reproved", "stopped"));
}

async fn a_refused_reservation_is_not_analysed(app: TestApp) {
    let merchant = analysing(&app, &json!({ "captureOnApproved": true })).await;
    let charge =
        app.post("/v1/charges", &faulty(&merchant, APPROVED_RISK, "authorization")).await.expect(201);
    assert_eq!(
        (text(&charge["status"]), requests(&charge)),
        ("failed", vec!["pre_authorization failed".to_owned()])
    );
    assert!(app.books.analyses().await.unwrap().is_empty());
}
