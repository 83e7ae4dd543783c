//! Keys and tokens of `regente dev apple-pay`, and the settings that name keys.

use std::path::Path;

use serde_json::{Value, json};

use super::prepared;
use crate::support::server::{Server, mode, regente, run, run_on, set_mode};

async fn token(folder: &Path, client_id: &str, more: &[&str]) -> Value {
    let arguments = [&["dev", "apple-pay", "token", client_id, "--amount", "1500"], more].concat();
    run_on(folder, &arguments).await.json()
}

fn charge(server: &Server, token: &Value, currency: &str) -> Value {
    json!({
        "merchantId": server.value("REGENTE_MERCHANT_ID"), "amount": 1500, "currency": currency, "capture": true,
        "paymentMethod": { "paymentType": "apple_pay" },
        "paymentSource": { "sourceType": "wallet", "paymentData": token },
    })
}

#[tokio::test]
async fn dev_takes_the_tokens_that_its_own_keys_sign() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let client_id = server.value("REGENTE_CLIENT_ID").to_owned();
    let key = folder.path().join("apple-pay/merchants").join(&client_id).join("test.pem");
    assert_eq!((mode(&key), mode(&folder.path().join("apple-pay/device.pem"))), (0o600, 0o600));
    let first = std::fs::read(&key).unwrap();
    let sent = charge(&server, &token(folder.path(), &client_id, &[]).await, "BRL");
    let made: Value = server.post("/v1/charges", &sent).send().await.unwrap().json().await.unwrap();
    assert_eq!(made["status"], "authorized", "without a key made by hand: {made}");

    let other = super::new_client(folder.path()).await;
    let missing = run_on(folder.path(), &["dev", "apple-pay", "token", &other, "--amount", "1"]).await;
    assert!(
        missing.complaint().contains("`regente dev apple-pay keys CLIENT_ID` makes it"),
        "{}",
        missing.stderr
    );
    let keys = ["dev", "apple-pay", "keys", &other];
    let made = run_on(folder.path(), &keys).await;
    assert_eq!(made.text(), run_on(folder.path(), &keys).await.text(), "what is there stays");
    token(folder.path(), &other, &[]).await;
    server.stop().await;

    let server = Server::start(folder.path(), &[]).await;
    assert_eq!(std::fs::read(&key).unwrap(), first, "a later start finds it again");
    let number = ["--currency", "USD", "--number", "4895370012000060", "--expiry", "01/2031"];
    let sent = charge(&server, &token(folder.path(), &client_id, &number).await, "USD");
    let made: Value = server.post("/v1/charges", &sent).send().await.unwrap().json().await.unwrap();
    assert_eq!((&made["status"], &made["currency"]), (&json!("authorized"), &json!("USD")), "{made}");
    let log = server.stop().await;
    assert!(!log.contains("PRIVATE KEY") && !log.contains("4895370012000060"));
}

/// The lines of `docs/quickstart.md`, as they are written there; what they send is sent here.
#[tokio::test]
async fn the_payment_of_the_quickstart_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("regente-data"), &[]).await;
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/quickstart.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Apple Pay\n")).unwrap();
    let lines = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let script = format!(r#". regente-data/dev.env; api() {{ printf '%s %s' "$1" "$3"; }}; {lines}"#);
    let binary = Path::new(env!("CARGO_BIN_EXE_regente")).parent().unwrap().display();
    let mut shell = tokio::process::Command::new("sh");
    shell.env("PATH", format!("{binary}:{}", std::env::var("PATH").unwrap()));
    let ran = run(shell.current_dir(folder.path()).args(["-euc", &script])).await;
    let (url, body) = ran.text().split_once(' ').unwrap();
    assert_eq!(url, server.url("/v1/charges"));
    let body: Value = serde_json::from_str(body).unwrap();
    let made: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    assert_eq!(made["status"], "authorized", "{made}");
    assert_eq!(made["paymentMethod"]["paymentType"], "apple_pay");
    server.stop().await;
}

#[tokio::test]
async fn keys_that_cannot_be_used_stop_the_start() {
    let folder = prepared().await;
    let client_id = super::new_client(folder.path()).await;
    run_on(folder.path(), &["dev", "apple-pay", "keys", &client_id]).await.text();
    let own = folder.path().join("apple-pay");
    let key = own.join("merchants").join(&client_id).join("test.pem");
    let serve = async |more: &[&str]| {
        let root = format!("apple_pay.root_certificate_file={}", own.join("root.pem").display());
        let merchants = format!("apple_pay.merchants_dir={}", own.join("merchants").display());
        let mut command = regente(&["serve", "--set", &root, "--set", &merchants]);
        command.args(more).arg("--data-dir").arg(folder.path());
        run(&mut command).await.complaint().to_owned()
    };
    let alone = regente(&["config", "--set", "apple_pay.merchants_dir=x"]);
    let complaint = run(&mut { alone }).await.complaint().to_owned();
    assert!(
        complaint
            .contains("`apple_pay.merchants_dir` and `apple_pay.root_certificate_file` must be set together")
    );
    let old = run(&mut regente(&["config", "--set", "apple_pay.token_age_seconds_max=86401"])).await;
    assert!(old.complaint().contains("must be 1 to 86400 seconds"), "{}", old.stderr);

    let production = serve(&["--set", "mode=production", "--set", "server.listen=127.0.0.1:0"]).await;
    assert!(production.contains("was made by `regente dev apple-pay keys`"), "{production}");
    set_mode(&key, 0o644);
    let production = serve(&["--set", "mode=production", "--set", "server.listen=127.0.0.1:0"]).await;
    assert!(production.contains("test.pem can be read by others (mode 644)"), "{production}");

    let text = std::fs::read_to_string(&key).unwrap();
    let free = ["--set", "server.listen=127.0.0.1:0"];
    std::fs::write(&key, text.split("-----BEGIN PRIVATE").next().unwrap()).unwrap();
    let complaint = serve(&free).await;
    assert!(complaint.contains("test.pem: holds no private key in PEM"), "{complaint}");
    std::fs::write(&key, &text).unwrap();

    let other = super::new_client(folder.path()).await;
    std::fs::create_dir(own.join("merchants").join(&other)).unwrap();
    let copy = own.join("merchants").join(&other).join("copy.pem");
    std::fs::write(&copy, &text).unwrap();
    let complaint = serve(&free).await;
    assert!(complaint.contains("have the same key: a token would pay in both"), "{complaint}");
    assert!(complaint.contains(&client_id) && complaint.contains(&other), "{complaint}");
    std::fs::remove_file(copy).unwrap();
    std::fs::write(own.join("merchants/stray.pem"), "").unwrap();
    let complaint = serve(&free).await;
    assert!(complaint.contains("stray.pem: must be a folder that is named by a client id"), "{complaint}");
}
