//! The Prometheus page: its counts, what it must not show, and the metric names in the dashboard and alerts.

mod deliveries;

use std::collections::BTreeSet;
use std::time::Duration;

use regente::metrics::Endpoint;
use regente_engine::metrics::{Kind, TABLE};
use regente_engine::queue::Queue;
use regente_store::jobs::{Backlog, NewJob};
use regente_store::transaction_requests::Unknown;
use regente_store::{Batch, Commit, jobs, transaction_requests};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body, token_body};
use crate::support::document::Document;
use crate::support::metrics::{Page, metrics_setting, until, until_calls_in_flight};
use crate::support::providers::books::FileBooks;
use crate::support::receiver::Receiver;
use crate::support::server::{Server, run_on};
use crate::support::three_d_secure::{CHALLENGE_PASSES, FRICTIONLESS, REFUSED, three_d_secure};

stories! {
    jobs_that_wait_and_jobs_that_nobody_will_do_are_counted,
    an_unknown_outcome_is_counted_until_the_end_of_its_schedule_and_after_it,
}

/// A day of business time.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const CIRCUITS: &str = "regente_provider_circuits_open{provider_type=\"SANDBOX\"}";

fn requests(route: &str, status: u16) -> String {
    format!(
        "http_server_request_duration_seconds_count{{http_request_method=\"POST\",http_route=\"{route}\",\
         http_response_status_code=\"{status}\"}}"
    )
}

fn calls(operation: &str, outcome: &str) -> String {
    format!(
        "regente_provider_call_duration_seconds_count{{provider_type=\"SANDBOX\",operation=\"{operation}\",\
         outcome=\"{outcome}\"}}"
    )
}

fn attempts(outcome: &str) -> String {
    format!("regente_delivery_attempt_duration_seconds_count{{outcome=\"{outcome}\"}}")
}

#[tokio::test]
async fn what_happens_is_counted_and_no_caller_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (port, listen) = metrics_setting();
    let server = Server::start(folder.path(), &["--set", &listen, "--set", "sandbox.deadline_ms=300"]).await;
    let receiver = Receiver::start().await;
    let webhook = json!({ "event": "*", "endpoint": receiver.url("/") });
    assert_eq!(server.post("/v1/webhooks", &webhook).send().await.unwrap().status(), StatusCode::CREATED);
    let charge = async |merchant: &str, number: &str, key: &str| {
        let body = server.charge(merchant, number);
        let request = server.post("/v1/charges", &body).header("x-idempotency-key", key);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(charge("REGENTE_FALLBACK_MERCHANT_ID", "4916745120294124", "one").await, 201);
    assert_eq!(charge("REGENTE_FALLBACK_MERCHANT_ID", "4916745120294124", "one").await, 201);
    assert_eq!(charge("REGENTE_MERCHANT_ID", "4916745120294124", "one").await, 409);
    // The simulator does not answer for this card, and the probe reports it absent.
    assert_eq!(charge("REGENTE_MERCHANT_ID", "4485401945979546", "two").await, 201);
    let lost = format!("/v1/charges/4916745120294124?orderId={}", server.value("REGENTE_CLIENT_ID"));
    server.get(&lost).send().await.unwrap();
    server.get("/4916745120294124").send().await.unwrap();

    // Two charges with two deliveries each.
    let are_delivered = |page: &Page| page.values.get(&attempts("delivered")) == Some(&4.0);
    let is_quiet = |page: &Page| page.value("regente_admissions_in_use") == 0.0;
    let page = until(port.address(), |page| are_delivered(page) && is_quiet(page)).await;

    assert_eq!(page.value(&requests("/v1/charges", 201)), 3.0);
    assert_eq!(page.value(&requests("/v1/charges", 409)), 1.0);
    assert_eq!(page.value(&calls("authorization", "declined")), 1.0);
    // The first provider does not answer, the second approves.
    assert_eq!(page.value(&calls("authorization", "unknown")), page.value(&calls("probe", "absent")));
    assert!(page.value(&calls("authorization", "approved")) >= 1.0);
    assert_eq!(page.value("regente_idempotency_replays_total"), 1.0);
    assert_eq!(page.value("regente_idempotency_conflicts_total{conflict=\"mismatch\"}"), 1.0);
    assert_eq!(page.value("regente_admissions_in_use"), 0.0);
    assert_eq!(page.value("regente_admissions_max"), 4096.0);
    assert_eq!(page.value("regente_database_up"), 1.0);
    assert_eq!(page.value("regente_unknown_outcomes"), 0.0);
    assert_eq!(page.value("regente_build_info{version=\"0.1.0\",database=\"SQLite\"}"), 1.0);
    let (commits, batches) =
        (page.value("regente_store_commits_total"), page.value("regente_store_batches_total"));
    assert!(commits >= 7.0 && batches >= commits, "{commits} {batches}");
    for positive in [
        "process_resident_memory_bytes",
        "process_open_fds",
        "regente_database_size_bytes",
        "regente_wal_size_bytes",
    ] {
        assert!(page.value(positive) > 0.0, "{positive}");
    }
    for zero in ["regente_deliveries_lost_total", "regente_webhooks_disabled_total"] {
        assert_eq!(page.value(zero), 0.0, "{zero}");
    }
    every_metric_is_on_the_page(&page);

    for secret in ["4916745120294124", server.value("REGENTE_CLIENT_ID"), server.value("REGENTE_MERCHANT_ID")]
    {
        assert!(!page.text.contains(secret), "{secret} is on the page");
    }
    let promised: BTreeSet<&str> =
        Document::current().operations.iter().map(|operation| operation.path.as_str()).collect();
    for route in page.labels("http_route") {
        assert!(route.is_empty() || promised.contains(route), "{route}");
    }
    let on_the_api = server.get("/metrics").send().await.unwrap();
    assert_eq!(on_the_api.status(), StatusCode::NOT_FOUND, "the page is on a port of its own");
    server.stop().await;
}

