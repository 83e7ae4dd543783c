//! `regente rates`: how often providers approve, on the command line.

use serde_json::{Value, json};

use crate::support::server::{Server, run_on};

const APPROVED: &str = "4916745120294124";
const BLOCKED: &str = "4556684530238865";

#[tokio::test]
async fn rates_are_told_as_a_table_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let nothing = run_on(folder.path(), &["rates"]).await;
    assert!(nothing.text().starts_with("Nothing was tried from "), "{}", nothing.text());
    for card in [APPROVED, APPROVED, BLOCKED] {
        let body = server.charge("REGENTE_MERCHANT_ID", card);
        server.post("/v1/charges", &body).send().await.unwrap();
    }
    let by_brand = run_on(folder.path(), &["rates", "--by", "brand", "--json"]).await.json();
    let served: Value = server.get("/v1/rates?groupBy=brand").send().await.unwrap().json().await.unwrap();
    assert_eq!(by_brand["items"], served["items"], "as the service tells it");
    assert_eq!((&served["items"][0]["brand"], &served["items"][0]["approved"]), (&json!("Visa"), &json!(2)));
    let table = run_on(folder.path(), &["rates", "--by", "providerType,brand"]).await;
    let lines: Vec<&str> = table.text().lines().skip(2).collect();
    assert!(lines[0].starts_with("TYPE     BRAND  TRIED  APPROVED  RATE"), "{lines:#?}");
    assert!(lines[1].starts_with("SANDBOX  Visa   "), "{lines:#?}");
    let wrong = run_on(folder.path(), &["rates", "--by", "weather"]).await;
    assert!(wrong.complaint().contains("groupBy"), "{}", wrong.complaint());
}
