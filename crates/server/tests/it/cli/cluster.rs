//! A distributed database of which a part fails: its accounts are refused, the others go on, and nothing is restarted.

mod full_worker;
mod lost_coordinator;
mod lost_worker;
mod slow_worker;

use std::time::Duration;

use regente_store::testing::proxy::Proxy;
use regente_store::testing::{FreshDatabase, TestPostgres};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::io::{BufReader, Lines};
use tokio::process::{Child, ChildStderr};
use tokio::time::{sleep, timeout};

use super::postgres::{Account, Deployment};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::server::LOOK_EVERY;

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
        let body = charge_body(&self.merchant_id, APPROVED);
        timeout(FOUND_AFTER, self.account.post(self.address, "/v1/charges", &body)).await.unwrap()
    }

    /// Charges until this is answered: by then the service has found out.
    async fn charges_until(&self, status: u16) -> Response {
        let until = async {
            loop {
                let answer = self.charge().await;
                if answer.status() == status {
                    return answer;
                }
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, until).await.unwrap()
    }
}

async fn ready(address: &str) -> (u16, Value) {
    let http = Client::builder().no_proxy().build().unwrap();
    let answer = http.get(format!("http://{address}/health/ready")).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
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