#[track_caller]
fn every_metric_is_on_the_page(page: &Page) {
    for metric in TABLE {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram { .. } => "histogram",
        };
        for line in [
            format!("# TYPE {} {kind}\n", metric.name),
            format!("# HELP {} {}\n", metric.name, metric.description),
        ] {
            assert!(page.text.contains(&line), "{line} is not in\n{}", page.text);
        }
    }
    let typed = page.text.lines().filter(|line| line.starts_with("# TYPE ")).count();
    assert_eq!(typed, TABLE.len(), "nothing is on the page that is not in the table");
    for name in page.values.keys().filter(|name| name.contains('{')) {
        let bare = name.split('{').next().unwrap();
        let metric = TABLE.iter().find(|metric| bare.starts_with(metric.name)).expect(name);
        let labels = name.split('{').nth(1).unwrap().trim_end_matches('}').split("\",");
        for label in labels.map(|label| label.split('=').next().unwrap()).filter(|label| *label != "le") {
            assert!(metric.labels.contains(&label), "{name}");
        }
    }
}

#[tokio::test]
async fn unknown_outcomes_calls_in_flight_and_open_circuits_are_seen_while_they_last() {
    let folder = tempfile::tempdir().unwrap();
    let (port, listen) = metrics_setting();
    let settings = [listen.as_str(), "charges.reconcile_grace_ms=3600000", "routing.circuit_failures=1"];
    let arguments: Vec<&str> = settings.into_iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(folder.path(), &arguments).await;
    // The simulator does not answer for two seconds; then its log is gone, so the outcome is unknown.
    let slow = server.charge("REGENTE_MERCHANT_ID", "4485401945979546");
    let running = tokio::spawn(server.post("/v1/charges", &slow).send());
    until_calls_in_flight(port.address(), 1).await;
    let books = rusqlite::Connection::open(folder.path().join("sandbox-books.db")).unwrap();
    books.execute_batch("ALTER TABLE entries RENAME TO entries_away").unwrap();
    let charge: Value = running.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(charge["status"], "pending");

    let page = until(port.address(), |page| page.value("regente_unknown_outcomes") == 1.0).await;
    assert_eq!(page.value("regente_provider_calls_in_flight"), 0.0);
    assert_eq!(page.value(&calls("authorization", "unknown")), 1.0);
    assert_eq!(page.value(&calls("probe", "unknown")), 1.0);
    assert_eq!(page.value("regente_unknown_outcomes_given_up"), 0.0);
    assert_eq!(page.value(CIRCUITS), 0.0, "silence that a test card asked for speaks against nobody");
    until(port.address(), |page| page.value("regente_unknown_outcomes_oldest_age_seconds") > 2.0).await;

    let healthy = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    let charge: Value = server.post("/v1/charges", &healthy).send().await.unwrap().json().await.unwrap();
    assert_eq!(charge["status"], "pending");
    until(port.address(), |page| {
        page.value("regente_unknown_outcomes") == 2.0 && page.value(CIRCUITS) == 1.0
    })
    .await;
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_served_unless_it_is_asked_for_and_a_taken_port_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    assert!(!server.stop().await.contains("metrics are served"));

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let set = format!("metrics.listen={address}");
    let refused = run_on(folder.path(), &["dev", "--listen", "127.0.0.1:0", "--set", &set]).await;
    let complaint = refused.complaint();
    assert!(complaint.starts_with(&format!("regente: {address} is in use")), "{complaint}");
}

