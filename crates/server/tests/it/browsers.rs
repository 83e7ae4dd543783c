//! A real browser against the running service: a cardholder passes a challenge, refuses it, or closes the window
//! (`tests/browsers/buyer.mjs`); a payer pays or refuses at the page of their wallet (`tests/browsers/payer.mjs`);
//! a shop takes cards in the fields of the browser library (`tests/browsers/fields.mjs`), also with
//! the library that others have published (`tests/browsers/judge.mjs`), which an operator may refuse
//! (`tests/browsers/legacy.mjs`); a newcomer buys in the demo shop
//! (`tests/browsers/demo.mjs`), a seller confirms its registration (`tests/browsers/seller.mjs`), a reader finds an operation in
//! the reference and pastes its examples (`tests/browsers/docs.mjs`), and a member of an account refunds what a buyer calls about
//! (`tests/browsers/dashboard.mjs`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use regente_store::testing::ReservedPort;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::canary::cards::Canary;
use crate::support::canary::places::Disk;
use crate::support::canary::search::{Search, texts_in};
use crate::support::server::{Server, run_on, set_mode};

/// Longer than a browser takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// What a browser has done: runs a program of `tests/browsers` against a server of its own, and returns what it tells.
async fn driven_by(program: &str) -> Vec<Value> {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]).await;
    drive(program, &server, &[]).await
}

/// The same against this server, with further variables.
async fn drive(program: &str, server: &Server, more: &[(&str, &str)]) -> Vec<Value> {
    let install = Command::new(folder("scripts/install-browsers")).status().await.unwrap();
    assert!(install.success(), "what drives the browser is not there, and cannot be installed");
    let mut driver = Command::new("node");
    driver
        .arg(folder("target/browsers").join(program))
        .env("CHROMIUM", "/usr/bin/chromium")
        .envs(more.iter().copied())
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
async fn a_newcomer_buys_in_the_demo_shop_and_watches_the_events() {
    let told = driven_by("demo.mjs").await;
    assert_eq!(told.len(), 2, "in both languages: {told:#?}");
    for told in told {
        let events: Vec<&str> =
            told["events"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let payment = ["transaction.pending", "transaction.authorized"];
        assert!(events.len() >= 4 && events.chunks(2).all(|pair| pair == payment), "{told:#}");
        assert_eq!(told["complaints"], serde_json::json!([]), "the browser has no complaint");
        assert_eq!(told["outside"], serde_json::json!([]), "the pages load nothing from elsewhere");
        assert_eq!(told["serious"], serde_json::json!([]), "axe finds nothing serious");
    }
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seller_confirms_its_registration_in_a_browser() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]).await;
    let pictures = folder("target/pictures/reviews");
    let told = drive("seller.mjs", &server, &[("PICTURES", &*pictures.to_string_lossy())]).await;
    assert_eq!(told.len(), 3, "in three languages: {told:#?}");
    for told in told {
        assert_eq!(told["status"], "approved", "{told:#}");
        assert_eq!(told["phone"], "21977777777");
        assert_eq!(told["birthdate"], "1990-02-28T00:00:00.000Z");
        assert_eq!(told["complaints"], serde_json::json!([]), "the browser has no complaint");
        assert_eq!(told["outside"], serde_json::json!([]), "the page loads nothing");
        assert_eq!(told["serious"], serde_json::json!([]), "axe finds nothing serious");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_finds_an_operation_and_pastes_its_examples() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]).await;
    let pictures = folder("target/pictures/docs");
    let told = drive("docs.mjs", &server, &[("PICTURES", &*pictures.to_string_lossy())]).await;
    let names: Vec<&str> = told.iter().map(|told| told["story"].as_str().unwrap()).collect();
    assert_eq!(names, ["light", "dark", "without scripts"]);
    for told in &told[..2] {
        assert!(told["hits"].as_str().unwrap().contains(" operations, "), "{told:#}");
        assert_eq!(told["complaints"], serde_json::json!([]), "the browser has no complaint");
        assert_eq!(told["outside"], serde_json::json!([]), "nothing is asked of anybody else");
        assert_eq!(told["violations"], serde_json::json!([]), "axe finds nothing");
        assert_eq!(told["overflow"], serde_json::json!([0, 0]), "nothing is wider than the window");
    }
    assert_eq!(told[2]["address"], "/docs#events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_refunds_what_a_buyer_calls_about() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]).await;
    let account = server.value("REGENTE_CLIENT_ID");
    let invite =
        ["dashboard", "invite", "--email", "rita@example.com", "--role", "support", "--client", account];
    let printed = run_on(data.path(), &invite).await;
    let link = printed.text().split_whitespace().find(|word| word.contains("/dashboard/invitations/"));
    let token = link.unwrap().rsplit_once('/').unwrap().1;
    let link = server.url(&format!("/dashboard/invitations/{token}"));
    let pictures = folder("target/pictures/dashboard");
    let variables = [
        ("PICTURES", &*pictures.to_string_lossy()),
        ("INVITATION", &link),
        ("REGENTE_FALLBACK_MERCHANT_ID", server.value("REGENTE_FALLBACK_MERCHANT_ID")),
    ];
    let told = drive("dashboard.mjs", &server, &variables).await;
    were_told(&told, &["light 1280", "dark 360", "dark 1280", "light 360"]);
    for told in told {
        assert_eq!((&told["left"], &told["refunds"]), (&json!(23_406), &json!(1)), "{told:#}");
        for nothing in ["outside", "violations", "overflow"] {
            assert_eq!(told[nothing], json!([]), "{nothing}: {told:#}");
        }
    }
}

