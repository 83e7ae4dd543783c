//! The HTTP rules of every route, through the real router: cross-origin headers, request ids, methods, sizes, rates,
//! empty bodies, the case of headers.

use std::net::SocketAddr;

use axum::body::Body;
use axum::http::{Method, Request};
use futures_util::stream;
use regente::api::router::router;
use regente::http::limits::BODY_BYTES_MAX;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body, token_body};
use crate::support::client::Reply;
use crate::support::document::doors::CHALLENGES;
use crate::support::document::{Document, Operation};
use crate::support::records::{Records, customer_body, fresh_key, unique};

stories! {
    a_page_can_read_every_answer_of_its_routes,
    a_public_key_makes_ten_tokens_a_second_and_a_secret_key_any_number,
    a_database_that_is_gone_is_a_reason_to_come_back,
    a_charge_without_room_is_refused_unread,
}

const NOBODYS_ID: &str = "3f1c1b1e-2a7b-4a57-9d35-000000000000";
const SHOP: (&str, &str) = ("Origin", "https://shop.example");

/// Sends a request without credentials.
async fn bare(
    app: &TestApp,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.send(request.body(body.into()).unwrap()).await
}

#[track_caller]
fn readable(reply: &Reply, status: u16) {
    assert_eq!(reply.status.as_u16(), status, "{}", String::from_utf8_lossy(&reply.bytes));
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{status}");
    assert_eq!(reply.header("access-control-allow-credentials"), None, "{status}: keys travel in headers");
    let exposed = reply.header("access-control-expose-headers").expect("headers that a page may read");
    for name in ["x-request-id", "retry-after", "idempotent-replayed"] {
        assert!(exposed.contains(name), "{status}: {exposed}");
    }
}

async fn a_page_can_read_every_answer_of_its_routes(app: TestApp) {
    let post = async |path: &str, headers: &[(&str, &str)], body: &Value| {
        app.call(&app.client, Method::POST, path, &[&[SHOP], headers].concat(), Some(body)).await
    };
    readable(&post("/v1/tokens", &[], &token_body(APPROVED)).await, 201);
    readable(&post("/v1/tokens", &[], &json!({})).await, 400);
    readable(&bare(&app, Method::POST, "/v1/tokens", &[SHOP], "").await, 401);
    let without_key = [SHOP, ("X-Client-Id", app.client.id.as_str())];
    readable(&bare(&app, Method::POST, "/v1/charges", &without_key, "").await, 403);
    let missing = format!("/v1/customers/{NOBODYS_ID}/cards");
    readable(&app.call(&app.client, Method::GET, &missing, &[SHOP], None).await, 404);
    readable(&app.call(&app.client, Method::DELETE, "/v1/charges", &[SHOP], None).await, 405);
    let buyer = unique(customer_body());
    readable(&post("/v1/customers", &[], &buyer).await, 201);
    readable(&post("/v1/customers", &[], &buyer).await, 409);
    readable(&post("/v1/cards", &[("X-Idempotency-Key", " ")], &json!({})).await, 400);
    readable(&bare(&app, Method::POST, "/v1/charges", &[("Content-Length", "9000000")], "").await, 413);
    readable(&app.call(&app.client, Method::GET, "/v1/sessions/x/link", &[SHOP], None).await, 404);
    for (path, status) in [("/v1/merchants", 200), ("/health/live", 200), ("/nowhere", 404)] {
        let reply = app.call(&app.client, Method::GET, path, &[SHOP], None).await;
        assert_eq!(reply.status.as_u16(), status, "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path} is not for pages");
    }
}

