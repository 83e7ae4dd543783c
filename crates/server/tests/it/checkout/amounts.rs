//! Amounts on the page.

use regente::api::buyer_page::Language;
use regente::api::buyer_page::money::amount;
use regente_domain::currency::Currency;

#[test]
fn amounts_are_written_as_people_write_them() {
    let written = |minor_units, code, language| {
        amount(minor_units, Currency::parse(code).expect("a currency"), language)
    };
    for (minor_units, code, language, expected) in [
        (123_456_789, "BRL", Language::Portuguese, "R$\u{a0}1.234.567,89"),
        (100_000, "BRL", Language::English, "R$1,000.00"),
        (5, "USD", Language::Spanish, "US$\u{a0}0,05"),
        (99_999, "JPY", Language::English, "JPY\u{a0}99,999"),
        (12_300, "EUR", Language::English, "€123.00"),
    ] {
        assert_eq!(written(minor_units, code, language), expected);
    }
}
