use std::marker::PhantomData;

use proptest::prelude::*;
use regente_domain::card::{Brand, CardNumber, CardNumberError, Cvv, Expiry};
use regente_domain::time::Timestamp;

/// The test cards of `docs/interface/sandbox.md#test-cards`: authorized, unauthorized, timeout, authorized or timeout,
/// blocked, canceled, expired, invalid_cvv.
const TEST_CARDS: [(Brand, [&str; 8]); 5] = [
    (
        Brand::Mastercard,
        [
            "5214254988499590/220",
            "5171407375927752/300",
            "5402839904300856/130",
            "5491266201550748/260",
            "5521448129190195/880",
            "5597251149584267/340",
            "5462320441541663/830",
            "5240675434648372/231",
        ],
    ),
    (
        Brand::Visa,
        [
            "4916745120294124/560",
            "4916878170842862/650",
            "4485401945979546/600",
            "4556613630132678/850",
            "4556684530238865/440",
            "4485406132091427/170",
            "4532552729063643/660",
            "4716866286004545/965",
        ],
    ),
    (
        Brand::AmericanExpress,
        [
            "371511430434941/6560",
            "346924402646172/8460",
            "372763217194656/3290",
            "379769909235288/3240",
            "341033144189205/4990",
            "342582504975297/6820",
            "377134064055173/6240",
            "340035263979895/7552",
        ],
    ),
    (
        Brand::Hipercard,
        [
            "6062829302997360/980",
            "6062820734125142/520",
            "6062828660520236/970",
            "6062827833068438/720",
            "6062825739079475/530",
            "6062824159779557/480",
            "6062820196712783/840",
            "6062823576109778/347",
        ],
    ),
    (
        Brand::Diners,
        [
            "36757624613710/490",
            "30306641444422/900",
            "30308603779936/540",
            "30392608411448/410",
            "30089464740585/180",
            "36176932295997/660",
            "38955717860903/230",
            "30383606498545/138",
        ],
    ),
];

