//! The layers around every route: request ids, limits, panics, cross-origin headers.

#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body as HttpBody, to_bytes};
use axum::http::{HeaderMap, Method, Request, Response};
use axum::routing::{get, post};
use futures_util::stream;
use regente::api::fields::Body;
use regente::api::layers;
use regente::api::request_id::Boundary;
use regente::http::error::ApiError;
use regente::http::limits::{BODY_BYTES_MAX, BodyLimits, HttpLimits};
use regente::http::rates::{Blocks, Rate, RateKey, RateLimiter};
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use tower::ServiceExt;
use tracing::instrument::WithSubscriber;
use uuid::Uuid;

const MADE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn app() -> Router {
    let boundary =
        Boundary { new_id: Arc::new(|| MADE_ID.parse().unwrap()), now: Arc::new(|| Duration::from_secs(5)) };
    let routes = Router::new()
        .route("/v1/charges", post(async |body: Body| body.members().len().to_string()))
        .route("/v1/charges/{id}", get(async |id: axum::Extension<RequestId>| id.as_str().to_owned()))
        .route("/v1/fault", get(async || Err::<(), _>(ApiError::from(Error::internal("the inner reason")))))
        .route(
            "/v1/panic",
            get(async || if MADE_ID.is_empty() { "" } else { panic!("a secret of the inside") }),
        )
        .route(
            "/v1/webhooks/panic",
            get(async || if MADE_ID.is_empty() { "" } else { panic!("a secret of the inside") }),
        )
        .route(
            "/v1/purchases/panic",
            get(async || if MADE_ID.is_empty() { "" } else { panic!("a secret of the inside") }),
        )
        .fallback(async || ApiError::from(Error::NotFound))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed);
    layers::around(routes, (), boundary, BodyLimits::of(&HttpLimits::default()))
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

async fn read(response: Response<HttpBody>) -> Answer {
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

async fn send(method: Method, path: &str, headers: &[(&str, &str)], body: impl Into<HttpBody>) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    read(app().oneshot(request.body(body.into()).unwrap()).await.unwrap()).await
}

#[tokio::test]
async fn every_answer_carries_a_request_id() {
    for (method, path) in [
        (Method::GET, "/v1/charges/1"),
        (Method::GET, "/nowhere"),
        (Method::DELETE, "/v1/charges"),
        (Method::OPTIONS, "/v1/charges"),
        (Method::GET, "/v1/panic"),
    ] {
        assert_eq!(send(method, path, &[], "").await.header("x-request-id"), Some(MADE_ID), "{path}");
    }
    let own = send(Method::GET, "/v1/charges/1", &[("X-Request-Id", "shop-1_a.b")], "").await;
    assert_eq!((own.header("x-request-id"), own.body.as_str()), (Some("shop-1_a.b"), "shop-1_a.b"));
    let long = "a".repeat(65);
    for wrong in ["", "a b", "a\tb", "a;b", long.as_str()] {
        let answer = send(Method::GET, "/v1/charges/1", &[("x-request-id", wrong)], "").await;
        assert_eq!(answer.body, MADE_ID, "{wrong:?}");
    }
}