/// The databases in sequence: metrics belong to the process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_does_not_take_the_page_with_it() {
    lose_the_database(TestApp::sqlite().await).await;
    lose_the_database(TestApp::postgres().await).await;
}

async fn lose_the_database(app: TestApp) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let address = endpoint.address();
    until(address, |page| page.value("regente_database_up") == 1.0).await;

    app.app.store.close().await;

    let page = until(address, |page| page.value("regente_database_up") == 0.0).await;
    assert!(page.value("process_resident_memory_bytes") > 0.0, "the rest is still there");
}

async fn jobs_that_wait_and_jobs_that_nobody_will_do_are_counted(app: TestApp) {
    let (store, clock) = (&app.app.store, &app.clock);
    let backlog =
        async || jobs::backlog(store, &Queue::ALL.map(Queue::word), clock.deployment()).await.unwrap();
    app.run_jobs().await;
    assert_eq!(backlog().await, Backlog { due: 0, oldest_due: None, dead: 0 });

    let fell_due_at = clock.deployment();
    let mut batch = Batch::new(app.client_id());
    let id = app.app.chance.id(fell_due_at);
    let (kind, queue) = ("of_a_later_release", "housekeeping");
    jobs::enqueue(&mut batch, &NewJob { id, kind, queue, key: "k", payload: "{}", run_at: fell_due_at });
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    clock.advance(Duration::from_secs(60));
    assert_eq!(backlog().await, Backlog { due: 1, oldest_due: Some(fell_due_at), dead: 0 });

    app.run_jobs().await;
    assert_eq!(backlog().await, Backlog { due: 0, oldest_due: None, dead: 1 });
}

async fn an_unknown_outcome_is_counted_until_the_end_of_its_schedule_and_after_it(app: TestApp) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    let merchant = app.merchant().await;
    let unknown =
        async || transaction_requests::unknown(&app.app.store, app.clock.deployment()).await.unwrap();
    app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(unknown().await, Unknown { open: 0, oldest: None, given_up: 0 });

    let began_at = app.clock.deployment();
    file.lose();
    app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(unknown().await, Unknown { open: 1, oldest: Some(began_at), given_up: 0 });
    app.later(DAY).await;
    assert_eq!(unknown().await, Unknown { open: 1, oldest: Some(began_at), given_up: 0 });
    app.later(7 * DAY).await;
    assert_eq!(unknown().await, Unknown { open: 1, oldest: Some(began_at), given_up: 1 });
}

fn docs(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    std::fs::read_to_string(std::path::Path::new(path).join(name)).unwrap()
}

/// The names of metrics in a text; the parts of a histogram count as the histogram.
fn names_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let metrics = words.filter(|word| {
        ["http_server_", "regente_", "process_"].iter().any(|prefix| word.starts_with(prefix))
    });
    let is_histogram = |name: &str| {
        TABLE.iter().any(|metric| metric.name == name && matches!(metric.kind, Kind::Histogram { .. }))
    };
    metrics
        .map(|word| {
            let part = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| word.strip_suffix(suffix));
            part.filter(|name| is_histogram(name)).unwrap_or(word).to_owned()
        })
        .collect()
}

fn names_in_table() -> BTreeSet<String> {
    TABLE.iter().map(|metric| metric.name.to_owned()).collect()
}

/// The expressions of the panels.
fn expressions(dashboard: &Value) -> Vec<&str> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap()).collect()
}

