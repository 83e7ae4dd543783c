//! The command line on PostgreSQL, which several processes share: migrations run only on request, there is no socket,
//! and workers are separate processes.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use regente_store::testing::TestPostgres;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use super::webhooks::Listening;
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::metrics::{metrics_setting, until_calls_in_flight};
use crate::support::receiver::Receiver;
use crate::support::server::{Ran, regente, run, run_on, send, set_mode};

const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Deployment {
    folder: tempfile::TempDir,
    address: PathBuf,
}

impl Deployment {
    pub(super) async fn new() -> Self {
        Self::on(&TestPostgres::shared().empty_database().await).await
    }

    pub(super) async fn on(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = folder.path().join("address");
        std::fs::write(&address, url).unwrap();
        set_mode(&address, 0o600);
        run(regente(&["vault", "new-kek"]).arg(folder.path().join("kek"))).await.text();
        Self { folder, address }
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = regente(arguments);
        command.arg("--data-dir").arg(self.folder.path()).env("REGENTE_DATABASE__URL_FILE", &self.address);
        command
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments)).await
    }

    /// Starts a process and waits until it logs `word`; returns the line.
    pub(super) async fn start(
        &self,
        arguments: &[&str],
        word: &str,
    ) -> (Child, Lines<BufReader<ChildStderr>>, String) {
        let mut child = self.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let looking = async {
            let mut seen = String::new();
            while let Some(line) = log.next_line().await.unwrap() {
                if line.contains(word) {
                    return line;
                }
                seen.push_str(&line);
            }
            panic!("it did not start: {seen}")
        };
        let line = timeout(PATIENCE, looking).await.unwrap();
        (child, log, line)
    }
}

/// The address that a server has logged.
pub(super) fn address_in(line: &str) -> &str {
    line.split("address=").nth(1).unwrap().split(' ').next().unwrap()
}

/// An account of a deployment, with a key.
pub(super) struct Account {
    pub(super) client_id: String,
    pub(super) key: String,
    http: reqwest::Client,
}

impl Account {
    pub(super) async fn of(deployment: &Deployment) -> Self {
        let client = deployment.run(&["clients", "create", "Loja Azul", "--json"]).await.json();
        let client_id = client["id"].as_str().unwrap().to_owned();
        let key = deployment.run(&["keys", "create", &client_id, "--json"]).await.json();
        let key = key["key"].as_str().unwrap().to_owned();
        Self { client_id, key, http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    /// Asks the server at this address.
    pub(super) async fn post(&self, address: &str, path: &str, body: &Value) -> reqwest::Response {
        self.request(Method::POST, address, path).json(body).send().await.unwrap()
    }

    pub(super) fn request(&self, method: Method, address: &str, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("http://{address}{path}"));
        request.header("x-client-id", &self.client_id).header("x-api-key", &self.key)
    }

    /// Makes a merchant with one simulator; its id.
    pub(super) async fn merchant(&self, address: &str) -> String {
        let providers =
            json!([{ "name": "Main", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } }]);
        let merchant = json!({ "mcc": "5812", "providers": providers });
        let made: Value = self.post(address, "/v1/merchants", &merchant).await.json().await.unwrap();
        made["id"].as_str().unwrap().to_owned()
    }
}

pub(super) async fn stop(mut child: Child, mut log: Lines<BufReader<ChildStderr>>) {
    send(&child, Signal::TERM);
    let mut seen = String::new();
    while let Some(line) = timeout(PATIENCE, log.next_line()).await.unwrap().unwrap() {
        seen.push_str(&line);
    }
    assert!(child.wait().await.unwrap().success(), "{seen}");
    assert!(seen.ends_with("stopped"), "{seen}");
}

fn is_there(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}

