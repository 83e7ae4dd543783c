//! The command line of the real binary: settings, operators' commands with and without a server, doctor.

mod apple_pay;
mod charges;
mod cluster;
mod dashboard;
mod explain;
mod flows;
mod ledger;
mod machine;
mod moving;
mod payouts;
mod plans;
mod postgres;
mod prepayment;
mod rates;
mod trigger;
mod unknowns;
mod webhooks;

use crate::support::server::{Server, mode, regente, run, run_on, set_mode};
use std::path::Path;

use regente_domain::id::{ClientId, MerchantId};
use regente_providers::sandbox::TransactionLog;
use regente_store::{Batch, Commit, CounterDelta, CounterKey, SqliteOptions, Store, StoreOptions};
use rusqlite::Connection;

/// A data folder with a key and a migrated database, as an operator makes it.
async fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kek = folder.path().join("kek");
    run(regente(&["vault", "new-kek"]).arg(&kek)).await.text();
    assert_eq!(mode(&kek), 0o600);
    assert!(run_on(folder.path(), &["migrate"]).await.text().starts_with("The schema is at version "));
    folder
}

async fn new_client(folder: &Path) -> String {
    let client = run_on(folder, &["clients", "create", "Loja Azul", "--json"]).await.json();
    client["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn help_and_version_are_there_for_everything() {
    assert!(run(&mut regente(&["--version"])).await.text().starts_with("regente "));
    let commands = [
        "dev",
        "serve",
        "work",
        "migrate",
        "config",
        "doctor",
        "explain",
        "unknowns",
        "health",
        "backup",
        "restore",
        "move",
        "charges",
        "trigger",
        "clients",
        "keys",
        "dashboard",
        "ledger",
        "payouts",
        "vault",
        "webhooks",
        "settle",
    ];
    for command in commands {
        let help = run(&mut regente(&[command, "--help"])).await;
        assert!(help.text().contains("Usage: regente"), "{command}");
    }
}

#[tokio::test]
async fn config_prints_values_with_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("regente.toml");
    std::fs::write(&file, "[server]\nconnections_max = 5\n").unwrap();
    let mut command = regente(&["config", "--set", "log.level=debug"]);
    command.arg("--config").arg(&file).env("REGENTE_SERVER__LISTEN", "127.0.0.1:9999");
    let shown = run(&mut command).await;
    let line = |name: &str| shown.text().lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("listen = \"127.0.0.1:9999\"").ends_with("# environment variable REGENTE_SERVER__LISTEN"));
    assert!(line("connections_max = 5").ends_with(&format!("# {}", file.display())));
    assert!(line("level = \"debug\"").ends_with("# flag --set"));
    assert!(line("mode = \"sandbox\"").ends_with("# default"));

    let by_variable = run(regente(&["config", "--json"]).env("REGENTE_CONFIG", &file)).await.json();
    assert_eq!(by_variable["server.connections_max"]["value"], 5);
}

#[tokio::test]
async fn a_machine_that_knows_no_authorities_runs_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let health = server.url("/health/ready");
    for arguments in [&["doctor"][..], &["clients", "list"], &["health", "--url", &health]] {
        let mut command = regente(arguments);
        command.env("SSL_CERT_FILE", "/nowhere").env("SSL_CERT_DIR", "/nowhere");
        run(command.arg("--data-dir").arg(folder.path())).await.text();
    }
    server.stop().await;
}

#[tokio::test]
async fn every_command_refuses_a_wrong_configuration() {
    let refused = run(regente(&["serve"]).env("REGENTE_SERVER__LISEN", "x")).await;
    let complaint = refused.complaint();
    assert!(
        complaint
            .starts_with("regente: the configuration is wrong: environment variable REGENTE_SERVER__LISEN"),
        "{complaint}"
    );
    let refused = run(&mut regente(&["config", "--set", "mode"])).await;
    assert!(refused.complaint().contains("`mode` is not KEY=VALUE"));
}

