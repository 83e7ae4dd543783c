//! A worker that answers late: its accounts wait, and nobody else.

use std::time::Duration;

use regente_store::testing::proxy::Break;

use super::{Cluster, healthy, until_it_tells, without_first_worker};
use crate::cli::postgres::{address_in, stop};

/// What each message takes more, in either direction.
const LATE_BY: Duration = Duration::from_millis(200);
/// Far fewer than an account at the other worker charges meanwhile.
const MEANWHILE: usize = 3;

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_that_is_slow_keeps_its_own_accounts_waiting_alone() {
    let cluster = Cluster::new().await;
    let (server, server_log, line) = cluster.serve(&[]).await;
    let address = address_in(&line);
    let [on_first, on_second] = cluster.shops(address).await;
    cluster.workers[0].breaks(Break::Late(LATE_BY));
    let mut slow = Box::pin(on_first.charge());
    let mut charged = 0;
    let answer = loop {
        tokio::select! {
            answer = &mut slow => break answer,
            other = on_second.charge() => {
                assert_eq!(other.status(), 201);
                charged += 1;
            }
        }
    };
    assert_eq!(answer.status(), 201);
    assert!(charged > MEANWHILE, "{charged}");
    until_it_tells(address, &without_first_worker()).await;
    cluster.workers[0].breaks(Break::Never);
    until_it_tells(address, &healthy()).await;
    assert_eq!(on_first.charge().await.status(), 201);
    stop(server, server_log).await;
}
