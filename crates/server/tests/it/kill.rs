//! SIGKILL at an arbitrary moment while 64 clients charge, some of them sessions. After a restart every answered charge
//! exists, every other one agrees with the simulator's transaction log, and each session with its charge.

mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regente_providers::sandbox::TransactionLog;
use regente_store::testing::{ReservedPort, TestPostgres};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, WRONG_CVV};
use crate::support::flows::{FLOWS, balance};

const CLIENTS: usize = 64;
/// Answered charges before the kill.
const ANSWERED_BEFORE_THE_END: usize = 300;
/// Each fourth charge of a client pays a session of its own.
const SESSION_EVERY: usize = 4;
/// Of the answered charges, each fourth is requested again after the kill.
const REPEATED_EVERY: usize = 4;
/// Polls, one each [`PAUSE`], for a process that starts or for charges that are resolved.
const LOOKS_MAX: usize = 600;
const PAUSE: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_loses_nothing_and_charges_nothing_twice_on_sqlite() {
    kill_and_compare(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_loses_nothing_and_charges_nothing_twice_on_postgres() {
    let database = TestPostgres::fresh_database().await.keep();
    kill_and_compare(Some(database)).await;
}

async fn kill_and_compare(postgres: Option<String>) {
    let deployment = Deployment::new(postgres);
    let process = deployment.start().await;
    let merchants = deployment.make_merchants().await;

    let seen = Arc::new(Seen::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            tokio::spawn(charge_until_it_ends(
                deployment.api.clone(),
                number,
                merchants.clone(),
                seen.clone(),
            ))
        })
        .collect();
    while seen.answers.load(Ordering::SeqCst) < ANSWERED_BEFORE_THE_END {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(process);
    for client in clients {
        client.await.unwrap();
    }

    let process = deployment.start().await;
    let charges = deployment.charges_when_none_is_pending().await;
    let answered = seen.answered.lock().unwrap().clone();
    let unanswered = seen.unanswered.lock().unwrap().clone();
    let sessions = seen.sessions.lock().unwrap().clone();
    assert!(answered.len() >= ANSWERED_BEFORE_THE_END);
    assert!(!unanswered.is_empty(), "the process died while somebody was waiting");

    for (key, answer) in &answered {
        let charge = charges.get(key).unwrap_or_else(|| panic!("an answered charge is gone: {answer}"));
        if answer["status"] == "pending" {
            continue;
        }
        assert_eq!(charge, answer, "what was answered is what is there");
    }
    // A repeated key leads to its charge. Only a request that left no charge is carried out now.
    for key in answered.keys().step_by(REPEATED_EVERY).chain(&unanswered) {
        let again = deployment.api.charge(key, &merchants, sessions.get(key)).await.unwrap();
        let is_replay = again.headers().contains_key("idempotent-replayed");
        assert_eq!(
            again.status(),
            StatusCode::CREATED,
            "key {key} has a charge: {}",
            charges.contains_key(key)
        );
        let again: Value = again.json().await.unwrap();
        match charges.get(key) {
            Some(charge) => assert_eq!((&again, is_replay), (charge, true), "key {key}"),
            None => assert!(!is_replay, "key {key} has no charge"),
        }
    }
    let charges = deployment.charges_when_none_is_pending().await;
    let sent: BTreeSet<&String> = answered.keys().chain(&unanswered).collect();
    assert_eq!(charges.keys().collect::<BTreeSet<_>>(), sent, "each key has one charge");
    deployment.sessions_agree(&sessions, &charges).await;
    assert!(charges.values().all(|charge| charge["paymentFlow"]["id"].is_string()), "all follow a flow");
    assert_eq!(deployment.api.tries().await, tries_of(&charges), "the rates count each request once");
    let receivable = deployment.api.receivable().await;
    drop(process);
    deployment.compare_with_books(&charges, &receivable).await;
    // Balances are the sums of entries, and entries are what the charges hold; otherwise it ends with 1.
    deployment.print(&["ledger", "verify"]);
    deployment.settle(&charges);
}

/// The requests of charges none of which is pending, and how many of them were approved.
fn tries_of(charges: &BTreeMap<String, Value>) -> (i64, i64) {
    let requests = charges.values().flat_map(|charge| charge["transactionRequests"].as_array().unwrap());
    requests.fold((0, 0), |(tried, approved), request| {
        (tried + 1, approved + i64::from(request["requestStatus"] == "success"))
    })
}

/// The answers to the clients.
#[derive(Default)]
struct Seen {
    answers: AtomicUsize,
    answered: Mutex<BTreeMap<String, Value>>,
    unanswered: Mutex<BTreeSet<String>>,
    /// By the key of the charge that pays them.
    sessions: Mutex<BTreeMap<String, Value>>,
}

async fn charge_until_it_ends(api: Api, client: usize, merchants: Vec<String>, seen: Arc<Seen>) {
    for number in 0.. {
        let key = format!("{client}-{number}");
        let mut session = None;
        if number % SESSION_EVERY == 0 {
            session = api.session(&key, &merchants).await;
            // Interrupted before anything was to be paid.
            let Some(session) = session.clone() else { return };
            seen.sessions.lock().unwrap().insert(key.clone(), session);
        }
        let answer = match api.charge(&key, &merchants, session.as_ref()).await {
            Ok(response) if response.status() == StatusCode::CREATED => response.json::<Value>().await.ok(),
            Ok(response) => panic!("a charge was answered {}", response.status()),
            Err(_) => None,
        };
        let Some(answer) = answer else {
            seen.unanswered.lock().unwrap().insert(key);
            return;
        };
        seen.answered.lock().unwrap().insert(key, answer);
        seen.answers.fetch_add(1, Ordering::SeqCst);
    }
}

/// A client of the interface.
#[derive(Clone)]
struct Api {
    http: reqwest::Client,
    url: String,
    client_id: String,
    key: String,
}

impl Api {
    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.url))
            .header("X-Client-Id", &self.client_id)
            .header("X-Api-Key", &self.key)
    }

    /// The body of a charge whose reference is its idempotency key. The key decides everything else, so a repetition is
    /// equal: most cards are approved, some declined, some not answered.
    fn body(key: &str, merchants: &[String]) -> Value {
        let number = key.bytes().map(usize::from).sum::<usize>();
        let card = match number / merchants.len() % 16 {
            0 => TIMED_OUT,
            1 => WRONG_CVV,
            _ => APPROVED,
        };
        Charge::by_card(&merchants[number % merchants.len()], card).with("orderId", key).body()
    }

    /// A session whose charge is that of this key; `None` when the process is gone.
    async fn session(&self, key: &str, merchants: &[String]) -> Option<Value> {
        let mut body = Self::body(key, merchants);
        body["paymentMethods"] = json!([{ "paymentType": "credit", "installments": 1 }]);
        body["items"] = json!([{ "name": "Shoe", "unitPrice": 1, "quantity": 1 }]);
        for member in ["paymentMethod", "paymentSource"] {
            body.as_object_mut().unwrap().shift_remove(member);
        }
        let made = self.request(reqwest::Method::POST, "/v1/sessions").json(&body).send().await.ok()?;
        assert_eq!(made.status(), StatusCode::OK, "a session");
        made.json().await.ok()
    }

    /// The charge of this key, which pays the session if there is one.
    async fn charge(
        &self,
        key: &str,
        merchants: &[String],
        session: Option<&Value>,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let body = Self::body(key, merchants);
        let request = match session {
            None => self.request(reqwest::Method::POST, "/v1/charges"),
            Some(session) => {
                let public_key = session["publicKey"].as_str().unwrap().to_owned();
                let path = format!("/v1/sessions/{}/charge", session["id"].as_str().unwrap());
                Self { key: public_key, ..self.clone() }.request(reqwest::Method::POST, &path)
            }
        };
        request.header("X-Idempotency-Key", key).json(&body).send().await
    }

    /// How many tries the rates count, and how many of them were approved.
    async fn tries(&self) -> (i64, i64) {
        let rates = self.request(reqwest::Method::GET, "/v1/rates").send().await.unwrap();
        let rates: Value = rates.error_for_status().unwrap().json().await.unwrap();
        let sum = |member: &str| {
            rates["items"].as_array().unwrap().iter().map(|item| item[member].as_i64().unwrap()).sum()
        };
        (sum("tried"), sum("approved"))
    }

    /// Every charge of the account.
    async fn charges(&self) -> Vec<Value> {
        let mut charges = Vec::new();
        for page in 1.. {
            let path = format!("/v1/charges?limit=100&sort=ASC&page={page}");
            let page = self.request(reqwest::Method::GET, &path).send().await.unwrap();
            let page: Value = page.error_for_status().unwrap().json().await.unwrap();
            let items = page["items"].as_array().unwrap();
            charges.extend(items.iter().cloned());
            if items.len() < 100 {
                assert_eq!(page["meta"]["totalItems"], charges.len(), "the counters add up");
                return charges;
            }
        }
        unreachable!()
    }
}

