//! `regente explain`: the timeline of a charge for operators, who give only its id.

use serde_json::{Value, json};

use crate::support::server::{Server, run_on};

const APPROVED: &str = "4916745120294124";

#[tokio::test]
async fn a_charge_is_explained_with_and_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let body = server.charge("REGENTE_FALLBACK_MERCHANT_ID", APPROVED);
    let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    let id = charge["id"].as_str().unwrap();

    let told = run_on(folder.path(), &["explain", id]).await;
    let (first, last) = (told.text().lines().next().unwrap(), told.text().lines().last().unwrap());
    assert!(first.starts_with(&format!("Charge {id} of BRL 15.00 by credit, made at ")), "{first}");
    assert_eq!(last, "SANDBOX took it: BRL 15.00.");
    assert!(told.text().contains("with try_again"), "{}", told.text());

    let answer = server.get(&format!("/v1/charges/{id}/explanation")).send().await.unwrap();
    let mut document: Value = answer.json().await.unwrap();
    document["answer"] = json!("explained");
    assert_eq!(run_on(folder.path(), &["explain", id, "--json"]).await.json(), document);

    server.stop().await;
    assert_eq!(run_on(folder.path(), &["explain", id]).await.text(), told.text());
    let nobodys = "0190a7f4-0000-7000-8000-000000000000";
    let unknown = run_on(folder.path(), &["explain", nobodys]).await;
    assert_eq!(unknown.complaint(), format!("regente: there is no charge {nobodys}\n"));
}
