//! The checks of `regente doctor` on money, the file and the clock. `cli` tests schema, keys, rights and counters.

use std::path::Path;

use regente::admin::transaction_log::{Comparison, Money, compare};
use regente_domain::charge::ChargeStatus;
use regente_domain::id::ClientId;
use regente_domain::money::Amount;
use regente_store::money;
use regente_store::money::ChargeMoney;
use regente_store::testing::ReservedPort;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV};
use crate::support::mail::MailServer;
use crate::support::read::text;
use crate::support::server::{Server, regente, run_on};

const CARD: &str = "4916745120294124";

/// An operation on a charge and its amount; `None` is the whole amount.
type Step = (&'static str, Option<i64>);

stories! { charges_are_compared_with_the_books_by_their_state }

/// The verdict and text of one check, after the exit status was compared with the verdict.
async fn check(folder: &Path, name: &str) -> (String, String) {
    check_with(folder, name, &[]).await
}

/// The same with further arguments.
async fn check_with(folder: &Path, name: &str, more: &[&str]) -> (String, String) {
    let ran = run_on(folder, &[&["doctor", "--json"], more].concat()).await;
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{report}"));
    let is_failing = checks.iter().any(|check| check["verdict"] == "failure");
    assert_eq!(ran.status.code(), Some(i32::from(is_failing)));
    (found["verdict"].as_str().unwrap().to_owned(), found["found"].as_str().unwrap().to_owned())
}

/// A stopped deployment with two charges, one approved at once and one at the second provider.
async fn with_two_charges(folder: &Path) {
    let server = Server::start(folder, &[]).await;
    for merchant in ["REGENTE_MERCHANT_ID", "REGENTE_FALLBACK_MERCHANT_ID"] {
        let answer = server.post("/v1/charges", &server.charge(merchant, CARD)).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201);
    }
    let (verdict, found) = check(folder, "transaction log").await;
    assert_eq!(
        (verdict.as_str(), found.as_str()),
        ("ok", "2 charges agree with the transaction log of the simulator")
    );
    server.stop().await;
}

fn change(database: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(database).unwrap();
    assert!(connection.execute(statement, []).unwrap() > 0);
}

#[tokio::test]
async fn the_room_of_a_new_database_counts_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let (verdict, found) = check(folder.path(), "database").await;
    server.stop().await;
    assert_eq!(verdict, "ok");
    let numbers: Vec<u64> = found.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [whole, log] = numbers[..] else { panic!("{found}") };
    assert!(whole >= log && log > 0, "{found}");
}

#[tokio::test]
async fn an_address_that_nobody_is_given_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let running = check(folder.path(), "address").await;
    assert_eq!(running, ("ok".to_owned(), format!("others are given {}", server.value("REGENTE_URL"))));
    server.stop().await;
    let stopped = check(folder.path(), "address").await;
    assert_eq!(stopped, ("ok".to_owned(), "others are given the address at which it listens".to_owned()));
    // Over HTTPS nobody knows under which name.
    let (certificate, key) = ("server.tls_certificate_file=/c.pem", "server.tls_key_file=/k.pem");
    let ran = run_on(folder.path(), &["doctor", "--json", "--set", certificate, "--set", key]).await;
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "address").unwrap();
    assert_eq!(found["verdict"], "warning", "{found}");
    assert!(
        found["found"].as_str().unwrap().starts_with("`server.base_url` is not set: sessions"),
        "{found}"
    );
}

