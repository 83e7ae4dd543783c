//! Credentials are checked when they are registered.

use regente_domain::provider_type::ProviderType;
use regente_providers::provider::{CredentialsCheck, NotRefused};
use regente_providers::request::{Credentials, Mode};
use reqwest::Url;
use serde_json::{Map, json};

use super::faults::{fault, wrong_key};
use super::loopback::{Loopback, Reply};
use super::{error, providers};
use crate::support::object;

async fn checked(secret: &str, mode: Mode, base: Url) -> Result<NotRefused, &'static str> {
    let credentials = Credentials::new(object(json!({ "secretKey": secret })));
    let check = CredentialsCheck { credentials, options: Map::new(), mode };
    let checked = providers(base).check_credentials(ProviderType::Stripe, check).await;
    checked.map_err(|refusal| {
        assert_eq!(refusal.member, "secretKey");
        refusal.problem
    })
}

#[tokio::test]
async fn a_wrong_key_is_told_at_registration() {
    for (reply, expected) in [
        (Reply::Json(200, json!({ "object": "balance" })), Ok(NotRefused::Accepted)),
        (wrong_key(), Err("is not accepted by the provider")),
        // A restricted key that may not read the balance.
        (Reply::Json(403, error(json!({ "type": "invalid_request_error" }))), Ok(NotRefused::Accepted)),
        (fault(), Ok(NotRefused::NotTold)),
        (Reply::Cut, Ok(NotRefused::NotReached)),
        // Last, since it stops the clock.
        (Reply::Silence, Ok(NotRefused::NotReached)),
    ] {
        let server = Loopback::start([reply]).await;
        assert_eq!(checked("sk_test_regente", Mode::Sandbox, server.url()).await, expected);
        assert_eq!(server.lines(), ["GET /v1/balance"]);
    }
    let server = Loopback::start([]).await;
    let problem = checked("sk_live_x", Mode::Sandbox, server.url()).await;
    assert_eq!(problem, Err("must be a test key of the provider"));
    let problem = checked("rk_test_x", Mode::Production, server.url()).await;
    assert_eq!(problem, Err("must be a live key of the provider"));
    assert!(server.lines().is_empty());
}

#[test]
fn the_test_card_is_that_of_the_provider() {
    let card = providers(Url::parse("http://127.0.0.1:1/").unwrap()).test_card(ProviderType::Stripe).unwrap();
    assert_eq!(card.number.expose_digits(), super::APPROVED);
}
