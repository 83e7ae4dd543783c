//! Card data never rests in the clear (C1, C4, C5): known numbers and codes go through every route that takes or could
//! repeat them, and are looked for everywhere afterwards.

mod cards;
mod places;
mod search;

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use regente::settings::Settings;
use regente::vault::{Binding, Purpose, token_digest};
use regente_domain::id::TokenId;
use regente_providers::sandbox::Books;
use regente_store::testing::{TestDatabase, run_script};
use regente_store::{args, sql, tokens};
use serde_json::{Value, json};

use crate::harness::{APPROVED, Client, Reply, START, TestApp, charge_body, sandbox, stories};
use crate::openapi::records::{Records, put};
use cards::{Canary, Fate};
use places::{Disk, Log, sqlite_values};
use search::Search;

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

/// One thread for all, so that the log of everything is heard.
async fn no_card_data_rests_anywhere(database: TestDatabase) {
    let log = Log::listen();
    let books = tempfile::tempdir().unwrap();
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await;
    let app = app.with_books(Books::file(&books.path().join("books.db")).unwrap()).await;
    let mut story = Story::new(&app, disk.clone()).await;
    story.tokens_and_cards().await;
    story.charges().await;
    story.what_is_refused().await;
    story.words_of_the_caller().await;
    story.what_is_read().await;
    story.faults().await;
    app.later(Duration::from_secs(3 * 60 * 60)).await;
    story.look_into_the_tables();

    // Everything that was ever written, the copies, and what is left of what was deleted.
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
    let requests = lines.windows(16).filter(|window| window == b"request answered").count();
    assert!(requests > 200, "the log was heard: {requests} lines");

    the_search_finds(&app, &disk, &log).await;
}

/// A search that finds nothing proves nothing unless it can find.
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
        assert_eq!(search.hits(text).is_empty(), false, "{}", String::from_utf8_lossy(text));
    }
    for text in [&number[..6], &number[12..], "1.07309", "a0730b"] {
        assert_eq!(search.hits(text.as_bytes()), [""; 0], "{text} may be shown");
    }
    let plant =
        format!("CREATE TABLE planted (what TEXT); INSERT INTO planted VALUES ('{number}'), ('{cvv}')");
    run_script(&app.app.store, &plant).await.unwrap();
    let found = search.hits(&disk.values()).join("\n");
    assert!(found.contains("of the number") && found.contains("the code"), "{found}");
    run_script(&app.app.store, "DROP TABLE planted").await.unwrap();
    assert_eq!(search.hits(&disk.values()), [""; 0]);
    let in_files = disk.files().iter().any(|(_, bytes)| !search.hits(bytes).is_empty());
    assert!(in_files, "what was deleted is still in the files");
    tracing::trace!(number, cvv, "planted");
    assert!(search.hits(&log.raw.bytes()).len() > 1);
    let written = log.written.bytes();
    let written = search.hits(&written);
    assert!(written.iter().all(|hit| hit.starts_with("the code")) && !written.is_empty(), "{written:?}");
}

/// What was sent, and what came back.
struct Story<'a> {
    app: &'a TestApp,
    disk: Disk,
    merchant: String,
    fallback: String,
    customer: String,
    secrets: Vec<Canary>,
    /// Numbers that the caller wrote into texts of its own, which are kept and shown: only the log must not have them.
    own_words: Vec<Canary>,
    answers: Vec<u8>,
}

impl<'a> Story<'a> {
    async fn new(app: &'a TestApp, disk: Disk) -> Self {
        let records = Records { app, client: &app.client };
        let customer = records.customer().await;
        let (merchant, fallback) = (app.merchant().await, app.fallback_merchant().await);
        let (secrets, own_words, answers) = (Vec::new(), Vec::new(), Vec::new());
        Self { app, disk, merchant, fallback, customer, secrets, own_words, answers }
    }

    fn canary(&mut self, fate: Fate) -> Canary {
        self.secrets.push(Canary::new(fate));
        self.secrets.last().unwrap().clone()
    }

    fn own_word(&mut self) -> String {
        self.own_words.push(Canary::new(Fate::Approved));
        self.own_words.last().unwrap().number.clone()
    }