#[tokio::test]
async fn an_account_of_whose_charges_nothing_is_kept_is_named() {
    const NAME: &str = "default plans";
    const DECIDED: (&str, &str) = ("ok", "operators have said what is kept");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    Server::start(folder, &[]).await.stop().await;
    let examined = async || {
        let processor = ["--set", "own_provider.url=http://127.0.0.1:1"];
        (check(folder, NAME).await, check_with(folder, NAME, &processor).await)
    };
    let owned = |(verdict, found): (&str, &str)| (verdict.to_owned(), found.to_owned());
    assert_eq!(examined().await, (owned(DECIDED), owned(DECIDED)));
    let made = run_on(folder, &["clients", "create", "Other", "--json"]).await.json();
    let (simulated, processed) = examined().await;
    let client = text(&made["id"]);
    let named = format!("nothing is kept of charges at the own provider by accounts {client} (Other): ");
    assert!(simulated.0 == "ok" && processed.0 == "warning", "{simulated:?} {processed:?}");
    assert!(simulated.1.starts_with(&named) && processed.1 == simulated.1, "{simulated:?} {processed:?}");
    // Nothing may be meant: whoever says so is asked no more.
    let file = folder.join("plan.json");
    std::fs::write(&file, r#"{ "name": "Free" }"#).unwrap();
    let listed = run_on(folder, &["plans", "list", "--client", client, "--json"]).await.json();
    let plan = text(&listed["listed"][0]["id"]);
    run_on(folder, &["plans", "change", plan, file.to_str().unwrap(), "--client", client]).await.text();
    assert_eq!(examined().await, (owned(DECIDED), owned(DECIDED)));
}

#[tokio::test]
async fn a_mail_server_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).await.stop().await;
    let server = MailServer::start().await;
    let mail = async |more: &[&str]| {
        let port = format!("smtp.port={}", server.port());
        let login = ["smtp.username=regente", "smtp.password=secret", "smtp.from=reports@example.com"];
        let given =
            [&["smtp.server=127.0.0.1", port.as_str(), "smtp.tls=none"][..], &login[..], more].concat();
        let mut arguments = vec!["doctor", "--json"];
        arguments.extend(given.iter().flat_map(|value| ["--set", *value]));
        let report: Value = serde_json::from_str(&run_on(folder.path(), &arguments).await.stdout).unwrap();
        let check =
            report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "mail").cloned();
        let check = check.unwrap_or_else(|| panic!("{report}"));
        (text(&check["verdict"]).to_owned(), text(&check["found"]).to_owned())
    };
    assert_eq!(mail(&[]).await, ("ok".to_owned(), "127.0.0.1 takes mail".to_owned()));
    let (verdict, found) = mail(&["smtp.password=wrong"]).await;
    assert_eq!(verdict, "warning");
    assert!(found.ends_with("the mail server did not accept it: it answered 535"), "{found}");
    let nobody = format!("smtp.port={}", ReservedPort::any().number());
    let (verdict, found) = mail(&[&nobody]).await;
    assert_eq!(verdict, "warning");
    assert!(found.ends_with("there was no connection, or it broke"), "{found}");
}

#[tokio::test]
async fn a_charge_that_the_books_do_not_have_is_named() {
    let folder = tempfile::tempdir().unwrap();
    with_two_charges(folder.path()).await;
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(
        (verdict.as_str(), found.as_str()),
        ("ok", "2 charges agree with the transaction log of the simulator")
    );
    let delete = "DELETE FROM entries WHERE sequence = (SELECT min(sequence) FROM entries)";
    change(&folder.path().join("sandbox-books.db"), delete);
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(verdict, "failure");
    assert!(
        found.contains("1 charges agree")
            && found.contains("is authorized with 1500 kept, the transaction log says nothing")
    );
}

#[tokio::test]
async fn money_that_no_charge_knows_is_found_after_a_restore() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let file = folder.path().join("backup.db");
    run_on(folder.path(), &["backup", file.to_str().unwrap()]).await.text();
    let body = server.charge("REGENTE_MERCHANT_ID", CARD);
    assert_eq!(server.post("/v1/charges", &body).send().await.unwrap().status().as_u16(), 201);
    run_on(folder.path(), &["restore", file.to_str().unwrap(), "--yes"]).await.text();
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(verdict, "failure");
    assert!(
        found.contains("the transaction log holds 1500 kept under key")
            && found.contains("which no charge has"),
        "{found}"
    );
    server.stop().await;
}

