//! Credentials of another account at a provider are not taken while something is open at the first one.

use serde_json::{Value, json};

use super::later::{charged, shop};
use super::{SUCCEEDED, body};
use crate::support::app::{TestApp, stories};
use crate::support::charges::void;
use crate::support::providers::{adyen, stripe};

stories! {
    a_key_of_the_same_account_is_taken_at_any_time,
    an_account_is_left_when_nothing_is_open_there,
}

fn path(shop: &super::later::Shop) -> String {
    format!("/v1{}", shop.address.strip_suffix("/notifications").unwrap())
}

async fn changes(app: &TestApp, path: &str, member: &str, value: &str) -> u16 {
    let change = json!({ "credentials": { member: value } });
    app.patch(path, &change).await.status.as_u16()
}

async fn a_key_of_the_same_account_is_taken_at_any_time(app: TestApp) {
    let (app, shop) = shop(app, stripe(1)).await;
    let intent = |sent: &Value| {
        let mut intent = body(SUCCEEDED);
        (intent["status"], intent["amount"]) = (json!("requires_capture"), json!(150));
        intent["metadata"] = sent.clone();
        intent
    };
    shop.elsewhere.answers(move |said| match (said.method.as_str(), said.path.as_str()) {
        ("POST", "/stripe/v1/payment_intents") => {
            let sent = said.form();
            let member = |name: &str| sent[&format!("metadata[{name}]")].clone();
            let (object, key) = (member("regente_object_id"), member("regente_key"));
            Some((200, intent(&json!({ "regente_object_id": object, "regente_key": key }))))
        }
        ("GET", path) if path.starts_with("/stripe/v1/payment_intents/pi_") => {
            let is_ours = said.headers["authorization"] != "Bearer sk_test_of_another";
            is_ours.then(|| (200, intent(&json!({}))))
        }
        _ => None,
    });
    charged(&app, &shop, false).await;
    let path = path(&shop);
    assert_eq!(changes(&app, &path, "secretKey", "sk_test_of_another").await, 409);
    assert_eq!(changes(&app, &path, "webhookSecret", "whsec_other").await, 200, "it names no account");
    assert_eq!(changes(&app, &path, "secretKey", "sk_test_rotated").await, 200);
}

async fn an_account_is_left_when_nothing_is_open_there(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let path = path(&shop);
    assert_eq!(changes(&app, &path, "merchantAccount", "Shop2").await, 200, "nothing was ever there");
    let id = charged(&app, &shop, false).await;
    let other = json!({ "credentials": { "merchantAccount": "Shop3" } });
    let details = app.patch(&path, &other).await.details(409);
    assert!(details[0].starts_with("credentials are of another account"), "{details:?}");
    assert_eq!(changes(&app, &path, "apiKey", "another-api-key-1").await, 200, "a key of the account");
    // A release is under way until a notification tells.
    void(&app, &id, json!({})).await.expect(201);
    assert_eq!(changes(&app, &path, "merchantAccount", "Shop3").await, 409);
    super::done_elsewhere::tells_released(&app, &shop).await;
    assert_eq!(changes(&app, &path, "merchantAccount", "Shop3").await, 200);
}