#[tokio::test]
async fn production_refuses_to_start_and_says_why_all_at_once() {
    let folder = prepared().await;
    let kek = folder.path().join("kek");
    set_mode(&kek, 0o644);
    let production = |command: &'static str| {
        let mut command = regente(&[command, "--set", "mode=production", "--set", "sandbox.books=memory"]);
        command.args(["--set", "server.listen=127.0.0.1:0"]).arg("--data-dir").arg(folder.path());
        command.env("REGENTE_VAULT__KEK_FILE", &kek);
        command
    };
    let refused = run(&mut production("serve")).await;
    let complaint = refused.complaint();
    assert!(complaint.contains("production mode refuses to start:\n"), "{complaint}");
    assert!(complaint.contains("can be read by others (mode 644)"), "{complaint}");
    assert!(complaint.contains("`sandbox.books` is `memory`"), "{complaint}");

    let mut without_key = production("serve");
    without_key.env_remove("REGENTE_VAULT__KEK_FILE");
    assert!(run(&mut without_key).await.complaint().contains("there is no key-encryption key"));

    let refused = run(production("dev").env_remove("REGENTE_VAULT__KEK_FILE")).await;
    assert!(refused.complaint().contains("`regente dev` is for sandbox mode"));
}

#[tokio::test]
async fn a_credential_of_systemd_is_private_though_an_access_list_opens_it_to_the_service() {
    let folder = prepared().await;
    let kek = folder.path().join("kek");
    let serve = |credentials: &Path| {
        let mut command = regente(&["serve", "--set", "mode=production", "--set", "sandbox.books=memory"]);
        command.args(["--set", "server.listen=127.0.0.1:0"]).arg("--data-dir").arg(folder.path());
        command.env("REGENTE_VAULT__KEK_FILE", &kek).env("CREDENTIALS_DIRECTORY", credentials);
        command
    };
    for (mode, credentials, is_refused) in
        [(0o440, folder.path(), false), (0o444, folder.path(), true), (0o440, Path::new("/elsewhere"), true)]
    {
        set_mode(&kek, mode);
        let refused = run(&mut serve(credentials)).await;
        // The transaction log in memory is refused each time, so that no server starts.
        assert_eq!(refused.complaint().contains("can be read by others"), is_refused, "{}", refused.stderr);
    }
}

#[tokio::test]
async fn production_refuses_a_database_in_which_the_sample_key_works() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let (client_id, kek) = (server.value("REGENTE_CLIENT_ID").to_owned(), folder.path().join("kek"));
    server.stop().await;
    // Without its mark, the file looks like any other key file.
    let text = std::fs::read_to_string(&kek).unwrap();
    std::fs::write(&kek, text.lines().last().unwrap()).unwrap();

    let mut command = regente(&["serve", "--set", "mode=production", "--set", "server.listen=127.0.0.1:0"]);
    command.arg("--data-dir").arg(folder.path()).env("REGENTE_VAULT__KEK_FILE", &kek);
    let refused = run(&mut command).await;
    assert!(
        refused
            .complaint()
            .contains(&format!("the sample key of `regente dev` works for client {client_id}"))
    );
}

#[tokio::test]
async fn commands_work_without_a_server() {
    let folder = prepared().await;
    let client_id = new_client(folder.path()).await;
    let listed = run_on(folder.path(), &["clients", "list"]).await;
    assert!(listed.text().contains(&client_id) && listed.text().contains("Loja Azul"));

    let keys = ["keys", "create", &client_id, "--label", "loja", "--json"];
    let first = run_on(folder.path(), &keys).await.json();
    assert!(first["key"].as_str().unwrap().starts_with("sk_test_"));
    run_on(folder.path(), &keys).await.json();
    let third = run_on(folder.path(), &keys).await;
    assert_eq!(
        third.complaint(),
        "regente: the client has 2 active secret keys already; revoke one first: `regente keys revoke`\n"
    );

    let key_id = first["key_id"].as_str().unwrap();
    run_on(folder.path(), &["keys", "revoke", &client_id, key_id]).await.text();
    let again = run_on(folder.path(), &["keys", "revoke", &client_id, key_id]).await;
    assert!(again.complaint().contains("no active secret key"));
    let listed = run_on(folder.path(), &["keys", "list", &client_id, "--json"]).await.json();
    let revoked: Vec<bool> =
        listed["keys"].as_array().unwrap().iter().map(|key| !key["revoked_at"].is_null()).collect();
    assert_eq!(revoked, [true, false]);
    assert!(!listed.to_string().contains(first["key"].as_str().unwrap()), "a key is shown once");
}

