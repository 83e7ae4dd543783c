//! Public keys cannot be used to find out which cards work (`docs/interface/conventions.md#card-testing`).

use std::time::Duration;

use axum::http::Method;
use regente::http::card_testing::{Bounds, CardTestingLimits};
use regente::http::peer::Proxies;
use regente::http::rates::Rate;
use regente::metrics::Endpoint;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV, charge_body, token_body};
use crate::support::charges::single_merchant;
use crate::support::client;
use crate::support::client::{Client, Reply};
use crate::support::metrics::metric;
use crate::support::providers::sandbox;
use crate::support::subscriptions::{Parties, made, path_of};

stories! {
    a_public_key_has_a_limit_for_tokens_cards_and_charges_together,
    buyers_behind_a_proxy_have_limits_of_their_own,
    a_card_has_a_limit_whatever_the_address_and_the_source,
    cards_with_the_same_first_digits_share_a_limit,
    many_refusals_block_an_address_for_a_while,
    many_refused_checks_block_a_card,
    refusals_count_also_when_the_buyer_hangs_up,
    a_provider_that_does_not_answer_blocks_nobody,
    a_refusal_that_tells_nothing_of_the_card_blocks_nobody,
    accounts_do_not_block_each_other,
    a_secret_key_is_not_limited,
    without_limits_nobody_is_refused,
    what_is_refused_and_blocked_is_counted,
    security_codes_cannot_be_guessed_by_subscriptions,
}

/// A card that the simulator refuses; it begins with other digits than [`APPROVED`].
const REFUSED: (&str, &str) = ("4916878170842862", "650");
/// More requests than any limit here allows, also when machine time refills some.
const MANY: usize = 60;

async fn limited(app: TestApp, limits: CardTestingLimits) -> TestApp {
    app.with_limits(|all| {
        all.card_testing = CardTestingLimits { block_for: Duration::from_secs(900), ..limits };
        all.proxies = Proxies::new(vec!["127.0.0.1/32".parse().unwrap()]);
    })
    .await
}

fn requests(many: u32) -> Bounds {
    Bounds { requests: Rate::per_minute(many), ..Bounds::default() }
}

fn refusals(many: u32) -> Bounds {
    Bounds { refusals: Rate::within(Duration::from_secs(600), many), ..Bounds::default() }
}

/// A request of a buyer at this address.
async fn post(app: &TestApp, key: &Client, address: &str, path: &str, body: &Value) -> Reply {
    app.call(key, Method::POST, path, &[("X-Forwarded-For", address)], Some(body)).await
}

/// Repeats a request until it is refused with 429; returns how often it went through, and the refusal.
async fn until_refused(send: impl AsyncFn() -> Reply) -> (usize, Reply) {
    for count in 0..MANY {
        let reply = send().await;
        if reply.status == 429 {
            return (count, reply);
        }
        reply.expect(201);
    }
    panic!("{MANY} requests went through");
}

async fn a_public_key_has_a_limit_for_tokens_cards_and_charges_together(app: TestApp) {
    let app = limited(app, CardTestingLimits { key: requests(6), ..CardTestingLimits::default() }).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["tokens", "cards", "charges"])).await;
    let address = "192.0.2.1";
    for _ in 0..2 {
        let token = post(&app, &key, address, "/v1/tokens", &token_body(APPROVED)).await.expect(201);
        post(&app, &key, address, "/v1/cards", &token).await.expect(201);
        post(&app, &key, address, "/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    }
    for (path, body) in [
        ("/v1/tokens", token_body(APPROVED)),
        ("/v1/cards", json!({ "tokenId": app.card_token(APPROVED).await })),
        ("/v1/charges", charge_body(&merchant, APPROVED)),
    ] {
        let (_, refused) = until_refused(async || {
            let body = match path {
                "/v1/cards" => json!({ "tokenId": app.card_token(APPROVED).await }),
                _ => body.clone(),
            };
            post(&app, &key, "192.0.2.2", path, &body).await
        })
        .await;
        let retry_after: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=10).contains(&retry_after), "{path}: {retry_after}");
        assert_eq!(
            refused.json(),
            json!({ "error": { "type": "api_error", "code": 429, "message": "Too many requests", "details": [] } })
        );
        assert_eq!(refused.header("access-control-allow-origin"), Some("*"), "{path}");
    }
    app.clock.advance_machine(Duration::from_secs(60));
    post(&app, &key, address, "/v1/tokens", &token_body(APPROVED)).await.expect(201);
}