/// The check digit by its definition, written differently from the product: from the left, over a copy.
fn with_check_digit(body: &str) -> String {
    let digits: Vec<u32> = body.chars().map(|digit| digit.to_digit(10).unwrap()).collect();
    let sum: u32 = digits
        .iter()
        .enumerate()
        .map(|(index, digit)| match (digits.len() - index) % 2 {
            1 if *digit > 4 => digit * 2 - 9,
            1 => digit * 2,
            _ => *digit,
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// A number of 16 digits that begins so.
fn number_with(prefix: &str) -> CardNumber {
    CardNumber::parse(&with_check_digit(&format!("{prefix:0<15}"))).unwrap()
}

#[test]
fn every_test_card_is_of_its_brand() {
    for (brand, cards) in TEST_CARDS {
        for card in cards {
            let (number, cvv) = card.split_once('/').unwrap();
            let number = CardNumber::parse(number).unwrap();
            assert_eq!(number.brand(), Some(brand), "{card}");
            assert_eq!(Cvv::parse(cvv).unwrap().expose(), cvv);
        }
    }
}

#[test]
fn numbers_named_elsewhere_pass_too() {
    for (number, brand) in [
        ("6274160007023102", None),
        ("4929564637987814", Some(Brand::Visa)),
        ("4000000000002503", Some(Brand::Visa)),
        ("4000000000002370", Some(Brand::Visa)),
        ("4000000000001000", Some(Brand::Visa)),
        ("5200000000001013", Some(Brand::Mastercard)),
        ("4212345678910006", Some(Brand::Visa)),
        ("5201281505129736", Some(Brand::Mastercard)),
        ("4199350000000002", Some(Brand::Visa)),
        ("5201282999005515", Some(Brand::Mastercard)),
    ] {
        assert_eq!(CardNumber::parse(number).unwrap().brand(), brand, "{number}");
    }
}

#[test]
fn the_more_specific_range_wins() {
    for (prefix, brand) in [
        ("401177", Some(Brand::Visa)),
        ("401178", Some(Brand::Elo)),
        ("401179", Some(Brand::Elo)),
        ("401180", Some(Brand::Visa)),
        ("506698", None),
        ("506699", Some(Brand::Elo)),
        ("506778", Some(Brand::Elo)),
        ("506779", None),
        ("650034", Some(Brand::Discover)),
        ("650035", Some(Brand::Elo)),
        ("655020", Some(Brand::Discover)),
        ("655021", Some(Brand::Elo)),
        ("384100", Some(Brand::Hipercard)),
        ("384101", Some(Brand::Diners)),
        ("636368", Some(Brand::Elo)),
        ("637095", Some(Brand::Hipercard)),
        ("3094", None),
        ("3095", Some(Brand::Diners)),
        ("2220", None),
        ("2221", Some(Brand::Mastercard)),
        ("2720", Some(Brand::Mastercard)),
        ("2721", None),
        ("3527", None),
        ("3528", Some(Brand::Jcb)),
        ("3589", Some(Brand::Jcb)),
        ("622125", None),
        ("622126", Some(Brand::Discover)),
        ("6011", Some(Brand::Discover)),
        ("56", None),
    ] {
        assert_eq!(number_with(prefix).brand(), brand, "{prefix}");
    }
}

#[test]
fn brand_names_are_those_of_the_wire() {
    let names: Vec<&str> = Brand::ALL.into_iter().map(Brand::name).collect();
    assert_eq!(
        names,
        ["American Express", "Mastercard", "Visa", "Elo", "Discover", "JCB", "Diners", "Hipercard"]
    );
    for brand in Brand::ALL {
        assert_eq!(Brand::parse(brand.name()), Some(brand));
        assert_eq!(serde_json::to_value(brand).unwrap(), brand.name());
        assert_eq!(serde_json::from_value::<Brand>(brand.name().into()).unwrap(), brand);
    }
    assert_eq!(Brand::parse("visa"), None);
}

#[test]
fn a_wrong_number_says_what_is_wrong() {
    for (text, error) in [
        ("", CardNumberError::Length),
        ("424242424242", CardNumberError::Length),
        ("42424242424242424242", CardNumberError::Length),
        ("4242 4242 4242 424x", CardNumberError::NotDigits),
        ("4242424242424242\u{0}", CardNumberError::NotDigits),
        ("４２４２４２４２４２４２４２４２", CardNumberError::NotDigits),
        ("4242424242424243", CardNumberError::Checksum),
    ] {
        assert_eq!(CardNumber::parse(text).unwrap_err(), error, "{text}");
    }
}

#[test]
fn spaces_and_dashes_do_not_count() {
    let number = CardNumber::parse("4929-5646 3798-7814").unwrap();
    assert_eq!(number.expose_digits(), "4929564637987814");
    assert_eq!((number.first6(), number.last4(), number.last_digit()), ("492956", "7814", 4));
}

#[test]
fn secrets_do_not_print() {
    let number = CardNumber::parse("4929564637987814").unwrap();
    assert_eq!(format!("{number:?}"), "CardNumber(492956…7814)");
    let cvv = Cvv::parse("987").unwrap();
    assert_eq!(format!("{cvv:?}"), "Cvv(…)");
}

/// `IS` of the type where it can be serialized or displayed, else that of the trait.
struct Probe<T>(PhantomData<T>);
trait Otherwise {
    const SERIALIZES: bool = false;
    const DISPLAYS: bool = false;
}
impl<T> Otherwise for Probe<T> {}
impl<T: serde::Serialize> Probe<T> {
    const SERIALIZES: bool = true;
}
impl<T: std::fmt::Display> Probe<T> {
    const DISPLAYS: bool = true;
}

#[test]
fn secrets_cannot_be_serialized_or_displayed() {
    const { assert!(Probe::<String>::SERIALIZES && Probe::<String>::DISPLAYS) }
    const { assert!(!Probe::<CardNumber>::SERIALIZES && !Probe::<CardNumber>::DISPLAYS) }
    const { assert!(!Probe::<Cvv>::SERIALIZES && !Probe::<Cvv>::DISPLAYS) }
}

#[test]
fn a_cvv_has_three_or_four_digits() {
    for wrong in ["", "12", "12345", "12a", "１２３", " 123"] {
        assert!(Cvv::parse(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn an_expiry_is_a_month_and_a_year() {
    let expiry = Expiry::parse("03/2030").unwrap();
    assert_eq!((expiry.month(), expiry.year()), (3, 2030));
    assert_eq!((expiry.month_text().as_str(), expiry.year_text().as_str()), ("03", "2030"));
    assert_eq!(serde_json::to_value(expiry).unwrap(), "03/2030");
    assert_eq!(serde_json::from_str::<Expiry>("\"03/2030\"").unwrap(), expiry);
    for wrong in
        ["", "3/2030", "03/30", "00/2030", "13/2030", "03-2030", "03/20300", "+3/2030", "03/+030", " 03/2030"]
    {
        assert!(Expiry::parse(wrong).is_none(), "{wrong}");
        assert!(serde_json::from_value::<Expiry>(wrong.into()).is_err(), "{wrong}");
    }
}

#[test]
fn a_card_is_good_until_its_month_ends_in_sao_paulo() {
    let at = |text: &str| Timestamp::parse(text).unwrap();
    let expiry = Expiry::parse("12/2030").unwrap();
    assert!(!expiry.is_past(at("2020-06-15")));
    assert!(!expiry.is_past(at("2030-12-31T12:00:00Z")));
    assert!(!expiry.is_past(at("2031-01-01T02:59:59.999Z")));
    assert!(expiry.is_past(at("2031-01-01T03:00:00Z")));
    assert!(Expiry::parse("02/2028").unwrap().is_past(at("2028-03-01T03:00:00Z")));
    assert!(!Expiry::parse("02/2028").unwrap().is_past(at("2028-02-29T23:00:00Z")));
}

proptest! {
    #[test]
    fn exactly_one_check_digit_fits(body in "[0-9]{12,18}") {
        let right = with_check_digit(&body);
        for digit in 0..10 {
            let number = format!("{body}{digit}");
            prop_assert_eq!(CardNumber::parse(&number).is_ok(), number == right);
        }
    }

    #[test]
    fn one_wrong_digit_is_always_found(body in "[0-9]{12,18}", place in any::<prop::sample::Index>(), by in 1_u8..10) {
        let mut digits = with_check_digit(&body).into_bytes();
        let place = place.index(digits.len());
        digits[place] = (digits[place] - b'0' + by) % 10 + b'0';
        let wrong = String::from_utf8(digits).unwrap();
        prop_assert_eq!(CardNumber::parse(&wrong).unwrap_err(), CardNumberError::Checksum);
    }

    #[test]
    fn no_text_breaks_the_readers(text in any::<String>()) {
        let _ = (CardNumber::parse(&text), Cvv::parse(&text), Expiry::parse(&text));
    }
}
