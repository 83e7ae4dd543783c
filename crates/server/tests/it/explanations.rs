//! Explanations of charges, for a secret key and for the payer's public key.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::pix_body;
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV, charge_body};
use crate::support::charges::charged;
use crate::support::providers::books::FileBooks;
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    the_story_of_a_charge_that_the_second_provider_took,
    providers_that_cannot_serve_the_charge_are_named_with_the_reason,
    a_failed_charge_says_why_nobody_else_was_asked,
    captures_refunds_and_what_a_tester_sets_are_told,
    an_unknown_outcome_is_told_with_its_reason,
    an_answer_that_was_lost_is_told_with_how_it_was_found_out,
    a_payer_who_paid_and_one_who_did_not_come_are_told_by_whom_it_is_known,
    a_deleted_merchant_still_has_its_stories,
    a_public_key_is_told_of_whom_was_asked_and_no_more,
    there_is_no_story_without_a_charge,
}

async fn explained(app: &TestApp, charge: &Value) -> Value {
    app.get(&format!("/v1/charges/{}/explanation", text(&charge["id"]))).await.expect(200)
}

/// The names and ids of a merchant's providers, by name.
async fn provider_id(app: &TestApp, merchant: &str, name: &str) -> Value {
    let merchant = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    let providers = merchant["providers"].as_array().unwrap();
    providers.iter().find(|provider| provider["name"] == name).unwrap()["id"].clone()
}

async fn the_story_of_a_charge_that_the_second_provider_took(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let told = explained(&app, &charge).await;
    let (first, second) =
        (provider_id(&app, &merchant, "Declines").await, provider_id(&app, &merchant, "Approves").await);
    let declines =
        json!({ "providerId": first, "providerType": "SANDBOX", "name": "Declines", "priority": 1 });
    let approves =
        json!({ "providerId": second, "providerType": "SANDBOX", "name": "Approves", "priority": 2 });
    assert_eq!(
        told["providers"],
        json!([
            { "provider": declines, "skipped": null, "circuit": null },
            { "provider": approves, "skipped": null, "circuit": null },
        ])
    );
    assert_eq!(
        (&told["chargeId"], &told["status"], &told["stopped"]),
        (&charge["id"], &json!("authorized"), &Value::Null)
    );
    let requests = &charge["transactionRequests"];
    let millis =
        |request: &Value| text(&request["responseTs"]).trim_end_matches("ms").parse::<u64>().unwrap();
    assert_eq!(
        told["steps"],
        json!([
            { "transactionRequestId": requests[1]["id"], "provider": declines, "requestType": "authorization",
              "amount": 150, "outcome": "declined", "declinedCode": "try_again", "retryable": true,
              "durationMs": millis(&requests[1]), "beganAt": requests[1]["createdAt"],
              "endedAt": requests[1]["updatedAt"], "openReason": null, "toldBy": null, "probes": 0,
              "nextProbeAt": null, "givenUpAt": null, "setByHand": false, "then": "next_asked" },
            { "transactionRequestId": requests[0]["id"], "provider": approves, "requestType": "authorization",
              "amount": 150, "outcome": "approved", "declinedCode": null, "retryable": null,
              "durationMs": millis(&requests[0]), "beganAt": requests[0]["createdAt"],
              "endedAt": requests[0]["updatedAt"], "openReason": null, "toldBy": null, "probes": 0,
              "nextProbeAt": null, "givenUpAt": null, "setByHand": false, "then": "done" },
        ])
    );
    let story = text(&told["text"]);
    for sentence in [
        "of BRL 1.50 by credit, made at 2026-03-23T15:12:38.379Z: authorized.",
        "1. Declines (SANDBOX, priority 1) was asked for BRL 1.50; it refused after ",
        "2. Approves (SANDBOX, priority 2) was asked for BRL 1.50; it approved after ",
        "\n\nSANDBOX took it: BRL 1.50.",
    ] {
        assert!(story.contains(sentence), "{sentence}\nis missing in\n{story}");
    }
}

async fn providers_that_cannot_serve_the_charge_are_named_with_the_reason(app: TestApp) {
    let voucher =
        json!({ "name": "Voucher", "priority": 1, "credentials": { "type": "VR", "affiliationId": "a" } });
    let merchant = app.merchant_with(json!([voucher, sandbox("Main", 2)])).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let told = explained(&app, &charge).await;
    assert_eq!(
        (&told["providers"][0]["skipped"], &told["providers"][1]["skipped"]),
        (&json!("payment_type"), &Value::Null)
    );
    assert!(
        text(&told["text"]).contains("\n- Voucher (VR, priority 1) was skipped: it does not take credit.\n")
    );
}