#[test]
fn the_dashboard_shows_every_metric_and_nothing_else() {
    let dashboard: Value = serde_json::from_str(&docs("grafana-dashboard.json")).unwrap();
    assert_eq!(names_in(&expressions(&dashboard).join("\n")), names_in_table());
    let ids: Vec<&Value> = dashboard["panels"].as_array().unwrap().iter().map(|panel| &panel["id"]).collect();
    let unique: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    assert_eq!(unique.len(), ids.len(), "panels have ids of their own");
}

#[tokio::test]
async fn a_provider_that_is_left_out_is_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let (port, listen) = metrics_setting();
    let settings = ["sandbox.deadline_ms=100", "routing.circuit_failures=1", &listen];
    let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(folder.path(), &arguments).await;
    let open = "regente_provider_circuits_open{provider_type=\"SANDBOX\"}";
    assert_eq!(Page::read(port.address()).await.value(open), 0.0);
    let fault = json!({ "when": { "operation": "authorization" }, "then": { "timeout": "before_effect" } });
    let ill = json!({ "name": "Ill", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" },
        "options": { "type": "SANDBOX", "faults": [fault] } });
    let merchant = server.post("/v1/merchants", &json!({ "mcc": "5812", "providers": [ill] }));
    let merchant: Value = merchant.send().await.unwrap().json().await.unwrap();
    let mut body = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    body["merchantId"] = merchant["id"].clone();
    assert_eq!(server.post("/v1/charges", &body).send().await.unwrap().status(), StatusCode::CREATED);
    assert_eq!(Page::read(port.address()).await.value(open), 1.0);
    server.stop().await;
}

#[tokio::test]
async fn questions_to_a_3ds_server_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (port, listen) = metrics_setting();
    let server = Server::start(folder.path(), &["--set", &listen]).await;
    let created = async |path: &str, body: &Value| {
        let answer: Value = server.post(path, body).send().await.unwrap().json().await.unwrap();
        answer
    };
    for (card, outcome) in [(FRICTIONLESS, "approved"), (REFUSED, "declined"), (CHALLENGE_PASSES, "pending")]
    {
        let source = created("/v1/tokens", &token_body(card)).await["tokenId"].clone();
        let source = json!({ "sourceType": "token", "tokenId": source });
        let setup = created("/v1/charges/3ds/setup", &source).await;
        let mut body = server.charge("REGENTE_MERCHANT_ID", card.0);
        body["paymentSource"] = source;
        body["threeDSecure2"] = three_d_secure();
        body["threeDSecure2"]["setupId"] = setup["id"].clone();
        assert!(created("/v1/charges", &body).await["id"].is_string());
        let page = Page::read(port.address()).await;
        assert_eq!(page.value(&calls("3DS_authentication_enroll", outcome)), 1.0, "{outcome}");
    }
    server.stop().await;
}

#[test]
fn the_alerts_speak_of_metrics_that_there_are() {
    let rules = docs("prometheus-alerts.yml");
    let expressions: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("expr:")).collect();
    let alerts = rules.lines().filter(|line| line.trim().starts_with("- alert:")).count();
    assert!(alerts >= 8 && expressions.len() == alerts, "each alert has its expression on one line");
    let spoken_of = names_in(&expressions.join("\n"));
    let unknown: Vec<_> = spoken_of.difference(&names_in_table()).cloned().collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for needed in [
        "regente_unknown_outcomes_oldest_age_seconds",
        "regente_unknown_outcomes_given_up",
        "regente_orphaned_authorizations_given_up_total",
        "regente_follow_ups_contradicted_total",
        "regente_payments_revoked_total",
        "regente_provider_reports_given_up_total",
        "regente_payments_of_another_sum_total",
        "regente_jobs_lag_seconds",
        "regente_jobs_dead",
        "regente_provider_circuits_open",
        "regente_database_up",
        "regente_database_workers_lost",
        "regente_admissions_refused_total",
        "regente_deliveries_lag_seconds",
        "regente_deliveries_lost_total",
        "regente_webhooks_disabled_total",
        "regente_purchases_reconciliation_failed_total",
        "regente_provider_notifications_total",
    ] {
        assert!(spoken_of.contains(needed), "nobody is told about {needed}");
    }
}

#[test]
fn the_manual_names_every_metric() {
    let manual = docs("operating.md");
    let missing: Vec<_> = names_in_table().into_iter().filter(|name| !manual.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
