//! Documents that prove refunds (`docs/interface/receipts.md`). What they look like is tested where they are drawn.

mod kept;

use std::time::Duration;

use axum::http::Method;
use regente_providers::staged::Staged;
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::charges::{charged, read, single_merchant};
use crate::support::client::Reply;
use crate::support::documents::open;
use crate::support::judges::{files_in_zip, text_of_pdf};
use crate::support::payers::happens;
use crate::support::read::text;
use crate::support::receipts::{
    LETTER, RECEIPT, ask, fetch, file, give_back, issued, own_merchant, paid_pix, sold,
};

stories! {
    a_refund_of_a_card_is_proved_to_the_bank_and_to_the_buyer,
    several_refunds_are_several_letters_and_one_receipt,
    returns_of_a_pix_are_on_one_receipt,
    what_is_not_given_back_is_not_proved,
    what_the_platform_has_not_processed_is_not_proved,
    a_document_that_there_is_not_is_named,
    an_address_is_good_for_a_quarter_of_an_hour,
    an_address_opens_its_own_file_alone,
    issuing_may_be_a_command,
}

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn a_refund_of_a_card_is_proved_to_the_bank_and_to_the_buyer(app: TestApp) {
    let app = app.reachable().await;
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let void = &charge["transactionRequests"][0];
    let letter = issued(&app, &charge, LETTER).await;
    assert_eq!(
        letter,
        json!({
            "id": letter["id"], "chargeId": charge["id"], "type": "cancellation_letter", "paymentMethod": "credit",
            "language": "pt-BR", "format": "pdf", "url": letter["url"], "urlExpiresAt": "2026-03-23T15:27:38.379Z",
            "refunds": [{ "id": void["id"], "amount": 5000, "confirmedAt": letter["refunds"][0]["confirmedAt"] }],
            "totalRefunded": 5000, "issuedAt": letter["issuedAt"],
        })
    );
    let at = format!("{ADDRESS}/v1/receipts/{}/file?token=", text(&letter["id"]));
    assert!(text(&letter["url"]).starts_with(&at), "{letter:#}");
    let reply = fetch(&app, &letter).await;
    let name = format!("attachment; filename=\"cancellation-letter-{}-1.pdf\"", text(&charge["id"]));
    for (header, value) in [
        ("content-type", "application/pdf"),
        ("content-disposition", name.as_str()),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-robots-tag", "noindex"),
    ] {
        assert_eq!(reply.header(header), Some(value));
    }
    let receipt = issued(&app, &charge, RECEIPT).await;
    let sale = &charge["transactionRequests"][1];
    for pdf in [&reply.bytes, &file(&app, &receipt).await] {
        let said = text_of_pdf(pdf);
        for fact in [
            "Loja São João Ltda",
            "JOAO DA SILVA",
            "Visa 491674******4124",
            text(&sale["authorizationCode"]),
            text(&sale["authorizationNsu"]),
            "R$ 75,00",
            "R$ 50,00",
            "R$ 25,00",
            text(&void["id"]),
            text(&charge["id"]),
            "SANDBOX: documento de teste, sem valor.",
        ] {
            assert!(said.contains(fact), "{fact} is not in\n{said}");
        }
        assert!(!said.contains(APPROVED.0), "{said}");
    }
}

async fn several_refunds_are_several_letters_and_one_receipt(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let (letter, receipt) = (issued(&app, &charge, LETTER).await, issued(&app, &charge, RECEIPT).await);
    let first = file(&app, &letter).await;
    app.clock.advance(Duration::from_secs(60));
    let charge = give_back(&app, &charge, 2500).await;
    assert_eq!(charge["status"], "voided");
    let (letters, both) = (issued(&app, &charge, LETTER).await, issued(&app, &charge, RECEIPT).await);
    assert_eq!((&letters["format"], &both["format"]), (&json!("zip"), &json!("pdf")));
    for (new, old) in [(&letters, &letter), (&both, &receipt)] {
        assert_ne!(new["id"], old["id"], "another set of refunds is another issue");
        assert_eq!(new["totalRefunded"], 7500);
        let amounts: Vec<&Value> =
            new["refunds"].as_array().unwrap().iter().map(|one| &one["amount"]).collect();
        assert_eq!(amounts, [&json!(5000), &json!(2500)]);
    }
    let reply = fetch(&app, &letters).await;
    let id = text(&charge["id"]);
    assert_eq!(reply.header("content-type"), Some("application/zip"));
    let name = format!("attachment; filename=\"cancellation-letters-{id}.zip\"");
    assert_eq!(reply.header("content-disposition"), Some(name.as_str()));
    let files = files_in_zip(&reply.bytes);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [1, 2].map(|n| format!("cancellation-letter-{id}-{n}.pdf")));
    for ((_, pdf), amount) in files.iter().zip(["R$ 50,00", "R$ 25,00"]) {
        assert!(text_of_pdf(pdf).contains(amount));
    }
    let said = text_of_pdf(&file(&app, &both).await);
    assert!(said.contains("R$ 50,00") && said.contains("R$ 25,00"), "{said}");
    assert_eq!(file(&app, &letter).await, first, "what was issued before stays what it was");
}

