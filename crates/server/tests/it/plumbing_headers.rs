//! Headers that may occur only once.

#![allow(clippy::unwrap_used)]

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use regente::http::headers::{HeaderFault, idempotency_key, single};

type Pairs<'a> = &'a [(&'a str, &'a [u8])];

fn headers(pairs: Pairs<'_>) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value).unwrap()))
        .collect()
}

#[test]
fn a_header_given_twice_is_refused() {
    assert_eq!(single(&headers(&[]), "x-api-key"), Ok(None));
    assert_eq!(single(&headers(&[("X-API-Key", b"k")]), "x-api-key"), Ok(Some("k")));
    assert_eq!(single(&headers(&[("x-api-key", b"")]), "x-api-key"), Ok(Some("")));
    let twice = headers(&[("x-api-key", b"k"), ("X-Api-Key", b"k")]);
    assert_eq!(single(&twice, "x-api-key"), Err(HeaderFault::Twice));
    for wrong in [&b"\xe7"[..], b"a\tb"] {
        assert_eq!(single(&headers(&[("x-api-key", wrong)]), "x-api-key"), Err(HeaderFault::NotPrintable));
    }
}

#[test]
fn an_idempotency_key_comes_in_either_header() {
    const OWN: &str = "X-Idempotency-Key";
    const ALIAS: &str = "Idempotency-Key";
    let longest = "k".repeat(255);
    let table: [(Pairs<'_>, Option<&str>); 9] = [
        (&[], None),
        (&[(OWN, b"a b")], Some("a b")),
        (&[(OWN, b"\"a\"")], Some("\"a\"")),
        (&[(ALIAS, b"a")], Some("a")),
        (&[(ALIAS, b"\"a\"")], Some("a")),
        (&[(ALIAS, br#""a\"\\""#)], Some(r#"a"\"#)),
        (&[(OWN, b"a"), (ALIAS, b"\"a\"")], Some("a")),
        (&[(OWN, b"a"), (ALIAS, b"a")], Some("a")),
        (&[(OWN, longest.as_bytes())], Some(&longest)),
    ];
    for (given, key) in table {
        let read = idempotency_key(&headers(given)).unwrap();
        assert_eq!(read.as_ref().map(|key| key.as_str()), key);
    }
    let same = "X-Idempotency-Key must be the same as Idempotency-Key when both are given";
    let quoted = "Idempotency-Key must be a quoted string or a bare value";
    let table: [(Pairs<'_>, &str); 10] = [
        (&[(OWN, b"a"), (ALIAS, b"b")], same),
        (&[(OWN, b"a"), (OWN, b"a")], "X-Idempotency-Key must be given once"),
        (&[(ALIAS, b"a"), (ALIAS, b"a")], "Idempotency-Key must be given once"),
        (&[(OWN, b"")], "X-Idempotency-Key should not be empty"),
        (&[(ALIAS, b"\"\"")], "Idempotency-Key should not be empty"),
        (&[(OWN, &[b'k'; 256])], "X-Idempotency-Key must be shorter than or equal to 255 characters"),
        (&[(OWN, "ç".as_bytes())], "X-Idempotency-Key must contain only printable ASCII characters"),
        (&[(ALIAS, b"\"a")], quoted),
        (&[(ALIAS, b"\"a\"b")], quoted),
        (&[(ALIAS, br#""a\b""#)], quoted),
    ];
    for (given, problem) in table {
        assert_eq!(idempotency_key(&headers(given)).unwrap_err().into_details(), [problem]);
    }
}
