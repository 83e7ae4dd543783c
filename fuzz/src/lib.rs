//! What the targets share.

pub mod json;

use std::sync::LazyLock;

use regente::api::fields::Body;
use regente_domain::card::in_text;
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_providers::http_client::{HttpClient, HttpOptions};
use regente_providers::notification::{EventKind, Notification, NotificationRequest, ProviderEvent};
use regente_providers::outcome::Finding;
use regente_providers::provider::Providers;
use regente_providers::request::Credentials;
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog};
use regente_providers::{adyen, pagarme_v5, stripe};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use http::{HeaderMap, HeaderName, HeaderValue};
use regente_domain::provider_type::ProviderType;

/// 2026-01-01T00:00:00Z, the time at which everything is read.
pub const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// The API key of the simulator in [`CREDENTIALS`].
pub const API_KEY: &str = "key of the simulator";

/// The adapters of all providers. None of them is called.
pub static PROVIDERS: LazyLock<Providers> = LazyLock::new(|| {
    let http = HttpClient::new(HttpOptions::default());
    let sandbox = Sandbox::new(SandboxOptions::new(7, vec![9; 32].into()), TransactionLog::memory());
    Providers::with([
        sandbox.platform_adapter(),
        sandbox.into_adapter(),
        stripe::adapter(http.clone(), None),
        adyen::adapter(http.clone(), None),
        pagarme_v5::adapter(http, None),
    ])
});

/// Credentials with what each provider's notifications are checked with.
pub static CREDENTIALS: LazyLock<Credentials> = LazyLock::new(|| {
    Credentials::new(members(json!({
        "apiKey": API_KEY,
        "webhookSecret": "whsec_one,whsec_two",
        "webhookHmacKey": "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF",
        "webhookUser": "user",
        "webhookPassword": "password",
    })))
});

/// The members of an object.
pub fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// The JSON object of a request, read as the server reads it.
pub fn body(data: &[u8]) -> Option<Map<String, Value>> {
    Body::parse(data).ok().map(|body| body.members().clone())
}

/// A line, and what stands behind it.
pub fn first_line(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[]),
    }
}

/// What is written as JSON is read to the same.
pub fn is_stored<T: Serialize + DeserializeOwned>(value: &T) {
    let text = serde_json::to_string(value).expect("it is written");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(text, serde_json::to_string(&read).expect("it is written again"));
}

/// What a refusal says fits into an answer.
pub fn is_answer(problems: &Problems) {
    assert!(problems.clone().into_result().is_err(), "a refusal says why");
    assert!(format!("{problems:?}").len() < 4 * 1024 * 1024);
}

/// A text that is masked names no card, and stays as it is when it is masked again.
pub fn is_masked(masked: &str) {
    assert!(!in_text::has_number(masked), "{masked:?}");
    assert_eq!(in_text::masked(masked), masked);
}

/// Reads a notification: a header (`name: value`) in the first line, the body behind it. Whatever the header says of the
/// sender, the body is read as if it were authentic. What it tells is kept as JSON.
pub fn notification(provider_type: ProviderType, data: &[u8]) {
    let (line, body) = first_line(data);
    let headers = headers_of(line);
    let request = NotificationRequest {
        headers: &headers,
        body,
        credentials: &CREDENTIALS,
        options: &Map::new(),
        now: NOW,
    };
    let _ = PROVIDERS.authenticate(provider_type, &request);
    let read = || PROVIDERS.events(provider_type, &Notification { headers: &headers, body });
    let told = read();
    assert_eq!(told, read(), "a stored notification says the same whenever it is read");
    for ProviderEvent { id: _, occurred_at, about: _, what } in told.iter().flatten() {
        assert_eq!(Timestamp::parse(&occurred_at.to_string()), Some(*occurred_at), "a time is kept");
        if let EventKind::Outcome(finding) = what {
            is_kept(finding);
        }
    }
}

/// What a provider has told is stored.
pub fn is_kept(finding: &Finding) {
    let text = serde_json::to_string(finding).expect("it is written");
    let read: Finding = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, finding);
}

/// The headers in lines `name: value`; others are passed over.
pub fn headers_of(lines: &[u8]) -> HeaderMap {
    let headers = lines.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(line[..colon].trim_ascii()).ok()?;
        Some((name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?))
    });
    headers.fold(HeaderMap::new(), |mut headers, (name, value)| {
        headers.append(name, value);
        headers
    })
}
