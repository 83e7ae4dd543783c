//! The personal data of payers is never stored in the clear: a payer in the body goes through everything that is done with
//! a Pix and a boleto, and the test then searches all values, files and the log for them.

use std::time::Duration;

use axum::http::Method;
use regente_engine::settings::Settings;
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::TestDatabase;
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp};
use crate::support::bodies::payers::{boleto_body, described, nupay_body, pix_body};
use crate::support::canary::places::{Disk, Log};
use crate::support::canary::search::texts_in;
use crate::support::charges::single_merchant;
use crate::support::client::Client;
use crate::support::documents::link;
use crate::support::payers::{decides, notifications_arrive, nupay_page};
use crate::support::read::text;
use crate::support::sessions::{buyer, session_body};
use crate::support::three_d_secure::visit;
use crate::support::vendors::vendor_body;

/// What must be nowhere.
const PERSONAL: [&str; 16] = [
    "Valdomira Quixabeira",
    "valdomira",
    "39053344705",
    "390.533.447-05",
    "11987651234",
    "Rua Zumbi",
    // A recipient of a NuPay.
    "Ubiratan Cajazeira",
    "11144477735",
    // One of a NuPay that pays a session.
    "Jaciara Mandacaru",
    "86288366757",
    // A vendor.
    "Iracema Tapioca",
    "iracema@example.org",
    "52998224725",
    "Travessa Ipupiara",
    // The browser of the payer of a Drip.
    "203.0.113.77",
    "c4n4ry-f1ng3rpr1nt",
];