async fn buyers_behind_a_proxy_have_limits_of_their_own(app: TestApp) {
    let app = limited(app, CardTestingLimits { address: requests(3), ..CardTestingLimits::default() }).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["charges"])).await;
    let charge = charge_body(&merchant, APPROVED);
    let (count, _) =
        until_refused(async || post(&app, &key, "192.0.2.1", "/v1/charges", &charge).await).await;
    assert!(count >= 3, "{count}");
    post(&app, &key, "192.0.2.2", "/v1/charges", &charge).await.expect(201);
    // A buyer cannot take the address of another one.
    let invented = "203.0.113.7, 192.0.2.1";
    post(&app, &key, invented, "/v1/charges", &charge).await.expect(429);
}

async fn a_card_has_a_limit_whatever_the_address_and_the_source(app: TestApp) {
    let app = limited(app, CardTestingLimits { card: requests(4), ..CardTestingLimits::default() }).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["tokens", "charges"])).await;
    let stored = Charge::by_source(
        &merchant,
        json!({ "sourceType": "card", "cardId": app.card(APPROVED).await, "cardCvv": APPROVED.1 }),
    )
    .body();
    post(&app, &key, "192.0.2.1", "/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    post(&app, &key, "192.0.2.2", "/v1/charges", &stored).await.expect(201);
    let token = post(&app, &key, "192.0.2.3", "/v1/tokens", &token_body(APPROVED)).await.expect(201);
    let by_token = json!({ "sourceType": "token", "tokenId": token["tokenId"] });
    post(&app, &key, "192.0.2.4", "/v1/charges", &Charge::by_source(&merchant, by_token).body())
        .await
        .expect(201);
    until_refused(async || post(&app, &key, "192.0.2.5", "/v1/charges", &stored).await).await;
    post(&app, &key, "192.0.2.6", "/v1/tokens", &token_body(APPROVED)).await.expect(429);
    post(&app, &key, "192.0.2.6", "/v1/tokens", &token_body(TIMED_OUT)).await.expect(201);
}

async fn cards_with_the_same_first_digits_share_a_limit(app: TestApp) {
    let app = limited(app, CardTestingLimits { bin: requests(3), ..CardTestingLimits::default() }).await;
    let key = app.client_token(json!(["tokens"])).await;
    // The same six digits with other ones behind them, and a right check digit.
    let alike = ("4916740000000006", "560");
    let (count, _) =
        until_refused(async || post(&app, &key, "192.0.2.1", "/v1/tokens", &token_body(APPROVED)).await)
            .await;
    assert!(count >= 3, "{count}");
    post(&app, &key, "192.0.2.2", "/v1/tokens", &token_body(alike)).await.expect(429);
    post(&app, &key, "192.0.2.2", "/v1/tokens", &token_body(REFUSED)).await.expect(201);
}

async fn many_refusals_block_an_address_for_a_while(app: TestApp) {
    let app = limited(app, CardTestingLimits { address: refusals(4), ..CardTestingLimits::default() }).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["tokens", "charges"])).await;
    let (good, bad) = (charge_body(&merchant, APPROVED), charge_body(&merchant, WRONG_CVV));
    for _ in 0..MANY {
        post(&app, &key, "192.0.2.1", "/v1/charges", &good).await.expect(201);
    }
    let (count, refused) =
        until_refused(async || post(&app, &key, "192.0.2.1", "/v1/charges", &bad).await).await;
    assert!(count > 4, "{count} cards may be refused");
    assert_eq!(refused.header("retry-after"), Some("900"));
    post(&app, &key, "192.0.2.1", "/v1/charges", &good).await.expect(429);
    post(&app, &key, "192.0.2.1", "/v1/tokens", &token_body(APPROVED)).await.expect(429);
    post(&app, &key, "192.0.2.2", "/v1/charges", &good).await.expect(201);
    app.clock.advance_machine(Duration::from_secs(899));
    post(&app, &key, "192.0.2.1", "/v1/charges", &good).await.expect(429);
    app.clock.advance_machine(Duration::from_secs(1));
    post(&app, &key, "192.0.2.1", "/v1/charges", &good).await.expect(201);
}

