//! Values of bodies: what each takes, and the words of what it refuses.

use deserr::{Deserr, IntoValue, ValuePointerRef};
use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::money::{Amount, PositiveAmount};
use regente_domain::percentage::Percentage;
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_domain::wire::{Decimal, EmailAddress, Integer, List, Object, OneOrMany, Text, plain};
use serde_json::{Value, json};
use uuid::Uuid;

/// The value of the member `x`.
fn one<T: Deserr<Problems>>(value: Value) -> Result<T, String> {
    let origin = ValuePointerRef::Origin;
    let read = T::deserialize_from_value(value.into_value(), origin.push_key("x"));
    read.map_err(|problems| problems.into_details().join("; "))
}

fn rule<T: Deserr<Problems>>(value: Value) -> String {
    one::<T>(value).err().unwrap_or_default()
}

#[test]
fn integers_are_exact() {
    type All = Integer<{ i64::MIN }, { i64::MAX }>;
    let read = |value: Value| one::<All>(value).map(Integer::get);
    assert_eq!(read(json!(100)), Ok(100));
    assert_eq!(read(json!(1e2)), Ok(100));
    assert_eq!(read(json!(-0.0)), Ok(0));
    assert_eq!(read(json!(9_007_199_254_740_991_i64)), Ok(9_007_199_254_740_991));
    for too_large in [json!(9_007_199_254_740_992_i64), json!(u64::MAX), json!(1e300)] {
        assert_eq!(read(too_large), Err("x must not be greater than 9007199254740991".to_owned()));
    }
    assert_eq!(read(json!(-1e300)), Err("x must not be less than -9007199254740991".to_owned()));
    for wrong in [json!(0.5), json!(1e-7), json!("100"), json!(true), json!([1])] {
        assert_eq!(read(wrong), Err("x must be an integer number".to_owned()));
    }
    assert_eq!(rule::<Integer<1, 24>>(json!(0)), "x must not be less than 1");
    assert_eq!(rule::<Integer<1, 24>>(json!(25)), "x must not be greater than 24");
}

/// Free-form members are shown as they were sent, however often they are stored and read.
#[test]
fn a_number_stays_what_it_is() {
    for text in ["9.1e+91", "1.7976931348623157e+308", "5e-324", "0.1", "12345.678901234567"] {
        let number: serde_json::Number = serde_json::from_str(text).unwrap();
        assert_eq!(plain(&number), text);
    }
}

#[test]
fn amounts_are_minor_units() {
    assert_eq!(one::<Amount>(json!(0)).unwrap().minor_units(), 0);
    assert_eq!(Amount::from(one::<PositiveAmount>(json!(100)).unwrap()).minor_units(), 100);
    assert_eq!(rule::<Amount>(json!(-1)), "x must not be less than 0");
    assert_eq!(rule::<PositiveAmount>(json!(0)), "x must be greater than 0");
    assert_eq!(rule::<PositiveAmount>(json!(-5)), "x must be greater than 0");
    assert_eq!(rule::<PositiveAmount>(json!(1.5)), "x must be an integer number");
}

#[test]
fn percentages_are_hundredths() {
    let read = |value: Value| one::<Percentage>(value).map(Percentage::hundredths);
    assert_eq!(read(json!(0.3)), Ok(30));
    assert_eq!(read(json!(12.34)), Ok(1234));
    assert_eq!(read(json!(100)), Ok(10_000));
    assert_eq!(read(json!(0.29)), Ok(29), "29 and not 28.999…");
    assert_eq!(read(json!(100.5)), Err("x must not be greater than 100".to_owned()));
    assert_eq!(read(json!(-0.01)), Err("x must not be less than 0".to_owned()));
    for wrong in [json!(0.125), json!("1"), json!(1e30)] {
        assert_eq!(read(wrong), Err("x must be a number conforming to the specified constraints".to_owned()));
    }
    assert_eq!(rule::<Decimal<50, 90>>(json!(0)), "x must not be less than 0.5");
}