impl Api {
    /// What the ledger says that providers owe, by charge.
    async fn receivable(&self) -> BTreeMap<String, i64> {
        let mut receivable = BTreeMap::new();
        for page in 1.. {
            let path = format!("/v1/ledger/entries?purpose=provider_receivable&limit=100&page={page}");
            let page = self.request(reqwest::Method::GET, &path).send().await.unwrap();
            let page: Value = page.error_for_status().unwrap().json().await.unwrap();
            let items = page["items"].as_array().unwrap();
            for entry in items {
                let sign = if entry["debit"] == "provider_receivable" { 1 } else { -1 };
                let of_charge = receivable.entry(entry["sourceId"].as_str().unwrap().to_owned()).or_default();
                *of_charge += sign * entry["amount"].as_i64().unwrap();
            }
            if items.len() < 100 {
                return receivable;
            }
        }
        unreachable!()
    }
}

/// A process that is killed on drop, also when a test fails.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A database, the simulator's transaction log, and an account.
struct Deployment {
    folder: TempDir,
    postgres: Option<String>,
    port: ReservedPort,
    api: Api,
}

impl Deployment {
    fn new(postgres: Option<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = ReservedPort::any();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{}", port.address());
        let mut deployment = Self {
            folder,
            postgres,
            port,
            api: Api { http, url, client_id: String::new(), key: String::new() },
        };
        deployment.print(&["migrate"]);
        let client: Value =
            serde_json::from_slice(&deployment.print(&["clients", "create", "Loja", "--json"])).unwrap();
        deployment.api.client_id = client["id"].as_str().unwrap().to_owned();
        let key = deployment.print(&["keys", "create", &deployment.api.client_id, "--json"]);
        let key: Value = serde_json::from_slice(&key).unwrap();
        deployment.api.key = key["key"].as_str().unwrap().to_owned();
        deployment
    }

