//! A worker whose disk is full: its accounts are refused until there is room again, and nobody else.

use super::{Cluster, healthy, until_it_tells, without_first_worker};
use crate::cli::postgres::{address_in, stop};
use crate::support::small_disk::SmallDisk;

/// More than the empty tables of a worker take.
const DISK_MIB: usize = 256;

#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_worker_whose_disk_is_full_stops_its_own_accounts_alone() {
    let cluster = Cluster::empty().await;
    let disk = SmallDisk::mount(DISK_MIB, "postgres");
    cluster.database.put_worker_on(1, disk.folder()).await;
    cluster.distribute().await;
    let (server, server_log, line) = cluster.serve(&[]).await;
    let address = address_in(&line);
    let [on_first, on_second] = cluster.shops(address).await;
    disk.fill();
    let refused = on_first.charges_until(503).await;
    assert!(refused.headers().contains_key("retry-after"), "{:?}", refused.headers());
    until_it_tells(address, &without_first_worker()).await;
    for _ in 0..5 {
        assert_eq!(on_second.charge().await.status(), 201);
    }
    disk.free();
    on_first.charges_until(201).await;
    until_it_tells(address, &healthy()).await;
    assert_eq!(on_second.charge().await.status(), 201);
    stop(server, server_log).await;
    cluster.database.leave_worker(1).await;
}