#[tokio::test]
async fn what_a_tester_has_set_by_hand_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let body = server.charge("REGENTE_MERCHANT_ID", CARD);
        let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
        ids.push(charge["id"].as_str().unwrap().to_owned());
    }
    let [refused, repeated] = &ids[..] else { panic!("{ids:?}") };
    for (id, status) in [(refused, "failed"), (repeated, "authorized")] {
        let body = json!({ "status": status });
        let answer = server.post(&format!("/v1/charges/{id}"), &body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
    }
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(verdict, "warning", "{found}");
    let named = [
        format!("set by hand: charge {refused} is failed with nothing, the transaction log says 1500 kept"),
        format!(
            "set by hand: charge {repeated} is authorized with 1500 kept, the transaction log says 1500 kept"
        ),
    ];
    for named in named {
        assert!(found.contains(&named), "{named}: {found}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_amount_or_a_state_that_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    with_two_charges(folder.path()).await;
    let database = folder.path().join("regente.db");
    change(&database, "UPDATE charges SET amount = 1400 WHERE id = (SELECT min(id) FROM charges)");
    let (_, found) = check(folder.path(), "transaction log").await;
    assert!(found.contains("is authorized with 1400 kept, the transaction log says 1500 kept"), "{found}");
    change(&database, "UPDATE charges SET status = 'failed', amount = 1500");
    let (_, found) = check(folder.path(), "transaction log").await;
    assert_eq!(
        found.matches("is failed with nothing, the transaction log says 1500 kept").count(),
        2,
        "{found}"
    );
}

#[tokio::test]
async fn captures_voids_and_refunds_agree_and_one_that_is_missing_in_the_books_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let stories: [(bool, &[Step]); 5] = [
        (false, &[("capture", Some(1000)), ("void", Some(400)), ("void", Some(100))]),
        (false, &[("void", None)]),
        (false, &[("void", Some(500))]),
        (true, &[("void", Some(700))]),
        (true, &[("void", None)]),
    ];
    let mut ids = Vec::new();
    for (capture, steps) in stories {
        let mut body = server.charge("REGENTE_MERCHANT_ID", CARD);
        body["capture"] = json!(capture);
        let made: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
        let id = made["id"].as_str().unwrap().to_owned();
        for (step, amount) in steps {
            let body = amount.map_or(json!({}), |amount| json!({ "amount": amount }));
            let answer = server.post(&format!("/v1/charges/{id}/{step}"), &body).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 201, "{step} of {id}");
        }
        ids.push(id);
    }
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(
        (verdict.as_str(), found.as_str()),
        ("ok", "5 charges agree with the transaction log of the simulator")
    );
    server.stop().await;

    // Deletes the last refund of the first charge.
    let delete = "DELETE FROM entries WHERE operation = 'void' AND amount = 100";
    change(&folder.path().join("sandbox-books.db"), delete);
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(verdict, "failure");
    let named = format!("charge {} is authorized with 500 kept, the transaction log says 600 kept", ids[0]);
    assert!(found.starts_with("4 charges agree") && found.contains(&named), "{found}");
}

