//! Amounts, percentages and the numbers of bodies, currencies, countries, brands and categories. What is read is written to the
//! same, and no amount is outside of its bounds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_domain::card::Brand;
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::mcc::Mcc;
use regente_domain::money::{Amount, PositiveAmount};
use regente_domain::percentage::Percentage;
use regente_domain::problems::Problems;
use regente_domain::split::FareFee;
use regente_domain::wire::{INTEGER_MAX, plain};
use serde_json::{Number, Value};

fuzz_target!(|text: &str| {
    if let Some(percentage) = Percentage::parse(text) {
        assert_eq!(Percentage::parse(&percentage.to_string()), Some(percentage));
    }
    if let Some(fee) = FareFee::parse(text) {
        assert_eq!(FareFee::parse(&fee.to_string()), Some(fee));
    }
    if let Some(currency) = Currency::parse(text) {
        assert_eq!(Currency::parse(currency.code()), Some(currency));
    }
    if let Some(country) = Country::parse(text) {
        assert_eq!(Country::parse(country.code()), Some(country));
    }
    if let Some(brand) = Brand::parse(text) {
        assert_eq!(Brand::parse(brand.name()), Some(brand));
    }
    if let Some(mcc) = Mcc::parse_digits(text) {
        assert!(!mcc.digits().is_empty() && mcc.digits().len() <= Mcc::DIGITS_MAX);
    }
    if let Ok(number) = serde_json::from_str::<Number>(text) {
        let written = plain(&number);
        let read: Number = serde_json::from_str(&written).expect("what is written is a number");
        assert_eq!(plain(&read), written);
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    if let Ok(amount) = deserr::deserialize::<Amount, Value, Problems>(value.clone()) {
        assert!((0..=INTEGER_MAX).contains(&amount.minor_units()));
        for currency in Currency::all() {
            assert!(amount.shown_in(currency).starts_with(currency.code()));
        }
        assert!(amount.plus(amount).is_none_or(|sum| sum.minus(amount) == Some(amount)));
    }
    if let Ok(amount) = deserr::deserialize::<PositiveAmount, Value, Problems>(value.clone()) {
        assert!(Amount::from(amount) > Amount::ZERO);
    }
    if let Ok(percentage) = deserr::deserialize::<Percentage, Value, Problems>(value) {
        assert!(percentage <= Percentage::HUNDRED);
    }
});