async fn many_refused_checks_block_a_card(app: TestApp) {
    let app = limited(app, CardTestingLimits { card: refusals(2), ..CardTestingLimits::default() }).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["cards"])).await;
    let (count, _) = until_refused(async || {
        let token = app.card_token(WRONG_CVV).await;
        let body = json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true });
        post(&app, &key, "192.0.2.1", "/v1/cards", &body).await
    })
    .await;
    assert!(count > 2, "{count}");
}

async fn refusals_count_also_when_the_buyer_hangs_up(app: TestApp) {
    let app = limited(app, CardTestingLimits { address: refusals(1), ..CardTestingLimits::default() }).await;
    let app = app.with_sandbox_deadline(Duration::from_secs(30)).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["charges"])).await;
    let bad = charge_body(&merchant, WRONG_CVV);
    app.wire.hold();
    for held in 1..=8 {
        let headers = [("X-Forwarded-For", "192.0.2.1")];
        let sent = client::request(&key, Method::POST, "/v1/charges", &headers, Some(&bad));
        let running = app.begin(sent);
        while app.app.in_flight.len() < held {
            tokio::task::yield_now().await;
        }
        running.abort();
    }
    app.wire.let_go();
    while app.app.in_flight.tasks() > 0 {
        tokio::task::yield_now().await;
    }
    post(&app, &key, "192.0.2.1", "/v1/charges", &bad).await.expect(429);
}

/// One refused card is too many.
fn one_refusal() -> CardTestingLimits {
    let one = refusals(1);
    CardTestingLimits { key: one, address: one, bin: one, card: one, ..CardTestingLimits::default() }
}

async fn a_provider_that_does_not_answer_blocks_nobody(app: TestApp) {
    let app = limited(app, one_refusal()).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["charges"])).await;
    for _ in 0..4 {
        let silent = charge_body(&merchant, TIMED_OUT);
        let charge = post(&app, &key, "192.0.2.1", "/v1/charges", &silent).await.expect(201);
        assert_eq!(charge["status"], "failed");
    }
    post(&app, &key, "192.0.2.1", "/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
}

async fn a_refusal_that_tells_nothing_of_the_card_blocks_nobody(app: TestApp) {
    let app = limited(app, one_refusal()).await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["charges"])).await;
    for reason in ["invalid_merchant", "not_permitted", "issuer_not_available", "try_again"] {
        let mut provider = sandbox("Refuses", 1);
        let faults = json!([{ "when": { "operation": "authorization" }, "then": { "decline": reason } }]);
        provider["options"] = json!({ "type": "SANDBOX", "faults": faults });
        let refusing = app.merchant_with(json!([provider])).await;
        let body = charge_body(&refusing, APPROVED);
        let charge = post(&app, &key, "192.0.2.1", "/v1/charges", &body).await.expect(201);
        let decline = &charge["transactionRequests"][0]["providerError"]["declinedCode"];
        assert_eq!((&charge["status"], decline), (&json!("failed"), &json!(reason)), "{charge:#}");
    }
    post(&app, &key, "192.0.2.1", "/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
}

async fn accounts_do_not_block_each_other(app: TestApp) {
    let app = limited(app, CardTestingLimits { address: requests(2), ..CardTestingLimits::default() }).await;
    let key = app.client_token(json!(["tokens"])).await;
    until_refused(async || post(&app, &key, "192.0.2.1", "/v1/tokens", &token_body(APPROVED)).await).await;
    let other = app.another_client().await;
    let made = app.call(&other, Method::POST, "/v1/auth", &[], Some(&json!({ "scope": ["tokens"] }))).await;
    let public = made.expect(201)["publicKey"].as_str().unwrap().to_owned();
    let public = Client { id: other.id, key: public };
    post(&app, &public, "192.0.2.1", "/v1/tokens", &token_body(APPROVED)).await.expect(201);
}