    /// Sends a request, keeps the answer, and looks into the tables while what it wrote is still there.
    async fn send(
        &mut self,
        client: &Client,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("X-Client-Id", &client.id)
            .header("X-Api-Key", &client.key)
            .header("Content-Type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = self.app.send(request.body(Body::from(body)).unwrap()).await;
        self.answers.extend(shown(&reply.headers).bytes());
        self.answers.extend_from_slice(&reply.bytes);
        self.answers.push(b'\n');
        if let Disk::Sqlite(_) = self.disk {
            self.look_into_the_tables();
        }
        reply
    }

    async fn post(&mut self, path: &str, body: &Value) -> Reply {
        let client = self.app.client.clone();
        self.send(&client, Method::POST, path, &[], body.to_string()).await
    }

    async fn post_twice(&mut self, path: &str, key: &str, body: &Value) -> Reply {
        let client = self.app.client.clone();
        let headers = [("X-Idempotency-Key", key)];
        let first = self.send(&client, Method::POST, path, &headers, body.to_string()).await;
        let again = self.send(&client, Method::POST, path, &headers, body.to_string()).await;
        assert_eq!((first.status, &first.bytes), (again.status, &again.bytes), "{path}");
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}");
        first
    }

    fn look_into_the_tables(&self) {
        assert_eq!(Search::of(&self.secrets).hits(&self.disk.values()), [""; 0], "in the tables");
    }

    fn charge(&self, source: Value) -> Value {
        json!({
            "merchantId": self.merchant, "amount": 150, "capture": true,
            "paymentMethod": { "paymentType": "credit" }, "paymentSource": source
        })
    }

    fn inline(&self, canary: &Canary) -> Value {
        self.charge(json!({ "sourceType": "card", "card": canary.card() }))
    }

    async fn token(&mut self, fate: Fate) -> String {
        let card = self.canary(fate).card();
        let token = text(&self.post("/v1/tokens", &card).await.expect(201)["tokenId"]);
        if let Disk::Postgres(_) = self.disk {
            self.look_into_the_tables();
        }
        token
    }

    async fn cvv_token(&mut self) -> String {
        let cvv = self.canary(Fate::Approved).cvv;
        text(&self.post("/v1/tokens", &json!({ "cvvUpdate": cvv })).await.expect(201)["tokenId"])
    }

