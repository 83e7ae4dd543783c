//! `regente move` by the real binary: from the file of `regente dev` to PostgreSQL and back, and what it refuses.

use std::path::{Path, PathBuf};

use regente_store::testing::{self, TestPostgres};
use regente_store::{PostgresOptions, Store, StoreOptions};
use serde_json::Value;

use crate::support::server::{Ran, Server, regente, run, run_on, set_mode};

const CARD: &str = "4916745120294124";

async fn charge(server: &Server, key: &str) -> String {
    let body = server.charge("REGENTE_MERCHANT_ID", CARD);
    let request = server.post("/v1/charges", &body).header("x-idempotency-key", key);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.text().await.unwrap()
}

/// An empty database, by a file that holds its address.
async fn postgres(folder: &Path) -> (String, PathBuf) {
    let (url, file) = (TestPostgres::shared().empty_database().await, folder.join("address"));
    std::fs::write(&file, &url).unwrap();
    set_mode(&file, 0o600);
    (url, file)
}

async fn on_postgres(folder: &Path, address: &Path, arguments: &[&str]) -> Ran {
    let mut command = regente(arguments);
    run(command.arg("--data-dir").arg(folder).env("REGENTE_DATABASE__URL_FILE", address)).await
}

#[tokio::test]
async fn a_deployment_is_moved_to_postgresql_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let (url, address) = postgres(folder.path()).await;
    let to = address.to_str().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let first = charge(&server, "one").await;
    let account = server.value("REGENTE_CLIENT_ID").to_owned();
    let refused = run_on(folder.path(), &["move", "--to", &url]).await;
    assert!(refused.complaint().contains("the source is in use: a server runs on it"), "{}", refused.stderr);
    server.stop().await;

    let backup = folder.path().join("backup.db");
    let backup = backup.to_str().unwrap();
    run_on(folder.path(), &["backup", backup]).await.text();
    let moved = run_on(folder.path(), &["move", "--to-file", to, "--json"]).await.json();
    assert_eq!(
        (&moved["answer"], &moved["from"], &moved["to"]),
        (&"moved".into(), &"SQLite".into(), &"PostgreSQL".into())
    );
    let of_account = moved["accounts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|found| found["client_id"] == account.as_str())
        .unwrap();
    assert_eq!(of_account["tables"]["charges"]["rows"], 1);
    assert_eq!(of_account["checksum"].as_str().unwrap().len(), 64);
    assert_eq!(moved["ledger"]["clients"][0]["differences"], Value::from(Vec::<Value>::new()));
    let found = on_postgres(folder.path(), &address, &["doctor"]).await;
    assert!(
        !found.stdout.contains("FAILURE") && found.stdout.contains("1 charges agree"),
        "{}",
        found.stdout
    );
    let books = on_postgres(folder.path(), &address, &["ledger", "verify"]).await;
    assert!(books.text().ends_with("The books are right.\n"));
    let again = run_on(folder.path(), &["move", "--to", &url]).await;
    assert!(
        again.complaint().contains("everything of the source was moved to another database already"),
        "{}",
        again.stderr
    );

    // Nobody serves the former one any more, unless an operator says so.
    let serve = &["serve", "--listen", "127.0.0.1:0"][..];
    for command in [serve, &["doctor"], &["clients", "list"], &["restore", "--yes", backup]] {
        let refused = run_on(folder.path(), command).await;
        assert!(refused.complaint().contains("was moved to another one"), "{command:?}: {}", refused.stderr);
    }
    let reopen = &["move", "--reopen"];
    assert!(run_on(folder.path(), reopen).await.text().starts_with("The database may be served again."));
    let refused = run_on(folder.path(), reopen).await;
    assert!(refused.complaint().contains("the database was not moved away"), "{}", refused.stderr);
    assert!(run_on(folder.path(), &["clients", "list"]).await.text().starts_with("ID"));

    // Back into a file of another folder, where the same client asks again.
    let back = tempfile::tempdir().unwrap();
    let file = back.path().join("regente.db");
    let text = on_postgres(folder.path(), &address, &["move", "--to", file.to_str().unwrap()]).await;
    for expected in [
        "rows were moved from PostgreSQL to SQLite and compared",
        "The books are right.",
        "Now set `database.url`",
    ] {
        assert!(text.text().contains(expected), "{}", text.stdout);
    }
    for name in ["kek", "dev.env", "sandbox-books.db", "sandbox-books.db-wal"] {
        if folder.path().join(name).exists() {
            std::fs::copy(folder.path().join(name), back.path().join(name)).unwrap();
        }
    }
    let server = Server::start(back.path(), &[]).await;
    assert_eq!(charge(&server, "one").await, first);
    server.stop().await;
}

#[tokio::test]
async fn a_backup_is_moved_and_what_has_begun_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let (url, address) = postgres(folder.path()).await;
    let server = Server::start(folder.path(), &[]).await;
    charge(&server, "one").await;
    let backup = folder.path().join("backup.db");
    run_on(folder.path(), &["backup", backup.to_str().unwrap()]).await.text();
    let (from, to) = (backup.to_str().unwrap(), url.as_str());
    // The server runs on. Its key opens the backup, and another one does not.
    let other = folder.path().join("other-kek");
    run(regente(&["vault", "new-kek"]).arg(&other)).await.text();
    let setting = format!("vault.kek_file={}", other.display());
    let refused = run_on(folder.path(), &["move", "--from", from, "--to", to, "--set", &setting]).await;
    assert!(refused.complaint().contains("is wrapped by key-encryption key"), "{}", refused.stderr);
    let moved = run_on(folder.path(), &["move", "--from", from, "--to", to, "--json"]).await.json();
    assert!(moved["rows"].as_u64().unwrap() > 10);
    server.stop().await;

    // As an interrupted move leaves it.
    let store = Store::open(StoreOptions::Postgres(PostgresOptions::new(&url))).await.unwrap();
    let mark = "CREATE TABLE move_under_way (name TEXT PRIMARY KEY, doc TEXT NOT NULL);
        INSERT INTO move_under_way VALUES ('', 'of another source')";
    testing::run_script(&store, mark).await.unwrap();
    store.close().await;
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["work"],
        &["doctor"],
        &["clients", "list"],
        &["migrate"],
    ] {
        let refused = on_postgres(folder.path(), &address, command).await;
        let expected = "the target of a `regente move` that has not ended";
        assert!(refused.complaint().contains(expected), "{command:?}: {}", refused.stderr);
    }
    let refused = run_on(folder.path(), &["move", "--to", to]).await;
    assert!(refused.complaint().contains("the beginning of another move"), "{}", refused.stderr);
    let back = folder.path().join("back.db");
    let refused = on_postgres(folder.path(), &address, &["move", "--to", back.to_str().unwrap()]).await;
    assert!(refused.complaint().contains("the source is itself the target of a move"), "{}", refused.stderr);
    for (target, expected) in [
        (back.to_str().unwrap(), "`regente backup` and `regente restore` copy such a file"),
        ("mysql://somewhere", "`--to` must be `postgres://"),
    ] {
        let refused = run_on(folder.path(), &["move", "--to", target]).await;
        assert!(refused.complaint().contains(expected), "{}", refused.stderr);
    }
}