async fn a_failed_charge_says_why_nobody_else_was_asked(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = charged(&app, &charge_body(&merchant, WRONG_CVV)).await;
    let told = explained(&app, &charge).await;
    assert_eq!((&told["stopped"], &told["steps"][0]["then"]), (&json!("not_retryable"), &json!("stopped")));
    assert!(text(&told["text"]).contains("with invalid_cvv"), "{}", told["text"]);

    let charge = charged(&app, &charge_body(&merchant, TIMED_OUT)).await;
    let told = explained(&app, &charge).await;
    assert_eq!((&told["stopped"], &told["status"]), (&json!("no_provider_left"), &json!("failed")));
    let steps = told["steps"].as_array().unwrap();
    let outcomes: Vec<_> = steps.iter().map(|step| (&step["outcome"], &step["then"])).collect();
    let no_effect = json!("no_effect");
    assert_eq!(outcomes, [(&no_effect, &json!("next_asked")), (&no_effect, &json!("stopped"))]);
    assert!(
        text(&told["text"])
            .contains("its books say that nothing happened. No other provider was left to ask.")
    );
}

async fn captures_refunds_and_what_a_tester_sets_are_told(app: TestApp) {
    let body = Charge::by_card(&app.merchant().await, APPROVED).reserved().body();
    let charge = charged(&app, &body).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    app.post(&format!("{path}/capture"), &json!({ "amount": 100 })).await.expect(201);
    app.post(&format!("{path}/void"), &json!({ "amount": 30 })).await.expect(201);
    let after_refund = explained(&app, &charge).await;
    let types = |told: &Value| -> Vec<Value> {
        told["steps"].as_array().unwrap().iter().map(|step| step["requestType"].clone()).collect()
    };
    assert_eq!(types(&after_refund), ["pre_authorization", "capture", "void"]);
    let story = text(&after_refund["text"]);
    assert!(
        story.contains("2. Main (SANDBOX, priority 1) was asked to capture BRL 1.00; it approved after "),
        "{story}"
    );
    assert!(
        story.contains("3. Main (SANDBOX, priority 1) was asked to give back BRL 0.30; it approved after "),
        "{story}"
    );
    let end = "SANDBOX took BRL 1.00 of the BRL 1.50 that were reserved; BRL 0.30 given back, BRL 0.70 left.";
    assert!(story.ends_with(end), "{story}");

    app.post(&path, &json!({ "status": "charged_back" })).await.expect(200);
    let told = explained(&app, &charge).await;
    assert_eq!(told["steps"][3]["setByHand"], false, "it happened at the simulator");
    let story = text(&told["text"]);
    assert!(story.contains("4. Main (SANDBOX, priority 1) reported a chargeback of BRL 0.70."), "{story}");
    assert!(story.ends_with("\n\nThe cardholder's bank took it back."));

    let refused = charged(&app, &charge_body(&app.merchant().await, WRONG_CVV)).await;
    app.post(&format!("/v1/charges/{}", text(&refused["id"])), &json!({ "status": "authorized" }))
        .await
        .expect(200);
    let told = explained(&app, &refused).await;
    assert_eq!(
        (&told["steps"][1]["setByHand"], &told["steps"][0]["setByHand"]),
        (&json!(true), &json!(false))
    );
}

async fn an_unknown_outcome_is_told_with_its_reason(app: TestApp) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    let merchant = app.merchant().await;
    file.lose();
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let told = explained(&app, &charge).await;
    let step = &told["steps"][0];
    assert_eq!((&told["status"], told["steps"].as_array().unwrap().len()), (&json!("pending"), 1));
    assert_eq!((&step["outcome"], &step["then"]), (&json!("unknown"), &json!("waiting")));
    assert_eq!((&step["openReason"], &step["probes"]), (&json!("provider_failed"), &json!(0)));
    assert!(step["nextProbeAt"].is_string() && step["endedAt"].is_null());
    file.find();
    app.later(Duration::from_secs(60)).await;
    let told = explained(&app, &charge).await;
    assert_eq!(
        (&told["stopped"], &told["steps"][0]["outcome"]),
        (&json!("interrupted"), &json!("no_effect"))
    );
    assert_eq!(told["steps"][0]["probes"], 1);
    assert!(
        text(&told["text"])
            .contains("it failed; its books say that nothing happened. It became known only when")
    );
}