#[tokio::test]
async fn a_command_that_was_pointed_at_the_wrong_place_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    run(regente(&["vault", "new-kek"]).arg(folder.path().join("kek"))).await.text();
    for command in [&["clients", "list"][..], &["doctor"]] {
        let refused = run_on(folder.path(), command).await;
        assert!(refused.complaint().contains("there is no database at"), "{}", refused.stderr);
    }
    assert!(!folder.path().join("regente.db").exists());
}

#[tokio::test]
async fn a_mistyped_path_of_production_makes_no_database() {
    let folder = prepared().await;
    let kek = folder.path().join("kek");
    let nowhere = folder.path().join("nope");
    let url = format!("database.url=sqlite:{}", nowhere.join("x.db").display());
    for mistyped in [&["--data-dir", nowhere.to_str().unwrap()][..], &["--set", &url]] {
        let mut command =
            regente(&["serve", "--set", "mode=production", "--listen", "127.0.0.1:0", "--migrate"]);
        let refused = run(command.args(mistyped).env("REGENTE_VAULT__KEK_FILE", &kek)).await;
        let complaint = refused.complaint();
        let expected = format!("regente: there is no database at {}/", nowhere.display());
        assert!(complaint.contains(&expected), "{complaint}");
        assert!(complaint.ends_with("; `regente migrate` makes one there\n"), "{complaint}");
        assert!(!nowhere.exists(), "nothing is made");
    }
}

#[tokio::test]
async fn a_file_of_something_else_is_no_database() {
    let folder = prepared().await;
    let kek = folder.path().join("kek");
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("empty"), "").unwrap();
    std::fs::write(file("line"), "\n").unwrap();
    std::fs::write(file("text"), "not a database, and longer than the header of one. ".repeat(100)).unwrap();
    let made = |name: &str, sql: &str| Connection::open(file(name)).unwrap().execute_batch(sql).unwrap();
    made("others", "CREATE TABLE shoes (id INTEGER)");
    made("unfilled", "CREATE TABLE schema_migrations (version INTEGER, name TEXT, checksum TEXT)");
    made(
        "rails",
        "CREATE TABLE schema_migrations (version TEXT); INSERT INTO schema_migrations VALUES ('2026')",
    );
    drop(TransactionLog::file(&file("books")).unwrap());
    let empty = ["empty", "line", "unfilled"];
    let on = |name: &str, arguments: &[&str]| {
        let mut command = regente(arguments);
        command.env("REGENTE_DATA_DIR", folder.path());
        command.env("REGENTE_VAULT__KEK_FILE", &kek);
        command.env("REGENTE_DATABASE__URL", format!("sqlite:{}", file(name).display()));
        command
    };
    for name in empty.into_iter().chain(["text", "others", "rails", "books"]) {
        let advice = match empty.contains(&name) {
            true => "`regente migrate` makes its tables there",
            false => "it belongs to something else; name another file",
        };
        let before = std::fs::read(file(name)).unwrap();
        let production = ["serve", "--set", "mode=production", "--listen", "127.0.0.1:0"];
        for arguments in [&production[..], &["serve", "--listen", "127.0.0.1:0", "--migrate"], &["doctor"]] {
            let refused = run(&mut on(name, arguments)).await;
            let expected = format!("regente: {} is no database of this service", file(name).display());
            assert!(refused.complaint().starts_with(&expected), "{name}: {}", refused.stderr);
            assert!(refused.complaint().contains(advice), "{name}: {}", refused.stderr);
        }
        if !empty.contains(&name) {
            let refused = run(&mut on(name, &["migrate"])).await;
            assert!(refused.complaint().contains(advice), "{name}: {}", refused.stderr);
        }
        assert_eq!(std::fs::read(file(name)).unwrap(), before, "{name} is as it was");
    }
    assert!(run(&mut on("empty", &["migrate"])).await.text().starts_with("The schema is at version "));
    run(&mut on("empty", &["clients", "list"])).await.text();
}

