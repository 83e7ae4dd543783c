//! A real browser against the running service: a cardholder passes a challenge, refuses it, or closes the window
//! (`tests/browsers/buyer.mjs`); a payer pays or refuses at the page of his wallet (`tests/browsers/payer.mjs`).

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

/// What a browser has done: runs a program of `tests/browsers` against a server, and returns what it tells.
async fn driven_by(program: &str) -> Vec<Value> {
    let install = Command::new(folder("scripts/install-browsers")).status().await.unwrap();
    assert!(install.success(), "what drives the browser is not there, and cannot be installed");
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]).await;
    let mut driver = Command::new("node");
    driver
        .arg(folder("target/browsers").join(program))
        .env("CHROMIUM", "/usr/bin/chromium")
        .kill_on_drop(true);
    for name in ["REGENTE_URL", "REGENTE_CLIENT_ID", "REGENTE_API_KEY", "REGENTE_MERCHANT_ID"] {
        driver.env(name, server.value(name));
    }
    let output = timeout(PATIENCE, driver.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cardholder_answers_a_challenge_in_a_browser() {
    let told = driven_by("buyer.mjs").await;
    let ended = |decision: &str| told.iter().find(|told| told["decision"] == decision).expect("a decision");
    for (decision, status) in [("approve", "authorized"), ("refuse", "failed"), ("abandon", "pending")] {
        let told = ended(decision);
        assert_eq!(told["charge"]["status"], status, "{decision}: {told:#}");
        assert_eq!(told["complaints"], serde_json::json!([]), "{decision}: the browser has no complaint");
    }
    let refused = &ended("refuse")["charge"]["transactionRequests"][0]["providerError"];
    assert_eq!(refused["networkDeniedReason"], "failed_authentication");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payer_pays_or_refuses_at_a_page_in_a_browser() {
    let told = driven_by("payer.mjs").await;
    assert_eq!(told.len(), 2, "{told:#?}");
    for (decision, status) in [("pay", "authorized"), ("refuse", "canceled")] {
        let told = told.iter().find(|told| told["decision"] == decision).expect("a decision");
        assert_eq!(told["charge"]["status"], status, "{decision}: {told:#}");
        assert_eq!(told["complaints"], serde_json::json!([]), "{decision}: the browser has no complaint");
        assert_eq!(told["outside"], serde_json::json!([]), "{decision}: the page loads nothing");
    }
}
