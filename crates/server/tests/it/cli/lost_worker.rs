//! A worker of a distributed database that hangs or is gone: its accounts are refused, the others go on, and nothing is restarted.

use std::time::Duration;

use regente_store::testing::proxy::{Break, Proxy};
use regente_store::testing::{FreshDatabase, TestPostgres};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::postgres::{Account, Deployment, address_in, stop};
use super::webhooks::Listening;
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::server::LOOK_EVERY;

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than it takes to find that a worker hangs, and to answer who waits for it.
const FOUND_AFTER: Duration = Duration::from_secs(20);

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

/// A deployment on a distributed database whose workers are reached through proxies.
async fn distributed() -> (Deployment, FreshDatabase, Vec<Proxy>) {
    let behind_proxies = TestPostgres::empty_distributed_database_behind_proxies().await;
    let (database, proxies) = behind_proxies.expect("`make test-distributed` starts a cluster");
    let deployment = Deployment::on(database.url()).await;
    deployment.run(&["migrate", "--distributed"]).await.text();
    (deployment, database, proxies)
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

/// A shop on each of the two workers, in the order of their numbers.
async fn shops<'a>(deployment: &Deployment, database: &FreshDatabase, address: &'a str) -> [Shop<'a>; 2] {
    let mut found = [None, None];
    while found.iter().any(Option::is_none) {
        let account = Account::of(deployment).await;
        let worker = usize::try_from(database.worker_of(&account.client_id).await).unwrap();
        if found[worker - 1].is_none() {
            let merchant_id = account.merchant(address).await;
            found[worker - 1] = Some(Shop { address, account, merchant_id });
        }
    }
    found.map(Option::unwrap)
}

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_that_cannot_be_reached_stops_its_own_accounts_alone() {
    lost_and_found("database.postgres_connect_to_workers=true").await;
}

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_that_the_coordinator_cannot_reach_stops_its_own_accounts_alone() {
    lost_and_found("database.postgres_connect_to_workers=false").await;
}

async fn lost_and_found(setting: &str) {
    let (deployment, database, proxies) = distributed().await;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--set", setting];
    let (server, server_log, line) = deployment.start(&serve, "serving").await;
    let address = address_in(&line);
    let [on_first, on_second] = shops(&deployment, &database, address).await;
    let listen = ["webhooks", "listen", "--client", &on_second.account.client_id];
    let mut listening = Listening::start(&mut deployment.command(&listen)).await;

    for breaks in [Break::Hang, Break::Always] {
        let first: &Proxy = &proxies[0];
        first.breaks(breaks);
        let charging = async {
            let refused = on_first.charges_until(503).await;
            assert!(refused.headers().contains_key("retry-after"), "{breaks:?}: {:?}", refused.headers());
        };
        // Nobody of the other worker waits, also before it is found that this one is lost.
        let others = async {
            for _ in 0..5 {
                let charged = on_second.charge().await;
                assert_eq!(charged.status(), 201, "{breaks:?}");
                for event in ["transaction.pending", "transaction.authorized"] {
                    assert_eq!(listening.line().await[1], event, "{breaks:?}");
                }
            }
        };
        tokio::join!(charging, others);
        let lost = json!({ "status": "degraded", "failing": ["database_worker"], "databaseWorkers": [1] });
        until_it_tells(address, &(200, lost)).await;
        // From now on its accounts are refused at once.
        assert_eq!(on_first.charge().await.status(), 503);

        first.breaks(Break::Never);
        on_first.charges_until(201).await;
        assert_eq!(on_second.charge().await.status(), 201);
        for event in ["transaction.pending", "transaction.authorized"] {
            assert_eq!(listening.line().await[1], event, "{breaks:?}");
        }
        until_it_tells(address, &(200, json!({ "status": "ready", "failing": [] }))).await;
    }
    drop(listening.interrupt().await);
    stop(server, server_log).await;

    // A node starts while a worker is away.
    proxies[0].breaks(Break::Always);
    let (server, server_log, line) = deployment.start(&serve, "serving").await;
    let address = address_in(&line);
    let [on_first, on_second] = [Shop { address, ..on_first }, Shop { address, ..on_second }];
    on_first.charges_until(503).await;
    on_second.charges_until(201).await;
    proxies[0].breaks(Break::Never);
    on_first.charges_until(201).await;
    stop(server, server_log).await;
}

/// A standby that takes a worker's place has another address.
#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_is_connected_to_where_the_coordinator_says() {
    let (deployment, database, proxies) = distributed().await;
    let (server, server_log, line) = deployment.start(&["serve", "--listen", "127.0.0.1:0"], "serving").await;
    let [on_first, on_second] = shops(&deployment, &database, address_in(&line)).await;
    proxies[0].breaks(Break::Always);
    on_first.charges_until(503).await;
    database.move_worker(1).await;
    on_first.charges_until(201).await;
    assert_eq!(on_second.charge().await.status(), 201);
    stop(server, server_log).await;
}
