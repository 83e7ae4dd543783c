//! Notifications of `PAGARME_V5`. What is told can be stored, and a stored notification tells the same when it is read again.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_domain::provider_type::ProviderType;
use regente_fuzz::notification;

fuzz_target!(|data: &[u8]| notification(ProviderType::PagarmeV5, data));

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    let header = regente_fuzz::first_line(&data[..size]).0.len() + 1;
    regente_fuzz::json::mutate(data, size, size_max, seed, header)
});
