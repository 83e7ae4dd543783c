//! Notifications of the simulator. What it has signed is authentic, and nothing else with the same signature.

#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_domain::provider_type::ProviderType;
use regente_fuzz::{CREDENTIALS, NOW, PROVIDERS, first_line, notification};
use regente_providers::notification::NotificationRequest;
use regente_providers::sandbox::{SIGNATURE_HEADER, SigningKey};
use serde_json::Map;

fuzz_target!(|data: &[u8]| {
    notification(ProviderType::Sandbox, data);
    let (_, body) = first_line(data);
    let key = SigningKey::of(&CREDENTIALS).expect("it has a key");
    let signature = HeaderValue::from_str(&key.sign(NOW, body)).expect("a signature is text");
    let headers = HeaderMap::from_iter([(SIGNATURE_HEADER, signature)]);
    let is_authentic = |body: &[u8]| {
        let (credentials, options) = (&*CREDENTIALS, &Map::new());
        let request = NotificationRequest { headers: &headers, body, credentials, options, now: NOW };
        PROVIDERS.authenticate(ProviderType::Sandbox, &request).is_ok()
    };
    assert!(is_authentic(body));
    assert!(!is_authentic(&[body, b" "].concat()));
});

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    let header = regente_fuzz::first_line(&data[..size]).0.len() + 1;
    regente_fuzz::json::mutate(data, size, size_max, seed, header)
});
