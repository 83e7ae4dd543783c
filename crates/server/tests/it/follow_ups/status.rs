//! `POST /v1/charges/{id}`: a tester sets the status (`docs/interface/sandbox.md#status`).

use axum::http::Method;
use regente_engine::settings::Mode;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{TIMED_OUT, charge_body};
use crate::support::charges::{captured, reserved, void};
use crate::support::providers::sandbox;
use crate::support::read::{announced, is, text, told};

stories! {
    every_status_of_a_card_can_be_set,
    a_failed_charge_can_be_made_to_stand,
    what_a_provider_has_is_given_back_after_a_status_was_set,
    final_states_stay,
    what_is_not_for_cards_is_refused_by_name,
    the_same_key_sets_a_status_once,
    in_production_there_is_no_such_operation,
}

async fn every_status_of_a_card_can_be_set(app: TestApp) {
    for (status, amount, kind, ended, event) in [
        ("authorized", 100, "authorization", "success", "authorized"),
        ("voided", 0, "void", "success", "voided"),
        ("charged_back", 100, "charge_back", "success", "charged_back"),
        ("failed", 100, "authorization", "failed", "failed"),
    ] {
        let id = captured(&app).await;
        let charge = app.post(&format!("/v1/charges/{id}"), &json!({ "status": status })).await.expect(200);
        assert_eq!(told(&charge), is(status, amount, 100, (kind, ended, 100)));
        // A refund is asked for at the provider; nobody is asked about the others.
        assert_eq!(charge["transactionRequests"][0]["responseTs"].is_null(), status != "voided");
        assert_eq!(announced(&app, &id).await, ["pending", "authorized", event]);
        let page = app.get(&format!("/v1/charges?id={id}&status={status}")).await.expect(200);
        assert_eq!(page["meta"]["totalItems"], 1);
    }
}

async fn a_failed_charge_can_be_made_to_stand(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Alone", 1)])).await;
    let failed = app.post("/v1/charges", &charge_body(&merchant, TIMED_OUT)).await.expect(201);
    let path = format!("/v1/charges/{}", text(&failed["id"]));
    let charge = app.post(&path, &json!({ "status": "authorized" })).await.expect(200);
    assert_eq!(told(&charge), is("authorized", 150, 150, ("authorization", "success", 150)));
}

async fn what_a_provider_has_is_given_back_after_a_status_was_set(app: TestApp) {
    let id = captured(&app).await;
    app.post(&format!("/v1/charges/{id}"), &json!({ "status": "authorized" })).await.expect(200);
    let charge = void(&app, &id, json!({ "amount": 40 })).await.expect(201);
    assert_eq!(told(&charge), is("authorized", 60, 100, ("void", "success", 40)));
    let key = charge["transactionRequests"][2]["idempotencyKey"].as_str().unwrap();
    let balance = app.books.holding(key.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(balance.kept().minor_units(), 60);
}

async fn final_states_stay(app: TestApp) {
    let (voided, canceled) = (captured(&app).await, reserved(&app).await);
    void(&app, &voided, json!({})).await.expect(201);
    void(&app, &canceled, json!({})).await.expect(201);
    let charged_back = captured(&app).await;
    app.post(&format!("/v1/charges/{charged_back}"), &json!({ "status": "charged_back" })).await.expect(200);
    for (id, status) in [(voided, "voided"), (canceled, "canceled"), (charged_back, "charged_back")] {
        let error =
            app.post(&format!("/v1/charges/{id}"), &json!({ "status": "authorized" })).await.expect(400);
        let message = format!("charge status cannot be set in status {status}");
        assert_eq!(error["error"]["message"], json!(message));
    }
}

async fn what_is_not_for_cards_is_refused_by_name(app: TestApp) {
    let path = format!("/v1/charges/{}", captured(&app).await);
    for status in [json!("refund_pending"), json!("pending"), json!(1), json!(null)] {
        let details = app.post(&path, &json!({ "status": status })).await.details(400);
        assert!(details[0].starts_with("status "), "{details:?}");
    }
}

async fn in_production_there_is_no_such_operation(app: TestApp) {
    let path = format!("/v1/charges/{}", captured(&app).await);
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    let body = json!({ "status": "voided" });
    app.call(&app.client, Method::POST, &path, &[], Some(&body)).await.expect(404);
    assert_eq!(app.get(&path).await.expect(200)["status"], "authorized");
}

async fn the_same_key_sets_a_status_once(app: TestApp) {
    let path = format!("/v1/charges/{}", captured(&app).await);
    let first = app.post_with_key(&path, "key", &json!({ "status": "authorized" })).await;
    let again = app.post_with_key(&path, "key", &json!({ "status": "authorized" })).await;
    assert_eq!((first.expect(200), &first.bytes), (again.expect(200), &again.bytes));
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    let charge = app.get(&path).await.expect(200);
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 2);
}
