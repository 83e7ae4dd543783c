//! Codes of phones.

use regente_domain::time::Timestamp;
use regente_engine::members::totp::Secret;

/// Seconds and codes of RFC 6238, appendix B, for SHA-1: their last six digits.
const PUBLISHED: [(i64, &str); 6] = [
    (59, "287082"),
    (1_111_111_109, "081804"),
    (1_111_111_111, "050471"),
    (1_234_567_890, "005924"),
    (2_000_000_000, "279037"),
    (20_000_000_000, "353130"),
];

#[test]
fn codes_are_the_published_ones() {
    let secret = Secret::new(*b"12345678901234567890");
    for (seconds, code) in PUBLISHED {
        assert_eq!(secret.code_at(Timestamp::from_millis(seconds * 1000)), code);
    }
}

#[test]
fn a_secret_is_typed_and_read_from_a_picture() {
    let secret = Secret::new(*b"12345678901234567890");
    assert_eq!(secret.text(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    assert_eq!(Secret::parse(&secret.text()), Some(secret.clone()));
    assert_eq!(Secret::parse("GEZD"), None);
    assert_eq!(Secret::parse("gezdgnbvgy3tqojqgezdgnbvgy3tqojq"), None);
    let address = secret.address("ana+loja@example.com");
    let expected =
        "otpauth://totp/Regente:ana+loja@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Regente";
    assert_eq!(address, expected);
}
