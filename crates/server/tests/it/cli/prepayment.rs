//! `regente prepayment`: an operator lets an account have receivables paid early, with a server and without.

use serde_json::{Value, json};

use super::{new_client, prepared};
use crate::support::server::{Server, run_on};

#[tokio::test]
async fn an_account_is_enabled_without_a_server() {
    let folder = prepared().await;
    let client = new_client(folder.path()).await;
    let shown = run_on(folder.path(), &["prepayment", "show", &client]).await;
    assert_eq!(shown.text(), format!("Client {client} (Loja Azul) is not enabled for prepayment.\n"));
    let enable = ["prepayment", "enable", &client, "--monthly-rate", "1.5", "--markup", "2", "--json"];
    let told = |row: &Value| ["client_id", "enabled", "monthly_rate", "markup"].map(|name| row[name].clone());
    let enabled = run_on(folder.path(), &enable).await.json();
    assert_eq!(told(&enabled), [json!(client), json!(true), json!("1.5"), json!("2")]);
    let shown = run_on(folder.path(), &["prepayment", "show", &client]).await;
    assert!(shown.text().contains("for 1.5 % and a markup of 2 % for 30 days"), "{}", shown.text());
    for wrong in ["-1", "1.234", "100.01", "much"] {
        let refused = format!("--markup={wrong}");
        let said =
            run_on(folder.path(), &["prepayment", "enable", &client, "--monthly-rate", "1", &refused]).await;
        assert!(said.stderr.contains("from 0 to 100"), "{wrong}: {}", said.stderr);
    }
    let disabled = run_on(folder.path(), &["prepayment", "disable", &client, "--json"]).await.json();
    assert_eq!(told(&disabled), [json!(client), json!(false), Value::Null, Value::Null]);
}

#[tokio::test]
async fn a_running_server_hears_of_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let path = "/v1/subacquirer/prepayment/receivables";
    assert_eq!(server.get(path).send().await.unwrap().status(), 403);
    let clients = run_on(folder.path(), &["clients", "list", "--json"]).await.json();
    let client = clients["clients"][0]["id"].as_str().unwrap();
    let enable = ["prepayment", "enable", client, "--monthly-rate", "1.5", "--markup", "2"];
    run_on(folder.path(), &enable).await.text();
    let listed = server.get(path).send().await.unwrap();
    assert_eq!(listed.status(), 200);
    let listed: Value = listed.json().await.unwrap();
    assert_eq!(listed["summary"], json!({ "availableAmount": 0, "receivableCount": 0 }));
}
