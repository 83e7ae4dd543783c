//! Large bodies that arrive slowly: the bytes in memory are bounded for all connections together.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::client::{Reply, request};
use crate::support::server::Server;

stories! {
    bodies_that_arrive_slowly_are_bounded_together,
}

const KIB: usize = 1024;
/// Half of it is for what follows the first 8 KiB of a body.
const BUDGET_BYTES: usize = 256 * KIB;
/// Two of them fit into that half.
const LARGE_BYTES: usize = 64 * KIB;

fn large(app: &TestApp, body: Body) -> Request<Body> {
    request(&app.client, Method::POST, "/v1/charges", &[], None).map(|_| body)
}

/// Sends the beginning of a body that never ends; returns when it was read.
async fn begin_slowly(app: &TestApp) -> JoinHandle<Reply> {
    let (was_read, read) = tokio::sync::oneshot::channel();
    let beginning = stream::once(async { Ok::<_, std::io::Error>(Bytes::from(vec![b' '; LARGE_BYTES])) });
    let never = stream::once(async move {
        was_read.send(()).unwrap();
        std::future::pending().await
    });
    let answering = app.begin(large(app, Body::from_stream(beginning.chain(never))));
    read.await.unwrap();
    answering
}

async fn bodies_that_arrive_slowly_are_bounded_together(app: TestApp) {
    let app = app.with_limits(|limits| limits.body_budget_bytes = BUDGET_BYTES).await;
    let merchant = app.merchant().await;
    let slow = [begin_slowly(&app).await, begin_slowly(&app).await];

    let another = || large(&app, Body::from(vec![b' '; LARGE_BYTES]));
    let refused = app.send(another()).await;
    assert_eq!(refused.expect(503)["error"]["message"], "Service unavailable");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // An ordinary request has room.
    let body = charge_body(&merchant, APPROVED);
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["status"], "authorized");

    for answering in slow {
        answering.abort();
        assert!(answering.await.unwrap_err().is_cancelled());
    }
    assert_eq!(app.send(another()).await.status, 400, "it is read, and is no JSON");
}

/// How many connections send large bodies, unless `SLOW_BODIES` says another number, and how much of each.
const CONNECTIONS: usize = 300;
const SENT_BYTES: usize = 900 * KIB;
/// The budget of the process, and how much more memory it may take than before: the budget, a few KiB for each
/// connection, and what the allocator keeps.
const PROCESS_BUDGET_BYTES: usize = 8 * KIB * KIB;
const GROWTH_KIB_MAX: u64 = 64 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_does_not_grow_with_the_connections() {
    let folder = tempfile::tempdir().unwrap();
    let budget = format!("server.body_budget_bytes={PROCESS_BUDGET_BYTES}");
    let server = Server::start(folder.path(), &["--set", &budget]).await;
    let ordinary = server.charge("REGENTE_MERCHANT_ID", APPROVED.0);
    assert_eq!(server.post("/v1/charges", &ordinary).send().await.unwrap().status(), 201);
    let before_kib = server.resident_kib();

    let head = server.post("/v1/charges", &json!({})).build().unwrap();
    let mut headers = format!("POST /v1/charges HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n", 1000 * KIB);
    for (name, value) in head.headers().iter().filter(|(name, _)| *name != "content-length") {
        headers.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    headers.push_str("\r\n");
    let mut connections = Vec::new();
    let mut grown_kib = 0;
    let count = std::env::var("SLOW_BODIES").map_or(CONNECTIONS, |count| count.parse().unwrap());
    for _ in 0..count {
        let mut connection = TcpStream::connect(server.address()).await.unwrap();
        connection.write_all(headers.as_bytes()).await.unwrap();
        // A refused body is not read to its end.
        let sending = connection.write_all(&[b' '; SENT_BYTES]);
        let _ = tokio::time::timeout(Duration::from_secs(5), sending).await;
        connections.push(connection);
        grown_kib = grown_kib.max(server.resident_kib().saturating_sub(before_kib));
    }
    assert!(grown_kib < GROWTH_KIB_MAX, "{count} slow bodies take {grown_kib} KiB");
    assert_eq!(server.post("/v1/charges", &ordinary).send().await.unwrap().status(), 201);
    drop(connections);
    server.stop().await;
}