#[tokio::test]
async fn outside_its_data_folder_a_command_says_where_it_looked() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("regente-data");
    let advice = format!("(the data folder is {}; `--data-dir` names another,", here.display());
    let in_folder = async |arguments: &[&str]| {
        let refused = run(regente(arguments).current_dir(folder.path())).await;
        let complaint = refused.complaint();
        assert!(complaint.contains(&advice), "{arguments:?}: {complaint}");
        assert!(!complaint.contains("new-kek"), "a new key opens nothing of what is there: {complaint}");
        complaint.to_owned()
    };
    for command in [&["serve"][..], &["doctor"], &["clients", "list"], &["vault", "rotate"]] {
        assert!(in_folder(command).await.contains("there is no database at regente-data/regente.db"));
    }
    assert!(!here.exists());
    // A database whose key is elsewhere.
    run(regente(&["migrate"]).current_dir(folder.path())).await.text();
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["clients", "list"]] {
        assert!(
            in_folder(command).await.contains("`vault.kek_file` regente-data/kek: there is no such file")
        );
    }
}

#[tokio::test]
async fn a_new_key_never_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let kek = folder.path().join("kek");
    run(regente(&["vault", "new-kek"]).arg(&kek)).await.text();
    let before = std::fs::read_to_string(&kek).unwrap();
    assert!(run(regente(&["vault", "new-kek"]).arg(&kek)).await.complaint().contains("exists"));
    assert_eq!(std::fs::read_to_string(&kek).unwrap(), before);
}

#[tokio::test]
async fn commands_go_through_the_server_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    // The socket that a killed server leaves.
    drop(std::os::unix::net::UnixListener::bind(folder.path().join("admin.sock")).unwrap());
    let server = Server::start(folder.path(), &[]).await;
    let socket = folder.path().join("admin.sock");
    assert_eq!(mode(&socket), 0o600);
    let client_id = server.value("REGENTE_CLIENT_ID").to_owned();

    let made = run_on(folder.path(), &["keys", "create", &client_id, "--json"]).await.json();
    let (key, key_id) = (made["key"].as_str().unwrap(), made["key_id"].as_str().unwrap());
    assert_eq!(server.status_with(key).await, 200);
    run_on(folder.path(), &["keys", "revoke", &client_id, key_id]).await.text();
    assert_eq!(server.status_with(key).await, 403);

    let unknown = run_on(folder.path(), &["keys", "list", "0190a7f4-0000-7000-8000-000000000000"]).await;
    assert_eq!(unknown.complaint(), "regente: there is no client 0190a7f4-0000-7000-8000-000000000000\n");
    // This machine's free disk space is not under test.
    assert!(!run_on(folder.path(), &["doctor"]).await.text().contains("FAILURE"));

    let log = server.stop().await;
    assert!(log.contains("command=\"keys create\"") && !log.contains(key), "{log}");
    assert!(!socket.exists());
    assert!(run_on(folder.path(), &["clients", "list"]).await.text().contains(&client_id));
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let second = run_on(folder.path(), &["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(second.complaint().contains("in use by another process"), "{}", second.stderr);
    let client_id = server.value("REGENTE_CLIENT_ID");
    assert!(
        run_on(folder.path(), &["clients", "list"]).await.text().contains(client_id),
        "the socket was taken away"
    );
    server.stop().await;
}

#[tokio::test]
async fn workers_alone_need_postgres() {
    let folder = prepared().await;
    assert!(run_on(folder.path(), &["work"]).await.complaint().contains("`regente work` needs PostgreSQL"));
}

#[tokio::test]
async fn data_keys_rotate_while_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let charge = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    let before = server.post("/v1/charges", &charge).send().await.unwrap();
    let before: serde_json::Value = before.json().await.unwrap();

    assert!(run_on(folder.path(), &["vault", "rotate"]).await.text().contains("is in use"));

    // The stored card is found again, and charged with data sealed under the former key.
    let mut stored = charge.clone();
    stored["paymentSource"] = serde_json::json!({ "sourceType": "card", "cardId": before["paymentSource"]["cardId"], "cardCvv": "600" });
    let after: serde_json::Value =
        server.post("/v1/charges", &stored).send().await.unwrap().json().await.unwrap();
    assert_eq!(after["status"], "authorized", "{after}");
    assert!(run_on(folder.path(), &["doctor"]).await.text().contains("opens the data keys (2 known)"));
    server.stop().await;
}

