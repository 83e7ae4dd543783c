//! Charges at the platform's own provider with refunds, and the documents that prove them.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::read;
use crate::support::client::Reply;
use crate::support::documents::open;
use crate::support::read::text;

pub const LETTER: &str = "cancellation_letter";
pub const RECEIPT: &str = "refund_receipt";

/// The platform's own provider, as a merchant has it.
pub fn own() -> Value {
    json!({ "name": "Own", "priority": 1, "credentials": { "type": "PLATFORM", "apiKey": "secret-of-the-shop" } })
}

/// The body of a merchant with the platform's own provider alone.
pub fn own_merchant_body() -> Value {
    json!({ "mcc": "5812", "name": "Loja Centro", "merchantName": "Loja São João Ltda", "providers": [own()] })
}

pub async fn own_merchant(app: &TestApp) -> String {
    text(&app.post("/v1/merchants", &own_merchant_body()).await.expect(201)["id"]).to_owned()
}

/// A card charge of so much at the platform's own provider.
pub async fn sold(app: &TestApp, amount: i64) -> Value {
    let body = Charge::by_card(&own_merchant(app).await, APPROVED).amount(amount).body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["responsibleProviderType"], "PLATFORM");
    charge
}

/// A paid Pix of 150 there.
pub async fn paid_pix(app: &TestApp) -> Value {
    let charge =
        app.post("/v1/charges", &pix_body(&own_merchant(app).await, described(jose()))).await.expect(201);
    let at = format!("/v1/charges/{}", text(&charge["id"]));
    app.post(&at, &json!({ "status": "authorized" })).await.expect(200)
}

pub async fn give_back(app: &TestApp, charge: &Value, amount: i64) -> Value {
    let at = format!("/v1/charges/{}/void", text(&charge["id"]));
    app.post(&at, &json!({ "amount": amount })).await.expect(201);
    read(app, charge).await
}

/// Asks for a document of a charge; `query` goes on behind the type.
pub async fn ask(app: &TestApp, charge: &Value, query: &str) -> Reply {
    app.get(&format!("/v1/charges/{}/receipts?type={query}", text(&charge["id"]))).await
}

pub async fn issued(app: &TestApp, charge: &Value, query: &str) -> Value {
    ask(app, charge, query).await.expect(200)
}

/// Fetches the file as whoever has its address.
pub async fn fetch(app: &TestApp, receipt: &Value) -> Reply {
    let url = text(&receipt["url"]);
    open(app, url.strip_prefix(ADDRESS).unwrap_or(url)).await
}

/// The text of a PDF, as `pdftotext` reads it.
pub fn text_of(pdf: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("file.pdf");
    std::fs::write(&at, pdf).unwrap();
    let output =
        Command::new("pdftotext").args(["-layout", "-enc", "UTF-8"]).arg(&at).arg("-").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub async fn file(app: &TestApp, receipt: &Value) -> Vec<u8> {
    let reply = fetch(app, receipt).await;
    assert_eq!(reply.status, 200);
    reply.bytes
}