async fn returns_of_a_pix_are_on_one_receipt(app: TestApp) {
    let charge = paid_pix(&app).await;
    for (place, amount) in [(2, 50), (4, 30)] {
        give_back(&app, &charge, amount).await;
        let total = issued_total(&ask(&app, &charge, RECEIPT).await);
        assert_eq!(total, (place == 4).then_some(50), "what is under way is not proved");
        happens(&app, &charge, place, Staged::Refund).await;
        app.later(HOUR).await;
    }
    let charge = read(&app, &charge).await;
    let receipt = issued(&app, &charge, RECEIPT).await;
    assert_eq!((&receipt["paymentMethod"], &receipt["totalRefunded"]), (&json!("pix"), &json!(80)));
    let said = text_of_pdf(&file(&app, &receipt).await);
    for fact in
        ["Comprovante de devolução de Pix", text(&jose()["name"]), "***.", "R$ 0,50", "R$ 0,30", "R$ 0,80"]
    {
        assert!(said.contains(fact), "{fact} is not in\n{said}");
    }
    refused(&ask(&app, &charge, LETTER).await, "receipt_type_not_supported");
}

fn issued_total(reply: &Reply) -> Option<i64> {
    match reply.status.as_u16() {
        200 => reply.json()["totalRefunded"].as_i64(),
        _ => {
            refused(reply, "receipt_refund_not_confirmed");
            None
        }
    }
}

#[track_caller]
fn refused(reply: &Reply, code: &str) {
    let body = reply.expect(422);
    assert_eq!(
        (&body["error"]["businessCode"], &body["error"]["type"]),
        (&json!(code), &json!("bad_request"))
    );
}

async fn what_is_not_given_back_is_not_proved(app: TestApp) {
    let merchant = own_merchant(&app).await;
    let reserved = charged(&app, &Charge::by_card(&merchant, APPROVED).reserved().body()).await;
    give_back(&app, &reserved, 150).await;
    // The simulator refuses this amount.
    let sold = sold(&app, 7500).await;
    let at = format!("/v1/charges/{}/void", text(&sold["id"]));
    app.post(&at, &json!({ "amount": 991 })).await;
    let unpaid = app.post("/v1/charges", &pix_body(&merchant, described(jose()))).await.expect(201);
    for charge in [&reserved, &sold, &unpaid] {
        refused(&ask(&app, charge, RECEIPT).await, "receipt_refund_not_confirmed");
    }
    refused(&ask(&app, &sold, LETTER).await, "receipt_refund_not_confirmed");
}

async fn what_the_platform_has_not_processed_is_not_proved(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let card = charged(&app, &charge_body(&merchant, APPROVED)).await;
    give_back(&app, &card, 50).await;
    for document in [LETTER, RECEIPT] {
        refused(&ask(&app, &card, document).await, "receipt_provider_not_supported");
    }
    let boleto = app.post("/v1/charges", &boleto_body(&merchant, described(jose()))).await.expect(201);
    for document in [LETTER, RECEIPT] {
        refused(&ask(&app, &boleto, document).await, "receipt_type_not_supported");
    }
}

