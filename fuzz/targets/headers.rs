//! Headers of requests: idempotency keys, dry runs, seeds of the simulator, keys and accounts. A key is the same in both of its
//! headers, also between quotation marks.

#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use regente::http::headers::{
    IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_ALIAS, IDEMPOTENCY_KEY_CHARS_MAX, dry_run, idempotency_key, sandbox_seed,
};
use regente_fuzz::headers_of;

fuzz_target!(|data: &[u8]| {
    let headers = headers_of(data);
    let _ = dry_run(&headers);
    let _ = sandbox_seed(&headers);
    read(&headers);
    for header in [IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_ALIAS] {
        if let Ok(value) = HeaderValue::from_bytes(data) {
            read(&HeaderMap::from_iter([(header.parse().expect("it is a name"), value)]));
        }
    }
});

fn read(headers: &HeaderMap) {
    let Ok(Some(key)) = idempotency_key(headers) else { return };
    let text = key.as_str();
    assert!((1..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&text.len()));
    assert!(text.bytes().all(|byte| matches!(byte, 0x20..=0x7e)));
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let value = HeaderValue::from_str(&quoted).expect("a key is printable");
    let alias = HeaderMap::from_iter([(IDEMPOTENCY_KEY_ALIAS.parse().expect("it is a name"), value)]);
    assert_eq!(idempotency_key(&alias), Ok(Some(key)));
}