    fn regente(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regente"));
        command
            .args(arguments)
            .env("REGENTE_DATA_DIR", self.folder.path())
            .env("REGENTE_VAULT__KEK", "4f2a".repeat(16))
            .env("REGENTE_SERVER__LISTEN", self.port.address().to_string())
            .env("REGENTE_SANDBOX__BOOKS", self.folder.path().join("books.db"))
            .env("REGENTE_SANDBOX__DEADLINE_MS", "200")
            .env("REGENTE_CHARGES__RECONCILE_GRACE_MS", "300")
            .env("REGENTE_CHARGES__RECONCILE_WAITS_SECONDS", "1,1,1,2,2,2,5,5,5,10,10,10,20,20,20")
            .env("REGENTE_OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8")
            .env("REGENTE_WEBHOOKS__WAITS_SECONDS", "1,1,1,2,2,2,5,5,5,10,10,10,20,20,20")
            .env("REGENTE_LOG__LEVEL", "error");
        if let Some(url) = &self.postgres {
            command.env("REGENTE_DATABASE__URL", url);
        }
        command
    }

    fn print(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.regente(arguments).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "regente {arguments:?}");
        output.stdout
    }

    async fn start(&self) -> Process {
        let process = Process(self.regente(&["serve"]).spawn().unwrap());
        for _ in 0..LOOKS_MAX {
            let ready = self.api.http.get(format!("{}/health/ready", self.api.url)).send().await;
            if ready.is_ok_and(|response| response.status() == StatusCode::OK) {
                return process;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("the process did not become ready");
    }

    /// A healthy merchant, and one whose first provider declines everything.
    async fn make_merchants(&self) -> Vec<String> {
        let healthy = json!({ "name": "Healthy", "priority": 2, "credentials": { "type": "SANDBOX", "apiKey": "any" } });
        let mut declining = healthy.clone();
        declining["priority"] = 1.into();
        declining["options"] =
            json!({ "type": "SANDBOX", "faults": [{ "then": { "decline": "try_again" } }] });
        let mut merchants = Vec::new();
        for providers in [json!([healthy]), json!([declining, healthy])] {
            let body = json!({ "mcc": "5812", "providers": providers });
            let made =
                self.api.request(reqwest::Method::POST, "/v1/merchants").json(&body).send().await.unwrap();
            let made: Value = made.error_for_status().unwrap().json().await.unwrap();
            self.publish_flow(&made).await;
            merchants.push(made["id"].as_str().unwrap().to_owned());
        }
        merchants
    }

    /// Half of the charges ask all providers of the merchant by priority, half the last one alone.
    async fn publish_flow(&self, merchant: &Value) {
        let providers = merchant["providers"].as_array().unwrap();
        let nodes = |providers: &[Value]| -> Value {
            providers.iter().map(|provider| json!({ "rule": "provider", "id": provider["id"] })).collect()
        };
        let ways = [nodes(providers), nodes(&providers[providers.len() - 1..])];
        let root = json!([balance([json!(50), json!(50)], ways)]);
        let body = json!({ "merchantId": merchant["id"], "paymentMethod": "credit",
            "flow": { "version": "0.0.0", "root": root } });
        let published = self.api.request(reqwest::Method::POST, FLOWS).json(&body).send().await.unwrap();
        assert_eq!(published.status(), StatusCode::CREATED);
    }

    /// Every charge by its reference, once no outcome is unknown.
    async fn charges_when_none_is_pending(&self) -> BTreeMap<String, Value> {
        for _ in 0..LOOKS_MAX {
            let charges = self.charges().await;
            if charges.values().all(|charge| charge["status"] != "pending") {
                return charges;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("charges stay pending");
    }

    async fn charges(&self) -> BTreeMap<String, Value> {
        let mut charges = BTreeMap::new();
        for charge in self.api.charges().await {
            let before = charges.insert(charge["orderId"].as_str().unwrap().to_owned(), charge);
            assert!(before.is_none(), "two charges for one key");
        }
        charges
    }

    /// Each session is paid once if its charge is authorized, and can be paid otherwise. The worker counts what was
    /// interrupted.
    async fn sessions_agree(&self, sessions: &BTreeMap<String, Value>, charges: &BTreeMap<String, Value>) {
        assert!(!sessions.is_empty());
        for (key, session) in sessions {
            let is_paid = charges.get(key).is_some_and(|charge| charge["status"] == "authorized");
            let expected = match is_paid {
                true => ("paid", 1, 0),
                false => ("created", 0, 0),
            };
            let path = format!("/v1/sessions/{}", session["id"].as_str().unwrap());
            let mut found = Value::Null;
            for _ in 0..LOOKS_MAX {
                found =
                    self.api.request(reqwest::Method::GET, &path).send().await.unwrap().json().await.unwrap();
                if says(&found) == expected {
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
            assert_eq!(says(&found), expected, "{key}: {found}");
        }
    }

    /// The simulator's settlement file says what the records say, and what the ledger has of the simulator is settled to
    /// the cent.
    fn settle(&self, charges: &BTreeMap<String, Value>) {
        let days: BTreeSet<&str> =
            charges.values().map(|charge| &charge["createdAt"].as_str().unwrap()[..10]).collect();
        let (books, file) = (self.folder.path().join("books.db"), self.folder.path().join("settlement.csv"));
        let mut owed = Value::Null;
        for day in days {
            let books = books.to_str().unwrap();
            std::fs::write(&file, self.print(&["settle", "sandbox-file", "--day", day, "--books", books]))
                .unwrap();
            let import = ["settle", "import", file.to_str().unwrap(), "--provider", "SANDBOX", "--json"];
            let report: Value = serde_json::from_slice(&self.print(&import)).unwrap();
            assert!(report["posted"].as_u64() > Some(0), "{report:#}");
            owed = report["owed"].clone();
        }
        assert_eq!(owed, json!({ "BRL": 0 }));
    }

    /// Each approved request has an entry in the transaction log, and each entry with an effect belongs to an
    /// authorized charge. The log and the ledger say the same of each charge.
    async fn compare_with_books(
        &self,
        charges: &BTreeMap<String, Value>,
        receivable: &BTreeMap<String, i64>,
    ) {
        let books = TransactionLog::file(&self.folder.path().join("books.db")).unwrap();
        let effects: BTreeSet<String> = books
            .entries()
            .await
            .unwrap()
            .iter()
            .filter(|entry| entry.is_effect())
            .map(|entry| entry.key.to_string())
            .collect();
        let mut believed = BTreeSet::new();
        for charge in charges.values() {
            let taken: Vec<&Value> = charge["transactionRequests"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|request| request["requestStatus"] == "success")
                .collect();
            let expected = usize::from(charge["status"] == "authorized");
            assert_eq!(taken.len(), expected, "{charge}");
            let mut kept = 0;
            for request in &taken {
                let key = request["idempotencyKey"].as_str().unwrap().parse().unwrap();
                kept += books.holding(key).await.unwrap().unwrap().kept().minor_units();
            }
            let posted = receivable.get(charge["id"].as_str().unwrap()).copied().unwrap_or(0);
            assert_eq!(posted, kept, "{charge}");
            believed
                .extend(taken.iter().map(|request| request["idempotencyKey"].as_str().unwrap().to_owned()));
        }
        assert_eq!(believed, effects, "what Regente believes is what the books say");
    }
}

/// Status, payments, and payments under way of a session.
fn says(session: &Value) -> (&str, i64, i64) {
    let number = |name: &str| session["multiplePayments"][name].as_i64().unwrap();
    (session["status"].as_str().unwrap(), number("paymentCount"), number("pendingCount"))
}
