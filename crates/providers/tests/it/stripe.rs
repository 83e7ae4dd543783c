//! The adapter of `STRIPE`: what is sent and what answers mean, without a network; each fault over HTTP; notifications as
//! the official package signs them; and stories against servers that are not ours.

use http::{HeaderMap, StatusCode};
use regente_domain::currency::Currency;
use regente_domain::provider_type::ProviderType;
use regente_providers::http_client::{HttpClient, HttpOptions, Incoming};
use regente_providers::provider::Providers;
use regente_providers::request::{Call, Credentials, FollowUp, Inquiry, Operation, OperationKind};
use regente_providers::stripe;
use reqwest::Url;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{self, authorization, key, object};

mod asked;
mod faults;
mod judges;
mod loopback;
mod notifications;
mod probes;
mod proofs;
mod registration;
mod shift;
mod told;

/// The card that every environment of the provider approves.
const APPROVED: &str = "4242424242424242";
/// The charge that the recorded bodies name.
const CHARGE: u128 = 9;
/// The authorization that the recorded bodies name.
const AUTHORIZATION: u128 = 1;
/// The void that the recorded refund names.
const VOID: u128 = 2;

fn credentials() -> Credentials {
    Credentials::new(object(json!({
        "type": "STRIPE", "secretKey": "sk_test_regente", "webhookSecret": "whsec_old, whsec_new"
    })))
}

fn call(number: u128, operation: Operation) -> Call {
    Call {
        object_id: key(CHARGE),
        provider_type: ProviderType::Stripe,
        credentials: credentials(),
        ..support::call(key(number), operation)
    }
}

fn charge() -> Call {
    call(AUTHORIZATION, Operation::Authorize(authorization(APPROVED, Some("123"))))
}

fn follow_up(amount: i64) -> FollowUp {
    FollowUp { transaction_id: Some("pi_3SQ".to_owned()), ..support::follow_up(key(AUTHORIZATION), amount) }
}

fn inquiry(operation: OperationKind, number: u128, reference: Option<&str>) -> Inquiry {
    Inquiry {
        operation,
        reference: reference.map(str::to_owned),
        provider_type: ProviderType::Stripe,
        credentials: credentials(),
        ..support::inquiry(key(number))
    }
}

fn providers(base: Url) -> Providers {
    let http = HttpClient::new(HttpOptions::default());
    Providers::with([stripe::adapter(http, Some(base))])
}

/// A recorded body.
fn recorded(name: &str) -> Value {
    let path = format!("{}/tests/it/stripe/bodies/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The same body with other values of some members.
fn with(body: Value, changes: Value) -> Value {
    let mut body = object(body);
    body.extend(object(changes));
    body.into()
}

fn answer(status: u16, body: &Value) -> Incoming {
    Incoming {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: body.to_string().into_bytes(),
    }
}

fn error(members: Value) -> Value {
    json!({ "error": members })
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

fn uuid_of(number: u128) -> Uuid {
    key(number)
}
