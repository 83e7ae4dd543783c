//! Answers of providers to calls and probes. The first byte picks the status. What is found can be stored.

#![no_main]

use http::{HeaderMap, StatusCode};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::money::Amount;
use regente_fuzz::{NOW, is_kept};
use regente_providers::adyen::ask::Expects;
use regente_providers::http_client::Incoming;
use regente_providers::outcome::Probe;
use regente_providers::pagarme_v5::wire::told::Charge;
use regente_providers::{adyen, pagarme_v5, stripe};
use uuid::Uuid;

const STATUSES: [StatusCode; 8] = [
    StatusCode::OK,
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::PAYMENT_REQUIRED,
    StatusCode::FORBIDDEN,
    StatusCode::PRECONDITION_FAILED,
    StatusCode::UNPROCESSABLE_ENTITY,
    StatusCode::INTERNAL_SERVER_ERROR,
];
const KEY: Uuid = Uuid::from_u128(7);

fuzz_target!(|data: &[u8]| {
    let Some((first, body)) = data.split_first() else { return };
    let status = STATUSES[usize::from(*first) % STATUSES.len()];
    let answer = Incoming { status, headers: HeaderMap::new(), body: body.to_vec() };
    for capture in [CaptureMode::from_flag(true), CaptureMode::from_flag(false)] {
        let _ = stripe::tell::authorization(&answer, capture);
        found(stripe::tell::payment(&answer, Some(capture)));
        let _ = pagarme_v5::tell::ordered(&answer, capture);
        found(pagarme_v5::tell::read(&answer, Some(capture)));
        found(pagarme_v5::tell::searched(&answer, "code", Some(capture), Probe::Unknown));
    }
    let _ = stripe::tell::verification(&answer);
    let _ = stripe::tell::refund(&answer);
    found(stripe::tell::refund_found(&answer));
    found(stripe::tell::check_found(&answer));
    let pages = [None, Some("https://shop.example/back".to_owned())];
    let cards = pages.map(|return_url| Expects::Card { return_url });
    for expects in cards.into_iter().chain([Expects::Pix { expires_at: NOW }, Expects::Receipt]) {
        let _ = adyen::tell::answer(&expects, &answer);
    }
    let _ = adyen::tell::credentials(&answer);
    for amount in [0, 1_500, Amount::MINOR_UNITS_MAX].into_iter().filter_map(Amount::new) {
        let _ = pagarme_v5::tell::capture(&answer, amount);
        if let Some(charge) = answer.json::<Charge>() {
            let _ = pagarme_v5::tell::captured_before(&charge, amount, &answer);
            let _ = pagarme_v5::tell::void(&charge, KEY, amount, NOW);
            found(pagarme_v5::tell::void_accepted(&charge, KEY));
        }
    }
    let _ = pagarme_v5::tell::unmarked(&answer, KEY);
    let _ = pagarme_v5::tell::voided(&answer);
});

fn found(probe: Probe) {
    if let Probe::Found(finding) = probe {
        is_kept(&finding);
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 1)
});
