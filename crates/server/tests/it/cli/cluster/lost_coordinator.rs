//! A coordinator that hangs or is gone: charges are made at the workers, nodes say that they are not ready, and nothing is restarted.

use regente_store::testing::proxy::Break;
use reqwest::StatusCode;
use serde_json::json;

use super::{Cluster, healthy, until_it_tells};
use crate::cli::postgres::{address_in, stop};

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn charges_go_on_at_the_workers_while_the_coordinator_is_away() {
    let cluster = Cluster::new().await;
    let (server, server_log, line) = cluster.serve(&[]).await;
    let address = address_in(&line);
    let [on_first, on_second] = cluster.shops(address).await;
    for breaks in [Break::Hang, Break::Always] {
        cluster.coordinator.breaks(breaks);
        until_it_tells(address, &(503, json!({ "status": "not_ready", "failing": ["database"] }))).await;
        let (first, second) = tokio::join!(on_first.charge(), on_second.charge());
        assert_eq!(
            (first.status(), second.status()),
            (StatusCode::CREATED, StatusCode::CREATED),
            "{breaks:?}"
        );
        cluster.coordinator.breaks(Break::Never);
        on_first.charges_until(201).await;
        on_second.charges_until(201).await;
        until_it_tells(address, &healthy()).await;
    }
    stop(server, server_log).await;
}
