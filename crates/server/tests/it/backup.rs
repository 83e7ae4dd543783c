//! Backups and restores by the real binary: with a running server, without one, and refusals.

mod load;
mod refused;

use std::path::{Path, PathBuf};

use regente_store::{SqliteOptions, Store, StoreOptions, testing};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::server::{Server, mode, regente, run, run_on};

const CARD: &str = "4916745120294124";

/// Runs the binary's backup of a data folder.
async fn back_up(folder: &Path, file: &Path) -> Value {
    run_on(folder, &["backup", file.to_str().unwrap(), "--json"]).await.json()
}

async fn restore(folder: &Path, file: &Path) -> String {
    run_on(folder, &["restore", file.to_str().unwrap(), "--yes"]).await.text().to_owned()
}

/// The ids of the charges of the account of `regente dev`, newest first.
async fn charges(server: &Server) -> Vec<String> {
    let page = server.get("/v1/charges?limit=100").send().await.unwrap();
    let page: Value = page.error_for_status().unwrap().json().await.unwrap();
    let ids =
        page["items"].as_array().unwrap().iter().map(|charge| charge["id"].as_str().unwrap().to_owned());
    ids.collect()
}

async fn charge(server: &Server) -> Value {
    let body = server.charge("REGENTE_MERCHANT_ID", CARD);
    let answer = server.post("/v1/charges", &body).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 201);
    answer.json().await.unwrap()
}

/// The files of a folder whose names begin with `prefix`.
fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with(prefix)).collect();
    files.sort();
    files
}

fn database(folder: &Path) -> PathBuf {
    folder.join("regente.db")
}

#[tokio::test]
async fn a_backup_is_restored_under_the_server_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let before = charge(&server).await;
    let file = folder.path().join("backup.db");

    let made = back_up(folder.path(), &file).await;
    assert_eq!(made["answer"], "backed_up");
    assert_eq!(made["bytes"].as_u64().unwrap(), std::fs::metadata(&file).unwrap().len());
    assert!(made["schema_version"].as_i64().unwrap() >= 1);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(files(folder.path(), "backup.db"), [file.as_path()], "one file, nothing half done");

    charge(&server).await;
    let key = run_on(folder.path(), &["keys", "create", server.value("REGENTE_CLIENT_ID"), "--json"]).await;
    let key = key.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(server.status_with(&key).await, 200);
    assert_eq!(charges(&server).await.len(), 2);

    let text = restore(folder.path(), &file).await;
    assert!(text.contains("is restored") && text.contains("stays moved"), "{text}");
    assert_eq!(charges(&server).await, [before["id"].as_str().unwrap()], "as it was");
    assert_eq!(server.status_with(&key).await, 403, "a key made since then is not known any more");

    // Data that was sealed before the restore opens: the card is charged again.
    let mut again = server.charge("REGENTE_MERCHANT_ID", CARD);
    let card_id = &before["paymentSource"]["cardId"];
    again["paymentSource"] = serde_json::json!({ "sourceType": "card", "cardId": card_id, "cardCvv": "600" });
    let again: Value = server.post("/v1/charges", &again).send().await.unwrap().json().await.unwrap();
    assert_eq!(again["status"], "authorized", "{again}");
    assert_eq!(files(folder.path(), "regente.db.restoring"), Vec::<PathBuf>::new());

    // The replaced database is kept as a backup.
    let kept = files(folder.path(), "regente.db.before-restore-").remove(0);
    assert_eq!(mode(&kept), 0o600);
    restore(folder.path(), &kept).await;
    assert_eq!(charges(&server).await.len(), 2);
    assert_eq!(server.status_with(&key).await, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_restored_backup_passes_the_doctor_and_serves_elsewhere() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(folder.path(), &[]).await;
    let before = charge(&server).await;
    server.stop().await;
    let file = folder.path().join("backup.db");
    // Without a server the command writes the backup itself.
    back_up(folder.path(), &file).await;

    // The key, and the simulator's transaction log with its write-ahead log.
    for from in files(folder.path(), "kek").into_iter().chain(files(folder.path(), "sandbox-books.db")) {
        std::fs::copy(&from, elsewhere.path().join(from.file_name().unwrap())).unwrap();
    }
    // No database exists there, so the restore needs no consent.
    let restored = run_on(elsewhere.path(), &["restore", file.to_str().unwrap(), "--json"]).await.json();
    assert_eq!(restored["kept"], Value::Null);
    assert_eq!(mode(&database(elsewhere.path())), 0o600);
    let found = run_on(elsewhere.path(), &["doctor"]).await;
    assert!(
        !found.text().contains("FAILURE") && found.text().contains("1 charges agree"),
        "{}",
        found.stdout
    );

    let server = Server::start(elsewhere.path(), &[]).await;
    assert_eq!(charges(&server).await, [before["id"].as_str().unwrap()]);
    charge(&server).await;
    assert!(run_on(elsewhere.path(), &["doctor"]).await.text().contains("charges: 2"));
    server.stop().await;
}

