//! Card numbers, expiries and security codes, and card numbers in texts of callers. A masked text has no card number. A number
//! is named by the text that it was read from, and its debug output has ten of its digits at most.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_domain::card::in_text::{self, CardData};
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_engine::scrub::scrub;
use regente_fuzz::{NOW, is_masked};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok(number) = CardNumber::parse(&text) {
        assert!(in_text::names(&text, &number));
        assert_eq!(format!("{number:?}").bytes().filter(u8::is_ascii_digit).count(), 10);
        let _ = (number.brand(), number.last_digit());
    }
    if let Some(expiry) = Expiry::parse(&text) {
        assert_eq!(Expiry::parse(&expiry.to_string()), Some(expiry));
        let _ = expiry.is_past(NOW);
    }
    if let Some(cvv) = Cvv::parse(&text) {
        assert_eq!(cvv.expose(), text);
    }
    let masked = in_text::masked(&text);
    is_masked(&masked);
    assert_eq!(in_text::card_data(&text) == Some(CardData::Number), masked != text);
    let scrubbed = scrub(data);
    assert_eq!(scrub(&scrubbed), scrubbed, "nothing is left to be masked");
});
