use proptest::prelude::*;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;

#[test]
fn an_amount_is_between_zero_and_the_last_exact_integer() {
    assert_eq!(Amount::new(-1), None);
    assert_eq!(Amount::new(0), Some(Amount::ZERO));
    assert_eq!(Amount::MINOR_UNITS_MAX, 9_007_199_254_740_991);
    assert_eq!(Amount::new(Amount::MINOR_UNITS_MAX).unwrap().minor_units(), Amount::MINOR_UNITS_MAX);
    assert_eq!(Amount::new(Amount::MINOR_UNITS_MAX + 1), None);
    assert_eq!(Amount::new(i64::MIN), None);
    assert_eq!(Amount::new(i64::MAX), None);
}

#[test]
fn it_is_a_bare_integer_on_the_wire() {
    assert_eq!(serde_json::to_string(&Amount::new(150).unwrap()).unwrap(), "150");
    assert!(serde_json::from_str::<Amount>("1.5").is_err());
    assert!(serde_json::from_str::<Amount>("\"150\"").is_err());
    assert!(serde_json::from_str::<Amount>("-1").is_err());
    assert!(serde_json::from_str::<Amount>("9007199254740992").is_err());
}

proptest! {
    #[test]
    fn parts_come_off_but_never_more_than_there_is(
        whole in 0..=Amount::MINOR_UNITS_MAX, part in 0..=Amount::MINOR_UNITS_MAX
    ) {
        let rest = Amount::new(whole).unwrap().minus(Amount::new(part).unwrap());
        prop_assert_eq!(rest.map(Amount::minor_units), (part <= whole).then_some(whole - part));
    }
}

#[test]
fn people_read_it_with_the_decimals_of_its_currency() {
    for (minor_units, code, shown) in [
        (0, "BRL", "BRL 0.00"),
        (5, "BRL", "BRL 0.05"),
        (150, "BRL", "BRL 1.50"),
        (100_000, "USD", "USD 1000.00"),
        (150, "JPY", "JPY 150"),
        (Amount::MINOR_UNITS_MAX, "BRL", "BRL 90071992547409.91"),
    ] {
        let currency = Currency::parse(code).unwrap();
        assert_eq!(Amount::new(minor_units).unwrap().shown_in(currency), shown);
    }
}
