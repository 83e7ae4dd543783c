//! Card data is never stored in the clear: known numbers and codes go through every route that takes or could repeat
//! them, and the test then searches all data for them.

mod payers;
mod payouts;
mod real_providers;
mod sellers;
mod story;
mod used_tokens;

use std::time::Duration;

use axum::http::Method;
use regente_domain::id::TokenId;
use regente_engine::settings::Settings;
use regente_engine::vault::{Binding, Purpose, token_digest};
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::{TestDatabase, run_script};
use regente_store::{args, sql, tokens};
use serde_json::{Value, json};
use story::Story;

use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV, charge_body};
use crate::support::canary::cards::{Canary, Fate};
use crate::support::canary::places::{Disk, Log, sqlite_values};
use crate::support::canary::search::{Search, texts_in};
use crate::support::records::{Records, put};
use crate::support::wallets::open_shop;

stories! {
    a_token_is_gone_after_its_use,
    numbers_that_changed_places_open_nothing,
    every_decryption_says_who_opened_which_card_for_what,
}

sql! {
    DECRYPTIONS = "
        SELECT card_id, request_type, actor FROM transaction_requests
        WHERE object_id = :object_id AND client_id = :client_id ORDER BY ordinal";
}

#[tokio::test]
async fn no_card_data_rests_anywhere_on_sqlite() {
    no_card_data_rests_anywhere(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn no_card_data_rests_anywhere_on_postgres() {
    no_card_data_rests_anywhere(TestDatabase::fresh_postgres().await).await;
}

/// One thread for everything, so that its whole log is captured.
async fn no_card_data_rests_anywhere(database: TestDatabase) {
    let log = Log::listen();
    let books = tempfile::tempdir().unwrap();
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await.reachable().await;
    // A busy machine syncs the transaction log slowly, and only the cards that time out may time out.
    let app = app.with_sandbox_deadline(Duration::from_secs(1)).await;
    let app = app.with_books(TransactionLog::file(&books.path().join("books.db")).unwrap()).await;
    let (app, shop) = open_shop(app).await;
    let mut story = Story::new(&app, disk.clone()).await;
    let merchants = story.listen().await;
    story.tokens_and_cards().await;
    story.charges().await;
    story.sessions().await;
    story.subscriptions().await;
    story.wallets(&shop).await;
    story.analyses().await;
    story.purchases().await;
    story.notifications().await;
    story.what_is_refused().await;
    story.words_of_the_caller().await;
    story.what_is_read().await;
    story.receipts().await;
    story.payouts().await;
    story.faults().await;
    app.later(Duration::from_secs(3 * 60 * 60)).await;
    story.what_went_out(merchants).await;
    story.look_into_the_tables();

    // All data ever written, its copies, and the remains of deleted data.
    let Story { secrets, own_words, answers, .. } = story;
    assert!(secrets.len() > 40, "{} cards", secrets.len());
    let search = Search::of(&secrets);
    if let Disk::Sqlite(folder) = &disk {
        let copy = folder.join("copy.db");
        run_script(&app.app.store, &format!("VACUUM INTO '{}'", copy.display())).await.unwrap();
        assert_eq!(search.hits(&sqlite_values(&copy)), [""; 0], "in the values of a copy");
    }
    for (path, bytes) in disk.files().into_iter().chain(Disk::Sqlite(books.path().to_owned()).files()) {
        assert_eq!(search.hits(&bytes), [""; 0], "in {}", path.display());
    }
    assert_eq!(search.hits(&answers), [""; 0], "in what was answered");
    let everything = Search::of(&[secrets.as_slice(), &own_words].concat());
    assert_eq!(everything.hits(&log.written.bytes()), [""; 0], "in the log");
    assert_eq!(search.hits(&log.raw.bytes()), [""; 0], "in the log, if nothing were scrubbed");
    let lines = log.written.bytes();
    let requests = texts_in(&["request answered"], &lines).len();
    assert!(requests > 200, "the log was heard: {requests} lines");

    the_search_finds(&app, &disk, &log).await;
}

/// Shows that the search finds planted card data; otherwise an empty result would prove nothing.
async fn the_search_finds(app: &TestApp, disk: &Disk, log: &Log) {
    let planted = Canary::new(Fate::Approved);
    let search = Search::of(std::slice::from_ref(&planted));
    let Canary { number, cvv } = &planted;
    let encoded = {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(format!("a{number}b"))
    };
    let packed = hex::decode(number).unwrap();
    for text in [
        number.as_bytes(),
        format!("x{}y", &number[3..13]).as_bytes(),
        planted.spaced(" ").as_bytes(),
        planted.spaced("-").as_bytes(),
        hex::encode(number).as_bytes(),
        encoded.as_bytes(),
        &packed,
        &number.parse::<u64>().unwrap().to_be_bytes(),
        format!(r#"{{"cvv":"{cvv}"}}"#).as_bytes(),
        format!(r#"{{\"cvv\":\"{cvv}\"}}"#).as_bytes(),
        format!("cvv={cvv} ").as_bytes(),
        format!("Some({cvv})").as_bytes(),
    ] {
        assert!(!search.hits(text).is_empty(), "{}", String::from_utf8_lossy(text));
    }
    for text in [&number[..6], &number[12..], "1.07309", "a0730b"] {
        assert_eq!(search.hits(text.as_bytes()), [""; 0], "{text} may be shown");
    }
    let plant =
        format!("CREATE TABLE planted (what TEXT); INSERT INTO planted VALUES ('{number}'), ('{cvv}')");
    run_script(&app.app.store, &plant).await.unwrap();
    let found = search.hits(&disk.values()).join("\n");
    assert!(found.contains("of the number") && found.contains("the code"), "{found}");
    run_script(&app.app.store, "DELETE FROM planted").await.unwrap();
    assert_eq!(search.hits(&disk.values()), [""; 0]);
    let in_files = disk.files().iter().any(|(_, bytes)| !search.hits(bytes).is_empty());
    assert!(in_files, "what was deleted is still in the files");
    // Long enough for a server to compress it, and short enough for one page of a file.
    let in_a_long_value = Canary::new(Fate::Approved);
    let long = format!(
        "UPDATE clients SET name = '{}{}'; UPDATE clients SET name = 'short'",
        "x".repeat(3_000),
        in_a_long_value.number
    );
    run_script(&app.app.store, &long).await.unwrap();
    let long = Search::of(&[in_a_long_value]);
    let in_files = disk.files().iter().any(|(_, bytes)| !long.hits(bytes).is_empty());
    assert!(in_files, "a long value is in the files as it is");
    tracing::trace!(number, cvv, "planted");
    assert!(search.hits(&log.raw.bytes()).len() > 1);
    let written = log.written.bytes();
    let written = search.hits(&written);
    assert!(written.iter().all(|hit| hit.starts_with("the code")) && !written.is_empty(), "{written:?}");
}

async fn stored_token(app: &TestApp, token: &str) -> Option<tokens::StoredToken> {
    let digest = token_digest(token.parse().unwrap());
    let then = regente_domain::time::Timestamp::parse(START).unwrap();
    tokens::find(&app.app.store, app.client_id(), digest, then).await.unwrap()
}

async fn a_token_is_gone_after_its_use(app: TestApp) {
    let records = Records { app: &app, client: &app.client };
    let merchant = app.merchant().await;
    let charge = |source: Value| put(charge_body(&merchant, APPROVED), "paymentSource", source);
    let token = app.card_token(APPROVED).await;
    assert!(stored_token(&app, &token).await.is_some());
    app.post("/v1/charges", &charge(json!({ "sourceType": "token", "tokenId": token }))).await.expect(201);
    assert!(stored_token(&app, &token).await.is_none(), "after a charge");
    let (card, cvv) = (app.card(APPROVED).await, records.cvv_token().await);
    let source = json!({ "sourceType": "card", "cardId": card, "tokenCvv": cvv });
    app.post("/v1/charges", &charge(source)).await.expect(201);
    assert!(stored_token(&app, &cvv).await.is_none(), "a security code, after a charge");
    let token = app.card_token(WRONG_CVV).await;
    app.post("/v1/charges", &charge(json!({ "sourceType": "token", "tokenId": token }))).await.expect(201);
    assert!(stored_token(&app, &token).await.is_none(), "also when it was refused");
    let token = app.card_token(APPROVED).await;
    app.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201);
    assert!(stored_token(&app, &token).await.is_none(), "after it became a card");
}

/// An attacker with the database and its key-encryption key, but without the token's id, which only its owner has.
#[tokio::test]
async fn nothing_in_the_database_opens_a_token() {
    let database = TestDatabase::fresh_sqlite();
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await;
    app.card(APPROVED).await;
    let token: TokenId = app.card_token(APPROVED).await.parse().unwrap();
    let sealed = stored_token(&app, &token.to_string()).await.expect("it is stored").sealed;
    let opens = async |id: uuid::Uuid| {
        app.app.vault.open(Binding::new(Purpose::TokenContents, app.client_id(), id), &sealed).await.is_ok()
    };
    assert!(opens(token.uuid()).await, "its id does");
    let values = disk.values();
    let texts = String::from_utf8_lossy(&values).into_owned();
    let spelt = texts
        .split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-')
        .filter_map(|text| text.parse().ok());
    let bytes = values.windows(16).map(|window| uuid::Uuid::from_slice(window).unwrap());
    let mut tried = 0;
    for id in spelt.chain(bytes) {
        assert!(!opens(id).await, "{id}");
        tried += 1;
    }
    assert!(tried > 1_000, "{tried}");
}

async fn numbers_that_changed_places_open_nothing(app: TestApp) {
    let merchant = app.merchant().await;
    let cards = [app.card(APPROVED).await, app.card(("5214254988499590", "220")).await];
    let swap = "CREATE TABLE swapped AS SELECT id, pan FROM cards;
        UPDATE cards SET pan = (SELECT pan FROM swapped WHERE swapped.id <> cards.id);
        DROP TABLE swapped";
    let charge = async |card: &str| {
        let source = json!({ "sourceType": "card", "cardId": card });
        app.post("/v1/charges", &put(charge_body(&merchant, APPROVED), "paymentSource", source)).await
    };
    run_script(&app.app.store, swap).await.unwrap();
    for card in &cards {
        charge(card).await.expect(500);
    }
    assert_eq!(app.books.entries().await.unwrap().len(), 0, "no provider was asked");
    run_script(&app.app.store, swap).await.unwrap();
    for card in &cards {
        assert_eq!(charge(card).await.expect(201)["status"], "authorized", "each in its own place");
    }
}

async fn every_decryption_says_who_opened_which_card_for_what(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let card = app.card(APPROVED).await;
    let source = json!({ "sourceType": "card", "cardId": card });
    let body = put(charge_body(&merchant, APPROVED), "paymentSource", source);
    let public_key = app.client_token(json!(["charges"])).await;
    for (key, kind) in [(&app.client, "key"), (&public_key, "client_token")] {
        let charge = app.call(key, Method::POST, "/v1/charges", &[], Some(&body)).await.expect(201);
        let (object_id, client_id): (uuid::Uuid, _) = (text(&charge["id"]).parse().unwrap(), app.client_id());
        let rows = app.app.store.rows(&DECRYPTIONS, args! { object_id, client_id }).await.unwrap();
        assert_eq!(rows.len(), 2, "one for each provider that was given the number");
        for row in rows {
            let (opened, what, who): (uuid::Uuid, String, String) =
                (row.get("card_id").unwrap(), row.get("request_type").unwrap(), row.get("actor").unwrap());
            assert_eq!((opened.to_string(), what.as_str()), (card.clone(), "authorization"));
            assert!(who.starts_with(&format!("{kind}:")), "{who}");
        }
    }
    let token = app.card_token(APPROVED).await;
    let check = json!({ "tokenId": token, "merchantId": app.merchant().await, "cvvCheck": true });
    let checked = app.post("/v1/cards", &check).await.expect(201);
    let (object_id, client_id): (uuid::Uuid, _) = (text(&checked["id"]).parse().unwrap(), app.client_id());
    let rows = app.app.store.rows(&DECRYPTIONS, args! { object_id, client_id }).await.unwrap();
    let what: Vec<String> = rows.iter().map(|row| row.get("request_type").unwrap()).collect();
    assert_eq!(what, ["zero_dollar"]);
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
