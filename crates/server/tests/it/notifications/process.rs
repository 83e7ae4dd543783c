//! `regente dev` is notified by its simulator over HTTP, in the same process and in one of its own. The simulator answers
//! neither the call nor a probe, so nothing else can settle the charge.

use std::sync::Arc;
use std::time::Duration;

use regente::sandbox_provider::{Access, serve};
use regente_engine::clock::Clock;
use regente_providers::sandbox::http::PROTOCOL;
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use crate::support::providers::losing;
use crate::support::server::Server;

/// Longer than a notification takes.
const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_server_is_notified_by_its_own_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    assert_settled(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn a_server_is_notified_by_a_simulator_of_its_own_process() {
    let sandbox =
        Sandbox::new(SandboxOptions::new(7, zeroize::Zeroizing::new(vec![3; 32])), TransactionLog::memory());
    tokio::spawn(sandbox.take_outbox().unwrap().run(|| Clock::system().deployment()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("sandbox.url=http://{}", listener.local_addr().unwrap());
    tokio::spawn(serve(listener, Arc::new(sandbox), Access::ThisMachine, std::future::pending()));
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--set", &url]).await;
    let charge = assert_settled(&server).await;
    assert_disputed(&server, &charge, url.strip_prefix("sandbox.url=").unwrap()).await;
    server.stop().await;
}

/// A tester opens a dispute at the simulator, as in `docs/testing-with-the-simulator.md`, and the payer wins it.
async fn assert_disputed(server: &Server, charge: &Value, simulator: &str) {
    let key = &charge["transactionRequests"][0]["idempotencyKey"];
    let stage = async |what: &str| {
        let at = Clock::system().deployment();
        let body = json!({ "protocol": PROTOCOL, "key": key, "at": at, "what": { "type": what } });
        let staging = server.http.post(format!("{simulator}/v1/staged")).json(&body).send();
        staging.await.unwrap().status().as_u16()
    };
    assert_eq!(stage("dispute_won").await, 409, "no dispute is open");
    assert_eq!(stage("dispute_opened").await, 200);
    let disputed = until(server, charge, |charge| charge["isDispute"] == true).await;
    assert_eq!(disputed["status"], "authorized");
    assert_eq!(stage("dispute_lost").await, 200);
    let lost = until(server, charge, |charge| charge["status"] == "charged_back").await;
    assert_eq!(lost["isDispute"], false);
}

/// The charge, once it is so.
async fn until(server: &Server, charge: &Value, is_so: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
    let waiting = timeout(SOON, async {
        loop {
            let charge: Value = server.get(&path).send().await.unwrap().json().await.unwrap();
            if is_so(&charge) {
                return charge;
            }
            sleep(Duration::from_millis(50)).await;
        }
    });
    waiting.await.expect("the notification arrives")
}

async fn assert_settled(server: &Server) -> Value {
    let merchant = json!({ "mcc": "5812", "providers": [losing(&["authorization"])] });
    let merchant: Value = server.post("/v1/merchants", &merchant).send().await.unwrap().json().await.unwrap();
    let mut body = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    body["merchantId"] = merchant["id"].clone();
    let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    assert_eq!(charge["status"], "pending", "{charge}");
    let settled = until(server, &charge, |charge| charge["status"] != "pending").await;
    assert_eq!(settled["status"], "authorized");
    settled
}
