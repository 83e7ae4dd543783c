//! Charges by card.

use serde_json::{Value, json};

use crate::harness::{APPROVED, TIMED_OUT, TestApp, WRONG_CVV, charge_body, stories};

stories! {
    a_charge_is_declined_by_the_first_provider_and_approved_by_the_second,
    a_final_refusal_asks_nobody_else,
    a_time_out_that_had_no_effect_goes_to_the_next_provider,
}

async fn a_charge_is_declined_by_the_first_provider_and_approved_by_the_second(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let token = app.card_token(APPROVED).await;
    let charge = app
        .post(
            "/v1/charges",
            &json!({
                "merchantId": merchant, "amount": 150, "capture": true, "orderId": "order-231",
                "paymentMethod": { "paymentType": "credit", "installments": 1 },
                "paymentSource": { "sourceType": "token", "tokenId": token },
            }),
        )
        .await
        .expect(201);
    assert_eq!(charge["status"], "authorized");
    let requests = charge["transactionRequests"].as_array().unwrap();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0]["requestStatus"], "success", "the newest first");
    assert_eq!(requests[1]["requestStatus"], "failed");
    assert_eq!(requests[1]["providerError"]["declinedCode"], "try_again");
    assert_eq!(requests[1]["providerError"]["retryable"], true);

    let id = charge["id"].as_str().unwrap();
    assert_eq!(
        app.get(&format!("/v1/charges/{id}")).await.expect(200),
        charge,
        "what was answered is what is read"
    );
    let page = app.get("/v1/charges").await.expect(200);
    assert_eq!(page["items"], json!([charge]));
    assert_eq!(page["meta"]["totalItems"], 1);

    let app = app.restart().await;
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), charge, "and it is still there");
    assert_eq!(app.books.effects().await.unwrap(), 1);
}

async fn a_final_refusal_asks_nobody_else(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, WRONG_CVV)).await.expect(201);
    assert_eq!(charge["status"], "failed");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    let error = &charge["transactionRequests"][0]["providerError"];
    assert_eq!(
        *error,
        json!({
            "message": "Invalid CVV", "declinedCode": "invalid_cvv", "retryable": false,
            "networkDeniedReason": "sandbox invalid cvv", "networkDeniedMessage": "Invalid CVV"
        })
    );
}

async fn a_time_out_that_had_no_effect_goes_to_the_next_provider(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, TIMED_OUT)).await.expect(201);
    assert_eq!(charge["status"], "failed", "the second simulator is silent as well");
    let statuses: Vec<&Value> = charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| &request["requestStatus"])
        .collect();
    assert_eq!(statuses, ["timeout", "timeout"]);
    let error = &charge["transactionRequests"][0]["providerError"];
    assert_eq!(error["declinedCode"], "issuer_not_available");
    assert_eq!(error["networkDeniedReason"], "sandbox timeout");
}
