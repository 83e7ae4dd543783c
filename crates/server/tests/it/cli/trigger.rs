//! `regente trigger`: what payers, banks and providers do, as the charge and its events show it.

use std::sync::Arc;

use regente::sandbox_provider::{Access, serve};
use regente_engine::clock::Clock;
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use zeroize::Zeroizing;

use super::machine::Machine;
use super::webhooks::Listening;
use crate::support::anti_fraud::{PENDING, analysed, risk};
use crate::support::bodies::payers::nupay_body;
use crate::support::providers::elsewhere::Elsewhere;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::server::{Server, regente, run_on};

/// The statuses of the new charge, one after the other, and what is announced of them.
const STORIES: [(&str, &[&str], &[&str]); 7] = [
    ("pix-paid", &["pending", "authorized"], &["pending", "authorized"]),
    ("boleto-paid", &["pending", "authorized"], &["pending", "authorized"]),
    ("payment-withdrawn", &["pending", "failed"], &["pending", "failed"]),
    ("charged-back", &["authorized", "charged_back"], &["pending", "authorized", "charged_back"]),
    (
        "refund-pending",
        &["pending", "authorized", "refund_pending"],
        &["pending", "authorized", "refund_pending"],
    ),
    (
        "refund-done",
        &["pending", "authorized", "refund_pending", "voided"],
        &["pending", "authorized", "refund_pending", "voided"],
    ),
    // The charge is what it was, so nothing is announced.
    (
        "refund-failed",
        &["pending", "authorized", "refund_pending", "authorized"],
        &["pending", "authorized", "refund_pending"],
    ),
];

/// The statuses of the charge in the lines that are printed.
fn statuses(printed: &str) -> Vec<&str> {
    let of_line = |line: &'_ str| line.find(": ").map(|at| at + 2);
    let lines = printed.lines().map(|line| line[of_line(line).unwrap()..].split(", BRL ").next().unwrap());
    lines.collect()
}

#[tokio::test]
async fn what_payers_banks_and_providers_do_happens_to_a_new_charge() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let mut listen = regente(&["webhooks", "listen"]);
    let mut listening = Listening::start(listen.arg("--data-dir").arg(folder.path())).await;
    for (event, expected, announced) in STORIES {
        let triggered = run_on(folder.path(), &["trigger", event]).await;
        assert_eq!(statuses(triggered.text()), expected, "{event}");
        for status in announced {
            assert_eq!(listening.line().await[1], format!("transaction.{status}"), "{event}");
        }
    }
    listening.interrupt().await;
    server.stop().await;
}

#[tokio::test]
async fn an_event_happens_to_the_charge_that_is_named_and_to_no_other_kind() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let machine = Machine::beside(&server);
    let merchant = server.value("REGENTE_MERCHANT_ID");
    let trigger = async |event: &str, charge: &Value| {
        machine.run(&["trigger", event, text(&charge["id"]), "--json"]).await
    };

    let nupay = machine.ask(Method::POST, "/v1/charges", &nupay_body(merchant)).await;
    let pix_only = trigger("pix-paid", &nupay).await;
    assert!(pix_only.complaint().contains("is paid by nupay, and this is about pix"), "{}", pix_only.stderr);
    assert_eq!(trigger("page-paid", &nupay).await.json()["status"], "authorized");
    let unpaid_only = trigger("page-paid", &nupay).await;
    assert!(unpaid_only.complaint().contains("is authorized, and this happens to"), "{}", unpaid_only.stderr);
    let none_under_way = trigger("refund-failed", &nupay).await;
    assert!(none_under_way.complaint().contains("refund_pending"), "{}", none_under_way.stderr);

    for (event, status) in
        [("risk-approved", "approved"), ("risk-reproved", "reproved"), ("risk-failed", "failed")]
    {
        let providers = json!([sandbox("Main", 1), risk(&json!({}))]);
        let analysing = json!({ "mcc": "5812", "providers": providers });
        let analysing = machine.ask(Method::POST, "/v1/merchants", &analysing).await;
        let body = analysed(text(&analysing["id"]), PENDING, true);
        let charge = machine.ask(Method::POST, "/v1/charges", &body).await;
        let decided = trigger(event, &charge).await.json();
        let analysis = decided["transactionRequests"].as_array().unwrap().iter();
        let mut found = analysis.filter_map(|request| request["fraudAnalysis"]["status"].as_str());
        assert!(found.any(|found| found == status), "{event}: {decided}");
    }
    for event in ["page-paid", "risk-approved"] {
        assert!(machine.run(&["trigger", event]).await.complaint().contains("name one"), "{event}");
    }
    // The machine knows no merchant of its own.
    let nowhere = machine.run(&["trigger", "pix-paid"]).await;
    assert!(nowhere.complaint().contains("no merchant is named"), "{}", nowhere.stderr);
    let paid = machine.run(&["trigger", "pix-paid", "--merchant", merchant]).await;
    assert_eq!(statuses(paid.text()), ["pending", "authorized"]);
    server.stop().await;
}

/// The simulator inside of a service cannot be staged, and then no charge is made for nothing.
#[tokio::test]
async fn disputes_are_opened_at_a_simulator_in_a_process_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let refused = run_on(folder.path(), &["trigger", "dispute"]).await;
    assert!(refused.complaint().contains("regente sandbox-provider"), "{}", refused.stderr);
    let charges: Value = server.get("/v1/charges").send().await.unwrap().json().await.unwrap();
    assert_eq!(charges["meta"]["totalItems"], 0);
    server.stop().await;

    let simulator =
        Sandbox::new(SandboxOptions::new(7, Zeroizing::new(vec![3; 32])), TransactionLog::memory());
    tokio::spawn(simulator.take_outbox().unwrap().run(|| Clock::system().deployment()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let setting = format!("sandbox.url=http://{}", listener.local_addr().unwrap());
    tokio::spawn(serve(listener, Arc::new(simulator), Access::ThisMachine, std::future::pending()));
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--set", &setting]).await;
    for (event, expected) in [
        ("dispute", &["authorized", "authorized, disputed"][..]),
        ("dispute-won", &["authorized", "authorized, disputed", "authorized"]),
        ("dispute-lost", &["authorized", "authorized, disputed", "charged_back"]),
        ("refund-reverted", &["pending", "authorized", "refund_pending", "voided", "authorized"]),
        ("paid-again", &["pending", "authorized", "authorized"]),
    ] {
        let triggered = run_on(folder.path(), &["trigger", event, "--set", &setting]).await;
        assert_eq!(statuses(triggered.text()), expected, "{event}");
    }
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_triggered_where_there_is_no_sandbox() {
    let not_found =
        json!({ "error": { "type": "invalid_request_error", "code": 404, "message": "Resource not found" } });
    let elsewhere = Elsewhere::start(move |_| Some((404, not_found.clone()))).await;
    let nobody = "0190a7f4-0000-7000-8000-000000000000";
    let machine = Machine::of(format!("http://{}", elsewhere.address), nobody, "sk_live_x");
    let refused = machine.run(&["trigger", "pix-paid", "--merchant", nobody]).await;
    assert!(refused.complaint().contains("the service is no sandbox"), "{}", refused.stderr);
    assert!(elsewhere.all().iter().all(|said| said.method == "GET"), "nothing is charged there");
}
