//! A worker that answers a commit wrongly, on the way that leads straight to it: nothing is lost, and nothing charged twice.

use regente_store::testing::proxy::{Break, Fate};
use reqwest::Method;
use serde_json::Value;

use super::Cluster;
use crate::cli::postgres::{address_in, stop};

/// The server was shut down.
const SHUTDOWN: &str = "57P01";
/// Something of its own went wrong.
const INTERNAL: &str = "XX000";

/// What becomes of a commit, told wrongly or not at all.
const LIES: [Break; 6] = [
    Break::AnswerCommit(SHUTDOWN, Fate::Committed),
    Break::AnswerCommit(SHUTDOWN, Fate::RolledBack),
    Break::AnswerCommit(INTERNAL, Fate::Committed),
    Break::AnswerCommit(INTERNAL, Fate::RolledBack),
    Break::BeforeCommit,
    Break::AfterCommit,
];

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_that_answers_a_commit_wrongly_loses_and_doubles_nothing() {
    let cluster = Cluster::new().await;
    let straight = ["--set", "database.postgres_connect_to_workers=true"];
    let (server, server_log, line) = cluster.serve(&straight).await;
    let [on_first, _] = cluster.shops(address_in(&line)).await;
    for lie in LIES {
        let key = format!("{lie:?}");
        cluster.workers[0].breaks(lie);
        let told = on_first.charge_by(&key).await.status();
        assert!([201, 503].contains(&told.as_u16()), "{key}: {told}");
        cluster.workers[0].breaks(Break::Never);
        let charged: Value = on_first.charges_by_until(&key, 201).await.json().await.unwrap();
        let again: Value = on_first.charge_by(&key).await.json().await.unwrap();
        assert_eq!((&charged["id"], &charged["status"]), (&again["id"], &Value::from("authorized")));
    }
    let list = on_first.account.request(Method::GET, on_first.address, "/v1/charges");
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    assert_eq!(list["meta"]["totalItems"], LIES.len(), "{:#}", list["meta"]);
    stop(server, server_log).await;
    let found = cluster.deployment.run(&["doctor"]).await;
    assert!(
        !found.stdout.contains("FAILURE") && found.stdout.contains(&format!("{} charges agree", LIES.len())),
        "{}",
        found.stdout
    );
}
