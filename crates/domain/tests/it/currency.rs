use std::collections::HashSet;

use regente_domain::currency::Currency;

#[test]
fn the_list_has_135_currencies_of_two_kinds() {
    let codes: HashSet<&str> = Currency::all().map(Currency::code).collect();
    assert_eq!(codes.len(), 135);
    assert_eq!(Currency::all().filter(|currency| currency.exponent() == 0).count(), 16);
    assert_eq!(Currency::all().filter(|currency| currency.exponent() == 2).count(), 119);
}

#[test]
fn every_code_reads_back() {
    for currency in Currency::all() {
        assert_eq!(Currency::parse(currency.code()), Some(currency));
        assert_eq!(serde_json::to_value(currency).unwrap(), currency.code());
        assert_eq!(serde_json::from_value::<Currency>(currency.code().into()).unwrap(), currency);
    }
}

#[test]
fn whole_unit_currencies_are_those_of_iso_4217() {
    for code in "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(' ') {
        assert_eq!(Currency::parse(code).unwrap().exponent(), 0, "{code}");
    }
    for code in "BRL USD EUR MGA MRO STD CVE".split(' ') {
        assert_eq!(Currency::parse(code).unwrap().exponent(), 2, "{code}");
    }
}

#[test]
fn the_default_is_the_real() {
    assert_eq!(Currency::BRL.code(), "BRL");
    assert_eq!(Currency::parse("BRL"), Some(Currency::BRL));
}

#[test]
fn other_texts_are_no_currency() {
    for wrong in ["", "brl", "BRLX", " BRL", "XXX", "MRU", "STN", "KWD"] {
        assert_eq!(Currency::parse(wrong), None, "{wrong}");
        assert!(serde_json::from_value::<Currency>(wrong.into()).is_err());
    }
}
