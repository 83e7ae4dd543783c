//! The payment provider authenticates while it authorizes.

use std::time::Duration;

use regente_domain::provider_type::ProviderType;
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use regente_store::{Batch, Commit, transaction_requests};
use serde_json::json;

use super::refusal;
use crate::support::agreement::{agree, agree_on_all, all_charges, nothing_is_open};
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::charges::read;
use crate::support::payers::stored;
use crate::support::three_d_secure;
use crate::support::three_d_secure::{
    CHALLENGE_FAILS, CHALLENGE_PASSES, ERROR, FRICTIONLESS, HOSTED_CHALLENGE, HOSTED_FRICTIONLESS,
    NOT_ENROLLED, REFUSED, answer, decided, hosted_body, merchant, post_form, requests,
};

stories! {
    a_hosted_challenge_leads_to_the_authorization,
    a_hosted_challenge_that_fails_is_a_refusal,
    a_hosted_challenge_that_is_abandoned_expires,
    a_hosted_challenge_whose_provider_never_answers_goes_to_the_operator,
    without_a_challenge_the_provider_answers_at_once,
    a_hosted_form_leads_to_no_other_address,
    a_challenge_is_answered_by_its_page_alone,
}

async fn a_hosted_challenge_leads_to_the_authorization(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    for card in [HOSTED_CHALLENGE, CHALLENGE_PASSES] {
        let charge = app.post("/v1/charges", &hosted_body(&merchant, card)).await.expect(201);
        assert_eq!(charge["status"], "pending", "{charge:#}");
        assert_eq!(requests(&charge), [("pending", "success")]);
        let data = &charge["threeDSecure2"]["authData"];
        assert_eq!(data["response"]["url"], format!("{ADDRESS}/3ds/step-up"));
        assert!(charge["threeDSecure2"].get("authenticated").is_none(), "no 3DS server was asked");
        let done = decided(&app, &charge, "approve").await;
        assert_eq!(done["status"], "authorized", "{done:#}");
        assert_eq!(requests(&done), [("authorization", "success"), ("pending", "success")]);
    }
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_hosted_challenge_that_fails_is_a_refusal(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    for (card, decision) in [(HOSTED_CHALLENGE, "refuse"), (CHALLENGE_FAILS, "approve")] {
        let charge = app.post("/v1/charges", &hosted_body(&merchant, card)).await.expect(201);
        let done = decided(&app, &charge, decision).await;
        assert_eq!(done["status"], "failed");
        assert_eq!(refusal(&done), ("transaction_not_allowed", "failed_authentication"));
    }
    assert_eq!(app.books.effects().await.unwrap(), 0);
}

async fn a_hosted_challenge_that_is_abandoned_expires(app: TestApp) {
    let app = app.reachable().await;
    let body = hosted_body(&merchant(&app).await, HOSTED_CHALLENGE);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    app.later(Duration::from_secs(16 * 60)).await;
    let done = read(&app, &charge).await;
    assert_eq!(done["status"], "failed");
    assert_eq!(refusal(&done), ("transaction_not_allowed", "cardholder_not_complete_authentication"));
}

async fn a_hosted_challenge_whose_provider_never_answers_goes_to_the_operator(app: TestApp) {
    let app = app.reachable().await;
    let mut body = hosted_body(&merchant(&app).await, HOSTED_CHALLENGE);
    // More than one schedule of looks.
    let looks: Vec<u64> = (1..=40).collect();
    let silent =
        json!({ "when": { "operation": "probe" }, "then": { "reset": "before_effect" }, "sequence": looks });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [silent] } });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let given_up = async || transaction_requests::given_up(&app.app.store, 10).await.unwrap();
    // The cardholder passes the challenge and does not come back.
    answer(&app, &charge, "approve").await;
    app.later(Duration::from_secs(16 * 60)).await;
    assert_eq!(read(&app, &charge).await["status"], "pending");
    app.later(Duration::from_secs(60 * 60)).await;
    assert_eq!(read(&app, &charge).await["status"], "failed");
    assert!(given_up().await.is_empty(), "the provider is still asked");
    app.later(Duration::from_secs(7 * 24 * 60 * 60)).await;
    assert_eq!(given_up().await.len(), 1, "nobody knows whether the provider holds the money");

    // The operator has it asked again until the provider answers.
    while let Some(unknown) = given_up().await.pop() {
        let mut batch = Batch::new(app.client_id());
        transaction_requests::resume(&mut batch, &unknown.request, app.clock.deployment());
        assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
        app.later(Duration::from_secs(7 * 24 * 60 * 60)).await;
    }
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn without_a_challenge_the_provider_answers_at_once(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    for (card, shift, status) in [
        (FRICTIONLESS, true, "authorized"),
        (HOSTED_FRICTIONLESS, true, "authorized"),
        (NOT_ENROLLED, false, "authorized"),
        (NOT_ENROLLED, true, "failed"),
        (REFUSED, false, "failed"),
        (ERROR, false, "failed"),
    ] {
        let mut body = hosted_body(&merchant, card);
        body["threeDSecure2"]["requiresLiabilityShift"] = json!(shift);
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(charge["status"], status, "{card:?}: {charge:#}");
    }
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_hosted_form_leads_to_no_other_address(app: TestApp) {
    let app = app.reachable().await;
    let body = hosted_body(&merchant(&app).await, HOSTED_CHALLENGE);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let mut fields = three_d_secure::fields(&charge);
    fields[2].1 = "https://evil.example/v1/charges/".to_owned();
    assert_eq!(post_form(&app, "/3ds/step-up", &fields).await.status, 400);
}

async fn a_challenge_is_answered_by_its_page_alone(app: TestApp) {
    let app = app.reachable().await;
    let mut body = hosted_body(&merchant(&app).await, HOSTED_CHALLENGE);
    body["capture"] = json!(false);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let key = stored(&app, &charge).await.remove(0).provider_key();
    for what in [
        Staged::Payment { amount: None },
        Staged::FurtherPayment { amount: None },
        Staged::Refusal,
        Staged::Withdrawal,
    ] {
        let event = StagedEvent { key, at: app.clock.deployment(), what };
        let staged = app.app.providers.stage(ProviderType::Sandbox, event).await;
        assert_eq!(staged, Err(StageRefusal::NothingWaits), "{what:?}");
    }
    let charge = decided(&app, &charge, "approve").await;
    assert_eq!(charge["status"], "pre_authorized", "{charge:#}");
    agree(&app.books, &charge).await;
}