#[test]
fn texts_are_bounded_in_characters() {
    assert_eq!(one::<Text<0, 2>>(json!("çã")).unwrap().as_str(), "çã");
    assert_eq!(rule::<Text<0, 2>>(json!("çãõ")), "x must be shorter than or equal to 2 characters");
    assert_eq!(rule::<Text<0, 2>>(json!(1)), "x must be a string");
    assert_eq!(rule::<Text<1, 2>>(json!("  ")), "x should not be empty");
    assert_eq!(one::<EmailAddress>(json!(" ana@example.com ")).unwrap().as_str(), "ana@example.com");
    assert_eq!(rule::<EmailAddress>(json!("ana")), "x must be an email");
}

#[test]
fn ids_choices_and_truths() {
    for wrong in [json!("cc0b1e4129364 5c5"), json!("cc0b1e41293645c5947f93995ffcdc00"), json!(1), json!("")]
    {
        assert_eq!(rule::<Uuid>(wrong), "x must be a UUID");
    }
    assert_eq!(rule::<bool>(json!("true")), "x must be a boolean");
    assert_eq!(one::<Currency>(json!("USD")).map(Currency::code), Ok("USD"));
    assert!(rule::<Currency>(json!("usd")).starts_with("x must be one of the following values: AED, "));
}

#[test]
fn times_are_iso_8601() {
    let time = |text: &str| one::<Timestamp>(json!(text)).map(|time| time.to_string());
    assert_eq!(time("2024-02-29").unwrap(), "2024-02-29T00:00:00.000Z");
    assert_eq!(time("2024-02-29T10:00:00-03:00").unwrap(), "2024-02-29T13:00:00.000Z");
    assert_eq!(time("2024-02-29T10:00:00.1234Z").unwrap(), "2024-02-29T10:00:00.123Z");
    for wrong in
        ["2023-02-29", "2024-02-29T10:00:00", "today", "", "2024-02-29T10:00:0çZ", "2024-02-29T10:00:00ç"]
    {
        assert_eq!(time(wrong).unwrap_err(), "x must be a valid ISO 8601 date string", "{wrong}");
    }
    let day = |text: &str| one::<Date>(json!(text)).map(|day| day.to_string());
    assert_eq!(day("1995-01-27").unwrap(), "1995-01-27");
    for wrong in ["27-01-1995", "19950127", "1995-13-01", "1995-01-27T00:00:00Z", "+001995-01"] {
        assert_eq!(day(wrong).unwrap_err(), "x must be a valid ISO 8601 date string", "{wrong}");
    }
}

#[test]
fn lists_are_bounded_and_name_their_elements() {
    type Several = List<bool, 2, 3>;
    assert_eq!(rule::<Several>(json!([true])), "x must contain at least 2 elements");
    assert_eq!(rule::<Several>(json!([1, 2, 3, 4])), "x must contain no more than 3 elements");
    assert_eq!(rule::<Several>(json!({})), "x must be an array");
    assert_eq!(rule::<Several>(json!([true, null, "x"])), "x[1] should not be empty; x[2] must be a boolean");
    let many = one::<OneOrMany<bool, 1, 2>>(json!(true)).map(OneOrMany::into_vec);
    assert_eq!(many, Ok(vec![true]));
    assert_eq!(rule::<OneOrMany<bool, 1, 2>>(json!([])), "x must contain at least 1 elements");
    assert_eq!(rule::<OneOrMany<bool, 1, 2>>(json!("x")), "x must be a boolean");
}

#[test]
fn free_objects_are_bounded_in_bytes() {
    assert_eq!(one::<Object<7>>(json!({"a": 1})).unwrap().members().len(), 1);
    assert_eq!(rule::<Object<7>>(json!({"a": 12})), "x must not be larger than 7 bytes");
    assert_eq!(rule::<Object<7>>(json!([])), "x must be an object");
}
