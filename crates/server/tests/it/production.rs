//! Production asks no simulator for new payments, unless a setting allows it (`docs/interface/provider-types.md#simulators`).

use regente_domain::provider_type::Simulators;
use regente_domain::routing::explanation::Skipped;
use regente_engine::settings::Mode;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::providers::{cielo, sandbox};
use crate::support::purchases;
use crate::support::read::{newest, skipped, text};

stories! {
    a_simulator_cannot_be_registered_in_production,
    a_simulator_is_not_asked_for_a_charge_in_production,
    a_simulator_checks_no_card_in_production,
    a_simulator_takes_no_purchase_in_production,
    a_payment_of_a_simulator_is_voided_in_production,
    a_setting_allows_simulators_in_production,
}

async fn in_production(app: TestApp) -> TestApp {
    app.with_settings(|settings| {
        settings.mode = Mode::Production;
        settings.simulators = Simulators::Refused;
    })
    .await
}

fn merchant_of(providers: &Value) -> Value {
    json!({ "mcc": "5812", "providers": providers })
}

async fn a_simulator_cannot_be_registered_in_production(app: TestApp) {
    let app = in_production(app).await;
    let risk = json!({ "name": "Risk", "priority": 2, "credentials": { "type": "SANDBOX_ANTIFRAUD", "apiKey": "a" } });
    let refused = app.post("/v1/merchants", &merchant_of(&json!([sandbox("Main", 1), risk]))).await;
    let rule = |index| format!("providers[{index}].credentials.type must not be a simulator in production");
    assert_eq!(refused.details(400), [rule(0), rule(1)]);

    let merchant = app.merchant_with(json!([cielo(1)])).await;
    let (path, more) = (format!("/v1/merchants/{merchant}"), json!({ "providers": [sandbox("Main", 1)] }));
    assert_eq!(app.patch(&path, &more).await.details(400), [rule(0)]);
}

async fn a_simulator_is_not_asked_for_a_charge_in_production(app: TestApp) {
    let alone = single_merchant(&app).await;
    let both = app.merchant_with(json!([sandbox("Main", 1), cielo(2)])).await;
    let app = in_production(app).await;

    let refused = app.post("/v1/charges", &charge_body(&alone, APPROVED)).await.expect(400);
    assert_eq!(refused["error"]["message"], "no provider available for paymentType credit");
    let charge = charged(&app, &charge_body(&both, APPROVED)).await;
    assert_eq!(charge["status"], "failed", "Cielo has no adapter");
    assert_eq!(skipped(&app, &charge).await, [Some(Skipped::Simulator), None]);
    assert_eq!(newest(&charge)["providerType"], "CIELO");
    assert_eq!(charge["transactionRequests"].as_array().unwrap().len(), 1, "the simulator was not asked");
}

async fn a_simulator_checks_no_card_in_production(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let app = in_production(app).await;
    let token = app.card_token(APPROVED).await;
    let body = json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true });
    app.post("/v1/cards", &body).await.expect(424);
}

async fn a_simulator_takes_no_purchase_in_production(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let app = in_production(app).await;
    let body = purchases::body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    purchases::send(&app, "/v1/purchases", &body).await.expect(400);
}

async fn a_payment_of_a_simulator_is_voided_in_production(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let app = in_production(app).await;
    let voided = app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(201);
    assert_eq!(voided["status"], "voided");
}

async fn a_setting_allows_simulators_in_production(app: TestApp) {
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    let merchant = single_merchant(&app).await;
    assert_eq!(charged(&app, &charge_body(&merchant, APPROVED)).await["status"], "authorized");
}
