//! What is left of used tokens: the attack on them, and the records of their opening.

use std::collections::HashMap;

use axum::http::Method;
use regente_domain::id::{Id, TokenId};
use regente_engine::settings::Settings;
use regente_engine::vault::{Binding, Purpose, token_digest};
use regente_store::sealed::Sealed;
use regente_store::testing::{FreshDatabase, TestDatabase, TestPostgres};
use regente_store::{Sql, args, audit, sql};
use serde_json::{Value, json};
use uuid::Uuid;

use super::text;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body, token_body};
use crate::support::canary::places::Disk;
use crate::support::providers::sandbox;
use crate::support::receiver::Receiver;
use crate::support::records::put;

stories! {
    the_opening_of_a_token_is_recorded_also_when_the_request_is_refused,
}

sql! {
    /// Every token.
    ALL_TOKENS = "SELECT digest, sealed, key_id FROM tokens WHERE client_id = :client_id";
    /// The same in the form of the other statements.
    ALL_TOKENS_BY_ID = "SELECT key_id AS id, sealed, key_id FROM tokens WHERE client_id = :client_id";
    /// What purchases keep sealed.
    SEALED_PURCHASES = "SELECT id, private AS sealed, key_id FROM purchases WHERE client_id = :client_id";
    /// What charges keep sealed.
    SEALED_CHARGES = "
        SELECT id, private AS sealed, key_id FROM charges WHERE client_id = :client_id AND private IS NOT NULL";
    /// What is kept for idempotency keys.
    SEALED_ANSWERS = "
        SELECT digest AS id, body AS sealed, key_id FROM idempotency
        WHERE client_id = :client_id AND body IS NOT NULL";
}