#[tokio::test]
async fn servers_workers_and_commands_share_one_database() {
    let deployment = Deployment::new().await;
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["work"], &["clients", "list"]] {
        let refused = deployment.run(command).await;
        for expected in ["regente: migrations are pending (0001_foundation", "; run `regente migrate`"] {
            assert!(refused.complaint().contains(expected), "{command:?}: {}", refused.stderr);
        }
    }
    let findings = deployment.run(&["doctor"]).await;
    assert_eq!(findings.status.code(), Some(1));
    assert!(findings.stdout.contains("pending: 0001_foundation"), "{}", findings.stdout);

    let serve = ["serve", "--listen", "127.0.0.1:0", "--migrate"];
    let (server, server_log, line) = deployment.start(&serve, "serving").await;
    let (port, setting) = metrics_setting();
    let (worker, worker_log, _) = deployment.start(&["work", "--set", &setting], "working").await;
    until_calls_in_flight(port.address(), 0).await;
    let address = address_in(&line).to_owned();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let ready = http.get(format!("http://{address}/health/ready")).send().await.unwrap();
    assert_eq!(ready.status().as_u16(), 200);

    let client = deployment.run(&["clients", "create", "Loja Azul", "--json"]).await.json();
    let client_id = client["id"].as_str().unwrap();
    let key = deployment.run(&["keys", "create", client_id, "--json"]).await.json();
    let request = http.get(format!("http://{address}/v1/merchants")).header("x-client-id", client_id);
    let answer = request.header("x-api-key", key["key"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    assert!(deployment.run(&["doctor"]).await.text().contains("Everything is as it must be."));
    assert!(
        !is_there(deployment.folder.path(), "admin.sock")
            && !is_there(deployment.folder.path(), "regente.db")
    );

    stop(worker, worker_log).await;
    stop(server, server_log).await;
}

#[tokio::test]
async fn what_happens_on_any_node_is_heard() {
    let deployment = Deployment::new().await;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--migrate", "--set", "sandbox.books=memory"];
    let (server, server_log, line) = deployment.start(&serve, "serving").await;
    let address = address_in(&line);
    let account = Account::of(&deployment).await;
    let merchant_id = account.merchant(address).await;

    let receiver = Receiver::start().await;
    let address_of_own = receiver.url("/");
    let arguments = ["webhooks", "listen", "--forward-to", address_of_own.as_str()];
    let mut listening = Listening::start(&mut deployment.command(&arguments)).await;
    let charged = account.post(address, "/v1/charges", &charge_body(&merchant_id, APPROVED)).await;
    let charged: Value = charged.json().await.unwrap();
    for event in ["transaction.pending", "transaction.authorized"] {
        let line = listening.line().await;
        assert_eq!((&*line[1], line[2].as_str()), (event, charged["id"].as_str().unwrap()));
        assert!(line[3].starts_with("200 in "), "{line:?}");
    }
    for got in receiver.received() {
        listening.verify(&got);
    }
    assert_eq!(listening.interrupt().await, "2 events.");
    stop(server, server_log).await;
}

#[tokio::test]
async fn migrating_is_a_command_of_its_own() {
    let deployment = Deployment::new().await;
    let first = deployment.run(&["migrate"]).await;
    assert!(first.text().starts_with("The schema is at version "));
    assert_eq!(deployment.run(&["migrate"]).await.text(), first.text());
    assert!(deployment.run(&["clients", "list"]).await.text().starts_with("ID"));
}

#[tokio::test]
async fn only_a_database_with_the_extension_and_workers_can_be_distributed() {
    let deployment = Deployment::new().await;
    let refused = deployment.run(&["migrate", "--distributed"]).await;
    assert!(refused.complaint().contains("it has no extension citus"), "{}", refused.stderr);
    // It is migrated all the same.
    assert!(refused.stdout.starts_with("The schema is at version "), "{}", refused.stdout);
    assert!(deployment.run(&["clients", "list"]).await.text().starts_with("ID"));
    let folder = tempfile::tempdir().unwrap();
    let embedded = run_on(folder.path(), &["migrate", "--distributed"]).await;
    assert!(
        embedded.complaint().contains("an embedded database cannot be distributed"),
        "{}",
        embedded.stderr
    );
}

/// With accounts in it already, as an operator distributes what is in use.
#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_distributed_database_is_served() {
    let database =
        TestPostgres::empty_distributed_database().await.expect("`make test-distributed` starts a cluster");
    let deployment = Deployment::on(database.url()).await;
    deployment.run(&["migrate"]).await.text();
    let account = Account::of(&deployment).await;

    let distributed = deployment.run(&["migrate", "--distributed"]).await;
    assert!(
        distributed.text().ends_with("The tables are distributed by account.\n"),
        "{}",
        distributed.stdout
    );
    assert!(distributed.stderr.contains(" tables: charges\n"), "{}", distributed.stderr);

    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let (server, server_log, line) = deployment.start(&serve, "serving").await;
    let address = address_in(&line);
    let merchant_id = account.merchant(address).await;
    let charge = account.post(address, "/v1/charges", &charge_body(&merchant_id, APPROVED)).await;
    let charge: Value = charge.json().await.unwrap();
    assert_eq!(charge["status"], "authorized", "{charge}");

    let doctor = deployment.run(&["doctor"]).await;
    let servers = doctor.text().lines().find(|line| line.contains(" servers ")).expect("they are checked");
    assert!(
        servers.contains("coordinator at 127.0.0.1:") && servers.matches("worker ").count() == 2,
        "{servers}"
    );
    stop(server, server_log).await;
}
