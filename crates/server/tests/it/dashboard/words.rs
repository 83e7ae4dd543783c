//! Amounts as members type them.

use regente::api::buyer_page::Language;
use regente::api::buyer_page::money::{amount, typed};
use regente_domain::currency::Currency;

#[test]
fn what_is_shown_can_be_typed() {
    for code in ["BRL", "USD", "EUR", "JPY", "CLP"] {
        let currency = Currency::parse(code).unwrap();
        for language in [Language::Portuguese, Language::English, Language::Spanish] {
            for minor_units in [1, 10, 99, 100, 123_456, 1_000_000, 123_456_789_012] {
                let shown = amount(minor_units, currency, language);
                assert_eq!(typed(&shown, currency, language), Some(minor_units), "{shown}");
            }
        }
    }
}

#[test]
fn what_could_be_another_amount_is_not_guessed() {
    let [reais, yen] = ["BRL", "JPY"].map(|code| Currency::parse(code).unwrap());
    let read = |text| typed(text, reais, Language::Portuguese);
    assert_eq!(read("10"), Some(1000));
    assert_eq!(read("10,5"), Some(1050));
    assert_eq!(read("1.234,56"), Some(123_456));
    assert_eq!(read(" R$ 1 234,56 "), Some(123_456));
    for wrong in
        ["", "10.50", "1,234.56", "10,555", "10,", ",50", "1.23", "1234.567", "-1", "1e3", "US$ 1", "a"]
    {
        assert_eq!(read(wrong), None, "{wrong}");
    }
    assert_eq!(typed("10.50", reais, Language::English), Some(1050));
    assert_eq!(typed("10,50", reais, Language::English), None);
    assert_eq!(typed("1,500", yen, Language::English), Some(1500));
    assert_eq!(typed("1.5", yen, Language::English), None);
    assert_eq!(typed("99999999999999999999", reais, Language::English), None);
}