#[tokio::test]
async fn a_page_may_ask_first_without_a_key() {
    let app = TestApp::sqlite().await;
    // Sessions are made by servers; what is below one is for its page.
    let open = ["/v1/tokens", "/v1/cards", "/v1/charges", "/v1/customers", "/v1/sessions/"];
    let mut asked = 0;
    for operation in &Document::current().operations {
        let is_open = open.iter().any(|prefix| operation.path.starts_with(prefix));
        let path = operation.path_with(&vec![NOBODYS_ID; operation.parameters()]);
        let headers = [
            SHOP,
            ("Access-Control-Request-Method", operation.method.as_str()),
            (
                "Access-Control-Request-Headers",
                "content-type,x-api-key,x-captcha-token,x-client-id,x-idempotency-key",
            ),
        ];
        let reply = bare(&app, Method::OPTIONS, &path, &headers, "").await;
        let allowed = reply.header("access-control-allow-origin");
        if !is_open {
            assert_eq!((reply.status.as_u16(), allowed), (405, None), "{path}");
            continue;
        }
        asked += 1;
        assert_eq!((reply.status.as_u16(), allowed, reply.bytes.len()), (204, Some("*"), 0), "{path}");
        for (name, value) in [
            ("access-control-allow-methods", "GET,POST,OPTIONS"),
            (
                "access-control-allow-headers",
                "content-type,x-api-key,x-captcha-token,x-client-id,x-idempotency-key",
            ),
            ("access-control-max-age", "600"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        assert_eq!(reply.header("access-control-allow-credentials"), None, "{path}");
    }
    assert!(asked > 5, "the prefixes above are those of routes");
}

async fn a_public_key_makes_ten_tokens_a_second_and_a_secret_key_any_number(app: TestApp) {
    let (one, other) = (app.client_token(json!(["tokens"])).await, app.client_token(json!(["tokens"])).await);
    let make = async |client| {
        app.call(client, Method::POST, "/v1/tokens", &[SHOP], Some(&token_body(APPROVED))).await
    };
    // Machine time continues meanwhile, so the burst is larger than what it can refill.
    let mut refused = None;
    for count in 0..200 {
        let reply = make(&one).await;
        if reply.status != 201 {
            assert!(count >= 10, "the first ten go through, {count} did");
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("two hundred at once are too many");
    readable(&refused, 429);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let body = r#"{"error":{"type":"api_error","code":429,"message":"Too many requests","details":[]}}"#;
    assert_eq!(String::from_utf8_lossy(&refused.bytes), body);
    make(&other).await.expect(201);
    for _ in 0..30 {
        make(&app.client).await.expect(201);
    }
}

async fn a_database_that_is_gone_is_a_reason_to_come_back(app: TestApp) {
    let charge = charge_body(&app.merchant().await, APPROVED);
    app.get("/v1/cards").await.expect(200);
    app.app.store.close().await;
    for (method, path, body) in [
        (Method::GET, "/v1/cards", None),
        (Method::POST, "/v1/tokens", Some(token_body(APPROVED))),
        (Method::POST, "/v1/charges", Some(charge)),
    ] {
        let reply = app.call(&app.client, method, path, &[SHOP], body.as_ref()).await;
        readable(&reply, 503);
        assert_eq!(reply.header("retry-after"), Some("1"), "{path}");
        assert_eq!(reply.json()["error"]["message"], "Service unavailable", "{path}");
    }
}

/// Over the limit a charge is refused before parsing, and without permission only the permission is answered. The
/// connection stays usable, with the body read off it.
async fn a_charge_without_room_is_refused_unread(app: TestApp) {
    let merchant = app.merchant().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router(app.app.clone()).into_make_service_with_connect_info::<SocketAddr>();
    let serving = tokio::spawn(async move { axum::serve(listener, service).await });
    let mut stream = TcpStream::connect(address).await.unwrap();

    let accounts = (1..).map(|number| regente_domain::id::ClientId::new(uuid::Uuid::from_u128(number)));
    let taken: Vec<_> = accounts.map_while(|client_id| app.app.store.admit(client_id).ok()).collect();
    let body = Charge::by_card(&merchant, APPROVED).with("description", "x".repeat(300)).body();
    let body = body.to_string();
    let (client_id, key) = (&app.client.id, &app.client.key);
    let with_key = format!("x-client-id: {client_id}\r\nx-api-key: {key}\r\n");
    for body in [body.as_str(), "{ no JSON"] {
        let answer = next_answer(&mut stream, &with_key, body).await;
        assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
        for part in ["\r\nx-request-id: ", "\r\nretry-after: 1\r\n", "{\"error\":{\"type\":\"api_error\","] {
            assert!(answer.contains(part), "{answer}");
        }
    }
    bare(&app, Method::POST, "/v1/charges", &[], body.clone()).await.expect(401);
    drop(taken);
    let answer = next_answer(&mut stream, &with_key, &body).await;
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    serving.abort();
}

/// Sends a charge over a connection that stays open.
async fn next_answer(stream: &mut TcpStream, headers: &str, body: &str) -> String {
    let head =
        format!("POST /v1/charges HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        let length = text.split_once("content-length: ").and_then(|(_, rest)| rest.split_once("\r\n"));
        if let (Some((length, _)), Some((_, body))) = (length, text.split_once("\r\n\r\n"))
            && body.len() == length.parse::<usize>().unwrap()
        {
            return text;
        }
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "the connection was closed after {text}");
    }
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    let app = TestApp::sqlite().await;
    let mut seen = std::collections::HashSet::new();
    for path in ["/v1/charges", "/v1/nothing", "/health/live", "/openapi.json", "/docs/"] {
        let made = bare(&app, Method::GET, path, &[], "").await;
        let id = made.header("x-request-id").expect("an id").to_owned();
        assert!(uuid::Uuid::try_parse(&id).is_ok() && seen.insert(id), "{path}: each request has its own");
        let own = bare(&app, Method::GET, path, &[("x-request-ID", "order-7")], "").await;
        assert_eq!(own.header("x-request-id"), Some("order-7"), "{path}");
        let forged = bare(&app, Method::GET, path, &[("X-Request-Id", "a b")], "").await;
        assert_ne!(forged.header("x-request-id"), Some("a b"), "{path}");
    }
}

fn takes_a_list(operation: &Operation) -> bool {
    Document::current().body_schema(operation).is_some_and(|schema| schema["type"] == "array")
}

/// The text of a path's id is no UTF-8: the answer is that of an id that is no UUID.
#[tokio::test]
async fn an_id_that_is_no_utf8_is_not_found() {
    let app = TestApp::sqlite().await;
    let with_ids = Document::current().operations.iter().filter(|operation| operation.parameters() > 0);
    let mut asked = 0;
    for operation in with_ids {
        let answer = async |id: &str| {
            let path = operation.path_with(&vec![id; operation.parameters()]);
            let body = if takes_a_list(operation) {
                json!([{ "paymentMethod": "pix", "fixedAmount": 1 }])
            } else {
                json!({ "cardId": NOBODYS_ID })
            };
            let body = (operation.method != Method::GET).then_some(body);
            let key = fresh_key();
            let headers = operation.headers(&key);
            let reply = app.call(&app.client, operation.method.clone(), &path, &headers, body.as_ref()).await;
            assert_eq!(reply.header("content-type"), Some("application/json"), "{path}");
            (reply.status.as_u16(), reply.json())
        };
        let not_found = answer("not-a-uuid").await;
        assert_eq!(not_found.0, 404, "{}: {}", operation.name(), not_found.1);
        for id in ["%FF", "a%80", "%C3%28"] {
            assert_eq!(answer(id).await, not_found, "{} {id}", operation.name());
        }
        asked += 1;
    }
    assert!(asked > 15, "{asked}");
}

#[tokio::test]
async fn a_wrong_method_says_which_are_right() {
    let app = TestApp::sqlite().await;
    let document = Document::current();
    for operation in &document.operations {
        let path = operation.path_with(&vec![NOBODYS_ID; operation.parameters()]);
        let mut right: Vec<&str> = document
            .operations
            .iter()
            .filter(|other| other.path == operation.path)
            .map(|other| other.method.as_str())
            .collect();
        if right.contains(&"GET") {
            right.push("HEAD");
        }
        right.sort_unstable();
        let wrong = if right.contains(&"PUT") { Method::PATCH } else { Method::PUT };
        let reply = app.call(&app.client, wrong, &path, &[], None).await;
        let error = reply.expect(405)["error"].clone();
        let expected = match path.split('/').nth(2) {
            Some("purchases") => {
                json!({ "type": "bad_request", "code": 405, "message": "Method not allowed", "details": [] })
            }
            Some("webhooks") => {
                json!({ "type": "api_error", "message": "Method not allowed", "details": [] })
            }
            _ => json!({ "type": "invalid_request_error", "code": 405, "message": "Method not allowed",
                "details": [] }),
        };
        assert_eq!(error, expected, "{path}");
        let mut allowed: Vec<&str> =
            reply.header("allow").expect("Allow").split(',').map(str::trim).collect();
        allowed.sort_unstable();
        assert_eq!(allowed, right, "{path}");
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let app = TestApp::sqlite().await;
    let charge = Records { app: &app, client: &app.client }.charge().await;
    for path in ["/v1/charges".to_owned(), format!("/v1/charges/{charge}"), "/v1/merchants".to_owned()] {
        let get = app.get(&path).await;
        let head = app.call(&app.client, Method::HEAD, &path, &[], None).await;
        assert_eq!((head.status, head.bytes.len()), (get.status, 0), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        assert_eq!(head.header("content-length"), Some(get.bytes.len().to_string().as_str()), "{path}");
    }
}

/// Shipped clients send `Content-Type: application/json` with every request, and often no body
/// (`docs/interface/conventions.md#requests`).
#[tokio::test]
async fn no_body_is_no_body() {
    let app = TestApp::sqlite().await;
    let records = Records { app: &app, client: &app.client };
    for operation in
        Document::current().operations.iter().filter(|operation| operation.path.starts_with("/v1/"))
    {
        // The return from a challenge is a browser's own request.
        if operation.takes_a_file_alone() || operation.path == CHALLENGES {
            continue;
        }
        let call = records.call(operation).await;
        let path = call.path(operation);
        let key = fresh_key();
        let headers = operation.headers(&key);
        let reply = app.call(&app.client, operation.method.clone(), &path, &headers, None).await;
        match (call.body, operation.value.pointer("/requestBody/required") == Some(&json!(true))) {
            (Some(_), _) if operation.name() == "PATCH /v1/settings" => drop(reply.expect(422)),
            // Either of two members has to be there, which its schema does not say.
            (Some(_), _)
                if ["POST /v1/sandbox/clock", "POST /v1/subacquirer/prepayment"]
                    .contains(&operation.name().as_str()) =>
            {
                drop(reply.expect(400));
            }
            // The empty body changes nothing, or means the whole amount.
            (None, _) | (Some(_), false) => {
                assert!(reply.status.is_success(), "{}: {reply:?}", operation.name())
            }
            (Some(_), true) => {
                let details = reply.details(400);
                let is_about_json = details.iter().any(|detail| detail.contains("JSON"));
                assert!(!details.is_empty() && !is_about_json, "{}: {details:?}", operation.name());
            }
        }
    }
    // Where no body is needed, one is not read.
    let card = records.card().await;
    let path = format!("/v1/cards/{card}");
    let request = |method| {
        Request::builder()
            .method(method)
            .uri(&path)
            .header("x-client-id", &app.client.id)
            .header("X-API-KEY", &app.client.key)
            .body(Body::from(r#"{"reason":"asked"}"#))
            .unwrap()
    };
    app.send(request(Method::GET)).await.expect(200);
    app.send(request(Method::DELETE)).await.expect(204);
}

#[tokio::test]
async fn a_body_has_a_largest_size_however_it_comes() {
    let app = TestApp::sqlite().await;
    let refusal = |path: &str| {
        let members = match path.starts_with("/v1/webhooks") {
            true => r#""type":"api_error""#,
            false => r#""type":"bad_request","code":413"#,
        };
        format!(
            r#"{{"error":{{{members},"message":"Payload Too Large","details":["body must not be larger than {BODY_BYTES_MAX} bytes"]}}}}"#
        )
    };
    let credentials = [("X-Client-Id", app.client.id.as_str()), ("X-Api-Key", app.client.key.as_str())];
    let bodies = Document::current()
        .operations
        .iter()
        .filter(|operation| operation.value.get("requestBody").is_some() && !operation.takes_a_file_alone());
    let records = Records { app: &app, client: &app.client };
    for operation in bodies {
        let path = records.call(operation).await.path(operation);
        let chunk = |_| Ok::<_, std::io::Error>(vec![b' '; 65_536]);
        let chunks = stream::iter((0..=BODY_BYTES_MAX / 65_536).map(chunk));
        let key = fresh_key();
        let needed = [credentials.as_slice(), &operation.headers(&key)].concat();
        let unannounced =
            bare(&app, operation.method.clone(), &path, &needed, Body::from_stream(chunks)).await;
        let announced = [needed.as_slice(), &[("Content-Length", "1048577")]].concat();
        let announced = bare(&app, operation.method.clone(), &path, &announced, "").await;
        for reply in [unannounced, announced] {
            assert_eq!(reply.status, 413, "{}", operation.name());
            assert_eq!(String::from_utf8_lossy(&reply.bytes), refusal(&path), "{}", operation.name());
        }
    }
    let exact = format!("{}{}", json!({ "cvvUpdate": "123" }), " ".repeat(BODY_BYTES_MAX - 19));
    assert_eq!(exact.len(), BODY_BYTES_MAX);
    bare(&app, Method::POST, "/v1/tokens", &credentials, exact).await.expect(201);
}

/// Over a real connection, to control the bytes of headers and the end of the body.
#[tokio::test]
async fn headers_in_any_case_and_bodies_in_chunks_arrive() {
    let app = TestApp::sqlite().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router(app.app.clone()).into_make_service_with_connect_info::<SocketAddr>();
    let serving = tokio::spawn(async move { axum::serve(listener, service).await });
    let (id, key) = (&app.client.id, &app.client.key);
    let body = json!({ "cvvUpdate": "123" }).to_string();
    let (half, rest) = body.split_at(7);
    for (client_id, api_key) in [
        ("X-Client-Id", "X-Api-Key"),
        ("x-client-id", "x-api-key"),
        ("X-CLIENT-ID", "X-API-KEY"),
        ("x-ClIeNt-iD", "x-aPi-KEY"),
    ] {
        let request = format!(
            "POST /v1/tokens HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{client_id}: {id}\r\n{api_key}: {key}\r\n\
             content-TYPE: application/json\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{half}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
            half.len(),
            rest.len()
        );
        let answer = exchange(address, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{client_id}: {answer}");
        assert!(answer.contains("\"tokenId\""), "{answer}");
    }
    let mut flood = format!(
        "POST /v1/tokens HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-client-id: {id}\r\nx-api-key: {key}\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    for _ in 0..=BODY_BYTES_MAX / 65_536 {
        flood.push_str(&format!("10000\r\n{}\r\n", " ".repeat(65_536)));
    }
    flood.push_str("0\r\n\r\n");
    let answer = exchange(address, flood.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
    serving.abort();
}

async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let mut answer = Vec::new();
    // Both at once: a server that refuses does not read the whole body.
    let (written, read) = tokio::join!(writing.write_all(request), reading.read_to_end(&mut answer));
    drop((written, read));
    String::from_utf8_lossy(&answer).into_owned()
}