#[tokio::test]
async fn the_books_of_a_simulator_in_another_process_are_asked_for() {
    let (folder, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let port = ReservedPort::any();
    let listen = format!("sandbox.listen={}", port.address());
    let mut simulator = regente(&["sandbox-provider", "--set", &listen]);
    let mut simulator =
        simulator.arg("--data-dir").arg(theirs.path()).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut looks = 0;
    while tokio::net::TcpStream::connect(port.address()).await.is_err() {
        looks += 1;
        assert!(looks < 500, "the simulator does not answer");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let url = format!("sandbox.url=http://{}", port.address());
    let server = Server::start(folder.path(), &["--set", &url]).await;
    for _ in 0..2 {
        let body = server.charge("REGENTE_MERCHANT_ID", CARD);
        assert_eq!(server.post("/v1/charges", &body).send().await.unwrap().status().as_u16(), 201);
    }
    assert_eq!(
        check(folder.path(), "transaction log").await,
        ("ok".to_owned(), "2 charges agree with the transaction log of the simulator".to_owned())
    );
    simulator.kill().await.unwrap();
    let (verdict, found) = check(folder.path(), "transaction log").await;
    assert_eq!(verdict, "warning");
    assert!(
        found.starts_with("the transaction log of the simulator cannot be reached, so nothing was compared"),
        "{found}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_clock_that_went_back_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    with_two_charges(folder.path()).await;
    assert_eq!(check(folder.path(), "clock").await.0, "ok");
    // Moves the newest entry of the audit trail to the year 2100.
    let ahead =
        "UPDATE audit SET id = x'03bb2cc3d80070008000000000000001' WHERE id = (SELECT max(id) FROM audit)";
    change(&folder.path().join("regente.db"), ahead);
    let (verdict, found) = check(folder.path(), "clock").await;
    assert_eq!(verdict, "warning");
    assert!(found.contains("the newest row was made at 2100-01-01"), "{found}");
}

#[tokio::test]
async fn a_damaged_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    with_two_charges(folder.path()).await;
    let (verdict, found) = check(folder.path(), "integrity").await;
    assert!(verdict == "ok" && found.ends_with("read, and whole"), "{found}");
    let database = folder.path().join("regente.db");
    let page: u32 = rusqlite::Connection::open(&database)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'charges_by_order'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = std::fs::read(&database).unwrap();
    let begin = usize::try_from(page - 1).unwrap() * 4096;
    bytes[begin..begin + 64].fill(0x77);
    std::fs::write(&database, bytes).unwrap();
    let (verdict, found) = check(folder.path(), "integrity").await;
    assert!(verdict == "failure" && found.starts_with("damaged: "), "{found}");
}

/// The comparison itself, on charges as the store reads them.
async fn charges_are_compared_with_the_books_by_their_state(app: TestApp) {
    let merchant = app.merchant().await;
    for (card, capture) in [(APPROVED, true), (APPROVED, false), (WRONG_CVV, true), (TIMED_OUT, true)] {
        let body = Charge::by_card(&merchant, card).with("capture", capture).body();
        app.post("/v1/charges", &body).await.expect(201);
    }
    let client: ClientId = app.client_id();
    let charges = money::page(&app.app.store, client, None, 10).await.unwrap();
    let statuses: Vec<_> = charges.iter().map(|charge| charge.state.status()).collect();
    let [taken, reserved, refused, silent] = &charges[..] else { panic!("{charges:?}") };
    assert_eq!(statuses[..3], [ChargeStatus::Authorized, ChargeStatus::PreAuthorized, ChargeStatus::Failed]);

    let amount = Amount::new(150).unwrap();
    let (kept, held, nothing) = (Some(Money::kept(amount)), Some(Money::reserved(amount)), None);
    let is = |charge: &ChargeMoney, money: Option<Money>| compare(charge, |_| money);
    assert_eq!(is(taken, kept), Comparison::Agrees);
    assert_eq!(is(reserved, held), Comparison::Agrees);
    assert_eq!(is(refused, nothing), Comparison::Agrees);
    for (charge, money) in
        [(taken, nothing), (taken, held), (reserved, kept), (reserved, nothing), (refused, kept)]
    {
        assert!(matches!(is(charge, money), Comparison::Differs(_)), "{charge:?} {money:?}");
    }
    let page = money::page(&app.app.store, client, Some(taken.id), 1).await.unwrap();
    assert_eq!(page[0].id, reserved.id, "pages follow one another");

    // An unknown outcome is no difference, and a status that was set by hand in the sandbox is said to be so.
    let mut open = silent.clone();
    open.requests[0].request.outcome = regente_domain::charge::attempt::Outcome::Open;
    assert_eq!(is(&open, kept), Comparison::Waits);
    let mut decided = taken.clone();
    decided.requests[0].request.outcome = regente_domain::charge::attempt::Outcome::Approved(
        regente_domain::charge::attempt::Approval::default(),
    );
    let by_hand = |comparison| {
        let Comparison::SetByHand(difference) = comparison else { panic!("{comparison:?}") };
        difference.is_none()
    };
    assert_eq!((by_hand(is(&decided, nothing)), by_hand(is(&decided, kept))), (false, true));
}

#[test]
fn what_differs_is_said_in_words() {
    let amount = Amount::new(150).unwrap();
    assert_eq!(Money::default().to_string(), "nothing");
    assert_eq!(Money::kept(amount).to_string(), "150 kept");
    assert_eq!(Money::reserved(amount).to_string(), "150 reserved");
}
