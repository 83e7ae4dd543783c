//! Postal addresses in bodies, complete or in parts. An address that was taken is taken again as it is stored.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_domain::customer::{Address, Demand};
use regente_domain::problems::Problems;
use regente_fuzz::{body, is_stored, members};

fuzz_target!(|data: &[u8]| {
    let Some(sent) = body(data) else { return };
    for demand in [Demand::Complete, Demand::Parts] {
        let mut problems = Problems::new();
        let Some(address) = Address::parse(&sent, demand, "address", &mut problems) else { continue };
        if problems.into_result().is_err() {
            continue;
        }
        is_stored(&address);
        let mut problems = Problems::new();
        let stored = members(serde_json::to_value(&address).expect("it is written"));
        let again = Address::parse(&stored, demand, "address", &mut problems);
        assert!(problems.into_result().is_ok());
        assert!(again.is_none_or(|again| again == address));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 0)
});
