//! An account may have documents with wrong check digits refused.

use regente::admin::{Answer, Command, run};
use regente::config::Config;
use regente_domain::check_digits::CheckDigits;
use serde_json::{Value, json};

use super::{buyer, created, details, everybody};
use crate::support::app::{TestApp, stories};
use crate::support::client::As;
use crate::support::server::{Server, run_on};

stories! {
    check_digits_are_not_looked_at_by_default,
    wrong_check_digits_are_refused_where_the_account_wants_it,
    types_without_a_rule_are_taken_all_the_same,
}

async fn set(app: &TestApp, document_check_digits: CheckDigits) {
    let command = Command::ClientsSet { client_id: app.client_id(), document_check_digits };
    match run(&app.app, &Config::default(), command).await {
        Ok(Answer::ClientSet(client)) => assert_eq!(client.document_check_digits, document_check_digits),
        Ok(_) => panic!("another answer"),
        Err(error) => panic!("{error}"),
    }
}

fn with_document(email: &str, kind: &str, number: &str, country: &str) -> Value {
    json!({ "name": "A", "email": email, "phoneNumber": "1",
        "document": { "type": kind, "number": number, "country": country } })
}

async fn check_digits_are_not_looked_at_by_default(app: TestApp) {
    for (email, kind, number, country) in [
        ("a@example.com", "CPF", "11111111111", "BR"),
        ("b@example.com", "CNPJ", "99999999999999", "BR"),
        ("c@example.com", "RUT", "12.345.678-0", "CL"),
    ] {
        created(&app, with_document(email, kind, number, country)).await;
    }
}

async fn wrong_check_digits_are_refused_where_the_account_wants_it(app: TestApp) {
    created(&app, buyer("Before", "before@example.com", "11111111111")).await;
    set(&app, CheckDigits::On).await;
    for (kind, number, country) in [
        ("cpf", "970.555.030-18", "BR"),
        ("CNPJ", "12.ABC.345/01DE-36", "BR"),
        ("CUIT", "20-05536168-3", "AR"),
        ("RUT", "12.345.678-0", "CL"),
        ("VAT", "DE136695977", "DE"),
    ] {
        let answer = app.post("/v1/customers", &with_document("x@example.com", kind, number, country)).await;
        assert_eq!(answer.status.as_u16(), 400, "{number}");
        assert_eq!(details(&answer), [format!("document.number is not a valid {}", kind.to_uppercase())]);
    }
    let public = As::public_key(&app, "customers").await;
    let wrong = with_document("x@example.com", "CPF", "11111111111", "BR");
    assert_eq!(public.post("/v1/customers", &wrong).await.status, 400);
    assert_eq!(everybody(&app).await.len(), 1);
    created(&app, with_document("right@example.com", "cpf", "970.555.030-19", "BR")).await;
    created(&app, with_document("firm@example.com", "cnpj", "12.ABC.345/01DE-35", "BR")).await;
    let other = As::another_client(&app).await;
    let answer = other.post("/v1/customers", &buyer("O", "o@example.com", "11111111111")).await;
    assert_eq!(answer.status, 201, "it is the setting of one account");
    set(&app, CheckDigits::Off).await;
    created(&app, with_document("late@example.com", "CPF", "22222222222", "BR")).await;
}

async fn types_without_a_rule_are_taken_all_the_same(app: TestApp) {
    set(&app, CheckDigits::On).await;
    for (email, kind, number, country) in [
        ("a@example.com", "CI", "1", "BO"),
        ("b@example.com", "DNI", "12", "AR"),
        ("c@example.com", "STNR", "181/815/08155", "DE"),
    ] {
        created(&app, with_document(email, kind, number, country)).await;
    }
    created(&app, super::without_document("N", "n@example.com")).await;
}

#[tokio::test]
async fn the_setting_is_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let client = server.value("REGENTE_CLIENT_ID").to_owned();
    let status = async |email: &str| {
        let answer = server.post("/v1/customers", &buyer("A", email, "11111111111")).send().await.unwrap();
        answer.status().as_u16()
    };
    let set = async |switch: &'static str| {
        let ran =
            run_on(folder.path(), &["clients", "set", &client, "--document-check-digits", switch]).await;
        ran.text().to_owned()
    };
    assert!(set("on").await.contains("are refused"));
    assert_eq!(status("a@example.com").await, 400);
    assert!(set("off").await.contains("are taken"));
    assert_eq!(status("a@example.com").await, 201);
    let listed = run_on(folder.path(), &["clients", "list", "--json"]).await.json();
    assert_eq!(listed["clients"][0]["document_check_digits"], "off");
    server.stop().await;
}