async fn a_secret_key_is_not_limited(app: TestApp) {
    let one = Bounds { requests: Rate::per_minute(1), refusals: Rate::per_minute(1) };
    let strict =
        CardTestingLimits { key: one, address: one, bin: one, card: one, ..CardTestingLimits::default() };
    let app = limited(app, strict).await;
    let merchant = single_merchant(&app).await;
    for _ in 0..8 {
        post(&app, &app.client, "192.0.2.1", "/v1/charges", &charge_body(&merchant, WRONG_CVV))
            .await
            .expect(201);
        post(&app, &app.client, "192.0.2.1", "/v1/tokens", &token_body(APPROVED)).await.expect(201);
    }
}

async fn without_limits_nobody_is_refused(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["charges"])).await;
    for _ in 0..MANY {
        post(&app, &key, "192.0.2.1", "/v1/charges", &charge_body(&merchant, WRONG_CVV)).await.expect(201);
    }
}

/// The counts are those of the whole process, to which other stories add.
async fn what_is_refused_and_blocked_is_counted(app: TestApp) {
    let app = limited(app, CardTestingLimits { bin: refusals(2), ..CardTestingLimits::default() }).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let address = endpoint.address();
    let counts = async || {
        let blocks = metric(address, "regente_blocks_total{limit=\"bin\"}").await;
        (blocks, metric(address, "regente_rate_limited_total{limit=\"bin\"}").await)
    };
    let before = counts().await;
    let merchant = single_merchant(&app).await;
    let key = app.client_token(json!(["charges"])).await;
    let bad = charge_body(&merchant, WRONG_CVV);
    until_refused(async || post(&app, &key, "192.0.2.1", "/v1/charges", &bad).await).await;
    let after = counts().await;
    assert!(after.0 > before.0, "a block began: {before:?} {after:?}");
    assert!(after.1 > before.1, "a request was refused: {before:?} {after:?}");
}

async fn security_codes_cannot_be_guessed_by_subscriptions(app: TestApp) {
    let limits =
        CardTestingLimits { card: refusals(2), key: requests(MANY as u32), ..CardTestingLimits::default() };
    let app = limited(app, limits).await;
    let (parties, key) = (Parties::of(&app).await, app.client_token(json!(["subscriptions"])).await);
    let path = "/v1/subscriptions";
    let guess = async |cvv: &str| {
        let card = json!({ "cardId": app.card(WRONG_CVV).await, "cvv": cvv });
        let body = parties.body(&json!({ "paymentMethod": { "type": "credit", "card": card } }));
        post(&app, &key, "192.0.2.1", path, &body).await
    };
    let (count, refused) = until_refused(async || guess(WRONG_CVV.1).await).await;
    assert!((3..=4).contains(&count), "{count} codes may be tried");
    assert_eq!(refused.header("retry-after"), Some("900"));
    // A change to another card, and what tries the failed cycle at once, count like any request that charges a card.
    let app = limited(app, CardTestingLimits { key: requests(3), ..CardTestingLimits::default() }).await;
    let subscription = made(&app, &parties.body(&json!({}))).await;
    let change = json!({ "paymentMethod": { "type": "credit", "card": { "cardId": parties.card } } });
    let change =
        async || app.call(&key, Method::PUT, &path_of(&subscription), &[], Some(&change)).await.status;
    for _ in 0..3 {
        assert_eq!(change().await, 200);
    }
    assert_eq!(change().await, 429);
    let resume = format!("{}/resume", path_of(&subscription));
    assert_eq!(app.call(&key, Method::PATCH, &resume, &[], None).await.status, 429);
    app.call(&key, Method::PUT, &path_of(&subscription), &[], Some(&json!({ "name": "Gold" })))
        .await
        .expect(200);
}