/// The stories were all told, and the browser had nothing to complain of.
#[track_caller]
fn were_told(told: &[Value], stories: &[&str]) {
    let names: Vec<&str> = told.iter().map(|told| told["story"].as_str().unwrap()).collect();
    assert_eq!(names, stories);
    for told in told {
        assert_eq!(told["complaints"], serde_json::json!([]), "the browser has no complaint: {told:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shop_takes_cards_in_fields_that_it_cannot_read() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--set", "log.level=info,regente=trace"]).await;
    // No brand's, so that its code may have four digits, which are found again.
    let canary = Canary { number: "8527391863072914".to_owned(), cvv: "0470".to_owned() };
    let variables = [("CANARY_NUMBER", canary.number.as_str()), ("CANARY_CVV", canary.cvv.as_str())];
    let told = drive("fields.mjs", &server, &variables).await;
    were_told(
        &told,
        &[
            "pays",
            "is refused",
            "is used by everybody",
            "does not mix cards",
            "proves a person",
            "v1",
            "passes the canary",
            "is spied on in vain",
            "speaks as published",
        ],
    );
    let log = server.stop().await;
    let search = Search::of(&[canary]);
    assert_eq!(search.hits(log.as_bytes()), [""; 0], "in the log");
    assert!(log.contains("request answered"), "the log was heard");
    for (path, bytes) in Disk::Sqlite(data.path().to_owned()).files() {
        assert_eq!(search.hits(&bytes), [""; 0], "in {}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_keeps_the_card_is_served_where_the_operator_says_so() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--set", "fields.legacy_pages=false"]).await;
    were_told(&drive("legacy.mjs", &server, &[]).await, &["is not served"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_published_library_finds_the_fields_at_their_own_origin() {
    const HOST: &str = "hosted-fields-sandbox.malga.io";
    const API: &str = "payments.example";
    let folder = tempfile::tempdir().unwrap();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed([HOST, API, "127.0.0.1"].map(str::to_owned)).unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (place("tls.crt"), place("tls.key"));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    set_mode(key.as_ref(), 0o600);
    let settings = [
        format!("server.base_url=https://{API}"),
        format!("server.fields_base_url=https://{HOST}"),
        format!("server.tls_certificate_file={certificate}"),
        format!("server.tls_key_file={key}"),
    ];
    let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting.as_str()]).collect();
    let server = Server::start(folder.path(), &arguments).await;
    let variables = [("FIELDS_HOST", HOST), ("API_HOST", API), ("NODE_EXTRA_CA_CERTS", certificate.as_str())];
    were_told(&drive("judge.mjs", &server, &variables).await, &["published"]);
}

/// The longest that all buyers take together on a busy machine.
const CHECKOUT_PATIENCE: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buyers_pay_at_the_hosted_checkout_in_a_browser() {
    let install = Command::new(folder("scripts/install-browsers")).status().await.unwrap();
    assert!(install.success(), "what drives the browser is not there, and cannot be installed");
    let (data, port) = (tempfile::tempdir().unwrap(), ReservedPort::any());
    let mut driver = Command::new("node");
    driver
        .arg(folder("target/browsers/checkout.mjs"))
        .env("CHROMIUM", "/usr/bin/chromium")
        .env("PICTURES", folder("target/pictures/checkout"))
        .env("BINARY", env!("CARGO_BIN_EXE_regente"))
        .env("DATA", data.path().join("regente"))
        .env("PORT", port.number().to_string())
        .kill_on_drop(true);
    let output = timeout(CHECKOUT_PATIENCE, driver.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 17, "every story was told: {told:#?}");
    for told in told {
        for what in ["complaints", "serious", "outside"] {
            assert_eq!(told[what], serde_json::json!([]), "{}: {what}", told["story"]);
        }
    }
    for file in files_below(data.path()) {
        let bytes = std::fs::read(&file).unwrap();
        let numbers = [
            "4916745120294124",
            "4916878170842862",
            "4000000000002503",
            "5214254988499590",
            "4485406132091427",
            "4716866286004545",
        ];
        assert_eq!(texts_in(&numbers, &bytes), [""; 0], "in {}", file.display());
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] });
    // A socket cannot be read.
    files.filter(|path| path.is_file()).collect()
}
