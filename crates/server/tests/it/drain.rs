//! SIGTERM under load: the server becomes not ready, finishes requests, leaves an empty write-ahead log, and loses no
//! answered charge.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regente_store::testing::ReservedPort;
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::metrics::{metrics_setting, until_calls_in_flight};
use crate::support::server::{LOOK_EVERY, Server, regente, run_on, send};

/// Clients that charge continuously.
const CLIENTS: usize = 16;
/// Clients whose provider does not answer.
const SLOW_CLIENTS: usize = 4;
/// Answers before the signal.
const ANSWERED_BEFORE_THE_END: usize = 50;
/// Longer than anything that a test waits for.
const SOON: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_it_stops_in_order_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Arc::new(Server::start(folder.path(), &["--set", "server.drain_notice_ms=3000"]).await);
    let seen = Arc::new(Seen::default());
    let clients: Vec<_> =
        (0..CLIENTS).map(|_| tokio::spawn(charge_until_refused(server.clone(), seen.clone()))).collect();
    let slow: Vec<_> = (0..SLOW_CLIENTS)
        .map(|_| {
            let body = server.charge("REGENTE_MERCHANT_ID", "4485401945979546");
            tokio::spawn(server.post("/v1/charges", &body).send())
        })
        .collect();
    timeout(SOON, async {
        while seen.count.load(Ordering::SeqCst) < ANSWERED_BEFORE_THE_END {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
    .await
    .unwrap();

    // A connection that has sent nothing is served too while the notice lasts.
    let mut silent = TcpStream::connect(server.address()).await.unwrap();
    server.signal(Signal::TERM);
    server.until_logged("stopping").await;
    silent.write_all(b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    timeout(SOON, silent.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer:?}");

    // The load balancer sees "not ready" first, while requests are still served.
    let balancer = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let told = timeout(SOON, async {
        loop {
            match balancer.get(server.url("/health/ready")).send().await {
                Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => {
                    return answer.json::<Value>().await.unwrap();
                }
                Ok(_) => tokio::time::sleep(LOOK_EVERY).await,
                Err(error) => panic!("it stopped before it said so: {error}"),
            }
        }
    });
    assert_eq!(told.await.unwrap(), json!({ "status": "not_ready", "failing": ["draining"] }));
    // Requests under way are finished: those that wait for the provider get their answers.
    for slow in slow {
        assert_eq!(slow.await.unwrap().unwrap().status(), StatusCode::CREATED);
    }
    seen.is_over.store(true, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    let Ok(server) = Arc::try_unwrap(server) else { panic!("somebody still asks") };
    let (status, log) = server.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(!log.contains("has not ended in time") && !log.contains("ERROR"), "{log}");
    let wal = std::fs::metadata(folder.path().join("regente.db-wal")).map_or(0, |wal| wal.len());
    assert_eq!(wal, 0, "the log was copied into the database");
    run_on(folder.path(), &["doctor"]).await.text();

    let server = Server::start(folder.path(), &[]).await;
    let answered = std::mem::take(&mut *seen.answered.lock().unwrap());
    assert!(answered.len() >= ANSWERED_BEFORE_THE_END);
    for (id, charge) in answered {
        let read = server.get(&format!("/v1/charges/{id}")).send().await.unwrap();
        assert_eq!(read.json::<Value>().await.unwrap(), charge, "what was answered is what is there");
    }
    let list: Value = server.get("/v1/charges?status=pending").send().await.unwrap().json().await.unwrap();
    assert_eq!(list["meta"]["totalItems"], 0, "{list}");
    server.stop().await;
}

#[tokio::test]
async fn what_has_begun_is_finished_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (port, metrics) = metrics_setting();
    let server = Server::start(folder.path(), &["--set", &metrics]).await;
    // The simulator does not answer for this card: the call takes two seconds.
    let slow = server.charge("REGENTE_MERCHANT_ID", "4485401945979546");
    let running = tokio::spawn(server.post("/v1/charges", &slow).send());
    until_calls_in_flight(port.address(), 1).await;

    server.signal(Signal::TERM);
    let answer = running.await.unwrap().unwrap();
    assert_eq!(answer.status().as_u16(), 201);
    let (status, log) = server.ended().await;
    assert!(status.success(), "{log}");
    assert!(!log.contains("has not ended in time"), "{log}");
    run_on(folder.path(), &["doctor"]).await.text();
}

#[tokio::test]
async fn a_bound_ends_what_takes_too_long_and_the_next_start_resolves_it() {
    let folder = tempfile::tempdir().unwrap();
    let (port, metrics) = metrics_setting();
    let quick = ["server.drain_timeout_ms=100", "charges.reconcile_grace_ms=100", &metrics];
    let quick: Vec<&str> = quick.into_iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(folder.path(), &quick).await;
    let slow = server.charge("REGENTE_MERCHANT_ID", "4485401945979546");
    let running = tokio::spawn(server.post("/v1/charges", &slow).send());
    until_calls_in_flight(port.address(), 1).await;
    server.signal(Signal::TERM);
    let (status, log) = server.ended().await;
    assert!(status.success() && log.contains("has not ended in time"), "{log}");
    assert!(running.await.unwrap().is_err(), "the caller was cut off");

    let server = Server::start(folder.path(), &quick).await;
    let failed = timeout(SOON, async {
        loop {
            let list: Value = server.get("/v1/charges").send().await.unwrap().json().await.unwrap();
            if list["items"][0]["status"] != "pending" {
                return list["items"][0].clone();
            }
        }
    });
    let resolved = failed.await;
    let log = server.stop().await;
    assert_eq!(resolved.expect(&log)["status"], "failed", "{log}");
}

#[derive(Default)]
struct Seen {
    count: AtomicUsize,
    is_over: AtomicBool,
    answered: Mutex<BTreeMap<String, Value>>,
}

/// Charges until the server refuses connections. Every answer is a success: stopping causes no 5xx.
async fn charge_until_refused(server: Arc<Server>, seen: Arc<Seen>) {
    while !seen.is_over.load(Ordering::SeqCst) {
        let body = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
        let Ok(answer) = server.post("/v1/charges", &body).send().await else { return };
        assert_eq!(answer.status(), StatusCode::CREATED);
        let charge: Value = answer.json().await.expect("an answer that has begun is finished");
        seen.answered.lock().unwrap().insert(charge["id"].as_str().unwrap().to_owned(), charge);
        seen.count.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_service_without_certificates_outlives_a_hangup() {
    let folder = tempfile::tempdir().unwrap();
    run_on(folder.path(), &["migrate"]).await.text();
    let port = ReservedPort::any();
    let address = port.address().to_string();
    let mut command = regente(&["serve", "--listen", &address]);
    command.arg("--data-dir").arg(folder.path()).env("REGENTE_VAULT__KEK", "4f2a".repeat(16));
    let mut service = command.kill_on_drop(true).spawn().unwrap();
    let is_ready = async || {
        let answer = reqwest::get(format!("http://{address}/health/ready")).await;
        answer.is_ok_and(|answer| answer.status() == StatusCode::OK)
    };
    timeout(SOON, async {
        while !is_ready().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
    .await
    .unwrap();
    for signal in [Signal::HUP, Signal::TERM] {
        send(&service, signal);
    }
    // A process ended by a signal has no exit code.
    assert_eq!(timeout(SOON, service.wait()).await.unwrap().unwrap().code(), Some(0));
}
