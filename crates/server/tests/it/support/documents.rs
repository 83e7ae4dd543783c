//! The links of payers to QR codes and slips.

use axum::body::Body;
use axum::http::Request;
use regente_engine::document_links::LinkedCharge;
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::bodies::payers::{described, payer, pix_body};
use crate::support::client::{Client, Reply};

/// The link to the documents of a charge.
pub async fn link(app: &TestApp, client: &Client, charge_id: &str) -> String {
    let client_id = client.id.parse().unwrap();
    let keys = app.app.vault.client_keys(client_id).await.unwrap();
    LinkedCharge { client_id, charge_id: charge_id.parse().unwrap() }.link(&keys)
}

/// A Pix: its link and its code.
pub async fn pix(app: &TestApp, email: &str) -> (String, String) {
    let body = pix_body(&app.merchant().await, described(payer(email, "72912053013")));
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (link(app, &app.client, &text(&charge["id"])).await, text(&charge["paymentMethod"]["qrCodeData"]))
}

/// Asks like a payer's browser: without an account and a key.
pub async fn ask(app: &TestApp, file: &str) -> Reply {
    open(app, &format!("/qr/{file}")).await
}

pub async fn open(app: &TestApp, path: &str) -> Reply {
    app.send(Request::builder().uri(path).body(Body::empty()).unwrap()).await
}
