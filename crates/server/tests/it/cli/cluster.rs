//! A distributed database of which a part fails: its accounts are refused, the others go on, and nothing is restarted.

mod full_worker;
mod lost_coordinator;
mod lost_worker;
mod lying_worker;
mod slow_worker;

use std::time::Duration;

use regente_store::testing::proxy::Proxy;
use regente_store::testing::{FreshDatabase, TestPostgres};
use reqwest::{Client, Method, Response, Url};
use serde_json::{Value, json};
use tokio::io::{BufReader, Lines};
use tokio::process::{Child, ChildStderr};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::postgres::{Account, Deployment};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::server::LOOK_EVERY;
use crate::support::sessions::session_body;

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than it takes to find that a server hangs, and to answer who waits for it.
const FOUND_AFTER: Duration = Duration::from_secs(20);

/// A deployment on a distributed database, each server of which is reached through a proxy.
struct Cluster {
    deployment: Deployment,
    database: FreshDatabase,
    coordinator: Proxy,
    workers: Vec<Proxy>,
}

impl Cluster {
    async fn new() -> Self {
        let cluster = Self::empty().await;
        cluster.distribute().await;
        cluster
    }

    /// Without tables.
    async fn empty() -> Self {
        let behind_proxies = TestPostgres::empty_distributed_database_behind_proxies().await;
        let (database, workers) = behind_proxies.expect("`make test-distributed` starts a cluster");
        let (coordinator, url) = Proxy::before(database.url()).await;
        Self { deployment: Deployment::on(&url).await, database, coordinator, workers }
    }

    async fn distribute(&self) {
        self.deployment.run(&["migrate", "--distributed"]).await.text();
    }

    /// Starts a server, and waits until it serves; `more` are arguments of its own.
    async fn serve(&self, more: &[&str]) -> (Child, Lines<BufReader<ChildStderr>>, String) {
        let serve = [&["serve", "--listen", "127.0.0.1:0"], more].concat();
        self.deployment.start(&serve, "serving").await
    }

    /// A shop on each of the two workers, in the order of their numbers.
    async fn shops<'a>(&self, address: &'a str) -> [Shop<'a>; 2] {
        let mut found = [None, None];
        while found.iter().any(Option::is_none) {
            let account = Account::of(&self.deployment).await;
            let worker = usize::try_from(self.database.worker_of(&account.client_id).await).unwrap();
            if found[worker - 1].is_none() {
                let merchant_id = account.merchant(address).await;
                found[worker - 1] = Some(Shop { address, account, merchant_id });
            }
        }
        found.map(Option::unwrap)
    }
}

/// An account with a merchant, at the service beside the distributed database.
struct Shop<'a> {
    address: &'a str,
    account: Account,
    merchant_id: String,
}

impl Shop<'_> {
    async fn charge(&self) -> Response {
        self.charge_by(&Uuid::new_v4().to_string()).await
    }

    /// With this idempotency key.
    async fn charge_by(&self, key: &str) -> Response {
        let request = self.account.request(Method::POST, self.address, "/v1/charges");
        let body = charge_body(&self.merchant_id, APPROVED);
        let charging = request.header("x-idempotency-key", key).json(&body).send();
        timeout(FOUND_AFTER, charging).await.unwrap().unwrap()
    }

    /// Makes a session; the path of its page.
    async fn link(&self) -> String {
        let body = session_body(&self.merchant_id);
        let made = self.account.post(self.address, "/v1/sessions", &body).await;
        let session: Value = made.json().await.unwrap();
        Url::parse(session["paymentLink"].as_str().unwrap()).unwrap().path().to_owned()
    }

    /// Opens the page at this path.
    async fn open(&self, path: &str) -> Response {
        timeout(FOUND_AFTER, self.account.request(Method::GET, self.address, path).send())
            .await
            .unwrap()
            .unwrap()
    }

    /// Charges until this is answered: by then the service has found out.
    async fn charges_until(&self, status: u16) -> Response {
        until(status, async || self.charge().await).await
    }

    /// Repeats a charge until this is answered.
    async fn charges_by_until(&self, key: &str, status: u16) -> Response {
        until(status, async || self.charge_by(key).await).await
    }
}

async fn until(status: u16, charge: impl AsyncFn() -> Response) -> Response {
    let answered = async {
        loop {
            let answer = charge().await;
            if answer.status() == status {
                return answer;
            }
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, answered).await.unwrap()
}

async fn ready(address: &str) -> (u16, Value) {
    let http = Client::builder().no_proxy().build().unwrap();
    let answer = http.get(format!("http://{address}/health/ready")).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// What the service says of itself while its first worker fails.
fn without_first_worker() -> (u16, Value) {
    (200, json!({ "status": "degraded", "failing": ["database_worker"], "databaseWorkers": [1] }))
}

/// What it says while nothing fails.
fn healthy() -> (u16, Value) {
    (200, json!({ "status": "ready", "failing": [] }))
}

/// Waits until the service says so of itself.
async fn until_it_tells(address: &str, expected: &(u16, Value)) {
    let told = async {
        while ready(address).await != *expected {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, told).await.unwrap();
}
