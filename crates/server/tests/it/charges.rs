//! Charges by card: the answer, the stored records, and the provider that is called.

pub(crate) mod boleto;
mod coming_back;
pub(crate) mod crashes;
pub(crate) mod payers;
pub(crate) mod pix;
mod recurrence;
pub(crate) mod redirects;
pub(crate) mod routing;
mod sources;
mod test_cards;
mod vouchers;
mod wallets;

use regente_domain::currency::Currency;
use regente_store::{audit, events};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::read::{newest, text};

stories! {
    a_charge_is_declined_by_the_first_provider_and_approved_by_the_second,
    a_final_refusal_asks_nobody_else,
    a_time_out_that_had_no_effect_goes_to_the_next_provider,
    a_charge_is_answered_as_documented,
    without_capture_the_amount_is_only_reserved,
    a_voucher_is_captured_at_once_and_echoes_items_and_buyer,
    every_number_of_installments_is_stored,
    recurrence_is_stored,
    references_come_back_as_they_were_sent,
    free_form_objects_keep_the_order_of_their_members,
    fraud_analysis_comes_back_as_metadata,
    every_listed_currency_is_charged_by_the_simulator,
    nulls_and_empty_lists_are_as_absent,
    events_and_actors_tell_who_did_what,
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

    // The answer repeats the token; the token is not stored.
    let mut charge = charge;
    let echoed = charge["paymentSource"].as_object_mut().unwrap().remove("tokenId");
    assert_eq!(echoed, Some(token.clone().into()));

    let id = text(&charge["id"]);
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
    let charge = charged(&app, &charge_body(&merchant, WRONG_CVV)).await;
    assert_eq!(charge["status"], "failed");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1);
    assert_eq!(
        newest(&charge)["providerError"],
        json!({
            "message": "Invalid CVV", "declinedCode": "invalid_cvv", "retryable": false,
            "networkDeniedReason": "sandbox invalid cvv", "networkDeniedMessage": "Invalid CVV"
        })
    );
}

async fn a_time_out_that_had_no_effect_goes_to_the_next_provider(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = charged(&app, &charge_body(&merchant, TIMED_OUT)).await;
    assert_eq!(charge["status"], "failed", "the second simulator is silent as well");
    let statuses: Vec<&Value> = charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| &request["requestStatus"])
        .collect();
    assert_eq!(statuses, ["timeout", "timeout"]);
    let error = &newest(&charge)["providerError"];
    assert_eq!(error["declinedCode"], "issuer_not_available");
    assert_eq!(error["networkDeniedReason"], "sandbox timeout");
}

async fn a_charge_is_answered_as_documented(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let provider = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200)["providers"][0].clone();
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let request = newest(&charge);
    let expected = json!({
        "id": charge["id"], "clientId": app.client.id, "merchantId": merchant, "customerId": null,
        "description": null, "orderId": null, "providerReferenceKey": null,
        "createdAt": START, "updatedAt": charge["updatedAt"],
        "amount": 150, "originalAmount": 150, "currency": "BRL", "statementDescriptor": null,
        "capture": true, "isDispute": false, "status": "authorized", "responsibleProviderType": "SANDBOX",
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "cardId": charge["paymentSource"]["cardId"] },
        "transactionRequests": [{
            "id": request["id"], "createdAt": START, "updatedAt": request["updatedAt"],
            "idempotencyKey": request["idempotencyKey"], "requestId": null,
            "providerId": provider["id"], "providerType": "SANDBOX",
            "transactionId": request["transactionId"], "amount": 150,
            "authorizationCode": request["authorizationCode"],
            "authorizationNsu": request["authorizationNsu"], "responseCode": null,
            "requestStatus": "success", "requestStatusReason": null, "requestType": "authorization",
            "tokenizedPayment": false, "responseTs": request["responseTs"],
            "providerAuthorization": request["providerAuthorization"],
        }],
        "appInfo": null,
    });
    assert_eq!(charge, expected, "no member more and none less");
    for id in [&charge["id"], &charge["paymentSource"]["cardId"], &request["id"], &request["idempotencyKey"]]
    {
        assert!(Uuid::parse_str(text(id)).is_ok(), "{id}");
    }
    assert!(text(&charge["updatedAt"]).ends_with('Z'));
    assert!(charge["updatedAt"].as_str() > charge["createdAt"].as_str(), "it changed once");
    assert!(text(&request["responseTs"]).ends_with("ms"));
    let authorization = &request["providerAuthorization"];
    let codes = [
        &request["authorizationCode"],
        &request["authorizationNsu"],
        &authorization["networkAuthorizationCode"],
        &authorization["networkResponseCode"],
    ];
    for code in codes {
        assert!(text(code).len() == 7 && text(code).bytes().all(|byte| byte.is_ascii_digit()), "{code}");
    }

    let refused = charged(&app, &charge_body(&merchant, WRONG_CVV)).await;
    let request = newest(&refused);
    assert_eq!((&request["authorizationCode"], &request["authorizationNsu"]), (&Value::Null, &Value::Null));
    assert!(request.get("providerAuthorization").is_none() && request.get("providerError").is_some());
}