async fn an_answer_that_was_lost_is_told_with_how_it_was_found_out(app: TestApp) {
    let merchant = app.merchant().await;
    let lost = [
        (json!({ "timeout": "after_effect" }), "timed_out", "it did not answer in time"),
        (json!({ "reset": "after_effect" }), "connection_lost", "the connection to it broke"),
        (json!({ "server_error": "after_effect" }), "provider_failed", "it failed"),
        (json!({ "garbage": "after_effect" }), "unreadable", "its answer could not be read"),
    ];
    for (fault, reason, sentence) in lost {
        let mut body = charge_body(&merchant, APPROVED);
        let faults = json!([{ "when": { "operation": "authorization" }, "then": fault }]);
        body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": faults } });
        let charge = charged(&app, &body).await;
        assert_eq!(charge["status"], "authorized", "{charge:#}");
        let told = explained(&app, &charge).await;
        let step = &told["steps"][0];
        assert_eq!((&step["openReason"], &step["toldBy"]), (&json!(reason), &json!("probe")), "{told:#}");
        let expected = format!("{sentence}; asked again, it said that it was done.");
        assert!(text(&told["text"]).contains(&expected), "{told:#}");
    }
    let mut body = charge_body(&merchant, APPROVED);
    let lost =
        json!([{ "when": { "operation": "void" }, "then": { "timeout": "after_effect" }, "sequence": [1] }]);
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": lost } });
    let charge = charged(&app, &body).await;
    app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(201);
    let told = explained(&app, &charge).await;
    assert_eq!(told["steps"][1]["openReason"], "timed_out", "{told:#}");
    if told["steps"][1]["outcome"] == "unknown" {
        app.later(Duration::from_secs(60)).await;
    }
    let told = explained(&app, &charge).await;
    assert_eq!(told["steps"][1]["toldBy"], "repetition", "{told:#}");
    let expected = "it did not answer in time; sent to it again under the same key, it was approved.";
    assert!(text(&told["text"]).contains(expected), "{told:#}");
}

async fn a_payer_who_paid_and_one_who_did_not_come_are_told_by_whom_it_is_known(app: TestApp) {
    let merchant = app.merchant().await;
    let source = json!({ "sourceType": "customer", "customer": {
        "name": "Maria", "phoneNumber": "21988899909", "email": "maria@example.com",
        "document": { "type": "cpf", "number": "36243319067" } } });
    let mut body = pix_body(&merchant, source);
    body["amount"] = json!(150);
    body["paymentMethod"]["expiresIn"] = json!(60);
    let (paid, expired) = (charged(&app, &body).await, charged(&app, &body).await);
    let path = format!("/v1/charges/{}", text(&paid["id"]));
    app.post(&path, &json!({ "status": "authorized" })).await.expect(200);
    let told = explained(&app, &paid).await;
    let expected = "2. The payer paid Main (SANDBOX, priority 1) BRL 1.50, as it said when it was asked.";
    assert!(text(&told["text"]).contains(expected), "{told:#}");
    app.later(Duration::from_secs(3600)).await;
    let told = explained(&app, &expired).await;
    let step = &told["steps"][1];
    assert!(text(&told["text"]).contains("2. The payer "), "{told:#}");
    assert!(!text(&told["text"]).contains("it refused"), "nobody refused: {told:#}");
    assert!(step["toldBy"].is_string(), "{told:#}");
}

async fn a_deleted_merchant_still_has_its_stories(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let before = explained(&app, &charge).await;
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    assert_eq!(explained(&app, &charge).await, before);
    assert_eq!(before["providers"][0]["provider"]["name"], "Main");
}

async fn a_public_key_is_told_of_whom_was_asked_and_no_more(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Acquirer One", 1), sandbox("Acquirer Two", 2)])).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let public = app.client_token(json!(["charges"])).await;
    let path = format!("/v1/charges/{}/explanation", text(&charge["id"]));
    let told = app.call(&public, axum::http::Method::GET, &path, &[], None).await.expect(200);
    let asked = json!({ "providerId": charge["transactionRequests"][0]["providerId"], "providerType": "SANDBOX",
        "name": null, "priority": null });
    assert_eq!(told["providers"], json!([{ "provider": asked, "skipped": null, "circuit": null }]));
    assert_eq!(told["steps"][0]["provider"], asked);
    let whole = told.to_string();
    assert!(!whole.contains("Acquirer") && !whole.contains("priority 1"), "{whole}");
}

async fn there_is_no_story_without_a_charge(app: TestApp) {
    app.get("/v1/charges/3f1c1b1e-2a7b-4a57-9d35-000000000000/explanation").await.expect(404);
    app.get("/v1/charges/nonsense/explanation").await.expect(404);
}
