//! An address that sends many wrong keys waits (`docs/interface/auth.md#gate`).

use std::time::Duration;

use axum::http::Method;
use regente::http::peer::Proxies;
use regente::http::rates::Rate;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::client::{Client, Reply};

stories! {
    an_address_with_many_wrong_keys_waits_for_a_minute,
    unknown_accounts_count_like_wrong_keys,
    a_good_key_goes_on_beside_wrong_ones,
    a_revoked_key_is_slowed_down_like_a_wrong_one,
    other_addresses_behind_the_same_proxy_do_not_wait,
    without_the_limit_nobody_waits,
}

/// The wrong keys a minute after which an address waits.
const WRONG_MAX: u32 = 5;
/// More wrong keys than that, also when machine time refills the allowance meanwhile.
const MANY: u32 = 100;

async fn limited(app: TestApp) -> TestApp {
    app.with_limits(|limits| {
        limits.rates.failed_authentications = Rate::per_minute(WRONG_MAX);
        limits.proxies = Proxies::new(vec!["127.0.0.1/32".parse().unwrap()]);
    })
    .await
}

async fn ask(app: &TestApp, client: &Client, address: &str) -> Reply {
    app.call(client, Method::GET, "/v1/merchants", &[("X-Forwarded-For", address)], None).await
}

/// The account with a wrong key.
fn stranger(app: &TestApp) -> Client {
    Client { key: "sk_test_wrong".to_owned(), ..app.client.clone() }
}

/// Sends wrong keys until the address waits; returns the first refusal for that.
async fn until_it_waits(app: &TestApp, client: &Client, expected: u16, address: &str) -> Reply {
    for count in 0..MANY {
        let reply = ask(app, client, address).await;
        if reply.status == 429 {
            assert!(count > WRONG_MAX, "{count} wrong keys are allowed");
            return reply;
        }
        reply.expect(expected);
    }
    panic!("the address does not wait");
}

async fn an_address_with_many_wrong_keys_waits_for_a_minute(app: TestApp) {
    let app = limited(app).await;
    let refused = until_it_waits(&app, &stranger(&app), 403, "192.0.2.1").await;
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(
        refused.json(),
        json!({ "error": { "type": "api_error", "code": 429, "message": "Too many requests", "details": [] } })
    );
    ask(&app, &app.client, "192.0.2.1").await.expect(429);
    app.clock.advance_machine(Duration::from_secs(60));
    ask(&app, &stranger(&app), "192.0.2.1").await.expect(403);
    ask(&app, &app.client, "192.0.2.1").await.expect(200);
}

async fn unknown_accounts_count_like_wrong_keys(app: TestApp) {
    let app = limited(app).await;
    let nobody =
        Client { id: "30173513-0000-4000-8000-000000000000".to_owned(), key: "sk_test_x".to_owned() };
    until_it_waits(&app, &nobody, 401, "192.0.2.1").await;
}

async fn a_good_key_goes_on_beside_wrong_ones(app: TestApp) {
    let app = limited(app).await;
    ask(&app, &app.client, "192.0.2.1").await.expect(200);
    until_it_waits(&app, &stranger(&app), 403, "192.0.2.1").await;
    // The database is asked again about the key, which was good before.
    app.clock.advance_machine(Duration::from_secs(10));
    ask(&app, &stranger(&app), "192.0.2.1").await.expect(429);
    ask(&app, &app.client, "192.0.2.1").await.expect(200);
}

async fn a_revoked_key_is_slowed_down_like_a_wrong_one(app: TestApp) {
    let app = limited(app).await;
    let public = app.client_token(json!(["charges"])).await;
    app.call(&public, Method::GET, "/v1/merchants", &[], None).await.expect(403);
    app.delete(&format!("/v1/auth/{}", public.key)).await.expect(204);
    until_it_waits(&app, &public, 403, "192.0.2.1").await;
}

async fn other_addresses_behind_the_same_proxy_do_not_wait(app: TestApp) {
    let app = limited(app).await;
    until_it_waits(&app, &stranger(&app), 403, "192.0.2.1").await;
    ask(&app, &app.client, "192.0.2.2").await.expect(200);
}

async fn without_the_limit_nobody_waits(app: TestApp) {
    for _ in 0..MANY {
        ask(&app, &stranger(&app), "192.0.2.1").await.expect(403);
    }
}
