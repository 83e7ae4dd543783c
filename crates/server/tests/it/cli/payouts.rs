//! `regente payouts`: where an account is paid, what is on its way, and what became of each cent.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::cnab240::company;
use crate::support::payouts::{bank_account, own};
use crate::support::server::{Server, run_on};

const APPROVED: &str = "4916745120294124";

#[tokio::test]
async fn an_operator_says_where_an_account_is_paid_and_sees_every_cent() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let none = run_on(folder.path(), &["payouts", "account"]).await;
    assert!(none.text().starts_with("The account has no bank account"), "{}", none.text());
    let file = folder.path().join("bank-account.json");
    std::fs::write(&file, bank_account("1000").to_string()).unwrap();
    let set = run_on(folder.path(), &["payouts", "account", "--file", file.to_str().unwrap()]).await;
    assert_eq!(set.text(), "Bank 077, branch 492, account …1000 of Rita Lima\n");
    let nobody = ["payouts", "account", "--seller", "00000000-0000-0000-0000-000000000000"];
    let none = run_on(folder.path(), &nobody).await;
    assert!(none.text().contains("what it is due stays until it has one"), "{}", none.text());
    let unknown = run_on(folder.path(), &[&nobody[..], &["--file", file.to_str().unwrap()]].concat()).await;
    assert!(unknown.complaint().contains("there is no such seller"), "{}", unknown.complaint());
    std::fs::write(&file, "{}").unwrap();
    let wrong = run_on(folder.path(), &["payouts", "account", "--file", file.to_str().unwrap()]).await;
    assert!(wrong.complaint().contains("holderName"), "{}", wrong.complaint());

    let merchant = json!({ "mcc": "5812", "providers": [own()] });
    let made: Value = server.post("/v1/merchants", &merchant).send().await.unwrap().json().await.unwrap();
    let mut body = server.charge("REGENTE_MERCHANT_ID", APPROVED);
    body["merchantId"] = made["id"].clone();
    let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    assert_eq!(charge["responsibleProviderType"], "PLATFORM", "{charge:#}");
    run_on(folder.path(), &["clock", "advance", "40d"]).await.text();

    assert_eq!(run_on(folder.path(), &["payouts", "pending"]).await.text(), "Nothing is on its way.\n");
    let report = run_on(folder.path(), &["payouts", "report"]).await;
    assert!(report.text().starts_with("the account, in minor units of BRL\n"), "{}", report.text());
    assert!(report.text().contains("Every cent is accounted for"), "{}", report.text());
    let told = run_on(folder.path(), &["payouts", "report", "--json"]).await.json();
    let line = &told["report"][0];
    // The plan of the sandbox keeps 2.99 % and 39 cents.
    let expected = (&charge["amount"], &json!(84), &json!(1_416));
    assert_eq!((&line["captured"], &line["fees"], &line["paid"]), expected, "{told:#}");
    // The simulator's file of the day of the charge, of which nothing is posted that payouts have posted.
    let day = &charge["createdAt"].as_str().unwrap()[..10];
    let settled =
        run_on(folder.path(), &["settle", "sandbox-file", "--day", day, "--provider", "PLATFORM"]).await;
    assert_eq!(settled.text().matches(",sale,").count(), 1, "{}", settled.text());
    let file = folder.path().join("settlement.csv");
    std::fs::write(&file, settled.text()).unwrap();
    let import = ["settle", "import", file.to_str().unwrap(), "--provider", "PLATFORM", "--json"];
    let imported = run_on(folder.path(), &import).await.json();
    // The sale and the fee.
    assert_eq!((&imported["found"]["matched"]["number"], &imported["posted"]), (&json!(2), &json!(0)));
    let batches: Value =
        server.get("/v1/payouts/payment-batches").send().await.unwrap().json().await.unwrap();
    let id = batches["items"][0]["id"].as_str().unwrap();
    // A bank gives it back after weeks.
    let failed = run_on(folder.path(), &["payouts", "failed", id, "--reason", "account closed"]).await;
    assert_eq!(failed.text(), format!("Payment batch {id} is failed.\n"));
    let again = run_on(folder.path(), &["payouts", "paid", id]).await;
    assert!(again.complaint().contains("the payment batch is failed"), "{}", again.complaint());
    server.stop().await;
}

#[tokio::test]
async fn a_file_for_a_bank_is_written_where_no_bank_is_connected() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (about, file) = (at("company.toml"), at("pay.rem"));
    let members: Vec<String> =
        company().as_object().unwrap().iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    std::fs::write(&about, members.concat()).unwrap();
    let export = ["payouts", "export", "--date", "2200-01-02", "--company", &about, "--output", &file];
    // The sandbox has a bank of its own.
    let refused = run_on(folder.path(), &export).await;
    assert!(refused.complaint().contains("a bank is connected"), "{}", refused.complaint());
    assert!(!Path::new(&file).exists());
    std::fs::write(&file, "kept").unwrap();
    let exists = run_on(folder.path(), &export).await;
    assert!(exists.complaint().contains("pay.rem cannot be written"), "{}", exists.complaint());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    let no_return = run_on(folder.path(), &["payouts", "import-return", &file, "--dry-run"]).await;
    assert!(
        no_return.complaint().contains("row 1 has 4 columns instead of 240"),
        "{}",
        no_return.complaint()
    );
    server.stop().await;
}
