//! A worker of a distributed database that hangs or is gone: its accounts are refused, the others go on, and nothing is restarted.

use std::time::Duration;

use regente_store::testing::proxy::{Break, Proxy};
use regente_store::testing::{FreshDatabase, TestPostgres};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::postgres::{Deployment, stop};
use super::webhooks::Listening;
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::server::LOOK_EVERY;

/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than it takes to find that a worker hangs, and to answer who waits for it.
const FOUND_AFTER: Duration = Duration::from_secs(20);

/// An account whose rows one worker has.
struct Account {
    client_id: String,
    key: String,
    merchant_id: String,
}

/// The service beside the distributed database.
struct Service {
    url: String,
    http: Client,
}

impl Service {
    async fn post(&self, account: &Account, path: &str, body: &Value) -> Response {
        let request = self.http.post(format!("{}{path}", self.url)).timeout(FOUND_AFTER).json(body);
        let request = request.header("x-client-id", &account.client_id).header("x-api-key", &account.key);
        request.send().await.unwrap()
    }

    async fn charge(&self, account: &Account) -> Response {
        self.post(account, "/v1/charges", &charge_body(&account.merchant_id, APPROVED)).await
    }

    /// Charges until this is answered: by then the service has found out.
    async fn charges_until(&self, account: &Account, status: u16) -> Response {
        let until = async {
            loop {
                let answer = self.charge(account).await;
                if answer.status() == status {
                    return answer;
                }
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, until).await.unwrap()
    }

    async fn ready(&self) -> (u16, Value) {
        let answer = self.http.get(format!("{}/health/ready", self.url)).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

/// An account on each of the two workers, in the order of their numbers.
async fn accounts(deployment: &Deployment, database: &FreshDatabase, service: &Service) -> [Account; 2] {
    let mut found: [Option<Account>; 2] = [None, None];
    while found.iter().any(Option::is_none) {
        let client = deployment.run(&["clients", "create", "Loja Azul", "--json"]).await.json();
        let client_id = client["id"].as_str().unwrap().to_owned();
        let worker = usize::try_from(database.worker_of(&client_id).await).unwrap();
        let place = &mut found[worker - 1];
        if place.is_some() {
            continue;
        }
        let key = deployment.run(&["keys", "create", &client_id, "--json"]).await.json();
        let key = key["key"].as_str().unwrap().to_owned();
        let mut account = Account { client_id, key, merchant_id: String::new() };
        let providers =
            json!([{ "name": "Main", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } }]);
        let merchant = json!({ "mcc": "5812", "providers": providers });
        let made: Value = service.post(&account, "/v1/merchants", &merchant).await.json().await.unwrap();
        account.merchant_id = made["id"].as_str().unwrap().to_owned();
        *place = Some(account);
    }
    found.map(Option::unwrap)
}

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_that_cannot_be_reached_stops_its_own_accounts_alone() {
    let behind_proxies = TestPostgres::empty_distributed_database_behind_proxies().await;
    let (database, proxies) = behind_proxies.expect("`make test-distributed` starts a cluster");
    let deployment = Deployment::on(database.url()).await;
    deployment.run(&["migrate", "--distributed"]).await.text();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let (server, server_log, line) = deployment.start(&serve, "serving").await;
    let address = line.split("address=").nth(1).unwrap().split(' ').next().unwrap();
    let http = Client::builder().no_proxy().build().unwrap();
    let service = Service { url: format!("http://{address}"), http };
    let [on_first, on_second] = accounts(&deployment, &database, &service).await;
    let listen = ["webhooks", "listen", "--client", &on_second.client_id];
    let mut listening = Listening::start(&mut deployment.command(&listen)).await;

    for breaks in [Break::Hang, Break::Always] {
        let first: &Proxy = &proxies[0];
        first.breaks(breaks);
        let charging = async {
            let refused = service.charges_until(&on_first, 503).await;
            assert!(refused.headers().contains_key("retry-after"), "{breaks:?}: {:?}", refused.headers());
        };
        // Nobody of the other worker waits, also before it is found that this one is lost.
        let others = async {
            for _ in 0..5 {
                let charged = service.charge(&on_second).await;
                assert_eq!(charged.status(), 201, "{breaks:?}");
                for event in ["transaction.pending", "transaction.authorized"] {
                    assert_eq!(listening.line().await[1], event, "{breaks:?}");
                }
            }
        };
        tokio::join!(charging, others);
        let lost = json!({ "status": "degraded", "failing": ["database_worker"], "databaseWorkers": [1] });
        let told = async {
            while service.ready().await != (200, lost.clone()) {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, told).await.unwrap();
        // From now on its accounts are refused at once.
        assert_eq!(service.charge(&on_first).await.status(), 503);

        first.breaks(Break::Never);
        service.charges_until(&on_first, 201).await;
        assert_eq!(service.charge(&on_second).await.status(), 201);
        for event in ["transaction.pending", "transaction.authorized"] {
            assert_eq!(listening.line().await[1], event, "{breaks:?}");
        }
        let all = (200, json!({ "status": "ready", "failing": [] }));
        let told = async {
            while service.ready().await != all {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, told).await.unwrap();
    }
    drop(listening.interrupt().await);
    stop(server, server_log).await;
}
