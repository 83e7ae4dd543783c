//! A worker of a distributed database that hangs or is gone: its accounts are refused, the others go on, and nothing is restarted.

use regente_store::testing::proxy::{Break, Proxy};

use super::{Cluster, Shop, healthy, until_it_tells, without_first_worker};
use crate::cli::postgres::{address_in, stop};
use crate::cli::webhooks::Listening;

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
    let cluster = Cluster::new().await;
    let settings = ["--set", setting];
    let (server, server_log, line) = cluster.serve(&settings).await;
    let address = address_in(&line);
    let [on_first, on_second] = cluster.shops(address).await;
    let listen = ["webhooks", "listen", "--client", &on_second.account.client_id];
    let mut listening = Listening::start(&mut cluster.deployment.command(&listen)).await;

    for breaks in [Break::Hang, Break::Always] {
        let first: &Proxy = &cluster.workers[0];
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
        until_it_tells(address, &without_first_worker()).await;
        // From now on its accounts are refused at once.
        assert_eq!(on_first.charge().await.status(), 503);

        first.breaks(Break::Never);
        on_first.charges_until(201).await;
        assert_eq!(on_second.charge().await.status(), 201);
        for event in ["transaction.pending", "transaction.authorized"] {
            assert_eq!(listening.line().await[1], event, "{breaks:?}");
        }
        until_it_tells(address, &healthy()).await;
    }
    drop(listening.interrupt().await);
    let links = [on_first.link().await, on_second.link().await];
    stop(server, server_log).await;

    // A node starts while a worker is away.
    cluster.workers[0].breaks(Break::Always);
    let (server, server_log, line) = cluster.serve(&settings).await;
    let address = address_in(&line);
    let [on_first, on_second] = [Shop { address, ..on_first }, Shop { address, ..on_second }];
    on_first.charges_until(503).await;
    on_second.charges_until(201).await;
    // It does not know which account has a session, so it does not say either that there is none.
    assert_eq!(on_first.open(&links[0]).await.status(), 503);
    assert_eq!(on_second.open(&links[1]).await.status(), 200);
    cluster.workers[0].breaks(Break::Never);
    on_first.charges_until(201).await;
    assert_eq!(on_first.open(&links[0]).await.status(), 200);
    stop(server, server_log).await;
}

/// A standby that takes a worker's place has another address.
#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_is_connected_to_where_the_coordinator_says() {
    let cluster = Cluster::new().await;
    let (server, server_log, line) = cluster.serve(&[]).await;
    let [on_first, on_second] = cluster.shops(address_in(&line)).await;
    cluster.workers[0].breaks(Break::Always);
    on_first.charges_until(503).await;
    cluster.database.move_worker(1).await;
    on_first.charges_until(201).await;
    assert_eq!(on_second.charge().await.status(), 201);
    stop(server, server_log).await;
}
