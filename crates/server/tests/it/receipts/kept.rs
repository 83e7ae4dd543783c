//! What is kept of documents: languages and logos, who issued and fetched them, and what an erasure leaves.

use std::process::Command;

use axum::http::Method;
use regente_store::audit;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, token_body};
use crate::support::client::Reply;
use crate::support::customers;
use crate::support::forms::{Form, png};
use crate::support::judges::text_of_pdf;
use crate::support::read::text;
use crate::support::receipts::{RECEIPT, fetch, file, give_back, issued, own_merchant, sold};

stories! {
    each_language_is_an_issue_of_its_own,
    a_document_has_the_merchants_logo,
    a_document_stays_what_it_was_when_the_merchant_changes,
    issuing_and_fetching_are_in_the_audit_trail,
    two_who_ask_at_once_get_the_same_issue,
    of_an_erased_person_nothing_is_left,
}

async fn each_language_is_an_issue_of_its_own(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let mut ids = Vec::new();
    for (language, title) in
        [("pt-BR", "Comprovante de reembolso"), ("en", "Refund receipt"), ("es", "Comprobante de reembolso")]
    {
        let receipt = issued(&app, &charge, &format!("{RECEIPT}&language={language}")).await;
        assert_eq!(receipt["language"], language);
        let said = text_of_pdf(&file(&app, &receipt).await);
        assert!(said.contains(title), "{title} is not in\n{said}");
        ids.push(text(&receipt["id"]).to_owned());
    }
    assert_eq!(issued(&app, &charge, RECEIPT).await["id"], json!(ids[0]), "Portuguese by default");
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

/// The table of pictures in a PDF, as `pdfimages` prints it.
fn pictures(pdf: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("file.pdf");
    std::fs::write(&at, pdf).unwrap();
    let output = Command::new("pdfimages").arg("-list").arg(&at).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().skip(2).collect()
}

async fn set_logo(app: &TestApp) -> Reply {
    app.send(Form::of(&[]).with_logo(&png()).request(&app.client, Method::POST, None)).await
}

async fn a_document_has_the_merchants_logo(app: TestApp) {
    let plain = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let without = file(&app, &issued(&app, &plain, RECEIPT).await).await;
    assert_eq!(pictures(&without), "");
    set_logo(&app).await.expect(201);
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let with = pictures(&file(&app, &issued(&app, &charge, RECEIPT).await).await);
    assert!(with.contains("image") && with.contains("rgb"), "{with}");
    assert_eq!(
        file(&app, &issued(&app, &plain, RECEIPT).await).await,
        without,
        "what was issued stays as it is"
    );
}

async fn a_document_stays_what_it_was_when_the_merchant_changes(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let before = file(&app, &issued(&app, &charge, RECEIPT).await).await;
    let merchant = format!("/v1/merchants/{}", text(&charge["merchantId"]));
    app.patch(&merchant, &json!({ "merchantName": "Outro Nome" })).await.expect(200);
    let app = app.restart().await;
    assert_eq!(file(&app, &issued(&app, &charge, RECEIPT).await).await, before);
    let charge = give_back(&app, &charge, 100).await;
    let after = text_of_pdf(&file(&app, &issued(&app, &charge, RECEIPT).await).await);
    assert!(after.contains("Outro Nome"), "{after}");
}

async fn issuing_and_fetching_are_in_the_audit_trail(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let receipt = issued(&app, &charge, RECEIPT).await;
    file(&app, &receipt).await;
    let id = text(&receipt["id"]).parse().unwrap();
    let entries = audit::of_object(&app.app.store, app.client_id(), id, 10).await.unwrap();
    let mut actions: Vec<String> = entries.iter().map(|entry| entry.action.to_string()).collect();
    actions.sort();
    assert_eq!(actions, ["receipt.fetched", "receipt.issued"]);
}

async fn two_who_ask_at_once_get_the_same_issue(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let (one, other) = tokio::join!(issued(&app, &charge, RECEIPT), issued(&app, &charge, RECEIPT));
    assert_eq!(one["id"], other["id"]);
}

async fn of_an_erased_person_nothing_is_left(app: TestApp) {
    let person = json!({ "name": "Quirina Zambujal", "email": "quirina@zambujal.example", "phoneNumber": "21988899909",
        "document": { "type": "cpf", "number": "39053344705", "country": "BR" } });
    let customer = app.post("/v1/customers", &person).await.expect(201);
    let mut card = token_body(APPROVED);
    card["cardHolderName"] = json!("QUIRINA ZAMBUJAL");
    let body = json!({ "merchantId": own_merchant(&app).await, "amount": 7500, "capture": true,
        "customerId": customer["id"], "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": card } });
    let charge: Value = app.post("/v1/charges", &body).await.expect(201);
    let charge = give_back(&app, &charge, 5000).await;
    let before = issued(&app, &charge, RECEIPT).await;
    assert!(text_of_pdf(&file(&app, &before).await).contains("QUIRINA ZAMBUJAL"));
    customers::erase(&app, text(&customer["id"])).await;
    fetch(&app, &before).await.expect(410);
    let after = issued(&app, &charge, RECEIPT).await;
    assert_ne!(after["id"], before["id"]);
    let said = text_of_pdf(&file(&app, &after).await);
    assert!(!said.contains("ZAMBUJAL") && said.contains("R$ 50,00"), "{said}");
}
