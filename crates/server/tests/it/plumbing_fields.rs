//! The answer to an invalid body lists all problems at once, each with its path.

#![allow(clippy::unwrap_used)]

use regente::api::fields::{BODY_DEPTH_MAX, Body, Field, Fields, PROBLEMS_MAX};
use regente_domain::currency::Currency;
use regente_domain::id::{CardId, of};
use serde_json::json;

fn body(text: &str) -> Body {
    Body::parse(text.as_bytes()).unwrap()
}

fn refused(bytes: &[u8]) -> Vec<String> {
    let answer = Body::parse(bytes).unwrap_err().answer();
    assert_eq!(answer.status.as_u16(), 400);
    answer.error.unwrap().details
}

/// The problems of one reader with the member `x` of a body `{"x": …}`.
fn one<T>(value: &serde_json::Value, read: impl FnOnce(Field<'_>) -> Option<T>) -> Result<Option<T>, String> {
    let body = body(&json!({ "x": value }).to_string());
    body.read(|fields| Some(read(fields.optional("x"))))
        .map_err(|problems| problems.into_details().join("; "))
}

fn rule<T: std::fmt::Debug>(value: serde_json::Value, read: impl FnOnce(Field<'_>) -> Option<T>) -> String {
    one(&value, read).unwrap_err()
}

#[derive(Debug)]
#[allow(dead_code, reason = "only its problems are looked at")]
struct Payment {
    card: CardId,
    amount: i64,
}

fn payment(fields: &Fields<'_>) -> Option<Payment> {
    let card = fields.required("cardId").id::<of::Card>();
    let amount = fields.required("amount").integer(1..=1000);
    Some(Payment { card: card?, amount: amount? })
}

#[test]
fn all_problems_come_together_each_with_its_path() {
    let body = body(
        r#"{"name":"","email":"ana","sum":100.5,"zero":0,"capture":"yes","kind":"c","note":"abc",
            "owner":{"email":"x","address":"street"},
            "payments":[{"cardId":"1","amount":1},{"cardId":"cc0b1e41-2936-45c5-947f-93995ffcdc00","amount":"1"},null,7]}"#,
    );
    let problems = body
        .read(|fields| {
            let name = fields.required("name").non_empty_text(10);
            fields.required("email").email();
            fields.required("sum").integer(0..=1000);
            fields.required("zero").positive_amount();
            fields.optional("capture").boolean();
            fields.required("kind").one_of(&[("a", 1), ("b", 2)]);
            fields.optional("note").text(2);
            fields.required("merchantId").id::<of::Merchant>();
            fields.optional("absent").id::<of::Merchant>();
            fields.required("owner").object(|owner| {
                owner.required("email").email();
                owner.required("address").object(|_| Some(()))
            });
            let payments = fields.required("payments").array(2..=3, |item| item.object(payment));
            assert!(payments.is_none());
            let payments = fields.required("payments").array(1..=4, |item| item.object(payment));
            fields.problem("owner", "and payments must agree");
            fields.problem_here("must be signed");
            Some((name?, payments?))
        })
        .unwrap_err();
    assert_eq!(
        problems.into_details(),
        [
            "name should not be empty",
            "email must be an email",
            "sum must be an integer number",
            "zero must be greater than 0",
            "capture must be a boolean",
            "kind must be one of the following values: a, b",
            "note must be shorter than or equal to 2 characters",
            "merchantId should not be empty",
            "owner.email must be an email",
            "owner.address must be an object",
            "payments must contain no more than 3 elements",
            "payments[0].cardId must be a UUID",
            "payments[1].amount must be an integer number",
            "payments[2] should not be empty",
            "payments[3] must be an object",
            "owner and payments must agree",
            "body must be signed",
        ]
    );
}

#[test]
fn a_right_body_becomes_a_value() {
    let body = body(r#"{"cardId":"CC0B1E41-2936-45c5-947f-93995ffcdc00","amount":100.0,"more":[]}"#);
    let payment = body.read(payment).unwrap();
    assert_eq!(payment.card.to_string(), "cc0b1e41-2936-45c5-947f-93995ffcdc00");
    assert_eq!(payment.amount, 100);
}

#[test]
fn a_reader_that_gives_nothing_has_refused() {
    let refused = body(r#"{"x":{},"y":[1]}"#).read(|fields| {
        fields.required("x").object(|_| None::<()>);
        fields.required("y").array(0..=1, |_| None::<()>);
        Some(())
    });
    assert_eq!(refused.unwrap_err().into_details(), ["x is not valid", "y[0] is not valid"]);
    assert_eq!(body("{}").read(|_| None::<()>).unwrap_err().into_details(), ["body is not valid"]);
}

#[test]
fn null_is_absent_unless_asked() {
    let body = body(r#"{"a":null,"b":" ","c":{},"d":0}"#);
    body.read(|fields| {
        assert_eq!(fields.optional("a").text(1), None);
        assert_eq!(fields.optional("b").blank_text_is_absent().email(), None);
        assert!(fields.is_null("a") && !fields.is_null("x") && !fields.is_null("d"));
        assert!(fields.has("d") && !fields.has("a") && !fields.has("x"));
        Some(())
    })
    .unwrap();
    let problems = body.read(|fields| {
        fields.required("a").boolean();
        fields.required("b").blank_text_is_absent().email();
        Some(())
    });
    assert_eq!(problems.unwrap_err().into_details(), ["a should not be empty", "b should not be empty"]);
}

#[test]
fn integers_are_exact() {
    let all = i64::MIN..=i64::MAX;
    let read = |value: serde_json::Value| one(&value, |field| field.integer(all.clone()));
    assert_eq!(read(json!(100)), Ok(Some(100)));
    assert_eq!(read(json!(1e2)), Ok(Some(100)));
    assert_eq!(read(json!(-0.0)), Ok(Some(0)));
    assert_eq!(read(json!(9_007_199_254_740_991_i64)), Ok(Some(9_007_199_254_740_991)));
    for too_large in [json!(9_007_199_254_740_992_i64), json!(u64::MAX), json!(1e300)] {
        assert_eq!(read(too_large), Err("x must not be greater than 9007199254740991".to_owned()));
    }
    assert_eq!(read(json!(-1e300)), Err("x must not be less than -9007199254740991".to_owned()));
    for wrong in [json!(0.5), json!(1e-7), json!("100"), json!(true), json!([1])] {
        assert_eq!(read(wrong), Err("x must be an integer number".to_owned()));
    }
    assert_eq!(rule(json!(0), |field| field.integer(1..=24)), "x must not be less than 1");
    assert_eq!(rule(json!(25), |field| field.integer(1..=24)), "x must not be greater than 24");
}

#[test]
fn amounts_are_minor_units() {
    assert_eq!(one(&json!(0), |field| field.amount()).unwrap().unwrap().minor_units(), 0);
    assert_eq!(one(&json!(100), |field| field.positive_amount()).unwrap().unwrap().minor_units(), 100);
    assert_eq!(rule(json!(-1), |field| field.amount()), "x must not be less than 0");
    assert_eq!(rule(json!(0), |field| field.positive_amount()), "x must be greater than 0");
    assert_eq!(rule(json!(-5), |field| field.positive_amount()), "x must be greater than 0");
    assert_eq!(rule(json!(1.5), |field| field.positive_amount()), "x must be an integer number");
}

#[test]
fn percentages_are_hundredths() {
    let read = |value: serde_json::Value| one(&value, |field| field.hundredths(0..=10_000));
    assert_eq!(read(json!(0.3)), Ok(Some(30)));
    assert_eq!(read(json!(12.34)), Ok(Some(1234)));
    assert_eq!(read(json!(100)), Ok(Some(10_000)));
    assert_eq!(read(json!(0.29)), Ok(Some(29)), "29 and not 28.999…");
    assert_eq!(read(json!(100.5)), Err("x must not be greater than 100".to_owned()));
    assert_eq!(read(json!(-0.01)), Err("x must not be less than 0".to_owned()));
    for wrong in [json!(0.125), json!("1"), json!(1e30)] {
        assert_eq!(read(wrong), Err("x must be a number conforming to the specified constraints".to_owned()));
    }
    assert_eq!(rule(json!(0), |field| field.hundredths(50..=90)), "x must not be less than 0.5");
}

#[test]
fn texts_are_bounded_in_characters() {
    assert_eq!(one(&json!("çã"), |field| field.text(2)), Ok(Some("çã".to_owned())));
    assert_eq!(rule(json!("çãõ"), |field| field.text(2)), "x must be shorter than or equal to 2 characters");
    assert_eq!(rule(json!(1), |field| field.text(2)), "x must be a string");
    assert_eq!(rule(json!("  "), |field| field.non_empty_text(2)), "x should not be empty");
    assert_eq!(
        one(&json!(" ana@example.com "), |field| field.email()),
        Ok(Some("ana@example.com".to_owned()))
    );
    assert_eq!(rule(json!("12"), |field| field.text_as("must be odd", |_| None::<u8>)), "x must be odd");
}

#[test]
fn ids_choices_and_truths() {
    for wrong in [json!("cc0b1e4129364 5c5"), json!("cc0b1e41293645c5947f93995ffcdc00"), json!(1), json!("")]
    {
        assert_eq!(rule(wrong, |field| field.uuid()), "x must be a UUID");
    }
    let table = [("CPF", 1), ("CNPJ", 2)];
    assert_eq!(
        rule(json!("cnpj"), |field| field.one_of(&table)),
        "x must be one of the following values: CPF, CNPJ"
    );
    assert_eq!(rule(json!("true"), |field| field.boolean()), "x must be a boolean");
    assert_eq!(one(&json!("true"), |field| field.lenient_boolean()), Ok(Some(true)));
    assert_eq!(one(&json!(false), |field| field.lenient_boolean()), Ok(Some(false)));
    assert_eq!(one(&json!("USD"), |field| field.currency()).unwrap().map(Currency::code), Some("USD"));
    assert!(
        rule(json!("usd"), |field| field.currency())
            .starts_with("x must be one of the following values: AED, ")
    );
}

#[test]
fn times_are_iso_8601() {
    let time =
        |text: &str| one(&json!(text), |field| field.timestamp()).map(|time| time.unwrap().to_string());
    assert_eq!(time("2024-02-29").unwrap(), "2024-02-29T00:00:00.000Z");
    assert_eq!(time("2024-02-29T10:00:00-03:00").unwrap(), "2024-02-29T13:00:00.000Z");
    assert_eq!(time("2024-02-29T10:00:00.1234Z").unwrap(), "2024-02-29T10:00:00.123Z");
    for wrong in
        ["2023-02-29", "2024-02-29T10:00:00", "today", "", "2024-02-29T10:00:0çZ", "2024-02-29T10:00:00ç"]
    {
        assert_eq!(time(wrong).unwrap_err(), "x must be a valid ISO 8601 date string", "{wrong}");
    }
    let day = |text: &str| one(&json!(text), |field| field.date()).map(|day| day.unwrap().to_string());
    assert_eq!(day("1995-01-27").unwrap(), "1995-01-27");
    for wrong in ["27-01-1995", "19950127", "1995-13-01", "1995-01-27T00:00:00Z", "+001995-01"] {
        assert_eq!(day(wrong).unwrap_err(), "x must be a valid ISO 8601 date string", "{wrong}");
    }
}

#[test]
fn one_value_may_stand_for_a_list() {
    let scopes = |value: serde_json::Value| {
        one(&value, |field| field.one_or_many(1..=2, |item| item.one_of(&[("cards", 1), ("tokens", 2)])))
    };
    assert_eq!(scopes(json!("cards")), Ok(Some(vec![1])));
    assert_eq!(scopes(json!(["tokens", "cards"])), Ok(Some(vec![2, 1])));
    assert_eq!(scopes(json!([])), Err("x must contain at least 1 elements".to_owned()));
    assert_eq!(scopes(json!("x")), Err("x must be one of the following values: cards, tokens".to_owned()));
}

#[test]
fn free_objects_are_bounded_in_bytes() {
    assert_eq!(one(&json!({"a": 1}), |field| field.raw_object(7)).unwrap().unwrap().len(), 1);
    assert_eq!(rule(json!({"a": 12}), |field| field.raw_object(7)), "x must not be larger than 7 bytes");
    assert_eq!(rule(json!([]), |field| field.raw_object(7)), "x must be an object");
}

#[test]
fn no_body_is_an_empty_object() {
    for empty in ["", " \r\n\t", "{}", "\u{feff}{}"] {
        assert!(body(empty).members().is_empty());
    }
}

#[test]
fn of_a_member_given_twice_the_last_counts() {
    assert_eq!(body(r#"{"a":1,"b":2,"a":3}"#).members()["a"], json!(3));
}

#[test]
fn what_is_no_json_object_is_refused_without_repeating_it() {
    assert_eq!(refused(b"{\"card\":\n 4111 x}"), ["body must be valid JSON: line 2 column 7"]);
    assert_eq!(refused(b"{\"a\":1} {\"b\":2}"), ["body must be valid JSON: line 1 column 9"]);
    assert_eq!(refused(br#"{"a":"\ud800"}"#).len(), 1);
    assert_eq!(refused(br#"{"a":1e999}"#).len(), 1);
    assert_eq!(refused(b"[]"), ["body must be an object"]);
    assert_eq!(refused(b"null"), ["body must be an object"]);
    assert_eq!(refused(b"{\"a\":\"\xff\"}"), ["body must be valid UTF-8"]);
}

#[test]
fn nesting_has_a_limit() {
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    assert!(Body::parse(nested(BODY_DEPTH_MAX).as_bytes()).is_ok());
    let sentence = format!("body must not be nested deeper than {BODY_DEPTH_MAX} levels");
    assert_eq!(refused(nested(BODY_DEPTH_MAX + 1).as_bytes()), [sentence.as_str()]);
    assert_eq!(refused("[".repeat(1_000_000).as_bytes()), [sentence.as_str()]);
    // Brackets inside of strings do not nest.
    let text = json!({ "a": "[{\"\\".repeat(1000) }).to_string();
    assert!(Body::parse(text.as_bytes()).is_ok());
}

#[test]
fn u_0000_is_refused_everywhere() {
    let details = refused(br#"{"a":"\u0000","b":{"c":["x","y\u0000z"]},"d\u0000":1,"e":{"f\u0000":1}}"#);
    assert_eq!(
        details,
        [
            "a must not contain the character U+0000",
            "b.c[1] must not contain the character U+0000",
            "body must not have a member name with the character U+0000",
            "e must not have a member name with the character U+0000",
        ]
    );
    assert_eq!(body(r#"{"a":"\\u0000"}"#).members()["a"], json!("\\u0000"));
}

#[test]
fn a_flood_of_problems_is_cut() {
    let body = body(&json!({ "x": vec![0; 5000] }).to_string());
    let problems =
        body.read(|fields| fields.required("x").array(0..=5000, |item| item.boolean())).unwrap_err();
    assert_eq!(problems.details().len(), PROBLEMS_MAX);
    let long_names = json!({ "n".repeat(1000): "\0" }).to_string();
    assert!(refused(long_names.as_bytes())[0].len() < 200);
}

#[test]
fn equal_content_has_equal_canonical_bytes() {
    let left = body(r#"{"b":[1,{"y":"é","x":null}],"a":100.0}"#);
    let right = body(r#" {"a":100,"b":[1.0,{"x":null,"y":"\u00e9"}]} "#);
    assert_eq!(left.canonical_bytes().as_slice(), r#"{"a":100,"b":[1,{"x":null,"y":"é"}]}"#.as_bytes());
    assert_eq!(left.canonical_bytes(), right.canonical_bytes());
    assert_ne!(body(r#"{"a":1e300}"#).canonical_bytes(), body(r#"{"a":1e200}"#).canonical_bytes());
    assert_ne!(body(r#"{"a":"1"}"#).canonical_bytes(), body(r#"{"a":1}"#).canonical_bytes());
}

#[test]
fn a_body_is_never_printed() {
    assert_eq!(format!("{:?}", body(r#"{"cardNumber":"4111111111111111"}"#)), "Body(1 members)");
}
