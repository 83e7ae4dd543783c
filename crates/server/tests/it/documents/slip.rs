//! The slip of a boleto as a payer gets it: fetched over HTTP, and read with the programs of others.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, payer, pix_body, with_late_charges};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::customers;
use crate::support::documents::{link, open};
use crate::support::judges::{codes_in_pdf, text_of_pdf};
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    a_payer_reads_the_slip_without_a_key,
    a_slip_names_the_payer_as_he_was_sent,
    an_erased_payer_is_not_printed_any_more,
    a_charge_without_a_slip_has_none,
}

fn jose() -> Value {
    let mut payer = payer("jose@example.com", "72912053013");
    payer["name"] = json!("José Bonifácio");
    payer["address"] = json!({ "street": "Rua do Ouvidor", "streetNumber": "50", "complement": "apto. 302",
        "zipCode": "20040-030", "country": "BR", "state": "RJ", "city": "Rio de Janeiro", "district": "Centro" });
    payer
}

async fn merchant(app: &TestApp) -> String {
    let body = json!({ "mcc": "5812", "name": "Loja Centro", "merchantName": "Loja São João Ltda",
        "providers": [sandbox("Only", 1)] });
    text(&app.post("/v1/merchants", &body).await.expect(201)["id"]).to_owned()
}

fn body(merchant: &str, payer: Value) -> Value {
    let body = boleto_body(merchant, described(payer));
    let interest = json!({ "days": 1, "percentage": 1.5 });
    let mut body = with_late_charges(body, interest, json!({ "days": 2, "amount": 200 }));
    body["amount"] = json!(123_456);
    body["orderId"] = json!("PEDIDO-231");
    body["paymentMethod"]["instructions"] = json!("Pagável em qualquer banco.\nNão receber após 30 dias.");
    body
}

/// The slip of a charge, by the address that its answer shows.
async fn slip(app: &TestApp, charge: &Value) -> Vec<u8> {
    let path = format!("/boleto/{}.pdf", link(app, &app.client, text(&charge["id"])).await);
    let reply = open(app, &path).await;
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, Some("application/pdf")));
    assert_eq!(reply.header("cache-control"), Some("private, max-age=300"));
    assert_eq!(reply.header("content-security-policy"), Some("default-src 'none'"));
    reply.bytes.to_vec()
}

async fn a_payer_reads_the_slip_without_a_key(app: TestApp) {
    let app = app.reachable().await;
    let charge = app.post("/v1/charges", &body(&merchant(&app).await, jose())).await.expect(201);
    let path = format!("/boleto/{}.pdf", link(&app, &app.client, text(&charge["id"])).await);
    assert!(text(&charge["paymentMethod"]["barcodeImageUrl"]).ends_with(&path));
    let pdf = slip(&app, &charge).await;
    keep(&pdf);
    let line = text(&charge["paymentMethod"]["barcodeData"]);
    let barcode = regente_domain::boleto::Barcode::parse_line(line).unwrap();
    let codes = codes_in_pdf(&pdf);
    assert_eq!(codes[0], format!("I2/5:{}", barcode.digits()), "a scanner reads what the answer says");
    assert!(codes[1].starts_with("QR-Code:000201") && codes[1].contains("1234.56"), "{codes:?}");
    assert_eq!(codes.len(), 2);
    let text = text_of_pdf(&pdf);
    for said in [
        barcode.printed_line().as_str(),
        "999-",
        "Banco Sandbox",
        "Loja São João Ltda",
        "José Bonifácio – CPF 729.120.530-13",
        "Rua do Ouvidor, 50, apto. 302, Centro, Rio de Janeiro – RJ, 20040-030",
        "30/03/2026",
        "23/03/2026",
        "1.234,56",
        "PEDIDO-231",
        "A partir de 31/03/2026: juros de 1,5% ao mês.",
        "A partir de 01/04/2026: multa de R$ 2,00.",
        "Pagável em qualquer banco.",
        "Não receber após 30 dias.",
        "SANDBOX: documento de teste, sem valor. Não pague.",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    app.post(&format!("/v1/charges/{}", charge["id"].as_str().unwrap()), &json!({ "status": "authorized" }))
        .await
        .expect(200);
    assert_eq!(codes_in_pdf(&slip(&app, &charge).await), codes, "it stays when it is paid");
}

/// Keeps the file where a person can look at it.
fn keep(pdf: &[u8]) {
    if let Some(folder) = std::env::var_os("KEEP_DOCUMENTS") {
        std::fs::write(std::path::Path::new(&folder).join("slip.pdf"), pdf).unwrap();
    }
}

async fn a_slip_names_the_payer_as_he_was_sent(app: TestApp) {
    let merchant = merchant(&app).await;
    let stored = app.post("/v1/customers", &jose()).await.expect(201);
    let mut other = payer("other@example.com", "72912053013");
    other["name"] = json!("Somebody Else");
    let page = app.client_token(json!(["charges"])).await;
    for client in [&app.client, &page] {
        let body = body(&merchant, other.clone());
        let charge = app.call(client, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
        let seen = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
        assert_eq!(seen["customerId"], stored["id"], "the document decides who he is");
        let text = text_of_pdf(&slip(&app, &charge).await);
        assert!(text.contains("Somebody Else – CPF 729.120.530-13"), "{text}");
        for unknown in ["José Bonifácio", "Rua do Ouvidor"] {
            assert!(!text.contains(unknown), "whoever knows a document learns nothing more: {unknown}");
        }
    }
}

async fn an_erased_payer_is_not_printed_any_more(app: TestApp) {
    let charge = app.post("/v1/charges", &body(&merchant(&app).await, jose())).await.expect(201);
    let id = text(&charge["id"]);
    app.post(&format!("/v1/charges/{id}"), &json!({ "status": "authorized" })).await.expect(200);
    customers::erase(&app, text(&charge["customerId"])).await;
    let pdf = slip(&app, &charge).await;
    let said = text_of_pdf(&pdf);
    for personal in ["José", "729", "Ouvidor", "Não receber"] {
        assert!(!said.contains(personal), "{personal} is in\n{said}");
    }
    assert!(said.contains("1.234,56") && codes_in_pdf(&pdf).len() == 2, "the boleto itself stays:\n{said}");
    let seen = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    assert_eq!(seen["paymentMethod"].get("instructions"), None);
}

async fn a_charge_without_a_slip_has_none(app: TestApp) {
    let merchant = app.merchant().await;
    let card = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    let pix = pix_body(&merchant, described(jose()));
    let pix = app.post("/v1/charges", &pix).await.expect(201);
    let boleto = app.post("/v1/charges", &boleto_body(&merchant, described(jose()))).await.expect(201);
    let [card, pix, boleto] = [&card, &pix, &boleto].map(|charge| text(&charge["id"]));
    let [card, pix, boleto] = [
        link(&app, &app.client, card).await,
        link(&app, &app.client, pix).await,
        link(&app, &app.client, boleto).await,
    ];
    for path in [
        format!("/boleto/{card}.pdf"),
        format!("/boleto/{pix}.pdf"),
        format!("/boleto/{boleto}.png"),
        format!("/boleto/{boleto}"),
        format!("/boleto/{}.pdf", &boleto[1..]),
        format!("/qr/{boleto}.png"),
    ] {
        assert_eq!(open(&app, &path).await.expect(404)["error"]["message"], "Resource not found", "{path}");
    }
    assert_eq!(open(&app, &format!("/boleto/{boleto}.pdf")).await.status, 200);
}
