//! Which provider is called, which is skipped, and the stored explanation (`docs/interface/routing.md`).

use std::time::Duration;

use regente_domain::routing::explanation::{Skipped, Stopped};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, nupay_body, pix_body};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV, charge_body, payers};
use crate::support::charges::{charged, single_merchant};
use crate::support::providers::{cielo, sandbox};
use crate::support::read::{explanation, newest, skipped, text};

stories! {
    a_provider_that_charges_in_reais_alone_is_skipped_for_dollars,
    what_moves_reais_alone_is_asked_of_nobody_in_another_currency,
    a_voucher_provider_is_skipped_for_credit,
    a_provider_with_fewer_installments_is_skipped,
    a_provider_that_cannot_reserve_is_skipped_without_capture,
    without_a_usable_provider_nothing_is_stored,
    a_type_without_adapter_refuses_and_the_next_one_is_asked,
    providers_are_asked_by_priority,
    every_provider_is_asked_once_while_refusals_are_retryable,
    a_used_up_budget_ends_the_charge_after_the_first_refusal,
    a_final_refusal_says_why_nobody_else_was_asked,
    a_deleted_merchant_is_not_found,
}

fn voucher_provider(priority: i64) -> Value {
    json!({ "name": "Voucher", "priority": priority, "credentials": { "type": "VR", "affiliationId": "a" } })
}

async fn a_provider_that_charges_in_reais_alone_is_skipped_for_dollars(app: TestApp) {
    let merchant = app.merchant_with(json!([cielo(1), sandbox("Main", 2)])).await;
    let body = Charge::by_card(&merchant, APPROVED).with("currency", "USD").body();
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1, "it was not asked");
    assert_eq!(skipped(&app, &charge).await, [Some(Skipped::Currency), None]);
}

async fn what_moves_reais_alone_is_asked_of_nobody_in_another_currency(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for mut body in [
        pix_body(&merchant, described(jose())),
        boleto_body(&merchant, described(jose())),
        nupay_body(&merchant),
        payers::drip_body(&merchant),
        payers::picpay_body(&merchant),
    ] {
        body["currency"] = json!("USD");
        let refused = app.post("/v1/charges", &body).await.expect(400);
        let payment_type = text(&body["paymentMethod"]["paymentType"]);
        let message = format!("no provider available for paymentType {payment_type}");
        assert_eq!(refused["error"]["message"], message);
    }
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_voucher_provider_is_skipped_for_credit(app: TestApp) {
    let risk = json!({ "name": "Risk", "priority": 1, "credentials": { "type": "SANDBOX_ANTIFRAUD", "apiKey": "a" } });
    let merchant = app.merchant_with(json!([risk, voucher_provider(2), sandbox("Main", 3)])).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    assert_eq!(
        skipped(&app, &charge).await,
        [Some(Skipped::NotAPaymentProvider), Some(Skipped::PaymentType), None]
    );
}

async fn a_provider_with_fewer_installments_is_skipped(app: TestApp) {
    let mut few = sandbox("Few", 1);
    few["options"] = json!({ "type": "SANDBOX", "supports": { "installmentsMax": 6 } });
    let merchant = app.merchant_with(json!([few, sandbox("Many", 2)])).await;
    let mut body = charge_body(&merchant, APPROVED);
    for (installments, expected) in [(6, None), (7, Some(Skipped::Installments))] {
        body["paymentMethod"]["installments"] = json!(installments);
        let charge = charged(&app, &body).await;
        assert_eq!(skipped(&app, &charge).await, [expected, None]);
    }
    // A voucher ignores installments.
    body["paymentMethod"]["paymentType"] = json!("voucher");
    assert_eq!(skipped(&app, &charged(&app, &body).await).await, [None, None]);
}

async fn a_provider_that_cannot_reserve_is_skipped_without_capture(app: TestApp) {
    let braspag = json!({ "name": "No reservation", "priority": 1, "credentials":
        { "type": "BRASPAG", "clientSecret": "s", "merchantId": "m", "merchantKey": "k" } });
    let merchant = app.merchant_with(json!([braspag, sandbox("Main", 2)])).await;
    let body = Charge::by_card(&merchant, APPROVED).reserved().body();
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "pre_authorized");
    assert_eq!(skipped(&app, &charge).await, [Some(Skipped::PreAuthorization), None]);
}