#[tokio::test]
async fn a_backup_never_replaces_a_file_unless_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    run(regente(&["vault", "new-kek"]).arg(folder.path().join("kek"))).await.text();
    run_on(folder.path(), &["migrate"]).await.text();
    let file = folder.path().join("backup.db");
    std::fs::write(&file, "precious").unwrap();
    let refused = run_on(folder.path(), &["backup", file.to_str().unwrap()]).await;
    assert!(refused.complaint().contains("exists already; `--force` replaces it"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    let made = run_on(folder.path(), &["backup", file.to_str().unwrap(), "--force"]).await;
    assert!(made.text().contains("holds everything that was acknowledged before"));
    assert!(std::fs::read(&file).unwrap().starts_with(b"SQLite format 3"));
    assert_eq!(mode(&file), 0o600);
}

#[tokio::test]
async fn a_database_that_cannot_be_read_any_more_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let before = charge(&server).await;
    let file = folder.path().join("backup.db");
    back_up(folder.path(), &file).await;
    server.stop().await;
    std::fs::write(database(folder.path()), vec![0x5a; 65_536]).unwrap();
    std::fs::write(folder.path().join("regente.db-wal"), "of another database").unwrap();

    restore(folder.path(), &file).await;
    let kept = files(folder.path(), "regente.db.before-restore-");
    assert_eq!(std::fs::read(&kept[0]).unwrap(), vec![0x5a; 65_536]);
    let server = Server::start(folder.path(), &[]).await;
    assert_eq!(charges(&server).await, [before["id"].as_str().unwrap()]);
    server.stop().await;
}

#[tokio::test]
async fn a_backup_of_an_earlier_release_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    charge(&server).await;
    let file = folder.path().join("earlier.db");
    let store = Store::open(StoreOptions::Sqlite(SqliteOptions::new(&file))).await.unwrap();
    let first = include_str!("../../../store/migrations/0001_foundation.sql");
    testing::migrate_to(&store, &[(1, "0001_foundation", first)]).await.unwrap();
    store.close().await;

    let restored =
        run_on(folder.path(), &["restore", file.to_str().unwrap(), "--yes", "--json"]).await.json();
    assert_eq!(restored["schema_version"], 1);
    assert!(!restored["migrated"].as_array().unwrap().is_empty(), "{restored}");
    let report = run_on(folder.path(), &["doctor"]).await.stdout;
    assert!(report.contains("nothing pending, checksums fit"), "{report}");
    // The recurring jobs are enqueued again, and the keys in use are kept: a backup without keys needs one.
    let recurring = "SELECT count(*) FROM jobs";
    let connection = rusqlite::Connection::open(database(folder.path())).unwrap();
    assert!(connection.query_row(recurring, [], |row| row.get::<_, i64>(0)).unwrap() > 0);
    assert!(report.contains("opens the data keys (1 known)"), "{report}");
    server.stop().await;
}

#[tokio::test]
async fn a_process_that_dies_in_a_restore_has_restored_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    charge(&server).await;
    server.stop().await;
    // Enough data that the copy is still running when the test sees it begin.
    let connection = rusqlite::Connection::open(database(folder.path())).unwrap();
    let much = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO audit (id, client_id, actor, action, object_kind, object_id)
        SELECT randomblob(16), zeroblob(16), hex(randomblob(1500)), 'test', 'test', zeroblob(16) FROM n";
    connection.execute(much, []).unwrap();
    connection.close().unwrap();

    let server = Server::start(folder.path(), &[]).await;
    let file = folder.path().join("backup.db");
    back_up(folder.path(), &file).await;
    charge(&server).await;
    let mut restoring = regente(&["restore", file.to_str().unwrap(), "--yes", "--data-dir"]);
    let restoring = restoring.arg(folder.path()).output();
    let restoring = tokio::spawn(restoring);
    while !files(folder.path(), "regente.db.before-restore")
        .iter()
        .any(|file| file.extension().is_some_and(|end| end != "partial"))
    {
        assert!(!restoring.is_finished(), "it was too quick for this test");
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    server.signal(Signal::KILL);
    server.ended().await;
    assert!(!restoring.await.unwrap().unwrap().status.success(), "nobody was told that it is done");

    let server = Server::start(folder.path(), &[]).await;
    let left = charges(&server).await.len();
    assert!(left == 1 || left == 2, "{left}");
    let report = run_on(folder.path(), &["doctor"]).await.stdout;
    assert!(report.contains("read, and whole") && report.contains("agree with the charges"), "{report}");
    // The file that the killed process left does not prevent a restore.
    restore(folder.path(), &file).await;
    assert_eq!(charges(&server).await.len(), 1);
    assert_eq!(files(folder.path(), "regente.db.restoring"), Vec::<PathBuf>::new());
    server.stop().await;
}

#[tokio::test]
async fn data_keys_that_were_rotated_since_go_on_opening() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let before = charge(&server).await;
    let file = folder.path().join("backup.db");
    back_up(folder.path(), &file).await;
    run_on(folder.path(), &["vault", "rotate"]).await.text();
    charge(&server).await;

    restore(folder.path(), &file).await;
    // The key of the backup is the current one again, and the key that was current meanwhile still opens.
    let found = run_on(folder.path(), &["doctor"]).await;
    assert!(found.stdout.contains("opens the data keys (2 known)"), "{}", found.stdout);
    let mut again = server.charge("REGENTE_MERCHANT_ID", CARD);
    let card_id = &before["paymentSource"]["cardId"];
    again["paymentSource"] = serde_json::json!({ "sourceType": "card", "cardId": card_id, "cardCvv": "600" });
    let again: Value = server.post("/v1/charges", &again).send().await.unwrap().json().await.unwrap();
    assert_eq!(again["status"], "authorized", "{again}");
    server.stop().await;
}
