//! A real browser against the running service: a cardholder passes a challenge, refuses it, or closes the window
//! (`tests/browsers/buyer.mjs`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use crate::cli::process::Server;

/// Longer than a browser takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cardholder_answers_a_challenge_in_a_browser() {
    let install = Command::new(folder("scripts/install-browsers")).status().await.unwrap();
    assert!(install.success(), "what drives the browser is not there, and cannot be installed");
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]).await;
    let mut buyer = Command::new("node");
    buyer.arg(folder("target/browsers/buyer.mjs")).env("CHROMIUM", "/usr/bin/chromium").kill_on_drop(true);
    for name in ["REGENTE_URL", "REGENTE_CLIENT_ID", "REGENTE_API_KEY", "REGENTE_MERCHANT_ID"] {
        buyer.env(name, server.value(name));
    }
    let output = timeout(PATIENCE, buyer.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ended = |decision: &str| told.iter().find(|told| told["decision"] == decision).expect("a decision");
    for (decision, status) in [("approve", "authorized"), ("refuse", "failed"), ("abandon", "pending")] {
        let told = ended(decision);
        assert_eq!(told["charge"]["status"], status, "{decision}: {told:#}");
        assert_eq!(told["complaints"], serde_json::json!([]), "{decision}: the browser has no complaint");
    }
    let refused = &ended("refuse")["charge"]["transactionRequests"][0]["providerError"];
    assert_eq!(refused["networkDeniedReason"], "failed_authentication");
}
