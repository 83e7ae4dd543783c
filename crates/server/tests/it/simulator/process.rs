//! `regente sandbox-provider` as a process: a transaction log that survives SIGKILL, a service that uses it, refusals.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use regente_providers::outcome::Answer;
use regente_providers::sandbox::http::RemoteSandbox;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{approved, charge, found, inquiry, key, providers, remote};
use crate::support::server::{Server, regente, run_on};

/// Longer than anything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `regente sandbox-provider`. It dies with the test.
struct Process {
    child: Child,
    introduction: String,
    address: SocketAddr,
}

impl Process {
    async fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = regente(&["sandbox-provider"]);
        command.args(arguments).arg("--data-dir").arg(folder).args(["--set", "log.level=error"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut introduction = String::new();
        let reading = async {
            while !introduction.contains("Look into the log") {
                assert_ne!(stdout.read_line(&mut introduction).await.unwrap(), 0, "it did not start");
            }
        };
        timeout(PATIENCE, reading).await.unwrap();
        let (_, url) = introduction.split_once("REGENTE_SANDBOX__URL=http://").unwrap();
        let address = url.lines().next().unwrap().parse().unwrap();
        Self { child, introduction, address }
    }

    fn remote(&self) -> RemoteSandbox {
        remote(self.address, None)
    }

    async fn kill(mut self) -> SocketAddr {
        self.child.kill().await.unwrap();
        self.address
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_answered_is_in_the_books_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let process = Process::start(folder.path(), &["--listen", "127.0.0.1:0"]).await;
    let mut calls = JoinSet::new();
    for number in 0..400 {
        let providers = providers(process.remote());
        calls.spawn(async move { (number, providers.call(charge(number)).await) });
    }
    let mut acknowledged = Vec::new();
    while acknowledged.len() < 50 {
        let (number, answer) = calls.join_next().await.unwrap().unwrap();
        acknowledged.push((number, approved(answer)));
    }
    let address = process.kill().await;
    for (number, answer) in calls.join_all().await {
        match answer {
            Answer::Approved(approval) => acknowledged.push((number, approval)),
            Answer::Unknown(_) => {}
            answer @ (Answer::Declined(_) | Answer::Pending(_) | Answer::Accepted(_) | Answer::NotSent) => {
                panic!("{answer:?}")
            }
        }
    }

    let process = Process::start(folder.path(), &["--listen", &address.to_string()]).await;
    let providers = providers(process.remote());
    for (number, approval) in acknowledged {
        assert_eq!(
            found(providers.probe(inquiry(number)).await),
            approval,
            "{number} was answered and is lost"
        );
        assert_eq!(approved(providers.call(charge(number)).await), approval, "{number} got another answer");
    }
}

/// A folder for the service, one for the simulator.
fn folders() -> (TempDir, TempDir) {
    (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap())
}

/// A service that probes soon after a lost answer.
async fn service(folder: &Path, simulator: &Process) -> Server {
    let url = format!("sandbox.url=http://{}", simulator.address);
    let grace = "charges.reconcile_grace_ms=300";
    Server::start(folder, &["--set", &url, "--set", grace, "--set", "log.level=error"]).await
}

async fn charged(service: &Server) -> Value {
    let mut body = service.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    body["paymentSource"]["card"]["cardCvv"] = "560".into();
    let answer = service.post("/v1/charges", &body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.json().await.unwrap()
}

async fn read(service: &Server, charge: &Value) -> Value {
    let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
    service.get(&path).send().await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_charges_at_a_simulator_of_another_process_and_outlives_it() {
    let (own, simulators) = folders();
    let simulator = Process::start(simulators.path(), &["--listen", "127.0.0.1:0"]).await;
    let service = service(own.path(), &simulator).await;

    let charge = charged(&service).await;
    assert_eq!(charge["status"], "authorized", "{charge}");
    let balances = simulator.remote().holdings().await.unwrap();
    assert_eq!(balances.len(), 1);
    assert_eq!(charge["transactionRequests"][0]["idempotencyKey"], json!(balances[0].0));
    assert!(!own.path().join("sandbox-books.db").exists(), "no books of its own");

    // The answer is lost: the probe that follows finds the effect.
    let url = format!("http://{}/v1/faults", simulator.address);
    let plan = json!([{ "then": { "reset": "after_effect" } }]);
    service.http.put(&url).json(&plan).send().await.unwrap().error_for_status().unwrap();
    assert_eq!(charged(&service).await["status"], "authorized");

    // The simulator is down: the outcome stays unknown until it is back.
    let address = simulator.kill().await;
    let pending = charged(&service).await;
    assert_eq!(pending["status"], "pending", "{pending}");
    let simulator = Process::start(simulators.path(), &["--listen", &address.to_string()]).await;
    let until_known = async {
        loop {
            let charge = read(&service, &pending).await;
            if charge["status"] != "pending" {
                return charge;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let resolved = timeout(PATIENCE, until_known).await.unwrap();
    assert_eq!(resolved["status"], "failed", "{resolved}");
    assert_eq!(simulator.remote().holdings().await.unwrap().len(), 2);
    service.stop().await;
}

#[tokio::test]
async fn a_simulator_that_others_can_reach_wants_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run_on(folder.path(), &["sandbox-provider", "--listen", "0.0.0.0:0"]).await;
    assert!(ran.complaint().contains("give the simulator a `--key-file`"), "{}", ran.stderr);

    let file = folder.path().join("simulator.key");
    std::fs::write(&file, "correct-horse\n").unwrap();
    let path = file.to_str().unwrap();
    let process = Process::start(folder.path(), &["--listen", "127.0.0.1:0", "--key-file", path]).await;
    assert!(process.introduction.contains(&format!("REGENTE_SANDBOX__KEY_FILE={path}\n")));
    assert!(!process.introduction.contains("correct-horse"));
    let knowing = remote(process.address, Some("correct-horse"));
    assert_eq!(knowing.entry(key(1)).await.unwrap(), None);
    assert!(process.remote().entry(key(1)).await.is_err());
}

#[tokio::test]
async fn it_begins_with_the_plan_of_its_file_and_refuses_a_wrong_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("faults.json");
    let path = file.to_str().unwrap();
    let begin = ["sandbox-provider", "--listen", "127.0.0.1:0", "--books", "memory", "--faults", path];
    for (text, complaint) in [
        ("[{", "sandbox.faults_file"),
        (r#"[{ "then": "nonsense" }]"#, "faults.0.then must be a declined code or one of its finer reasons"),
    ] {
        std::fs::write(&file, text).unwrap();
        let ran = run_on(folder.path(), &begin).await;
        assert!(ran.complaint().contains(complaint), "{}", ran.stderr);
    }
    std::fs::write(&file, r#"[{ "then": "lost_card" }]"#).unwrap();
    let process = Process::start(folder.path(), &begin[1..]).await;
    let answer = providers(process.remote()).call(charge(1)).await;
    assert!(matches!(&answer, Answer::Declined(decline) if decline.code.code() == "lost_card"), "{answer:?}");
}

#[tokio::test]
async fn a_service_in_one_process_takes_a_plan_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("faults.json");
    std::fs::write(&file, r#"[{ "when": { "operation": "authorization" }, "then": "lost_card" }]"#).unwrap();
    let setting = format!("sandbox.faults_file={}", file.display());
    let service = Server::start(folder.path(), &["--set", &setting]).await;
    let charge = charged(&service).await;
    assert_eq!(charge["status"], "failed");
    assert_eq!(charge["transactionRequests"][0]["providerError"]["declinedCode"], "lost_card");
    service.stop().await;
}
