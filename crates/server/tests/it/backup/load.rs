//! A backup and a restore while sixteen clients charge: the backup disturbs no client, and the restored data is
//! consistent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::{CARD, back_up, charges, restore};
use crate::support::server::{Server, run_on};

const CLIENTS: usize = 16;
/// Charges answered before the first command and between two commands.
const ANSWERED_BETWEEN: usize = 60;

#[derive(Default)]
struct Counts {
    stop: AtomicBool,
    created: AtomicUsize,
    /// Answers other than 201.
    others: AtomicUsize,
}

impl Counts {
    async fn wait_for_more(&self) {
        let target = self.created.load(Ordering::SeqCst) + ANSWERED_BETWEEN;
        while self.created.load(Ordering::SeqCst) < target {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_goes_on_while_a_backup_is_made_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let server = Arc::new(Server::start(folder.path(), &["--set", "log.level=warn"]).await);
    let counts = Arc::new(Counts::default());
    let clients: Vec<_> =
        (0..CLIENTS).map(|_| tokio::spawn(charge_until_told(server.clone(), counts.clone()))).collect();
    counts.wait_for_more().await;

    let (first, second) = (folder.path().join("first.db"), folder.path().join("second.db"));
    back_up(folder.path(), &first).await;
    counts.wait_for_more().await;
    back_up(folder.path(), &second).await;
    assert_eq!(counts.others.load(Ordering::SeqCst), 0, "a backup disturbs nobody");

    restore(folder.path(), &first).await;
    counts.wait_for_more().await;
    restore(folder.path(), &second).await;
    counts.wait_for_more().await;
    counts.stop.store(true, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    // Only a charge under way during a restore may fail.
    assert!(counts.others.load(Ordering::SeqCst) <= 2 * CLIENTS, "{:?}", counts.others);

    assert!(charges(&server).await.len() >= ANSWERED_BETWEEN);
    let found = run_on(folder.path(), &["doctor", "--json"]).await;
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    for check in found["checks"].as_array().unwrap() {
        // The log has charges that the restored database lacks; a restore implies that.
        let is_known = check["name"] == "transaction log";
        assert!(is_known || check["verdict"] != "failure", "{check}");
    }
    let server = Arc::try_unwrap(server).ok().unwrap();
    let log = server.stop().await;
    assert!(!log.contains("panicked") && !log.contains("does not open"), "{log}");
    assert!(run_on(folder.path(), &["doctor"]).await.stdout.contains("agree with the charges"));
    let connection = rusqlite::Connection::open(folder.path().join("regente.db")).unwrap();
    let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}

async fn charge_until_told(server: Arc<Server>, counts: Arc<Counts>) {
    let body = server.charge("REGENTE_MERCHANT_ID", CARD);
    while !counts.stop.load(Ordering::SeqCst) {
        let answer = server.post("/v1/charges", &body).send().await.unwrap();
        let counted = if answer.status().as_u16() == 201 { &counts.created } else { &counts.others };
        counted.fetch_add(1, Ordering::SeqCst);
    }
}
