//! `regente dev` as the real binary, and the lifecycle of a server process.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::server::{Server, mode, regente, run, run_on};

/// Longer than anything that a test waits for.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn everything_is_made_private_and_printed() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("below").join("regente-data");
    let server = Server::start(&folder, &[]).await;
    assert_eq!(mode(&folder), 0o700);
    for name in ["dev.env", "kek", "regente.db", "sandbox-books.db", "admin.sock"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    let names: Vec<&str> = server.values.keys().map(String::as_str).collect();
    let expected = [
        "REGENTE_API_KEY",
        "REGENTE_CLIENT_ID",
        "REGENTE_DATA_DIR",
        "REGENTE_FALLBACK_MERCHANT_ID",
        "REGENTE_MERCHANT_ID",
        "REGENTE_URL",
    ];
    assert_eq!(names, expected);
    for value in server.values.values() {
        assert!(server.introduction.contains(value), "{value} is not printed");
    }
    assert_eq!(server.value("REGENTE_DATA_DIR"), folder.to_str().unwrap());
    let database = std::fs::read(folder.join("regente.db")).unwrap();
    let key = server.value("REGENTE_API_KEY").as_bytes();
    assert!(!database.windows(key.len()).any(|window| window == key), "the key rests in the database");
    let log = server.stop().await;
    assert!(log.contains("signal=\"SIGTERM\"") && log.contains("stopped"), "{log}");
}

#[tokio::test]
async fn started_again_it_has_the_same_account() {
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start(folder.path(), &[]).await;
    let charge = first.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    let made: Value = first.post("/v1/charges", &charge).send().await.unwrap().json().await.unwrap();
    let before = first.values.clone();
    first.signal(Signal::KILL);
    assert!(!first.ended().await.0.success());

    // The same without the file: the account is in the database, and the key is derived from the key-encryption key.
    std::fs::remove_file(folder.path().join("dev.env")).unwrap();
    let second = Server::start(folder.path(), &[]).await;
    for name in
        ["REGENTE_CLIENT_ID", "REGENTE_API_KEY", "REGENTE_MERCHANT_ID", "REGENTE_FALLBACK_MERCHANT_ID"]
    {
        assert_eq!(second.value(name), before[name], "{name}");
    }
    let path = format!("/v1/charges/{}", made["id"].as_str().unwrap());
    let read: Value = second.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!(read, made);
    second.stop().await;
}

