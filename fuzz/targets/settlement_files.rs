//! Settlement files of providers, by the mapping of the simulator and by one with decimals, commas and days. Amounts are within
//! the bounds of money, times between 1970 and 2100, and a file ends.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use regente::settlement::{LineError, Lines, Mapping};
use regente_domain::money::Amount;

static MAPPINGS: LazyLock<[Mapping; 2]> = LazyLock::new(|| {
    let decimals = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/settlement_mapping.toml"));
    [Mapping::of_the_simulator(), Mapping::read(decimals)].map(|mapping| mapping.expect("it can be used"))
});

fuzz_target!(|data: &[u8]| {
    for mapping in MAPPINGS.iter() {
        let Ok(lines) = Lines::new(data, mapping) else { continue };
        let mut rows = 0;
        for line in lines {
            rows += 1;
            assert!(rows <= data.len(), "there are more rows than bytes");
            let line = match line {
                Ok(line) => line,
                Err(LineError::Row(wrong)) => {
                    assert!(!wrong.why.is_empty());
                    continue;
                }
                Err(LineError::File(_)) => break,
            };
            let is_money =
                |amount: i64| amount.checked_abs().is_some_and(|amount| amount <= Amount::MINOR_UNITS_MAX);
            assert!(is_money(line.amount) && is_money(line.fee));
            assert!(line.parts.iter().all(|part| is_money(part.amount)));
            assert!(!line.kind.moves_a_charge() || line.amount >= 0);
            assert!((0..4_102_444_800_000).contains(&line.at.as_millis()));
            assert!(!line.id.is_empty());
        }
    }
});