async fn without_a_usable_provider_nothing_is_stored(app: TestApp) {
    let merchant = app.merchant_with(json!([cielo(1), voucher_provider(2)])).await;
    let token = app.card_token(APPROVED).await;
    let mut body = Charge::by_card(&merchant, APPROVED)
        .with("currency", "USD")
        .with("paymentSource", json!({ "sourceType": "token", "tokenId": token }))
        .body();
    let answer = app.post_with_key("/v1/charges", "key", &body).await;
    assert_eq!(
        answer.expect(400),
        json!({ "error": { "type": "invalid_request_error", "code": 400,
            "message": "no provider available for paymentType credit", "details": [] } })
    );
    let empty = app.merchant_with(json!([voucher_provider(1)])).await;
    let answer = app.post("/v1/charges", &charge_body(&empty, APPROVED)).await.expect(400);
    assert_eq!(answer["error"]["message"], "no provider available for paymentType credit");
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
    assert_eq!(app.get("/v1/cards").await.expect(200)["meta"]["totalItems"], 0);
    body["merchantId"] = json!(app.merchant().await);
    let charge = app.post_with_key("/v1/charges", "key", &body).await.expect(201);
    assert_eq!(charge["status"], "authorized", "neither the token nor the key was used up");
}

async fn a_type_without_adapter_refuses_and_the_next_one_is_asked(app: TestApp) {
    let merchant = app.merchant_with(json!([cielo(1), sandbox("Main", 2)])).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(
        (&charge["status"], &charge["responsibleProviderType"]),
        (&json!("authorized"), &json!("SANDBOX"))
    );
    let refused = &charge["transactionRequests"][1];
    assert_eq!((&refused["providerType"], &refused["requestStatus"]), (&json!("CIELO"), &json!("failed")));
    assert_eq!(refused["providerError"]["declinedCode"], "invalid_merchant");
    assert_eq!(refused["providerError"]["retryable"], true);
    let alone = app.merchant_with(json!([cielo(1)])).await;
    let charge = charged(&app, &charge_body(&alone, APPROVED)).await;
    assert_eq!((&charge["status"], &charge["responsibleProviderType"]), (&json!("failed"), &json!("CIELO")));
    assert_eq!(explanation(&app, &charge).await.stopped, Some(Stopped::NoProviderLeft));
}

async fn providers_are_asked_by_priority(app: TestApp) {
    let merchant =
        app.merchant_with(json!([sandbox("Third", 9), sandbox("First", 1), sandbox("Second", 5)])).await;
    let providers = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200)["providers"].clone();
    let id_of = |name: &str| {
        let mut providers = providers.as_array().unwrap().iter();
        providers.find(|provider| provider["name"] == name).unwrap()["id"].clone()
    };
    let charge = charged(&app, &charge_body(&merchant, TIMED_OUT)).await;
    let asked: Vec<Value> = charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|request| request["providerId"].clone())
        .collect();
    assert_eq!(asked, ["First", "Second", "Third"].map(id_of));
    let keys: std::collections::BTreeSet<&str> = charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| text(&request["idempotencyKey"]))
        .collect();
    assert_eq!(keys.len(), 3, "each call has a key of its own");
}

async fn every_provider_is_asked_once_while_refusals_are_retryable(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = charged(&app, &charge_body(&merchant, ("5521448129190195", "880"))).await;
    assert_eq!(charge["status"], "failed");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 2);
    assert_eq!(explanation(&app, &charge).await.stopped, Some(Stopped::NoProviderLeft));
}

async fn a_used_up_budget_ends_the_charge_after_the_first_refusal(app: TestApp) {
    let app = app.with_settings(|settings| settings.charge_budget = Duration::ZERO).await;
    let merchant = app.fallback_merchant().await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    assert_eq!(charge["status"], "failed");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    assert_eq!(newest(&charge)["providerError"]["retryable"], true, "it could have been tried");
    assert_eq!(explanation(&app, &charge).await.stopped, Some(Stopped::BudgetUsedUp));
    assert_eq!(app.books.effects().await.unwrap(), 0);
}

async fn a_final_refusal_says_why_nobody_else_was_asked(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = charged(&app, &charge_body(&merchant, WRONG_CVV)).await;
    assert_eq!(explanation(&app, &charge).await.stopped, Some(Stopped::NotRetryable));
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let explanation = explanation(&app, &charge).await;
    assert_eq!((explanation.stopped, explanation.considered.len()), (None, 2));
}

async fn a_deleted_merchant_is_not_found(app: TestApp) {
    let merchant = app.merchant().await;
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    assert_eq!(
        app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.details(404),
        ["merchantId was not found"]
    );
}