    async fn card(&mut self) -> String {
        let token = self.token(Fate::Approved).await;
        text(&self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201)["id"])
    }

    async fn tokens_and_cards(&mut self) {
        let public_key = self.app.client_token(json!("*")).await;
        let card = self.canary(Fate::Approved).card();
        self.send(&public_key, Method::POST, "/v1/tokens", &[], card.to_string()).await.expect(201);
        let card = self.canary(Fate::Approved);
        let body = put(card.card(), "cardNumber", card.spaced(" "));
        self.post_twice("/v1/tokens", &card.number, &body).await.expect(201);
        let card = self.canary(Fate::Approved);
        let mut both = put(card.card(), "cvvUpdate", card.cvv);
        both.as_object_mut().unwrap().shift_remove("cardCvv");
        self.post_twice("/v1/tokens", "both", &both).await.expect(201);
        self.cvv_token().await;
        let token = self.token(Fate::Approved).await;
        self.post_twice("/v1/cards", "plain", &json!({ "tokenId": token })).await.expect(201);
        for (fate, status) in [(Fate::Approved, 201), (Fate::WrongCvv, 201), (Fate::TimedOut, 424)] {
            let token = self.token(fate).await;
            let body = json!({ "tokenId": token, "merchantId": self.merchant, "cvvCheck": true });
            let reply = self.post_twice("/v1/cards", &format!("check {fate:?}"), &body).await;
            assert!(reply.status == status || reply.status == 201, "{fate:?}: {reply:?}");
        }
        // The token is used up: the card cannot be stored once more.
        self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(400);
    }

    async fn charges(&mut self) {
        for fate in [Fate::Approved, Fate::Declined, Fate::TimedOut, Fate::WrongCvv] {
            let canary = self.canary(fate);
            let body = self.inline(&canary);
            self.post("/v1/charges", &body).await.expect(201);
            let canary = self.canary(fate);
            let body = put(put(self.inline(&canary), "capture", false), "merchantId", self.fallback.clone());
            self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
            let token = self.token(fate).await;
            let body = self.charge(json!({ "sourceType": "token", "tokenId": token }));
            self.post_twice("/v1/charges", &format!("token {fate:?}"), &body).await.expect(201);
            let cvv = self.canary(fate).cvv;
            let card = self.card().await;
            let body = self.charge(json!({ "sourceType": "card", "cardId": card, "cardCvv": cvv }));
            self.post_twice("/v1/charges", &format!("stored {fate:?}"), &body).await.expect(201);
        }
        let (card, cvv) = (self.card().await, self.cvv_token().await);
        let link = format!("/v1/customers/{}/cards", self.customer);
        self.post(&link, &json!({ "cardId": card })).await.expect(204);
        let body = self.charge(json!({ "sourceType": "card", "cardId": card, "tokenCvv": cvv }));
        self.post_twice("/v1/charges", "cvv token", &body).await.expect(201);
        let cvv = self.canary(Fate::Approved).cvv;
        let body =
            self.charge(json!({ "sourceType": "customer", "customerId": self.customer, "cardCvv": cvv }));
        self.post_twice("/v1/charges", "customer", &body).await.expect(201);
        let canary = self.canary(Fate::Approved);
        let voucher = json!({ "paymentType": "voucher", "items": [], "customer": { "name": "Ana" } });
        self.post("/v1/charges", &put(self.inline(&canary), "paymentMethod", voucher)).await.expect(201);
    }

    /// Nothing of what is refused is repeated or kept.
    async fn what_is_refused(&mut self) {
        let client = self.app.client.clone();
        for path in ["/v1/tokens", "/v1/cards", "/v1/charges", "/v1/customers", "/v1/auth", "/v1/merchants"] {
            let canary = self.canary(Fate::Approved);
            let whole = self.inline(&canary).to_string();
            for broken in
                [&whole[..whole.len() - 1], &format!("[{whole}]"), &format!("{whole}{whole}"), &canary.number]
            {
                self.send(&client, Method::POST, path, &[], broken.to_owned()).await.expect(400);
            }
            let padded = format!("{whole}{}", " ".repeat(1024 * 1024));
            self.send(&client, Method::POST, path, &[], padded).await.expect(413);
            let stranger = Client { id: client.id.clone(), key: canary.number.clone() };
            self.send(&stranger, Method::POST, path, &[], whole.clone()).await.expect(403);
            let nobody = Client { id: canary.number.clone(), key: client.key.clone() };
            self.send(&nobody, Method::POST, path, &[], whole).await.expect(401);
            let keyed = [("X-Idempotency-Key", canary.number.as_str()), ("Idempotency-Key", "other")];
            self.send(&client, Method::POST, path, &keyed, canary.card().to_string()).await.expect(400);
        }
        let canary = self.canary(Fate::Approved);
        let (number, cvv) = (canary.number.as_str(), canary.cvv.as_str());
        let wrong_check_digit = format!("{}{}", &number[..15], (number.as_bytes()[15] - b'0' + 1) % 10);
        for (member, value) in [
            ("cardNumber", wrong_check_digit.as_str()),
            ("cardNumber", &format!("{number}{number}")),
            ("cardNumber", &format!("x{number}")),
            ("cardNumber", cvv),
            ("cardCvv", number),
            ("cardCvv", &format!("{cvv}x")),
            ("cardExpirationDate", number),
            ("cardExpirationDate", "01/2020"),
            ("cardHolderName", ""),
        ] {
            self.post("/v1/tokens", &put(canary.card(), member, value)).await.expect(400);
            let card = json!({ "sourceType": "card", "card": put(canary.card(), member, value) });
            self.post("/v1/charges", &self.charge(card)).await.expect(400);
        }
        for (member, value) in [
            ("merchantId", json!(number)),
            ("amount", json!(number)),
            ("currency", json!(number)),
            ("paymentMethod", json!(number)),
            ("paymentMethod", json!({ "paymentType": number, "installments": number, "recurrence": number })),
            ("paymentSource", json!({ "sourceType": number })),
            ("paymentSource", json!({ "sourceType": "card", "cardId": number, "cardCvv": number })),
            ("paymentSource", json!({ "sourceType": "token", "tokenId": number })),
            ("paymentSource", json!({ "sourceType": "card", "card": number })),
            ("splitRules", json!([{ "sellerId": number }])),
        ] {
            self.post("/v1/charges", &put(self.inline(&canary), member, value)).await.expect(400);
        }
        self.post("/v1/cards", &json!({ "tokenId": number })).await.expect(400);
        self.post("/v1/auth", &json!({ "scope": [number], "expires": number })).await.expect(400);
        self.post("/v1/customers", &json!({ "email": number, "document": { "type": number } }))
            .await
            .expect(400);
        let provider = put(sandbox("Main", 1), "credentials", json!({ "type": number }));
        self.post("/v1/merchants", &json!({ "mcc": number, "providers": [provider] })).await.expect(400);
        let foreign = put(self.inline(&canary), "merchantId", "3f1c1b1e-2a7b-4a57-9d35-000000000000");
        self.post("/v1/charges", &foreign).await.expect(404);
        // A key that is used for something else.
        let body = self.inline(&canary);
        self.post_twice("/v1/charges", "reused", &body).await.expect(201);
        let client = self.app.client.clone();
        let other = put(body, "amount", 151).to_string();
        self.send(&client, Method::POST, "/v1/charges", &[("X-Idempotency-Key", "reused")], other)
            .await
            .expect(409);
    }

    /// Numbers in places that are nobody's business but the caller's.
    async fn words_of_the_caller(&mut self) {
        let client = self.app.client.clone();
        for member in ["description", "orderId", "statementDescriptor", "providerReferenceKey"] {
            let (canary, word) = (self.canary(Fate::Approved), self.own_word());
            self.post("/v1/charges", &put(self.inline(&canary), member, word)).await.expect(201);
        }
        let (canary, word) = (self.canary(Fate::Approved), self.own_word());
        let mut body = put(self.inline(&canary), "appInfo", json!({ "platform": { "name": word } }));
        body["paymentFlow"] = json!({ "metadata": { "note": word } });
        body["fraudAnalysis"] = json!({ "customer": { "name": word } });
        body["paymentSource"]["card"]["cardHolderName"] = word.clone().into();
        self.post("/v1/charges", &body).await.expect(201);
        self.post("/v1/merchants", &json!({ "mcc": "5812", "name": word, "providers": [sandbox(&word, 1)] }))
            .await
            .expect(201);
        self.post("/v1/tokens", &json!({ word.as_str(): "\u{0}" })).await.expect(400);
        let word = self.own_word();
        for path in
            [format!("/v1/charges?orderId={word}&id={word}"), format!("/v1/cards/{word}"), format!("/{word}")]
        {
            self.send(&client, Method::GET, &path, &[("X-Request-Id", &word)], String::new()).await;
        }
    }

    async fn what_is_read(&mut self) {
        let client = self.app.client.clone();
        let customer = self.customer.clone();
        let lists = ["/v1/cards?limit=100", "/v1/charges?limit=100", "/v1/merchants", "/v1/customers"];
        let mut paths: Vec<String> = lists.map(str::to_owned).to_vec();
        paths.extend(
            ["/openapi.json", "/docs/", "/docs/swagger-initializer.js", "/health/ready"].map(str::to_owned),
        );
        paths.extend([format!("/v1/customers/{customer}"), format!("/v1/customers/{customer}/cards")]);
        for list in &lists[..2] {
            let page = self.app.get(list).await.expect(200);
            let base = list.split('?').next().unwrap();
            assert!(page["items"].as_array().unwrap().len() > 10);
            paths.extend(
                page["items"].as_array().unwrap().iter().map(|item| format!("{base}/{}", text(&item["id"]))),
            );
        }
        for path in paths {
            self.send(&client, Method::GET, &path, &[], String::new()).await.expect_status(200);
        }
    }

    /// What goes wrong inside is logged, and what is logged is heard.
    async fn faults(&mut self) {
        let store = self.app.app.store.clone();
        for (table, path) in [("tokens", "/v1/tokens"), ("charges", "/v1/charges"), ("cards", "/v1/charges")]
        {
            run_script(&store, &format!("ALTER TABLE {table} RENAME TO hidden")).await.unwrap();
            let canary = self.canary(Fate::Approved);
            let body = if path == "/v1/tokens" { canary.card() } else { self.inline(&canary) };
            let client = self.app.client.clone();
            let headers = [("X-Idempotency-Key", canary.number.as_str())];
            let reply = self.send(&client, Method::POST, path, &headers, body.to_string()).await;
            assert!(reply.status.is_server_error(), "{table}: {reply:?}");
            run_script(&store, &format!("ALTER TABLE hidden RENAME TO {table}")).await.unwrap();
        }
        let merchant = self.app.merchant().await;
        self.merchant = merchant;
        let canary = self.canary(Fate::Approved);
        self.post("/v1/charges", &self.inline(&canary)).await.expect(201);
    }
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
    let token = app.card_token(crate::harness::WRONG_CVV).await;
    app.post("/v1/charges", &charge(json!({ "sourceType": "token", "tokenId": token }))).await.expect(201);
    assert!(stored_token(&app, &token).await.is_none(), "also when it was refused");
    let token = app.card_token(APPROVED).await;
    app.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201);
    assert!(stored_token(&app, &token).await.is_none(), "after it became a card");
}

/// Whoever has the database and its key-encryption key, but not the token's id, which only its owner has.
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

impl Reply {
    #[track_caller]
    fn expect_status(&self, status: u16) {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.bytes));
    }
}

fn shown(headers: &HeaderMap) -> String {
    headers
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