async fn a_document_that_there_is_not_is_named(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let id = text(&charge["id"]);
    let rule = "type must be one of the following values: cancellation_letter, refund_receipt";
    for query in ["", "?type=", "?type=letter", "?language=en"] {
        assert_eq!(
            app.get(&format!("/v1/charges/{id}/receipts{query}")).await.details(400),
            [rule],
            "{query}"
        );
    }
    let languages = ask(&app, &charge, "refund_receipt&language=fr").await;
    assert_eq!(languages.details(400), ["language must be one of the following values: pt-BR, en, es"]);
    assert_eq!(app.post("/v1/receipts", &json!({ "chargeId": id })).await.details(400), [rule]);
    let nobodys = json!({ "id": "148d5db0-f1c3-439f-902d-f1f268086e1d" });
    let body = json!({ "chargeId": nobodys["id"], "type": RECEIPT });
    let by_command = app.post("/v1/receipts", &body).await;
    assert_eq!(by_command.expect(404), ask(&app, &nobodys, RECEIPT).await.expect(404));
    assert_eq!(by_command.details(404), [""; 0]);
    let stranger = app.another_client().await;
    let path = format!("/v1/charges/{id}/receipts?type={RECEIPT}");
    app.call(&stranger, Method::GET, &path, &[], None).await.expect(404);
    let public = app.client_token(json!("*")).await;
    assert_eq!(app.call(&public, Method::GET, &path, &[], None).await.status, 403);
}

async fn an_address_is_good_for_a_quarter_of_an_hour(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let before = issued(&app, &charge, RECEIPT).await;
    let first = file(&app, &before).await;
    app.clock.advance(Duration::from_secs(14 * 60));
    assert_eq!(file(&app, &before).await, first);
    app.clock.advance(Duration::from_secs(60));
    let gone = json!({ "error": { "type": "invalid_request_error", "code": 410, "message": "File has expired",
        "details": [] } });
    assert_eq!(fetch(&app, &before).await.expect(410), gone);
    let after = issued(&app, &charge, RECEIPT).await;
    assert_eq!((&after["id"], &after["issuedAt"]), (&before["id"], &before["issuedAt"]), "the same issue");
    assert_ne!(after["url"], before["url"]);
    assert_eq!(file(&app, &after).await, first, "the same file");
    fetch(&app, &before).await.expect(410);
}

async fn an_address_opens_its_own_file_alone(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let (letter, receipt) = (issued(&app, &charge, LETTER).await, issued(&app, &charge, RECEIPT).await);
    let token = |receipt: &Value| text(&receipt["url"]).split_once("token=").unwrap().1.to_owned();
    let path =
        |receipt: &Value, token: &str| format!("/v1/receipts/{}/file?token={token}", text(&receipt["id"]));
    let own = token(&letter);
    let (link, until) = own.split_once('.').unwrap();
    let later = format!("{link}.{}", until.parse::<i64>().unwrap() + 1);
    for forged in [token(&receipt).as_str(), &later, link, "x.1", "", &own[1..]] {
        open(&app, &path(&letter, forged)).await.expect(404);
    }
    let without = format!("/v1/receipts/{}/file", text(&letter["id"]));
    open(&app, &without).await.expect(404);
    // A key is no address.
    app.get(&without).await.expect(404);
    open(&app, &format!("/v1/receipts/x/file?token={own}")).await.expect(404);
    assert_eq!(open(&app, &path(&letter, &own)).await.status, 200);
}

async fn issuing_may_be_a_command(app: TestApp) {
    let charge = give_back(&app, &sold(&app, 7500).await, 5000).await;
    let body = json!({ "chargeId": charge["id"], "type": RECEIPT });
    let made = app.post_with_key("/v1/receipts", "key", &body).await;
    let receipt = made.expect(201);
    assert_eq!(issued(&app, &charge, RECEIPT).await["id"], receipt["id"]);
    app.clock.advance(Duration::from_secs(60));
    let again = app.post_with_key("/v1/receipts", "key", &body).await;
    assert_eq!((again.status, &again.bytes), (made.status, &made.bytes), "byte for byte");
    let anew = app.post("/v1/receipts", &body).await.expect(201);
    assert_eq!(anew["id"], receipt["id"]);
    assert_ne!(anew["url"], receipt["url"]);
    let other = json!({ "chargeId": charge["id"], "type": LETTER });
    app.post_with_key("/v1/receipts", "key", &other).await.expect(409);
}