#[tokio::test]
async fn a_fault_shows_the_request_id_and_nothing_else() {
    let expected = format!(
        r#"{{"error":{{"type":"api_error","code":500,"message":"Internal server error","details":["request id {MADE_ID}"]}}}}"#
    );
    for path in ["/v1/fault", "/v1/panic"] {
        let answer = send(Method::GET, path, &[], "").await;
        assert_eq!((answer.status, answer.body.as_str()), (500, expected.as_str()), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn a_panic_is_answered_in_the_envelope_of_its_resource() {
    let bodies = [
        (
            "/v1/webhooks/panic",
            r#"{"error":{"type":"api_error","message":"Internal server error","details":[]}}"#,
        ),
        (
            "/v1/purchases/panic",
            r#"{"error":{"type":"api_error","code":500,"message":"Internal server error","details":[]}}"#,
        ),
    ];
    for (path, body) in bodies {
        let answer = send(Method::GET, path, &[], "").await;
        assert_eq!((answer.status, answer.body.as_str()), (500, body), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-request-id"), Some(MADE_ID));
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_fault_is_logged_once_with_its_chain_and_request() {
    // A log statement asks only once, when it first runs, whether a subscriber listens, and other tests run it in
    // threads without one. So it runs before the subscriber is set, which makes it ask again.
    send(Method::GET, "/v1/fault", &[], "").await;
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
    async {
        send(Method::GET, "/v1/fault", &[("x-request-id", "abc")], "").await;
        send(Method::GET, "/v1/charges/42", &[], "").await;
    }
    .with_subscriber(subscriber)
    .await;
    let bytes = log.0.lock().unwrap().clone();
    let lines: Vec<serde_json::Value> =
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "one fault and two requests: {lines:?}");
    assert_eq!(lines[0]["level"], "ERROR");
    assert_eq!(lines[0]["fields"]["cause"], "the inner reason");
    assert_eq!(lines[0]["span"]["request_id"], "abc");
    assert_eq!(lines[1]["fields"]["status"], 500);
    assert_eq!(lines[2]["fields"]["status"], 200);
    assert_eq!(lines[2]["span"]["route"], "/v1/charges/{id}", "the route and never the path");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_however_it_comes() {
    let body = r#"{"error":{"type":"bad_request","code":413,"message":"Payload Too Large","details":["body must not be larger than 1048576 bytes"]}}"#;
    let announced = send(Method::POST, "/v1/charges", &[("content-length", "1048577")], "").await;
    assert_eq!((announced.status, announced.body.as_str()), (413, body));
    let chunks =
        stream::iter((0..=BODY_BYTES_MAX / 65_536).map(|_| Ok::<_, std::io::Error>(vec![b' '; 65_536])));
    let unannounced = send(Method::POST, "/v1/charges", &[], HttpBody::from_stream(chunks)).await;
    assert_eq!((unannounced.status, unannounced.body.as_str()), (413, body));
    assert_eq!(unannounced.header("access-control-allow-origin"), Some("*"));
    let exact = send(Method::POST, "/v1/charges", &[], " ".repeat(BODY_BYTES_MAX)).await;
    assert_eq!((exact.status, exact.body.as_str()), (200, "0"));
}

#[tokio::test]
async fn bodies_are_read_whatever_their_type() {
    let answer = send(Method::POST, "/v1/charges", &[("content-type", "text/plain")], r#"{"a":1}"#).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "1"));
    let broken = send(Method::POST, "/v1/charges", &[], "{").await;
    assert_eq!(broken.status, 400);
    assert!(broken.body.contains("body must be valid JSON"), "{}", broken.body);
    let cut = HttpBody::from_stream(stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("gone"))]));
    let cut = send(Method::POST, "/v1/charges", &[], cut).await;
    assert!(cut.status == 400 && cut.body.contains("body must arrive completely"), "{}", cut.body);
}

#[tokio::test]
async fn a_wrong_method_says_which_are_right() {
    let answer = send(Method::DELETE, "/v1/charges", &[], "").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    assert!(answer.body.contains("Method not allowed"));
}

#[tokio::test]
async fn a_page_may_ask_before_it_calls() {
    for path in [
        "/v1/tokens",
        "/v1/cards",
        "/v1/cards/1",
        "/v1/charges",
        "/v1/charges/1/void",
        "/v1/customers/1/cards",
        "/v1/sessions/tokens",
        "/v1/sessions/1/charge",
    ] {
        let answer = send(Method::OPTIONS, path, &[("origin", "https://shop.example")], "").await;
        assert_eq!((answer.status, answer.body.as_str()), (204, ""), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(
            answer.header("access-control-allow-headers"),
            Some("content-type,x-api-key,x-captcha-token,x-client-id,x-idempotency-key")
        );
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET,POST,OPTIONS"));
        assert_eq!(answer.header("access-control-max-age"), Some("600"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn a_page_sees_errors_too_but_only_on_its_routes() {
    for (path, status) in [("/v1/charges/1/nowhere", 404), ("/v1/cards", 404), ("/v1/charges/1", 200)] {
        let answer = send(Method::GET, path, &[], "").await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(
            answer.header("access-control-expose-headers"),
            Some("x-request-id, retry-after, idempotent-replayed, x-captcha-challenge")
        );
    }
    for path in
        ["/v1/sessions", "/v1/merchants", "/v1/tokens/1", "/v1/cardsharp", "/v1/purchases", "/v1/fault", "/"]
    {
        for method in [Method::GET, Method::OPTIONS] {
            let answer = send(method, path, &[], "").await;
            assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        }
    }
}

#[test]
fn a_public_key_makes_ten_tokens_a_second_from_each_address() {
    let millis = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&millis);
    let limiter = RateLimiter::new(
        Rate::per_second(10),
        Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst))),
    );
    let key = |address: &str| RateKey::Tokens(Uuid::from_u128(7), address.parse::<IpAddr>().unwrap().into());
    let here = key("192.0.2.1");
    for _ in 0..10 {
        limiter.check(&here).unwrap();
    }
    let Err(ApiError::TooManyRequests { retry_after }) = limiter.check(&here) else { panic!() };
    assert_eq!(retry_after, Duration::from_millis(100));
    limiter.check(&key("192.0.2.2")).unwrap();
    let another = RateKey::Tokens(Uuid::from_u128(8), IpAddr::from([192, 0, 2, 1]).into());
    limiter.check(&another).unwrap();
    millis.store(100, Ordering::SeqCst);
    limiter.check(&here).unwrap();
    assert!(limiter.check(&here).is_err());
    // An IPv6 network, and IPv4 in its IPv6 notation, count as one address.
    assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
    assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
    assert_eq!(key("::ffff:192.0.2.1"), here);
}

#[test]
fn no_limit_lets_everything_through() {
    let limiter = RateLimiter::new(None, Arc::new(|| Duration::ZERO));
    for _ in 0..10_000 {
        limiter.check(&RateKey::SecretKey(Uuid::nil())).unwrap();
    }
}

#[test]
fn the_counts_of_many_addresses_take_bounded_memory() {
    let limiter = RateLimiter::new(Rate::per_minute(1), Arc::new(|| Duration::ZERO));
    let from = |n: u32| RateKey::Authentication(IpAddr::from(n.to_be_bytes()).into());
    for n in 0..100_000 {
        limiter.check(&from(n)).unwrap();
    }
    assert!(limiter.keys_counted() <= 20_000, "{}", limiter.keys_counted());
    assert!(limiter.check(&from(99_999)).is_err(), "the newest is remembered");
}

#[test]
fn too_many_failures_block_for_a_while() {
    let millis = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&millis);
    let now = move || Duration::from_millis(clock.load(Ordering::SeqCst));
    let blocks = Blocks::new(Rate::per_minute(3), Duration::from_secs(10), Arc::new(now));
    let key = |n: u8| RateKey::Authentication(IpAddr::from([192, 0, 2, n]).into());
    for _ in 0..3 {
        blocks.fail(&key(1));
    }
    blocks.check(&key(1)).unwrap();
    blocks.fail(&key(1));
    let Err(ApiError::TooManyRequests { retry_after }) = blocks.check(&key(1)) else { panic!() };
    assert_eq!(retry_after, Duration::from_secs(10));
    blocks.check(&key(2)).unwrap();
    millis.store(9_999, Ordering::SeqCst);
    assert!(blocks.check(&key(1)).is_err());
    millis.store(10_000, Ordering::SeqCst);
    blocks.check(&key(1)).unwrap();
}
