//! Options and credentials of providers, also the fault plans of the simulator. What is stored is taken again as it is.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_domain::provider_type::{ProviderType, validate_credentials};
use regente_fuzz::{PROVIDERS, body, is_answer};

fuzz_target!(|data: &[u8]| {
    let Some(sent) = body(data) else { return };
    for provider_type in ProviderType::all() {
        let _ = validate_credentials(provider_type, &sent, "credentials");
        let check = |options| PROVIDERS.validate_options(provider_type, options, "options");
        match check(&sent) {
            Ok(stored) => {
                let _ = PROVIDERS.narrowed(provider_type, &stored);
                assert_eq!(check(&stored), Ok(stored.clone()), "{}", provider_type.code());
            }
            Err(problems) => is_answer(&problems),
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 0)
});