#[tokio::test]
async fn the_key_encryption_key_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (former, new) = (folder.path().join("kek"), folder.path().join("kek-2"));
    let server = Server::start(folder.path(), &[]).await;
    run(regente(&["vault", "new-kek"]).arg(&new)).await.text();
    let rewrapped = run_on(folder.path(), &["vault", "rotate", "--kek", new.to_str().unwrap()]).await;
    assert!(rewrapped.text().starts_with("1 data keys are under"), "{}", rewrapped.stdout);
    server.stop().await;

    let with_former = run_on(folder.path(), &["clients", "list"]).await;
    assert!(with_former.complaint().contains("is wrapped by key-encryption key"), "{}", with_former.stderr);
    let findings = run_on(folder.path(), &["doctor"]).await;
    assert_eq!(findings.status.code(), Some(1));
    assert!(findings.stdout.contains("FAILURE  keys"), "{}", findings.stdout);

    std::fs::rename(&new, &former).unwrap();
    assert!(run_on(folder.path(), &["clients", "list"]).await.text().contains("Regente dev"));
}

#[tokio::test]
async fn doctor_finds_files_that_others_can_read() {
    let folder = prepared().await;
    assert!(run_on(folder.path(), &["doctor"]).await.text().contains("there is no data key yet"));
    set_mode(&folder.path().join("regente.db"), 0o644);
    let findings = run_on(folder.path(), &["doctor", "--json"]).await;
    assert_eq!(findings.status.code(), Some(1));
    let findings: serde_json::Value = serde_json::from_str(&findings.stdout).unwrap();
    let files = findings["checks"].as_array().unwrap().iter().find(|check| check["name"] == "files").unwrap();
    assert_eq!(files["verdict"], "failure");
    assert!(files["found"].as_str().unwrap().contains("regente.db (mode 644)"));
}

#[tokio::test]
async fn doctor_holds_the_counters_against_the_charges() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    for merchant in ["REGENTE_MERCHANT_ID", "REGENTE_FALLBACK_MERCHANT_ID"] {
        let answer =
            server.post("/v1/charges", &server.charge(merchant, "4916745120294124")).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201);
    }
    let found = run_on(folder.path(), &["doctor"]).await;
    assert!(found.text().contains("agree with the charges; charges: 2, clients: 1"), "{}", found.stdout);
    let client_id = server.value("REGENTE_CLIENT_ID").parse().unwrap();
    let merchant_id = server.value("REGENTE_MERCHANT_ID").parse().unwrap();
    server.stop().await;

    count_one_too_many(&folder.path().join("regente.db"), client_id, merchant_id).await;
    let found = run_on(folder.path(), &["doctor"]).await;
    assert_eq!(found.status.code(), Some(1));
    assert!(found.stdout.contains("FAILURE  counters") && found.stdout.contains("(1)"), "{}", found.stdout);
}

/// Changes a counter without a charge.
async fn count_one_too_many(database: &Path, client_id: ClientId, merchant_id: MerchantId) {
    let store = Store::open(StoreOptions::Sqlite(SqliteOptions::new(database))).await.unwrap();
    let mut batch = Batch::new(client_id);
    let (status, payment_type, provider_type) = ("authorized", "credit", "SANDBOX");
    let key = CounterKey { client_id, hour: 1, merchant_id, status, payment_type, provider_type };
    batch.count(CounterDelta { key, change: 1 });
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    store.close().await;
}

#[tokio::test]
async fn health_asks_the_server_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let listen = format!("server.listen={}", server.address());
    let asked = ["health", "--set", &listen];
    assert!(run(&mut regente(&asked)).await.text().contains("\"status\":\"ready\""));
    let by_url = run(regente(&["health", "--url"]).arg(server.url("/health/live"))).await;
    assert!(by_url.text().contains("live"));
    for base in [server.url(""), server.url("/")] {
        let by_base = run(regente(&["health", "--url", &base]).env("REGENTE_DATA_DIR", "/nowhere")).await;
        assert!(by_base.text().contains("\"status\":\"ready\""), "{base}");
    }
    // Its port was chosen at the start and is in no setting.
    assert!(run_on(folder.path(), &["health"]).await.text().contains("\"status\":\"ready\""));
    let elsewhere = run(regente(&["health", "--url"]).arg(server.url("/v1/nothing"))).await;
    assert_eq!(elsewhere.status.code(), Some(1));
    server.stop().await;
    assert_eq!(run(&mut regente(&asked)).await.status.code(), Some(1));
}