async fn without_capture_the_amount_is_only_reserved(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut body = Charge::by_card(&merchant, APPROVED).reserved().body();
    let charge = charged(&app, &body).await;
    assert_eq!((&charge["status"], &charge["capture"]), (&json!("pre_authorized"), &json!(false)));
    assert_eq!(newest(&charge)["requestType"], "pre_authorization");
    body.as_object_mut().unwrap().remove("capture");
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "pre_authorized", "without the member the amount is not captured");
}

async fn a_voucher_is_captured_at_once_and_echoes_items_and_buyer(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let items = json!([{ "id": "1", "title": "Almoço", "unitPrice": "150", "quantity": 1, "b": 1, "a": 2 }]);
    let buyer = json!({ "name": "Jose", "identity": "11111111111", "billingAddress": { "city": "Recife" } });
    let body = Charge::by_card(&merchant, APPROVED)
        .reserved()
        .with("paymentMethod", json!({ "paymentType": "voucher", "items": items, "customer": buyer }))
        .body();
    let charge = charged(&app, &body).await;
    assert_eq!(charge["status"], "authorized", "vouchers are never reserved");
    assert_eq!(charge["capture"], false, "what was sent is echoed");
    assert_eq!(newest(&charge)["requestType"], "authorization");
    let method = json!({ "paymentType": "voucher", "items": items, "customer": buyer });
    assert_eq!(charge["paymentMethod"].to_string(), method.to_string());
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read.to_string(), charge.to_string());
}

async fn every_number_of_installments_is_stored(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for installments in 1..=24 {
        let mut body = charge_body(&merchant, APPROVED);
        body["paymentMethod"]["installments"] = json!(installments);
        let charge = charged(&app, &body).await;
        assert_eq!(charge["status"], "authorized");
        assert_eq!(charge["paymentMethod"]["installments"], installments);
    }
    let mut body = charge_body(&merchant, APPROVED);
    body["paymentMethod"].as_object_mut().unwrap().remove("installments");
    assert_eq!(charged(&app, &body).await["paymentMethod"]["installments"], 1);
}

async fn recurrence_is_stored(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for recurrence in ["initial", "subsequent", "unscheduled"] {
        let mut body = charge_body(&merchant, APPROVED);
        body["paymentMethod"]["recurrence"] = json!(recurrence);
        let charge = charged(&app, &body).await;
        let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
        assert_eq!(read["paymentMethod"]["recurrence"], recurrence);
    }
}

async fn references_come_back_as_they_were_sent(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = Charge::by_card(&merchant, APPROVED)
        .with("statementDescriptor", "LOJA JOÃO")
        .with("description", json!("Order 231 – \u{1F355} \"quoted\"\nsecond line"))
        .with("orderId", "order, 231")
        .with("providerReferenceKey", "ref-1")
        .with("unknown", json!({ "ignored": true }))
        .body();
    let charge = charged(&app, &body).await;
    for name in ["statementDescriptor", "description", "orderId", "providerReferenceKey"] {
        assert_eq!(charge[name], body[name], "{name}");
    }
    assert!(charge.get("unknown").is_none());
    assert_eq!(app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200), charge);
}

async fn free_form_objects_keep_the_order_of_their_members(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = Charge::by_card(&merchant, APPROVED)
        .with(
            "paymentFlow",
            json!({ "metadata": { "zebra": 1, "alpha": [{ "y": 1.50, "x": null }], "Mid": "é" } }),
        )
        .with(
            "appInfo",
            json!({ "platform": { "name": "shop", "integrator": "x" }, "device": { "version": "1" } }),
        )
        .body();
    let charge = charged(&app, &body).await;
    for name in ["paymentFlow", "appInfo"] {
        assert_eq!(charge[name].to_string(), body[name].to_string(), "{name}");
    }
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read.to_string(), charge.to_string(), "also when it is read");
}

