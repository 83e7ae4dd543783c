//! Where payers come back to from their bank or the page of a provider, as a page with a public key names it.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers;
use crate::support::bodies::payers::{PAID_AT, nupay_body};
use crate::support::charges::single_merchant;
use crate::support::client::{Client, Reply};
use crate::support::three_d_secure::{HOSTED_FRICTIONLESS, hosted_body};

stories! {
    a_public_key_leads_payers_to_registered_pages_alone,
}

const RULE: &str = "must be at an origin of the settings redirectOrigins or companyUrl";

async fn charge(app: &TestApp, caller: &Client, body: &Value) -> Reply {
    app.call(caller, Method::POST, "/v1/charges", &[], Some(body)).await
}

/// Otherwise whoever reads the key in a page could send others anywhere in the merchant's name.
async fn a_public_key_leads_payers_to_registered_pages_alone(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let page = app.client_token(json!(["charges"])).await;
    let (card, nupay, drip) =
        (hosted_body(&merchant, HOSTED_FRICTIONLESS), nupay_body(&merchant), payers::drip_body(&merchant));
    let named = [
        (&card, "threeDSecure2", "redirectURL"),
        (&nupay, "paymentMethod", "orderUrl"),
        (&nupay, "paymentMethod", "returnUrl"),
        (&nupay, "paymentMethod", "cancelUrl"),
        (&drip, "paymentMethod", "successRedirectUrl"),
        (&drip, "paymentMethod", "cancelRedirectUrl"),
    ];
    for (body, field) in [
        (&card, "threeDSecure2.redirectURL"),
        (&nupay, "paymentMethod.returnUrl"),
        (&drip, "paymentMethod.successRedirectUrl"),
    ] {
        assert_eq!(charge(&app, &page, body).await.details(400), [format!("{field} {RULE}")]);
        charge(&app, &app.client, body).await.expect(201);
    }
    let made = app.get("/v1/charges").await.expect(200)["meta"]["totalItems"].clone();
    assert_eq!(made, 3, "what was refused made no charge");

    app.post("/v1/settings", &json!({ "redirectOrigins": "https://shop.example" })).await.expect(201);
    for (body, object, member) in named {
        let with = |address: &str| {
            let mut body = body.clone();
            body[object][member] = address.into();
            body
        };
        charge(&app, &page, &with(PAID_AT)).await.expect(201);
        for strange in
            ["https://shop.example.evil.example/", "http://shop.example/", "https://shop.example:8443/"]
        {
            let refused = charge(&app, &page, &with(strange)).await;
            assert_eq!(refused.details(400), [format!("{object}.{member} {RULE}")], "{strange}");
        }
        // A merchant's server sends its own payers where it likes.
        charge(&app, &app.client, &with("https://elsewhere.example/")).await.expect(201);
    }
}
