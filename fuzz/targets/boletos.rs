//! Bar codes of boletos and the lines that payers type. A bar code and its line say the same, in both directions, and a bar code
//! of the same facts has the same digits. Check digits of the input are made right as well.

#![no_main]

use jiff::civil::{Date, date};
use libfuzzer_sys::fuzz_target;
use regente_domain::boleto::{Barcode, BarcodeFacts, Digits};
use regente_domain::money::Amount;

const TODAY: Date = date(2026, 1, 1);

fuzz_target!(|text: &str| {
    if let Ok(barcode) = Barcode::parse(text) {
        holds(barcode);
    }
    if let Ok(barcode) = Barcode::parse_line(text) {
        holds(barcode);
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if let Some(barcode) = made_of(&digits) {
        holds(barcode);
    }
});

fn holds(barcode: Barcode) {
    assert_eq!(Barcode::parse(barcode.digits()), Ok(barcode));
    assert_eq!(Barcode::parse_line(&barcode.line()), Ok(barcode));
    assert_eq!(Barcode::parse_line(&barcode.printed_line()), Ok(barcode));
    let facts = barcode.facts(TODAY);
    // Factors below 1000 are read as no date.
    if facts.due.is_some() || barcode.digits()[5..9] == *"0000" {
        assert_eq!(Barcode::new(facts), Some(barcode));
    }
}

/// From 3 digits of a bank, 4 of a day, 10 of an amount and 25 that are the bank's.
fn made_of(digits: &str) -> Option<Barcode> {
    let days: i64 = digits.get(3..7)?.parse().ok()?;
    let due = TODAY
        .checked_sub(jiff::Span::new().days(3_000))
        .ok()?
        .checked_add(jiff::Span::new().days(days.min(8_999)));
    let facts = BarcodeFacts {
        bank: Digits::parse(digits.get(0..3)?)?,
        due: Some(due.ok()?),
        amount: Amount::new(digits.get(7..17)?.parse().ok()?)?,
        free_field: Digits::parse(digits.get(17..42)?)?,
    };
    let barcode = Barcode::new(facts)?;
    assert_eq!(barcode.facts(TODAY), facts);
    Some(barcode)
}