async fn fraud_analysis_comes_back_as_metadata(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut body = Charge::by_card(&merchant, APPROVED).with("fraudAnalysis", json!({
        "sla": 10, "orderOrigin": "web", "device": { "id": "d" },
        "customer": { "name": "Ana", "identity": "97055503019", "identityType": "CPF", "email": "ana@example.com",
            "browser": { "ipAddress": "203.0.113.9" } },
        "cart": { "items": [{ "name": "Shoe", "quantity": 1, "unitPrice": 150, "risk": "Low" }] },
    })).body();
    let charge = charged(&app, &body).await;
    assert_eq!(
        charge["fraudAnalysisMetadata"],
        json!({
            "sla": 10, "orderOrigin": "web", "operationalSystem": null, "country": null,
            "cart": { "items": [{ "name": "Shoe", "quantity": 1, "unitPrice": 150, "risk": "Low" }] },
            "customer": { "name": "Ana", "identity": "97055503019", "identityType": "CPF", "birthdate": null,
                "phone": null, "email": "ana@example.com", "billingAddress": null, "deliveryAddress": null },
        }),
        "unset members are null, the browser is not shown"
    );
    assert_eq!(app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200), charge);
    body["fraudAnalysis"] = json!({ "cart": { "items": { "name": "single" } } });
    let charge = charged(&app, &body).await;
    assert_eq!(charge["fraudAnalysisMetadata"]["cart"]["items"], json!({ "name": "single" }));
    body["fraudAnalysis"] = json!({});
    assert!(charged(&app, &body).await.get("fraudAnalysisMetadata").is_some());
}

async fn every_listed_currency_is_charged_by_the_simulator(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = app.card(APPROVED).await;
    let mut count = 0;
    for currency in Currency::all().map(Currency::code) {
        let body = Charge::by_source(&merchant, json!({ "sourceType": "card", "cardId": card }))
            .with("currency", json!(currency))
            .body();
        let charge = charged(&app, &body).await;
        assert_eq!((&charge["status"], &charge["currency"]), (&json!("authorized"), &json!(currency)));
        count += 1;
    }
    assert_eq!(count, 135);
}

async fn nulls_and_empty_lists_are_as_absent(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut body = charge_body(&merchant, APPROVED);
    for name in ["customerId", "currency", "orderId", "appInfo", "threeDSecure2", "fraudAnalysis", "vendor"] {
        body[name] = Value::Null;
    }
    body["splitRules"] = json!([]);
    body["paymentMethod"]["recurrence"] = Value::Null;
    let charge = charged(&app, &body).await;
    assert_eq!((&charge["status"], &charge["currency"]), (&json!("authorized"), &json!("BRL")));
    for absent in ["fraudAnalysisMetadata", "paymentFlow", "splitRules", "threeDSecure2", "platformFee"] {
        assert!(charge.get(absent).is_none(), "{absent}");
    }
}

async fn events_and_actors_tell_who_did_what(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let failed = charged(&app, &charge_body(&merchant, TIMED_OUT)).await;
    let public = app.client_token(json!(["charges"])).await;
    let body = Charge::by_card(&merchant, APPROVED).reserved().body();
    let reserved =
        app.call(&public, axum::http::Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    for (charge, names, actor) in [
        (&charge, ["pending", "authorized"], "key:"),
        (&failed, ["pending", "failed"], "key:"),
        (&reserved, ["pending", "pre_authorized"], "client_token:"),
    ] {
        let id: Uuid = text(&charge["id"]).parse().unwrap();
        let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), names);
        assert!(events.is_sorted_by_key(|event| (event.version, event.id)), "in the order of what happened");
        assert!(events.iter().all(|event| event.actor.starts_with(actor)), "{events:?}");
    }
    let card: Uuid = app.card(APPROVED).await.parse().unwrap();
    app.delete(&format!("/v1/cards/{card}")).await.expect(204);
    let trail = audit::of_object(&app.app.store, app.client_id(), card, 10).await.unwrap();
    let actions: Vec<&str> = trail.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["card.deleted", "card.created"]);
    assert!(trail.iter().all(|entry| entry.actor.starts_with("key:") && entry.request_id.is_some()));
}
