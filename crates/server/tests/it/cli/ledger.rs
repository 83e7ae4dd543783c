//! `regente ledger`: the books on the command line.

use serde_json::{Value, json};

use crate::support::server::{Server, run_on};

const APPROVED: &str = "4916745120294124";

#[tokio::test]
async fn the_books_are_verified_and_an_account_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let body = server.charge("REGENTE_MERCHANT_ID", APPROVED);
    let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    let id = charge["id"].as_str().unwrap();
    let refund = server.post(&format!("/v1/charges/{id}/void"), &json!({ "amount": 400 })).send().await;
    assert_eq!(refund.unwrap().status(), 201);

    let (client, merchant) = (server.value("REGENTE_CLIENT_ID"), server.value("REGENTE_MERCHANT_ID"));
    let arguments = [
        "ledger",
        "statement",
        client,
        "provider_receivable",
        "--merchant",
        merchant,
        "--provider",
        "SANDBOX",
    ];
    let stated = run_on(folder.path(), &[&arguments[..], &["--json"]].concat()).await.json();
    assert_eq!((&stated["before"], &stated["after"]), (&json!(0), &json!(1100)));
    let lines: Vec<Value> = stated["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            json!([line["movement"], line["debit"], line["credit"], line["balance"], line["source_id"]])
        })
        .collect();
    let expected = [json!(["capture", 1500, null, 1500, id]), json!(["refund", null, 400, 1100, id])];
    assert_eq!(lines, expected);
    let refunded_at = stated["lines"][1]["at"].as_str().unwrap();
    let later =
        run_on(folder.path(), &[&arguments[..], &["--from", refunded_at, "--json"]].concat()).await.json();
    assert_eq!((&later["before"], later["lines"].as_array().unwrap().len()), (&json!(1500), 1));
    let text = run_on(folder.path(), &arguments).await;
    assert!(text.text().contains("balance after"), "{}", text.text());
    let complaint = async |purpose: &str, merchant: &str, more: &[&str]| {
        let wrong = [&arguments[..3], &[purpose, "--merchant", merchant], &arguments[6..], more].concat();
        run_on(folder.path(), &wrong).await.complaint().to_owned()
    };
    let nobody = "00000000-0000-4000-8000-000000000000";
    for (purpose, whose, more, expected) in [
        (
            "cash",
            merchant,
            &[][..],
            "there is no purpose cash; there are provider_receivable, merchant_payable,",
        ),
        ("seller_payable", merchant, &[], "of the accounts of seller_payable each is of a seller"),
        ("hold", merchant, &["--seller", nobody], "of the accounts of hold none is of a seller"),
        ("hold", nobody, &[], &format!("account {client} has no merchant {nobody}")),
    ] {
        let said = complaint(purpose, whose, more).await;
        assert!(said.contains(expected), "{said}");
    }

    let verified = run_on(folder.path(), &["ledger", "verify"]).await;
    assert!(verified.text().ends_with("The books are right.\n"), "{}", verified.text());
    let (client, database) = (client.to_owned(), folder.path().join("regente.db"));
    server.stop().await;
    // A release without books, or somebody who writes into the file, moves a charge.
    let spoiled = rusqlite::Connection::open(&database).unwrap();
    assert_eq!(spoiled.execute("UPDATE charges SET amount = amount - 1", []).unwrap(), 1);
    drop(spoiled);
    let wrong = run_on(folder.path(), &["ledger", "verify", "--client", &client]).await;
    assert_eq!(wrong.status.code(), Some(1));
    let difference =
        format!("  charge {id} holds something else than its entries say\nThe books are not right.\n");
    assert!(wrong.stdout.ends_with(&difference), "{}", wrong.stdout);
    let repaired = run_on(folder.path(), &["ledger", "verify", "--repair", "--json"]).await.json();
    assert_eq!(repaired["clients"][0]["posted"], 1);
    assert!(run_on(folder.path(), &["ledger", "verify"]).await.text().ends_with("The books are right.\n"));
}