/// Whoever has taken the values may call the command line from any folder.
#[tokio::test]
async fn its_file_leads_the_command_line_to_it() {
    let folder = tempfile::Builder::new().prefix("a sandbox").tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let mut shell = tokio::process::Command::new("sh");
    shell.current_dir(elsewhere.path()).args(["-euc", r#". "$1/dev.env" && exec "$2" clients list"#, "sh"]);
    let ran = run(shell.arg(folder.path()).arg(env!("CARGO_BIN_EXE_regente"))).await;
    assert!(ran.text().contains(server.value("REGENTE_CLIENT_ID")), "{}", ran.stdout);
    server.stop().await;
}

/// The answer to a wrong key says nothing; in a sandbox the log does. The first start migrates, and says it in one line.
#[tokio::test]
async fn the_log_says_which_header_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let (account, key) = (server.value("REGENTE_CLIENT_ID"), server.value("REGENTE_API_KEY"));
    let stranger = "0198f0c0-0000-7000-8000-000000000001";
    for (headers, status, told) in [
        (vec![("x-api-key", key)], 401, "X-Client-Id is missing"),
        (vec![("x-client-id", "me"), ("x-api-key", key)], 401, "X-Client-Id must be a UUID"),
        (
            vec![("x-client-id", stranger), ("x-api-key", key)],
            401,
            "X-Client-Id names no account of this deployment",
        ),
        (vec![("x-client-id", account)], 403, "X-Api-Key is missing"),
        (vec![("x-client-id", account), ("x-api-key", "")], 403, "X-Api-Key must not be empty"),
        (
            vec![("x-client-id", account), ("x-api-key", key), ("x-api-key", key)],
            403,
            "X-Api-Key must be given once",
        ),
        (
            vec![("x-client-id", account), ("x-api-key", "another-key")],
            403,
            "X-Api-Key is no key of the account that X-Client-Id names",
        ),
    ] {
        let mut request = server.http.get(server.url("/v1/merchants"));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        assert_eq!(request.send().await.unwrap().status(), status, "{told}");
        server.until_logged(&format!("a caller is refused: {told}")).await;
    }
    let log = server.stop().await;
    assert!(!log.contains("another-key"), "{log}");
    assert_eq!(log.lines().filter(|line| line.contains("migrat")).count(), 1, "{log}");
}

#[tokio::test]
async fn the_fallback_merchant_falls_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let attempts = async |merchant: &str| {
        let charge = server.charge(merchant, "4916745120294124");
        let charge: Value = server.post("/v1/charges", &charge).send().await.unwrap().json().await.unwrap();
        assert_eq!(charge["status"], "authorized", "{charge}");
        let requests = charge["transactionRequests"].as_array().unwrap().clone();
        let words = |request: &Value| {
            let declined = request["providerError"]["declinedCode"].as_str().unwrap_or_default();
            format!("{} {declined}", request["requestStatus"].as_str().unwrap())
        };
        requests.iter().map(words).collect::<Vec<_>>()
    };
    assert_eq!(attempts("REGENTE_MERCHANT_ID").await, ["success "]);
    assert_eq!(attempts("REGENTE_FALLBACK_MERCHANT_ID").await, ["success ", "failed try_again"]);
    server.stop().await;
}

#[tokio::test]
async fn the_printed_lines_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let pasted = server.introduction.split("Take the values:").nth(1).unwrap();
    let lines: String =
        pasted.lines().filter(|line| line.starts_with("  ")).map(|line| format!("{line}\n")).collect();
    // The last line is completed by the flags with the keys.
    let keys = "-H \"X-Client-Id: $REGENTE_CLIENT_ID\" -H \"X-Api-Key: $REGENTE_API_KEY\"";
    let output =
        tokio::process::Command::new("sh").args(["-euc", &format!("{lines} {keys}")]).output().await.unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stdout}{stderr}");
    let answers: Vec<&str> = stdout.lines().collect();
    let [token, charge, refunded, explained, listed] = answers.as_slice() else { panic!("{stdout}{stderr}") };
    assert_eq!(token.len(), 36);
    assert!(
        charge.contains("\"status\":\"authorized\"") && charge.contains("\"declinedCode\":\"try_again\"")
    );
    assert!(refunded.contains("\"amount\":1000") && !refunded.contains("tokenId"), "the token is not kept");
    assert!(explained.contains("BRL 5.00 given back, BRL 10.00 left"), "{explained}");
    assert!(listed.contains("\"totalItems\":1"), "{listed}");
    server.stop().await;
}

#[tokio::test]
async fn data_without_its_key_is_not_given_another_one() {
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).await.stop().await;
    std::fs::remove_file(folder.path().join("kek")).unwrap();
    let refused = run_on(folder.path(), &["dev", "--listen", "127.0.0.1:0"]).await;
    assert!(refused.complaint().contains("the data beside it cannot be opened"), "{}", refused.stderr);
    assert!(!folder.path().join("kek").exists());
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = run_on(folder.path(), &["dev", "--listen", &address]).await;
    let expected = format!(
        "regente: {address} is in use by another process; choose another port with `--listen ADDR:PORT`"
    );
    assert!(refused.complaint().starts_with(&expected), "{}", refused.stderr);
    assert!(!folder.path().join("kek").exists(), "a start that fails leaves nothing");
}

