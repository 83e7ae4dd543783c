//! What is personal of a seller, and its bank account, is never stored in the clear: a company goes through everything that is
//! done with one, and the test then searches all values, files, the log and the simulator's log for it.

use std::time::Duration;

use axum::http::Method;
use regente_engine::settings::Settings;
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::TestDatabase;
use serde_json::json;

use crate::support::app::TestApp;
use crate::support::canary::places::{Disk, Log};
use crate::support::canary::search::texts_in;
use crate::support::charges::single_merchant;
use crate::support::forms::png;
use crate::support::platform_fees::keep;
use crate::support::receiver::Receiver;
use crate::support::sellers::{DOCUMENTS, SELLERS, changed, company_body, made, path, read, selfie};
use crate::support::splits::divided;
use crate::support::webhooks::webhook;

/// What must be nowhere.
const PERSONAL: [&str; 11] = [
    "Hermengarda Jurubeba",
    "hermengarda",
    "15350946056",
    "153.509.460-56",
    "21955512345",
    "Rua Macaxeira",
    "loja-jurubeba",
    "8812345678",
    "anota-segredo",
    "retrato-secreto",
    "Beco da Tanajura",
];

#[tokio::test]
async fn no_seller_rests_anywhere_on_sqlite() {
    no_seller_rests_anywhere(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn no_seller_rests_anywhere_on_postgres() {
    no_seller_rests_anywhere(TestDatabase::fresh_postgres().await).await;
}

async fn no_seller_rests_anywhere(database: TestDatabase) {
    let log = Log::listen();
    let books = tempfile::tempdir().unwrap();
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await;
    // A busy machine syncs the transaction log slowly.
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await;
    let app = app.with_books(TransactionLog::file(&books.path().join("books.db")).unwrap()).await;
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "*", "/").await;
    let merchant = single_merchant(&app).await;
    let mut body = company_body(&merchant);
    body["owner"]["name"] = json!("Hermengarda Jurubeba");
    body["owner"]["email"] = json!("hermengarda@example.com");
    body["owner"]["phoneNumber"] = json!("21955512345");
    body["owner"]["document"]["number"] = json!("153.509.460-56");
    body["owner"]["address"]["street"] = json!("Rua Macaxeira");
    body["business"]["email"] = json!("loja-jurubeba@example.com");
    body["bankAccount"]["accountNumber"] = json!("8812345678");
    body["metadata"] = json!([{ "key": "note", "value": "anota-segredo" }]);
    let seller = app.post_with_key(SELLERS, "a key", &body).await.expect(201);
    changed(&app, &seller, &json!({ "bankAccount": { "holderDocument": "15350946056" } })).await;
    keep(&app, &merchant, &json!([{ "paymentMethod": "default", "percentage": 1 }])).await;
    let charge = divided(&merchant, 1000, &json!([{ "sellerId": seller["id"], "percentage": 50 }]));
    let charge = app.post("/v1/charges", &charge).await.expect(201);
    assert_eq!((&charge["status"], &charge["platformFee"]["amount"]), (&json!("authorized"), &json!(10)));
    changed(&app, &seller, &json!({ "status": "inactive" })).await;
    app.get(&format!("{SELLERS}?email=hermengarda@example.com")).await.expect(200);
    let mut wrong = body.clone();
    wrong["owner"]["birthdate"] = json!("never");
    app.post(SELLERS, &wrong).await.expect(400);
    // A file, and what the seller answers to a review.
    let picture = [png().bytes.as_slice(), b"retrato-secreto"].concat();
    let file = app.send(selfie(&picture).request_to(&app.client, Method::POST, DOCUMENTS)).await.expect(201);
    changed(&app, &seller, &json!({ "documentIds": [file["id"]] })).await;
    let reviews = format!("{}/registration-reviews", path(&seller));
    let review = app.post(&reviews, &json!({ "fields": ["owner.address.street"] })).await.expect(201);
    let answer = json!({
        "data": { "owner.address.street": "Beco da Tanajura" }, "collectedAt": app.clock.deployment(),
        "declaration": true,
    });
    let place = format!("{reviews}/{}/answer", review["id"].as_str().unwrap());
    app.post(&place, &answer).await.expect(200);
    app.later(Duration::from_secs(2 * 24 * 60 * 60)).await;

    let mut places = vec![("the tables".to_owned(), disk.values()), ("the log".to_owned(), log.raw.bytes())];
    places.extend(disk.files().into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    let books = Disk::Sqlite(books.path().to_owned()).files();
    places.extend(books.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    for (place, bytes) in &places {
        assert_eq!(texts_in(&PERSONAL, bytes), [""; 0], "in {place}");
    }
    assert_eq!(read(&app, &seller).await["owner"]["name"], "Hermengarda Jurubeba");
    let (of_reviews, news): (Vec<_>, Vec<_>) =
        receiver.events().into_iter().zip(receiver.received()).partition(|(name, _)| name.contains("review"));
    let news: Vec<_> = news.iter().map(|(_, got)| got.json()["data"]["seller"].clone()).collect();
    let of_sellers = news.iter().filter(|seller| !seller.is_null());
    let mut named = of_sellers.map(|seller| seller["owner"]["name"].is_string()).peekable();
    assert!(named.peek().is_some() && named.all(|is_named| is_named));
    assert!(!of_reviews.is_empty());
    for (name, got) in of_reviews {
        let told = got.json().to_string();
        for personal in PERSONAL {
            assert!(!told.contains(personal), "{personal} is in {name}");
        }
    }

    let merchant = json!({ "merchantId": merchant });
    app.call(&app.client, Method::DELETE, &path(&seller), &[], Some(&merchant)).await.expect(204);
    assert_eq!(texts_in(&["rita store"], &disk.values()), [""; 0], "the name of the company goes too");
    let again = made(&app, &body).await;
    assert_ne!(again["id"], seller["id"]);
}
