//! `regente charges`: list, show and give back, from a machine that has a key alone.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::machine::Machine;
use super::postgres::{Account, Deployment, address_in, stop};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::read::text;
use crate::support::server::{Ran, Server, regente, run, run_on};

/// How a refund ends of which nobody knows whether it was made.
const UNKNOWN: i32 = 3;

#[tokio::test]
async fn money_is_given_back_once_from_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    a_day(&Machine::beside(&server), server.value("REGENTE_MERCHANT_ID")).await;
    server.stop().await;
}

#[tokio::test]
async fn money_is_given_back_once_from_another_machine_on_postgresql() {
    let deployment = Deployment::new().await;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--migrate", "--set", "sandbox.books=memory"];
    let (server, log, line) = deployment.start(&serve, "serving").await;
    let address = address_in(&line);
    let account = Account::of(&deployment).await;
    let merchant = account.merchant(address).await;
    let machine = Machine::of(format!("http://{address}"), &account.client_id, &account.key);
    a_day(&machine, &merchant).await;
    stop(server, log).await;
}

/// A charge is listed, shown, given back in part, and once more while the answer gets lost.
async fn a_day(machine: &Machine, merchant: &str) {
    let body = Charge::by_card(merchant, APPROVED).amount(1500).with("orderId", "order-1").body();
    let charge = machine.ask(Method::POST, "/v1/charges", &body).await;
    let id = text(&charge["id"]);

    let listed = machine.run(&["charges", "list", "--order-id", "order-1", "--status", "authorized"]).await;
    let row = listed.text().lines().nth(1).unwrap();
    for cell in [id, "authorized", "BRL 15.00", "credit", "SANDBOX", "order-1"] {
        assert!(row.contains(cell), "{cell}: {row}");
    }
    let failed = ["charges", "list", "--status", "failed"];
    assert_eq!(machine.run(&failed).await.text(), "No charge is like that.\n");
    let later = ["charges", "list", "--from", "2100-01-01", "--limit", "7", "--json"];
    let meta = &machine.run(&later).await.json()["meta"];
    assert_eq!((&meta["totalItems"], &meta["itemsPerPage"]), (&json!(0), &json!(7)));

    let shown = machine.run(&["charges", "show", id]).await;
    for part in ["BRL 15.00", "authorization", "success", "SANDBOX took it: BRL 15.00."] {
        assert!(shown.text().contains(part), "{part}: {}", shown.stdout);
    }
    let shown = machine.run(&["charges", "show", id, "--json"]).await.json();
    assert_eq!((&shown["charge"], &shown["explanation"]["chargeId"]), (&charge, &json!(id)));

    let asked = machine.run(&["charges", "refund", id]).await;
    assert!(asked.complaint().contains("say `--yes`"), "{}", asked.stderr);
    let refund =
        async |more: &[&str]| machine.run(&[&["charges", "refund", id, "--yes"], more].concat()).await;
    let part = ["--amount", "5.00", "--idempotency-key", "a-part"];
    let given = refund(&part).await;
    assert_eq!(given.text(), format!("Charge {id}: authorized, BRL 10.00 of 15.00.\n"));
    assert_eq!(given.stderr, "Idempotency key: a-part\n");
    let again = refund(&part).await;
    assert!(again.text().starts_with("This was done before;"), "{}", again.stdout);
    assert!(again.text().contains("BRL 10.00 of 15.00"), "{}", again.stdout);
    let refused = refund(&["--cents", "991"]).await;
    assert!(refused.complaint().contains("the provider refuses it"), "{}", refused.stderr);
    let other = refund(&["--amount", "5.01", "--idempotency-key", "a-part"]).await;
    assert!(other.complaint().contains("409"), "{}", other.stderr);
    let wrong = refund(&["--amount", "5.001"]).await;
    assert!(wrong.complaint().contains("no amount in BRL"), "{}", wrong.stderr);

    loses_its_answer(machine, id, b"", 700).await;
    loses_its_answer(machine, id, b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", 400).await;
    // The service did not say so: what stands in between has passed the request on, and refuses the answer.
    loses_its_answer(machine, id, b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n", 100).await;
    let rest = refund(&["--json"]).await.json();
    assert_eq!((&rest["status"], &rest["amount"]), (&json!("voided"), &json!(0)));
}

/// BRL 3.00 are given back, and the answer does not come: nobody says that it failed, and the key finds out.
async fn loses_its_answer(machine: &Machine, id: &str, instead: &'static [u8], left: i64) {
    let proxy = losing_answers(machine.url.strip_prefix("http://").unwrap(), instead).await;
    let refund = ["charges", "refund", id, "--cents", "300", "--yes"];
    let lost = machine.run(&[&refund[..], &["--url", &proxy]].concat()).await;
    assert_eq!(lost.status.code(), Some(UNKNOWN), "{}{}", lost.stdout, lost.stderr);
    let key = lost.stderr.lines().next().unwrap().strip_prefix("Idempotency key: ").unwrap();
    let told = lost.stderr.lines().nth(1).unwrap();
    assert!(told.contains("it is unknown whether the money was given back"), "{told}");
    assert!(told.contains(&format!("`--idempotency-key {key}`")), "{told}");

    let found = machine.run(&[&refund[..], &["--idempotency-key", key]].concat()).await;
    assert!(found.text().starts_with("This was done before;"), "{}", found.stdout);
    let charge = machine.ask(Method::GET, &format!("/v1/charges/{id}"), &json!({})).await;
    assert_eq!(charge["amount"], left, "the money moved once");
}

/// A proxy that passes on everything to a service, and its answers, but those to POST: `instead` comes in their place, and
/// the connection ends.
async fn losing_answers(service: &str, instead: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, service) = (format!("http://{}", listener.local_addr().unwrap()), service.to_owned());
    tokio::spawn(async move {
        while let Ok((caller, _)) = listener.accept().await {
            tokio::spawn(pass_on(caller, TcpStream::connect(&service).await.unwrap(), instead));
        }
    });
    url
}

async fn pass_on(mut caller: TcpStream, mut service: TcpStream, instead: &[u8]) {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    let mut is_lost = false;
    loop {
        tokio::select! {
            length = caller.read(&mut asked) => {
                let Ok(length @ 1..) = length else { return };
                is_lost |= asked.starts_with(b"POST ");
                service.write_all(&asked[..length]).await.unwrap();
            }
            length = service.read(&mut answered) => {
                let Ok(length @ 1..) = length else { return };
                if is_lost {
                    caller.write_all(instead).await.unwrap();
                    return caller.shutdown().await.unwrap();
                }
                caller.write_all(&answered[..length]).await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn whoever_asks_in_vain_is_told_why_and_no_key_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let machine = Machine::beside(&server);
    let list = ["charges", "list"];
    let told = |ran: &Ran, what: &str| {
        assert!(ran.complaint().contains(what), "{what}: {}", ran.stderr);
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("sk_test_"), "{}", ran.stderr);
    };
    let wrong = machine.run(&["charges", "list", "--api-key", "sk_test_wrong"]).await;
    told(&wrong, "the service refuses the key (403): see `--api-key` and REGENTE_API_KEY [request ");
    let nobody = "0190a7f4-0000-7000-8000-000000000000";
    let stranger = machine.run(&["charges", "list", "--client-id", nobody]).await;
    told(&stranger, "the service does not know the account (401): see `--client-id` and REGENTE_CLIENT_ID");
    told(&machine.run(&["charges", "show", nobody]).await, "404 (Resource not found)");
    told(&machine.run(&["charges", "list", "--limit", "101"]).await, "limit must not be greater than 100");
    told(&machine.run(&["charges", "list", "--url", "http://127.0.0.1:1"]).await, "nothing was sent");

    // Without a word the sandbox of the data folder is meant, and its key goes nowhere else.
    assert_eq!(run_on(folder.path(), &list).await.text(), "No charge is like that.\n");
    assert_eq!(
        run_on(folder.path(), &["charges", "list", "--url", &server.url("/")]).await.text(),
        "No charge is like that.\n"
    );
    let elsewhere = run_on(folder.path(), &["charges", "list", "--url", "http://127.0.0.1:1"]).await;
    told(&elsewhere, "no account is named: give `--client-id` or set REGENTE_CLIENT_ID");
    let empty = tempfile::tempdir().unwrap();
    told(&run_on(empty.path(), &list).await, "no account is named");
    let mut without_key = regente(&list);
    without_key.env("REGENTE_CLIENT_ID", nobody).arg("--data-dir").arg(empty.path());
    told(&run(&mut without_key).await, "no key is named: give `--api-key` or set REGENTE_API_KEY");
    let log = server.stop().await;
    assert!(!log.contains("sk_test_"), "{log}");
}

#[tokio::test]
async fn what_a_provider_refused_is_shown_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let body = server.charge("REGENTE_FALLBACK_MERCHANT_ID", "4916745120294124");
    let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    let shown = run_on(folder.path(), &["charges", "show", text(&charge["id"])]).await;
    let failed = shown.text().lines().find(|line| line.contains("  failed  ")).unwrap();
    assert!(failed.ends_with("Temporary refusal, try again (try_again)"), "{failed}");
    server.stop().await;
}