#[tokio::test]
async fn no_payer_rests_anywhere_on_sqlite() {
    no_payer_rests_anywhere(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn no_payer_rests_anywhere_on_postgres() {
    no_payer_rests_anywhere(TestDatabase::fresh_postgres().await).await;
}

/// A NuPay through its page, and back.
async fn nupay(app: &TestApp, merchant: &str, payer: Value) {
    let mut body = nupay_body(merchant);
    body["paymentSource"] = described(payer);
    body["paymentMethod"]["recipients"] = json!([
        { "referenceId": "1", "name": "Ubiratan Cajazeira", "document": "11144477735", "amount": 100 },
    ]);
    let charge = app.post_with_key("/v1/charges", "a nupay", &body).await.expect(201);
    assert_eq!(charge["paymentMethod"]["recipients"], body["paymentMethod"]["recipients"]);
    let page = nupay_page(&charge);
    assert_eq!(visit(app, page.strip_prefix(ADDRESS).unwrap()).await.status, 200);
    assert_eq!(decides(app, page, "pay").await.status, 200);
    notifications_arrive(app).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    assert_eq!(app.get(&path).await.expect(200)["status"], "authorized");
    app.post(&format!("{path}/void"), &json!({})).await.expect(201);
    app.post(&path, &json!({ "status": "voided" })).await.expect(200);
}

async fn no_payer_rests_anywhere(database: TestDatabase) {
    let log = Log::listen();
    let books = tempfile::tempdir().unwrap();
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await;
    // A busy machine syncs the transaction log slowly.
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await;
    let app = app.with_books(TransactionLog::file(&books.path().join("books.db")).unwrap()).await;
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let payer = json!({
        "name": "Valdomira Quixabeira", "phoneNumber": "11987651234", "email": "valdomira@example.com",
        "document": { "type": "cpf", "number": "390.533.447-05" },
        "address": { "street": "Rua Zumbi", "streetNumber": "9", "zipCode": "01310100", "country": "BR",
            "state": "SP", "city": "Sao Paulo", "district": "Centro" },
    });
    let body = pix_body(&merchant, described(payer.clone()));
    let page = app.client_token(json!(["charges"])).await;
    let charge = app.post_with_key("/v1/charges", "a key", &body).await.expect(201);
    app.call(&page, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    let mut wrong = body.clone();
    wrong["paymentMethod"]["expiresIn"] = json!(0);
    app.post("/v1/charges", &wrong).await.expect(400);
    by_boleto(&app, &page, &merchant, &body["paymentSource"]).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    app.post(&path, &json!({ "status": "authorized" })).await.expect(200);
    app.post(&format!("{path}/void"), &json!({})).await.expect(201);
    app.post(&path, &json!({ "status": "voided" })).await.expect(200);
    nupay(&app, &merchant, payer.clone()).await;
    at_a_session(&app, &merchant, &payer).await;
    for_a_vendor(&app, &body).await;
    let browser = json!({ "ipAddress": "203.0.113.77", "browserFingerprint": "c4n4ry-f1ng3rpr1nt" });
    let drip = json!({
        "merchantId": merchant, "amount": 150, "paymentSource": described(payer),
        "paymentMethod": { "paymentType": "drip", "browser": browser },
    });
    let charge = app.post_with_key("/v1/charges", "a drip", &drip).await.expect(201);
    assert_eq!(charge["paymentMethod"]["browser"], browser);
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    app.post(&path, &json!({ "status": "voided" })).await.expect(200);
    app.later(Duration::from_secs(3 * 60 * 60)).await;
    let mut places = vec![("the tables".to_owned(), disk.values()), ("the log".to_owned(), log.raw.bytes())];
    places.extend(disk.files().into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    let books = Disk::Sqlite(books.path().to_owned()).files();
    places.extend(books.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    for (place, bytes) in &places {
        assert_eq!(texts_in(&PERSONAL, bytes), [""; 0], "in {place}");
    }
    let seen = app.get(&format!("/v1/customers/{}", text(&charge["customerId"]))).await.expect(200);
    assert_eq!(seen["email"], "valdomira@example.com", "it is there for whoever may see it");
}

/// The buyer of a session becomes a customer, and gets the code of a Pix; they type something wrong before.
async fn at_a_session(app: &TestApp, merchant: &str, payer: &Value) {
    let mut offers = session_body(merchant);
    let recipient =
        json!({ "referenceId": "1", "name": "Jaciara Mandacaru", "document": "86288366757", "amount": 10 });
    let nupay = json!({ "paymentType": "nupay", "recipients": [recipient] });
    offers["paymentMethods"].as_array_mut().unwrap().push(nupay);
    let session = app.post_with_key("/v1/sessions", "a session", &offers).await.expect(200);
    let (key, headers) = (buyer(&session), [("X-Idempotency-Key", "at a session")]);
    let body =
        json!({ "paymentMethod": { "paymentType": "pix" }, "paymentSource": described(payer.clone()) });
    let mut by_nupay = body.clone();
    by_nupay["paymentMethod"]["paymentType"] = "nupay".into();
    let mut wrong = body.clone();
    wrong["paymentSource"]["customer"]["document"]["number"] = "1".into();
    let mut nameless = payer.clone();
    nameless["name"] = Value::Null;
    let pay = format!("/v1/sessions/{}/charge", text(&session["id"]));
    for (path, body, status) in [
        ("/v1/sessions/customers", &nameless, 400),
        ("/v1/sessions/customers?force=true", payer, 201),
        (&pay, &wrong, 400),
        (&pay, &body, 201),
        (&pay, &body, 201),
    ] {
        let reply = app.call(&key, Method::POST, path, &headers, Some(body)).await;
        assert_eq!(reply.status, status, "{path}: {reply:?}");
    }
    app.call(&key, Method::POST, &pay, &[], Some(&by_nupay)).await.expect(201);
    for path in [format!("/v1/sessions/{}/history", text(&session["id"])), "/v1/sessions".to_owned()] {
        app.get(&path).await.expect(200);
    }
}

/// A vendor is made, refused, changed, paid for and erased.
async fn for_a_vendor(app: &TestApp, pix: &Value) {
    let mut vendor = vendor_body();
    vendor["name"] = json!("Iracema Tapioca");
    vendor["email"] = json!("iracema@example.org");
    (vendor["identityType"], vendor["identity"]) = (json!("CPF"), json!("52998224725"));
    vendor["address"]["street"] = json!("Travessa Ipupiara");
    let made = app.post_with_key("/v1/vendors", "a vendor", &vendor).await.expect(201);
    app.post("/v1/vendors", &vendor).await.expect(409);
    let path = format!("/v1/vendors/{}", text(&made["id"]));
    vendor["mcc"] = json!("5651");
    app.patch(&path, &vendor).await.expect(200);
    vendor["address"]["city"] = json!("");
    app.patch(&path, &vendor).await.expect(400);
    let mut body = pix.clone();
    body["vendor"] = json!({ "id": made["id"], "paymentFacilitatorId": "7" });
    app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(app.get(&path).await.expect(200)["name"], "Iracema Tapioca");
    app.delete(&path).await.expect(204);
}

/// A boleto whose slip names the payer; it is paid, and the bank takes the settlement back.
async fn by_boleto(app: &TestApp, page: &Client, merchant: &str, payer: &Value) {
    let body = boleto_body(merchant, payer.clone());
    let charge = app.post_with_key("/v1/charges", "a boleto", &body).await.expect(201);
    app.call(page, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
    let link = link(app, &app.client, text(&charge["id"])).await;
    assert_eq!(app.get(&format!("/boleto/{link}.pdf")).await.status, 200);
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    app.post(&path, &json!({ "status": "voided" })).await.expect(200);
}
