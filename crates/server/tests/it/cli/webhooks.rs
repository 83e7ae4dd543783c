//! `regente webhooks`: keys, replays and listening on the command line.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::machine::Machine;
use crate::support::receiver::{Got, Receiver, Say};
use crate::support::server::{LOOK_EVERY, Server, regente, run, run_on, send};

const APPROVED: &str = "4916745120294124";
const PATIENCE: Duration = Duration::from_secs(30);

async fn charge(server: &Server) -> Value {
    let body = server.charge("REGENTE_MERCHANT_ID", APPROVED);
    server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap()
}

async fn webhook(server: &Server, receiver: &Receiver, event: &str) -> String {
    let body = json!({ "event": event, "endpoint": receiver.url("/") });
    let made: Value = server.post("/v1/webhooks", &body).send().await.unwrap().json().await.unwrap();
    made["id"].as_str().unwrap().to_owned()
}

async fn until(receiver: &Receiver, number: usize) {
    let arrived = async {
        while receiver.received().len() < number {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, arrived).await.expect("it arrives");
}

/// The PEM block in a text.
fn pem(text: &str) -> String {
    let (begin, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----\n");
    let from = text.find(begin).unwrap();
    text[from..].split_inclusive(end).next().unwrap().to_owned()
}

#[tokio::test]
async fn the_key_of_a_webhook_is_replaced_by_the_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let (server, receiver) = (Server::start(folder.path(), &[]).await, Receiver::start().await);
    let id = webhook(&server, &receiver, "transaction.authorized").await;
    let shown = async || -> Value {
        server.get(&format!("/v1/webhooks/{id}")).send().await.unwrap().json().await.unwrap()
    };
    let former = shown().await["publicKey"].as_str().unwrap().to_owned();
    let keys = run_on(folder.path(), &["webhooks", "keys", &id]).await;
    assert_eq!(pem(keys.text()), former);

    let rotated = run_on(folder.path(), &["webhooks", "rotate-key", &id, "--overlap", "2d"]).await;
    let new = pem(rotated.text());
    assert_ne!(new, former);
    assert!(rotated.text().contains("both keys sign"), "{}", rotated.stdout);
    assert_eq!((&shown().await["publicKey"], &shown().await["nextPublicKey"]), (&json!(former), &json!(new)));
    let keys = run_on(folder.path(), &["webhooks", "keys", &id, "--json"]).await.json();
    assert_eq!((&keys["public_key"], &keys["next"]["public_key"]), (&json!(former), &json!(new)));

    let again = run_on(folder.path(), &["webhooks", "rotate-key", &id]).await;
    assert!(again.complaint().contains("is being replaced already, until 2"), "{}", again.stderr);
    let at_once = run_on(folder.path(), &["webhooks", "rotate-key", &id, "--overlap", "0s"]).await;
    assert_eq!(shown().await["publicKey"], json!(pem(at_once.text())));
    assert_eq!(shown().await.get("nextPublicKey"), None);

    let unknown = "0190a7f4-0000-7000-8000-000000000000";
    let refused = run_on(folder.path(), &["webhooks", "rotate-key", unknown]).await;
    assert_eq!(refused.complaint(), format!("regente: there is no webhook {unknown}\n"));
    for overlap in ["7", "d", "-1d", "1w", "99999999999999999999d"] {
        let refused =
            run(&mut regente(&["webhooks", "rotate-key", unknown, &format!("--overlap={overlap}")])).await;
        assert_eq!(refused.status.code(), Some(2), "{overlap}");
    }
    let refused = run_on(folder.path(), &["webhooks", "rotate-key", &id, "--overlap", "91d"]).await;
    assert!(refused.complaint().contains("90 days at most"), "{}", refused.stderr);
    let log = server.stop().await;
    assert!(log.contains("command=\"webhooks rotate-key\""), "{log}");
}

#[tokio::test]
async fn a_span_of_deliveries_is_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let (server, receiver) =
        (Server::start(folder.path(), &["--set", "webhooks.waits_seconds=1"]).await, Receiver::start().await);
    let id = webhook(&server, &receiver, "*").await;
    receiver.say(&[Say::Status(500), Say::Status(500)]);
    charge(&server).await;
    // The first delivery fails twice and is lost; the second one follows.
    until(&receiver, 3).await;
    for _ in 0..3 {
        charge(&server).await;
    }
    until(&receiver, 9).await;
    let before = receiver.received();
    let (from, to) = ("2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z");
    let replay = ["webhooks", "replay", "--webhook", &id, "--from", from, "--to", to];
    let with = |more: &[&'static str]| [&replay[..], more].concat();
    let lost = loop {
        let counted = run_on(folder.path(), &with(&["--lost", "--count", "--json"])).await.json();
        if counted["deliveries"] != 0 {
            break counted["deliveries"].clone();
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    assert_eq!(lost, 1);
    assert_eq!(run_on(folder.path(), &with(&["--count"])).await.text(), "8 deliveries\n");

    let refused = run_on(folder.path(), &with(&["--max", "7"])).await;
    assert!(refused.complaint().contains("nothing was sent again"), "{}", refused.stderr);
    let nothing = run_on(folder.path(), &with(&["--event", "transaction.failed"])).await;
    assert_eq!(nothing.text(), "0 deliveries are sent again.\n");
    let wrong = run_on(folder.path(), &with(&["--event", "transaction.paid"])).await;
    assert!(wrong.complaint().contains("there is no event `transaction.paid`"), "{}", wrong.stderr);
    assert_eq!(receiver.received().len(), 9);

    let only_lost = run_on(folder.path(), &with(&["--lost"])).await;
    assert_eq!(only_lost.text(), "1 deliveries are sent again.\n");
    assert_eq!(only_lost.stderr, "1 of 1\n");
    until(&receiver, 10).await;
    assert_eq!(receiver.received()[9].json(), before[0].json(), "the same event");
    let authorized = run_on(folder.path(), &with(&["--event", "transaction.authorized"])).await;
    assert_eq!(authorized.text(), "4 deliveries are sent again.\n");
    until(&receiver, 14).await;
    assert!(receiver.events()[10..].iter().all(|event| event == "transaction.authorized"));

    let backwards = ["webhooks", "replay", "--webhook", &id, "--from", to, "--to", from];
    assert!(run_on(folder.path(), &backwards).await.complaint().contains("ends before it begins"));
    server.stop().await;
}

/// A running `regente webhooks listen`.
pub struct Listening {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub key: Vec<u8>,
}

impl Listening {
    /// Starts it and waits until it is connected.
    pub async fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut introduction = String::new();
        while !introduction.ends_with("-----END PUBLIC KEY-----\n\n") {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
            introduction.push_str(&line.unwrap_or_else(|| panic!("it ended: {introduction}")));
            introduction.push('\n');
        }
        let key = STANDARD.decode(pem(&introduction).lines().nth(1).unwrap()).unwrap()[12..].to_vec();
        Self { child, lines, key }
    }

    /// The columns of the next line.
    pub async fn line(&mut self) -> Vec<String> {
        let line = timeout(PATIENCE, self.lines.next_line())
            .await
            .expect("a line comes")
            .unwrap()
            .expect("it goes on");
        line.split("  ").map(str::trim).filter(|column| !column.is_empty()).map(str::to_owned).collect()
    }

    /// Sends SIGINT; returns the last output.
    pub async fn interrupt(mut self) -> String {
        send(&self.child, Signal::INT);
        let mut rest = String::new();
        while let Some(line) = timeout(PATIENCE, self.lines.next_line()).await.unwrap().unwrap() {
            rest.push_str(&line);
        }
        assert!(timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap().success());
        rest
    }

    /// Verifies both signatures of a delivery.
    pub fn verify(&self, got: &Got) {
        let key = UnparsedPublicKey::new(&ED25519, &self.key);
        let (date, body) = (got.header("x-plug-date").unwrap(), got.body.as_slice());
        let signature = hex::decode(got.header("x-plug-signature").unwrap()).unwrap();
        key.verify(&[date.as_bytes(), b"\n", body].concat(), &signature).unwrap();
        let (id, at) = (got.header("webhook-id").unwrap(), got.header("webhook-timestamp").unwrap());
        let standard = got.header("webhook-signature").unwrap().strip_prefix("v1a,").unwrap();
        let message = [format!("{id}.{at}.").as_bytes(), body].concat();
        key.verify(&message, &STANDARD.decode(standard).unwrap()).unwrap();
    }
}

fn listen_on(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = regente(&["webhooks", "listen"]);
    command.args(arguments).arg("--data-dir").arg(folder);
    command
}

#[tokio::test]
async fn what_happens_is_printed_and_sent_on_while_it_happens() {
    let folder = tempfile::tempdir().unwrap();
    let alone = run(&mut listen_on(folder.path(), &[])).await;
    assert!(alone.complaint().contains("no server runs on this data"), "{}", alone.stderr);
    let (server, receiver) = (Server::start(folder.path(), &[]).await, Receiver::start().await);
    let mut listening =
        Listening::start(&mut listen_on(folder.path(), &["--forward-to", &receiver.url("/hooks")])).await;
    let mut failures =
        Listening::start(&mut listen_on(folder.path(), &["--event", "transaction.voided"])).await;

    receiver.say(&[Say::Status(200), Say::Status(500)]);
    let charged = charge(&server).await;
    let id = charged["id"].as_str().unwrap();
    let (pending, authorized) = (listening.line().await, listening.line().await);
    assert_eq!((&*pending[1], &*pending[2]), ("transaction.pending", id));
    assert!(pending[0].starts_with("20") && pending[3].starts_with("200 in "), "{pending:?}");
    assert_eq!((&*authorized[1], &*authorized[2]), ("transaction.authorized", id));
    assert!(
        authorized[3].starts_with("500 in ") && authorized[3].contains("only 200 and 201"),
        "{authorized:?}"
    );
    for got in receiver.received() {
        listening.verify(&got);
        assert_eq!((&*got.path, got.json()["data"]["id"].as_str()), ("/hooks", Some(id)));
    }

    // Many at once: each appears once, those of one charge in order.
    let many = futures_util::future::join_all((0..10).map(|_| charge(&server))).await;
    let mut heard = Vec::new();
    for _ in 0..20 {
        heard.push(listening.line().await);
    }
    for charged in many {
        let of_charge = heard.iter().filter(|line| line[2] == charged["id"].as_str().unwrap());
        let events: Vec<&str> = of_charge.map(|line| line[1].as_str()).collect();
        assert_eq!(events, ["transaction.pending", "transaction.authorized"]);
    }
    let printed: Vec<&str> = heard.iter().map(|line| line[1].as_str()).collect();
    assert_eq!(receiver.events()[2..], printed, "sent in the order in which it is printed");

    // The restarted server's API has another port, and later events arrive with the same key.
    server.stop().await;
    let server = Server::start(folder.path(), &[]).await;
    let void = server.post(&format!("/v1/charges/{id}/void"), &json!({})).send().await.unwrap();
    assert_eq!(void.status().as_u16(), 201);
    let (voided, alone) = (listening.line().await, failures.line().await);
    assert_eq!((&*voided[1], &*voided[2]), ("transaction.voided", id));
    assert_eq!(
        alone[1..],
        ["transaction.voided".to_owned(), id.to_owned()],
        "nothing is sent where nothing is wanted"
    );
    listening.verify(receiver.received().last().unwrap());

    drop(receiver);
    charge(&server).await;
    let unsent = listening.line().await;
    assert!(unsent[3].starts_with("not sent: "), "{unsent:?}");
    listening.line().await;
    assert_eq!(listening.interrupt().await, "25 events.");
    assert_eq!(failures.interrupt().await, "1 events.");
    let webhooks: Value = server.get("/v1/webhooks").send().await.unwrap().json().await.unwrap();
    assert_eq!(webhooks["meta"]["totalItems"], 0);
    let log = server.stop().await;
    assert!(!log.contains("ERROR"), "{log}");
}

/// Whoever has a key of the account needs neither the data folder nor the database.
#[tokio::test]
async fn what_happens_is_heard_on_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (server, receiver) = (Server::start(folder.path(), &[]).await, Receiver::start().await);
    let machine = Machine::beside(&server);
    let forward = ["webhooks", "listen", "--forward-to", &receiver.url("/hooks")];
    let mut listening = Listening::start(&mut machine.command(&forward)).await;
    let named = ["webhooks", "listen", "--event", "transaction.voided", "--url", &machine.url];
    let mut voids = Listening::start(&mut machine.command(&named)).await;
    let charged = charge(&server).await;
    let id = charged["id"].as_str().unwrap();
    for event in ["transaction.pending", "transaction.authorized"] {
        let line = listening.line().await;
        assert_eq!((&*line[1], &*line[2]), (event, id));
        assert!(line[3].starts_with("200 in "), "{line:?}");
    }
    machine.run(&["charges", "refund", id, "--yes"]).await.text();
    assert_eq!(
        (&*listening.line().await[1], &*voids.line().await[1]),
        ("transaction.voided", "transaction.voided")
    );
    for got in receiver.received() {
        listening.verify(&got);
    }
    assert_eq!(listening.interrupt().await, "3 events.");
    assert_eq!(voids.interrupt().await, "1 events.");

    for (arguments, told) in [
        (["--api-key", "sk_test_wrong"], "the service refuses the key (403)"),
        (["--event", "transaction.paid"], "(not `transaction.paid`)"),
        (["--url", "http://127.0.0.1:1"], "cannot be reached"),
        (["--client", &machine.client_id], "the account is `--client-id`"),
    ] {
        let refused = machine.run(&[&["webhooks", "listen"][..], &arguments].concat()).await;
        assert!(refused.complaint().contains(told), "{}", refused.stderr);
    }
    server.stop().await;
}

#[tokio::test]
async fn who_listens_names_the_account_where_there_are_several() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    run_on(folder.path(), &["clients", "create", "Outra Loja"]).await.text();
    let refused = run(&mut listen_on(folder.path(), &[])).await;
    assert!(refused.complaint().contains("name one with `--client`"), "{}", refused.stderr);
    let client_id = server.value("REGENTE_CLIENT_ID").to_owned();
    let mut listening = Listening::start(&mut listen_on(folder.path(), &["--client", &client_id])).await;
    charge(&server).await;
    assert_eq!(listening.line().await[1], "transaction.pending");
    for (arguments, named) in [
        (["--event", "transaction.paid"], "there is no event `transaction.paid`"),
        (["--forward-to", "ftp://127.0.0.1/"], "neither an http nor an https address"),
        (["--client", "0190a7f4-0000-7000-8000-000000000000"], "there is no client"),
    ] {
        let refused = run(&mut listen_on(folder.path(), &arguments)).await;
        assert!(refused.complaint().contains(named), "{}", refused.stderr);
    }
    listening.interrupt().await;
    server.stop().await;
}
