//! Setups: for one card, one charge, one account, and one hour.

use std::time::Duration;

use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::three_d_secure::{FRICTIONLESS, hosted_body, inline, merchant, own_body, post_form};

stories! {
    a_setup_sends_the_browser_to_the_3ds_server,
    a_setup_is_for_one_charge_of_its_card,
    a_setup_of_another_account_is_unknown,
    a_setup_ends_after_an_hour,
    a_setup_names_a_card_or_a_token,
}

sql! {
    SETUPS = "SELECT COUNT(*) AS n FROM authentication_setups WHERE client_id = :client_id";
}

const SETUP: &str = "/v1/charges/3ds/setup";
const NOT_FOUND: &str =
    "threeDSecure2.setupId must be a setup of this card that was not used and has not expired";

async fn setup_of_card(app: &TestApp, card_id: &str) -> Value {
    app.post(SETUP, &json!({ "sourceType": "card", "cardId": card_id })).await.expect(201)
}

async fn a_setup_sends_the_browser_to_the_3ds_server(app: TestApp) {
    let app = app.reachable().await;
    let token = app.card_token(FRICTIONLESS).await;
    let body = json!({ "sourceType": "token", "tokenId": token });
    let first = app.post_with_key(SETUP, "key", &body).await;
    let setup = first.expect(201);
    assert_eq!(setup["collectUrl"], format!("{ADDRESS}/3ds/collect"));
    assert_eq!((&setup["providerType"], &setup["error"]), (&json!("SANDBOX"), &Value::Null));
    assert_eq!(app.post_with_key(SETUP, "key", &body).await.bytes, first.bytes);
    let jwt = text(&setup["token"]);
    let parts: Vec<Value> = jwt
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts[0]["alg"], "HS256");
    assert_eq!(parts[1]["ReferenceId"], setup["id"]);
    assert_eq!(parts[1]["exp"].as_i64().unwrap() - parts[1]["iat"].as_i64().unwrap(), 3600);
    let page = post_form(&app, "/3ds/collect", &[("JWT", jwt.to_owned())]).await;
    let html = String::from_utf8(page.bytes.clone()).unwrap();
    assert!(page.status == 200 && html.contains("window.parent.postMessage("), "{html}");
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'sha256-"));
    // The token is still there for the charge.
    let mut charge = hosted_body(&merchant(&app).await, FRICTIONLESS);
    charge["paymentSource"] = json!({ "sourceType": "token", "tokenId": token });
    charge["threeDSecure2"]["setupId"] = setup["id"].clone();
    assert_eq!(app.post("/v1/charges", &charge).await.expect(201)["status"], "authorized");
}

async fn a_setup_is_for_one_charge_of_its_card(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    let setup = setup_of_card(&app, &app.card(FRICTIONLESS).await).await;
    let mut body = hosted_body(&merchant, APPROVED);
    body["threeDSecure2"]["setupId"] = setup["id"].clone();
    assert_eq!(app.post("/v1/charges", &body).await.details(400), [NOT_FOUND], "another card");
    body["paymentSource"] = inline(FRICTIONLESS);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "authorized", "the same card, sent inline: {charge:#}");
    assert_eq!(app.post("/v1/charges", &body).await.details(400), [NOT_FOUND], "it was used");
}

async fn a_setup_of_another_account_is_unknown(app: TestApp) {
    let app = app.reachable().await;
    let setup = setup_of_card(&app, &app.card(FRICTIONLESS).await).await;
    let stranger = app.another_client().await;
    let merchant = json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] });
    let merchant = app.call(&stranger, Method::POST, "/v1/merchants", &[], Some(&merchant)).await.expect(201);
    let mut body = hosted_body(text(&merchant["id"]), FRICTIONLESS);
    body["threeDSecure2"]["setupId"] = setup["id"].clone();
    let refused = app.call(&stranger, Method::POST, "/v1/charges", &[], Some(&body)).await;
    assert_eq!(refused.details(400), [NOT_FOUND]);
}

async fn a_setup_ends_after_an_hour(app: TestApp) {
    let app = app.reachable().await;
    let body = own_body(&app, &merchant(&app).await, FRICTIONLESS).await;
    let setups = async || -> i64 {
        let rows = app.app.store.rows(&SETUPS, args! { client_id: app.client_id() }).await.unwrap();
        rows[0].get("n").unwrap()
    };
    assert_eq!(setups().await, 1);
    app.later(Duration::from_secs(61 * 60)).await;
    assert_eq!(app.post("/v1/charges", &body).await.details(400), [NOT_FOUND]);
    app.later(Duration::from_secs(20 * 60)).await;
    assert_eq!(setups().await, 0, "the job deletes it");
}

async fn a_setup_names_a_card_or_a_token(app: TestApp) {
    let used = app.card_token(FRICTIONLESS).await;
    app.post("/v1/cards", &json!({ "tokenId": used })).await.expect(201);
    let none = json!({ "sourceType": "customer" });
    assert!(app.post(SETUP, &none).await.details(400)[0].starts_with("sourceType must be one of"));
    let missing = json!({ "sourceType": "token" });
    assert_eq!(app.post(SETUP, &missing).await.details(400), ["tokenId should not be empty"]);
    let gone = json!({ "sourceType": "token", "tokenId": used });
    assert_eq!(app.post(SETUP, &gone).await.expect(400)["error"]["message"], "token not found or expired");
    let unknown = json!({ "sourceType": "card", "cardId": "3f1c1b1e-2a7b-4a57-9d35-000000000000" });
    assert_eq!(app.post(SETUP, &unknown).await.details(404), ["cardId was not found"]);
}