#[tokio::test]
async fn a_caller_that_sends_no_headers_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--set", "server.header_timeout_ms=200"]).await;
    for begun in ["", "P", "PRI * HTTP/2.0\r\n", "GET / HTTP/1.1\r\nHost: x\r\n"] {
        let mut connection = TcpStream::connect(server.address()).await.unwrap();
        connection.write_all(begun.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let ended = timeout(SOON, connection.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{begun:?} holds a connection for ever");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_head_has_a_largest_size() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let long =
        |length: usize| format!("/health/live HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "a".repeat(length));
    let many = format!("/health/live HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: a\r\n".repeat(120));
    let address = format!("/{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(9000));
    for (head, status) in [(long(4000), "200"), (long(9000), "431"), (many, "431"), (address, "431")] {
        let mut connection = TcpStream::connect(server.address()).await.unwrap();
        connection.write_all(format!("GET {head}").as_bytes()).await.unwrap();
        let mut answer = vec![0; 4096];
        let length = timeout(SOON, connection.read(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn connections_past_the_limit_are_told_to_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--set", "server.connections_max=1"]).await;
    let ask = async |connection: &mut TcpStream| {
        connection.write_all(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = vec![0; 4096];
        let length = timeout(SOON, connection.read(&mut answer)).await.unwrap().unwrap();
        String::from_utf8_lossy(&answer[..length]).to_lowercase()
    };
    let mut first = TcpStream::connect(server.address()).await.unwrap();
    assert!(ask(&mut first).await.starts_with("http/1.1 200"));
    let mut second = TcpStream::connect(server.address()).await.unwrap();
    let answer = ask(&mut second).await;
    assert!(answer.starts_with("http/1.1 503") && answer.contains("retry-after: 1"), "{answer}");
    assert!(ask(&mut first).await.starts_with("http/1.1 200"), "those who were there are still served");
    drop(first);
    timeout(SOON, async {
        loop {
            let mut third = TcpStream::connect(server.address()).await.unwrap();
            if ask(&mut third).await.starts_with("http/1.1 200") {
                return;
            }
        }
    })
    .await
    .unwrap();
    server.stop().await;
}

#[tokio::test]
async fn http_2_is_spoken() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    // The preface, and an empty SETTINGS frame (RFC 9113 §3.4): the server answers with its own SETTINGS.
    connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut frame = [0; 9];
    timeout(SOON, connection.read_exact(&mut frame)).await.unwrap().unwrap();
    assert_eq!(frame[3], 4, "{frame:?}");
    // Otherwise the stop would wait for this silent connection.
    drop(connection);
    server.stop().await;
}

#[tokio::test]
async fn the_log_for_programs_has_request_ids_and_no_card_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::start(folder.path(), &["--set", "log.format=json", "--set", "log.level=trace"]).await;
    let charge = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    let answer =
        server.post("/v1/charges", &charge).header("x-request-id", "my-request-1").send().await.unwrap();
    assert_eq!(answer.headers()["x-request-id"], "my-request-1");
    let strange =
        server.get("/v1/charges?orderId=4916745120294124").header("x-request-id", "4916745120294124");
    strange.send().await.unwrap();

    let log = server.stop().await;

    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answered = |id: &str| {
        lines.iter().any(|line| line["span"]["request_id"] == id && line["message"] == "request answered")
    };
    assert!(answered("my-request-1"), "{log}");
    assert!(answered("[card 491674…4124]"), "{log}");
    assert!(!log.contains("4916745120294124"), "a card number is in the log");
}

#[tokio::test]
async fn dev_is_a_sandbox_on_an_embedded_database() {
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        regente(&["dev", "--listen", "127.0.0.1:0", "--set", "database.url=postgres://u@127.0.0.1:1/d"]);
    let refused = run(command.arg("--data-dir").arg(folder.path())).await;
    assert!(refused.complaint().contains("`regente dev` uses an embedded database"), "{}", refused.stderr);
}
