//! Restores that are refused; each leaves everything as it was.

use std::path::Path;

use super::{back_up, charge, charges, database, files};
use crate::support::server::{Server, regente, run, run_on};

/// A server with one charge, and a backup of it.
async fn with_backup(folder: &Path) -> (Server, std::path::PathBuf) {
    let server = Server::start(folder, &[]).await;
    charge(&server).await;
    let file = folder.join("backup.db");
    back_up(folder, &file).await;
    (server, file)
}

async fn refusal(folder: &Path, file: &Path) -> String {
    let refused = run_on(folder, &["restore", file.to_str().unwrap(), "--yes"]).await;
    assert_eq!(files(folder, "regente.db.restoring"), Vec::<std::path::PathBuf>::new());
    assert_eq!(files(folder, "regente.db.before-restore"), Vec::<std::path::PathBuf>::new());
    refused.complaint().to_owned()
}

#[tokio::test]
async fn what_is_no_backup_is_refused_with_and_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let (server, file) = with_backup(folder.path()).await;
    let known = charges(&server).await;
    let [text, cut_off, changed, with_log] =
        ["text", "cut-off", "changed", "with-log"].map(|name| folder.path().join(name));
    std::fs::write(&text, "not a database at all").unwrap();
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&cut_off, &bytes[..bytes.len() / 2]).unwrap();
    let mut spoilt = bytes.clone();
    // Every page but the first, whose header is checked anyway.
    spoilt[4096..].iter_mut().step_by(64).for_each(|byte| *byte ^= 0xff);
    std::fs::write(&changed, spoilt).unwrap();
    std::fs::write(&with_log, &bytes).unwrap();
    std::fs::write(folder.path().join("with-log-wal"), "a log").unwrap();
    let expected = [
        (folder.path().join("nowhere"), "No such file"),
        (text, "it is no SQLite file"),
        (cut_off, "is damaged"),
        (changed, "is damaged"),
        (with_log, "it has a write-ahead log beside it"),
        (folder.path().join("sandbox-books.db"), "is not a backup"),
        (database(folder.path()), "it is the database itself"),
    ];
    for (file, why) in &expected {
        let complaint = refusal(folder.path(), file).await;
        assert!(complaint.contains(why), "{}: {complaint}", file.display());
    }
    assert_eq!(charges(&server).await, known);
    server.stop().await;
    for (file, why) in &expected {
        let complaint = refusal(folder.path(), file).await;
        assert!(complaint.contains(why), "{}: {complaint}", file.display());
    }
    let server = Server::start(folder.path(), &[]).await;
    assert_eq!(charges(&server).await, known);
    server.stop().await;
}

#[tokio::test]
async fn a_backup_of_a_later_release_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (server, file) = with_backup(folder.path()).await;
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute("INSERT INTO schema_migrations VALUES (9999, '9999_later', x'00000000000000000000000000000000', 0)", [])
        .unwrap();
    connection.close().unwrap();
    let complaint = refusal(folder.path(), &file).await;
    assert!(complaint.contains("migration 9999 is of a later release"), "{complaint}");
    server.stop().await;
}

#[tokio::test]
async fn a_backup_whose_keys_do_not_open_is_refused() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (theirs, foreign) = with_backup(other.path()).await;
    theirs.stop().await;
    let (server, _) = with_backup(folder.path()).await;
    let known = charges(&server).await;
    let complaint = refusal(folder.path(), &foreign).await;
    assert!(complaint.contains("is wrapped by key-encryption key"), "{complaint}");
    assert_eq!(charges(&server).await, known);
    server.stop().await;
    let complaint = refusal(folder.path(), &foreign).await;
    assert!(complaint.contains("is wrapped by key-encryption key"), "{complaint}");
}

#[tokio::test]
async fn another_deployment_with_the_same_key_is_not_restored_under_a_server() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (server, _) = with_backup(folder.path()).await;
    std::fs::copy(folder.path().join("kek"), other.path().join("kek")).unwrap();
    let (theirs, foreign) = with_backup(other.path()).await;
    let expected = charges(&theirs).await;
    theirs.stop().await;
    let complaint = refusal(folder.path(), &foreign).await;
    assert!(complaint.contains("it is of another deployment"), "{complaint}");
    server.stop().await;
    super::restore(folder.path(), &foreign).await;
    let server = Server::start(folder.path(), &[]).await;
    assert_eq!(charges(&server).await, expected);
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_replaced_without_consent() {
    let folder = tempfile::tempdir().unwrap();
    let (server, file) = with_backup(folder.path()).await;
    charge(&server).await;
    let refused = run_on(folder.path(), &["restore", file.to_str().unwrap()]).await;
    assert!(refused.complaint().contains("Say `--yes`"), "{}", refused.stderr);
    assert_eq!(charges(&server).await.len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn postgres_has_tools_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [["backup", "/nowhere/backup.db"], ["restore", "/nowhere/backup.db"]] {
        let mut command = regente(&arguments);
        command.arg("--data-dir").arg(folder.path()).env("REGENTE_DATABASE__URL", "postgres://localhost/x");
        let refused = run(&mut command).await;
        assert!(refused.complaint().contains("pg_dump"), "{}", refused.stderr);
    }
}