#[tokio::test]
async fn no_stored_id_opens_a_used_token_on_sqlite() {
    no_stored_id_opens_a_used_token(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn no_stored_id_opens_a_used_token_on_postgres() {
    // Other stories draw the same ids for other things, and their databases have the same log.
    let server = TestPostgres::alone();
    let database = FreshDatabase::at(server.empty_database().await);
    no_stored_id_opens_a_used_token(TestDatabase::Postgres(database)).await;
}

/// The attacker has the key-encryption key, copies of the database from the time when the tokens lived, and every id that
/// is stored now: in the clear, in what is sealed, and in the remains in the files.
async fn no_stored_id_opens_a_used_token(database: TestDatabase) {
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await;
    let merchant = app.merchant().await;
    let receiver = Receiver::start().await;
    for (event, path) in [("*", "/all"), ("purchase.paid", "/paid")] {
        let webhook = json!({ "event": event, "endpoint": receiver.url(path) });
        app.post("/v1/webhooks", &webhook).await.expect(201);
    }
    let mut copies = HashMap::new();
    let card_token = async |key: &str| {
        text(&app.post_with_key("/v1/tokens", key, &token_body(APPROVED)).await.expect(201)["tokenId"])
    };
    let (charged, stored, paid) = (card_token("1").await, card_token("2").await, card_token("3").await);
    let codes = [
        text(&app.post("/v1/tokens", &json!({ "cvvUpdate": APPROVED.1 })).await.expect(201)["tokenId"]),
        text(&app.post("/v1/tokens", &json!({ "cvvUpdate": APPROVED.1 })).await.expect(201)["tokenId"]),
    ];
    copy_tokens(&app, &mut copies).await;

    let body = put(
        charge_body(&merchant, APPROVED),
        "paymentSource",
        json!({ "sourceType": "token", "tokenId": charged }),
    );
    app.post_with_key("/v1/charges", "4", &body).await.expect(201);
    let card =
        text(&app.post_with_key("/v1/cards", "5", &json!({ "tokenId": stored })).await.expect(201)["id"]);
    let source = json!({ "sourceType": "card", "cardId": card, "tokenCvv": codes[0] });
    let body = put(charge_body(&merchant, APPROVED), "paymentSource", source);
    app.post_with_key("/v1/charges", "6", &body).await.expect(201);
    let purchase = json!({ "merchantId": merchant, "amount": 30_000, "capture": true, "metadata": { "a": 1 },
        "payments": [
            { "cardId": card, "tokenCvv": codes[1], "amount": 10_000 },
            { "tokenId": paid, "amount": 20_000 },
        ] });
    app.post_with_key("/v1/purchases", "7", &purchase).await.expect(202);
    // The codes of its cards, under ids of the service's own.
    copy_tokens(&app, &mut copies).await;
    let sealed_then = rows(&app, &SEALED_PURCHASES).await;
    app.run_jobs().await;
    assert_eq!(copies.len(), 7, "five tokens and the codes of two cards");
    assert!(rows(&app, &ALL_TOKENS_BY_ID).await.is_empty(), "all of them are used up");
    assert!(receiver.received().iter().any(|got| got.event() == "purchase.paid"));

    let mut known = disk.values();
    for (sql, purpose) in [
        (&SEALED_PURCHASES, Purpose::PurchaseData),
        (&SEALED_CHARGES, Purpose::ChargeData),
        (&SEALED_ANSWERS, Purpose::AnswerBody),
    ] {
        for (id, sealed) in rows(&app, sql).await {
            let plain =
                app.app.vault.open(Binding::new(purpose, app.client_id(), id), &sealed).await.unwrap();
            known.extend_from_slice(&plain);
            known.push(b'\n');
        }
    }
    assert_eq!(opened(&app, &copies, &known).await, 0, "by what is stored");
    // The attack finds what is there: one id is enough.
    known.extend_from_slice(paid.as_bytes());
    assert_eq!(opened(&app, &copies, &known).await, 1);

    app.app.store.close().await;
    for (path, bytes) in disk.files() {
        assert_eq!(opened_by_texts(&copies, &bytes), 0, "by what is left in {}", path.display());
        // PostgreSQL has no setting that overwrites what is deleted.
        let Disk::Sqlite(_) = disk else { continue };
        let is_left = |sealed: &[u8]| bytes.windows(sealed.len()).any(|window| window == sealed);
        for sealed in copies.values().chain(sealed_then.iter().map(|(_, sealed)| sealed)) {
            assert!(
                !is_left(&sealed.bytes),
                "a used token, or the ids of one, is left in {}",
                path.display()
            );
        }
    }
}

async fn rows(app: &TestApp, sql: &'static Sql) -> Vec<(Uuid, Sealed)> {
    let rows = app.app.store.rows(sql, args! { client_id: app.client_id() }).await.unwrap();
    let row = |row: &regente_store::Row| {
        let sealed = Sealed { key_id: row.get("key_id").unwrap(), bytes: row.get("sealed").unwrap() };
        (row.get("id").unwrap(), sealed)
    };
    rows.iter().map(row).collect()
}

async fn copy_tokens(app: &TestApp, copies: &mut HashMap<[u8; 32], Sealed>) {
    for row in app.app.store.rows(&ALL_TOKENS, args! { client_id: app.client_id() }).await.unwrap() {
        let sealed = Sealed { key_id: row.get("key_id").unwrap(), bytes: row.get("sealed").unwrap() };
        copies.insert(row.get("digest").unwrap(), sealed);
    }
}

/// How many copies of tokens an id among these bytes opens.
async fn opened(app: &TestApp, copies: &HashMap<[u8; 32], Sealed>, bytes: &[u8]) -> usize {
    let mut opened = 0;
    let windows = bytes.windows(16).map(|window| Uuid::from_slice(window).unwrap());
    for id in texts(bytes).chain(windows) {
        let Some(sealed) = copies.get(&token_digest(Id::new(id))) else { continue };
        let binding = Binding::new(Purpose::TokenContents, app.client_id(), id);
        opened += usize::from(app.app.vault.open(binding, sealed).await.is_ok());
    }
    opened
}

/// How many of them an id among these bytes, spelt as text, belongs to.
fn opened_by_texts(copies: &HashMap<[u8; 32], Sealed>, bytes: &[u8]) -> usize {
    texts(bytes).filter(|id| copies.contains_key(&token_digest(TokenId::new(*id)))).count()
}

/// The ids that are spelt with hyphens.
fn texts(bytes: &[u8]) -> impl Iterator<Item = Uuid> {
    let spelt = |window: &&[u8]| [8, 13, 18, 23].iter().all(|at| window[*at] == b'-');
    bytes.windows(36).filter(spelt).filter_map(|window| Uuid::try_parse_ascii(window).ok())
}

async fn the_opening_of_a_token_is_recorded_also_when_the_request_is_refused(app: TestApp) {
    let records = async |token: &str| {
        while app.app.in_flight.tasks() > 0 {
            tokio::task::yield_now().await;
        }
        let digest = token_digest(token.parse().unwrap());
        let half = Uuid::from_slice(&digest[..16]).unwrap();
        let entries = audit::of_object(&app.app.store, app.client_id(), half, 10).await.unwrap();
        let told =
            entries.into_iter().map(|entry| (entry.action, entry.object_kind, entry.request_id.unwrap()));
        told.collect::<Vec<_>>()
    };
    let send = async |path: &str, request_id: &str, body: &Value| {
        let headers = [("X-Request-Id", request_id), ("X-Idempotency-Key", request_id)];
        app.call(&app.client, Method::POST, path, &headers, Some(body)).await
    };
    let opened = |request_id: &str| ("token.opened".to_owned(), "token".to_owned(), request_id.to_owned());
    let merchant = app.merchant().await;
    let by_token = |token: &str| {
        put(
            charge_body(&merchant, APPROVED),
            "paymentSource",
            json!({ "sourceType": "token", "tokenId": token }),
        )
    };

    let token = app.card_token(APPROVED).await;
    send("/v1/charges", "charge", &by_token(&token)).await.expect(201);
    assert_eq!(records(&token).await, [opened("charge")]);
    let token = app.card_token(APPROVED).await;
    send("/v1/cards", "card", &json!({ "tokenId": token })).await.expect(201);
    assert_eq!(records(&token).await, [opened("card")]);
    let token = app.card_token(APPROVED).await;
    send("/v1/cards", "check", &json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true }))
        .await
        .expect(201);
    assert_eq!(records(&token).await, [opened("check")]);

    // Nobody can check the card.
    let barte = json!({ "name": "B", "priority": 1, "credentials": { "type": "BARTE", "tokenApi": "t" } });
    let unable = app.merchant_with(json!([barte])).await;
    let token = app.card_token(APPROVED).await;
    send("/v1/cards", "unable", &json!({ "tokenId": token, "merchantId": unable, "cvvCheck": true }))
        .await
        .expect(424);
    assert_eq!(records(&token).await, [opened("unable")]);
    // The second token of a purchase does not exist.
    let only = app.merchant_with(json!([sandbox("Only", 1)])).await;
    let purchase = json!({ "merchantId": only, "amount": 30_000, "payments": [
        { "tokenId": token, "amount": 10_000 },
        { "tokenId": "3f1c1b1e-2a7b-4a57-9d35-000000000000", "amount": 20_000 },
    ] });
    send("/v1/purchases", "purchase", &purchase).await.expect(400);
    assert_eq!(records(&token).await, [opened("purchase"), opened("unable")]);
    // The key was used for another charge, which the claim finds out.
    send("/v1/charges", "reused", &charge_body(&merchant, APPROVED)).await.expect(201);
    let refused = send("/v1/charges", "reused", &by_token(&token)).await;
    assert_eq!(refused.status, 409);
    let found = records(&token).await;
    assert!(found.len() == 2 || found[0] == opened("reused"), "{found:?}");
    // It is as good as before.
    send("/v1/charges", "at-last", &by_token(&token)).await.expect(201);
    assert_eq!(records(&token).await[0], opened("at-last"));
}
