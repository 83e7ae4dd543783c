//! HTTPS: a real client, certificates that are replaced while it is connected, and slow callers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::StatusCode;
use reqwest::tls::{Certificate, TlsInfo};
use rustix::process::Signal;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::support::metrics::{metric, metrics_setting, until_calls_in_flight};
use crate::support::server::{LOOK_EVERY, Server, regente, run, run_on, set_mode};

/// Longer than anything that a test waits for.
const SOON: Duration = Duration::from_secs(20);

/// A self-signed certificate and its key.
struct Pair {
    certificate: String,
    key: String,
    der: CertificateDer<'static>,
}

impl Pair {
    fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        Self { certificate: cert.pem(), key: signing_key.serialize_pem(), der: cert.der().clone() }
    }
}

/// The two files of a server.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn new(folder: &Path, pair: &Pair) -> Self {
        let files = Self { certificate: folder.join("tls.crt"), key: folder.join("tls.key") };
        files.write(&pair.certificate, &pair.key);
        set_mode(&files.key, 0o600);
        files
    }

    /// Writes one after the other, as a renewal does.
    fn write(&self, certificate: &str, key: &str) {
        std::fs::write(&self.certificate, certificate).unwrap();
        std::fs::write(&self.key, key).unwrap();
    }

    fn settings(&self) -> [String; 2] {
        [
            format!("server.tls_certificate_file={}", self.certificate.display()),
            format!("server.tls_key_file={}", self.key.display()),
        ]
    }
}

async fn start(folder: &Path, files: &Files, more: &[&str]) -> Server {
    let [certificate, key] = files.settings();
    let mut arguments = vec!["--set", certificate.as_str(), "--set", key.as_str()];
    for setting in more {
        arguments.extend(["--set", setting]);
    }
    Server::start(folder, &arguments).await
}

/// A client with connections of its own.
fn client(trusted: &[&Pair]) -> reqwest::Client {
    let roots = trusted.iter().map(|pair| Certificate::from_pem(pair.certificate.as_bytes()).unwrap());
    reqwest::Client::builder().no_proxy().tls_info(true).tls_certs_only(roots).build().unwrap()
}

/// Sends a request; returns the certificate that the server showed on this connection.
async fn certificate_shown(client: &reqwest::Client, server: &Server) -> Vec<u8> {
    let answer = client.get(server.url("/health/live")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let certificate = answer.extensions().get::<TlsInfo>().unwrap().peer_certificate().unwrap().to_vec();
    // Read to the end, so that the connection is reused.
    answer.bytes().await.unwrap();
    certificate
}

#[tokio::test]
async fn a_certificate_is_replaced_while_clients_are_connected() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Pair::new(), Pair::new());
    let files = Files::new(folder.path(), &first);
    let server = start(folder.path(), &files, &[]).await;
    assert!(server.value("REGENTE_URL").starts_with("https://"));
    let trusted = [&first, &second];
    let old = client(&trusted);
    assert_eq!(certificate_shown(&old, &server).await, first.der.as_ref());

    files.write(&second.certificate, &second.key);

    timeout(SOON, async {
        while certificate_shown(&client(&trusted), &server).await != second.der.as_ref() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(
        certificate_shown(&old, &server).await,
        first.der.as_ref(),
        "the connection that was there still works, on its own certificate"
    );
    let charge = server.charge("REGENTE_MERCHANT_ID", "4916745120294124");
    let request = server.post("/v1/charges", &charge).build().unwrap();
    assert_eq!(old.execute(request).await.unwrap().status(), StatusCode::CREATED);
    let only_the_first = client(&[&first]);
    assert!(only_the_first.get(server.url("/health/live")).send().await.is_err(), "it is the new one");
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_be_used_changes_nothing() {
    const REFUSED: &str = "a new certificate cannot be used; the former one stays";
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Pair::new(), Pair::new());
    let files = Files::new(folder.path(), &first);
    let server = start(folder.path(), &files, &[]).await;

    // A certificate that does not match the key, as between the two steps of a renewal.
    files.write(&second.certificate, &first.key);
    server.until_logged(REFUSED).await;
    assert_eq!(certificate_shown(&client(&[&first]), &server).await, first.der.as_ref());
    // Each problem is logged once, unless SIGHUP asks again.
    server.signal(Signal::HUP);
    server.until_logged_times(REFUSED, 2).await;
    for (certificate, key, complaint) in [
        ("no certificate", first.key.as_str(), "tls.crt holds no certificate in PEM"),
        (first.certificate.as_str(), "no key", "tls.key holds no private key in PEM"),
    ] {
        files.write(certificate, key);
        server.until_logged(complaint).await;
        assert_eq!(certificate_shown(&client(&[&first]), &server).await, first.der.as_ref());
    }
    std::fs::remove_file(&files.certificate).unwrap();
    server.until_logged("tls.crt cannot be read").await;
    assert_eq!(certificate_shown(&client(&[&first]), &server).await, first.der.as_ref());

    files.write(&second.certificate, &second.key);
    server.until_logged("the certificate of the server was read again").await;
    assert_eq!(certificate_shown(&client(&[&second]), &server).await, second.der.as_ref());
    let log = server.stop().await;
    assert!(!log.contains("PRIVATE KEY"), "{log}");
}

#[tokio::test]
async fn what_cannot_be_used_at_the_start_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Pair::new(), Pair::new());
    let files = Files::new(folder.path(), &first);
    let [certificate, key] = files.settings();
    let start = async |settings: &[&str]| {
        let mut arguments = vec!["dev", "--listen", "127.0.0.1:0"];
        arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        run_on(folder.path(), &arguments).await
    };
    let alone = start(&[&certificate]).await;
    assert!(alone.complaint().contains("must be set together"), "{}", alone.stderr);
    files.write(&first.certificate, &second.key);
    let mismatch = start(&[&certificate, &key]).await;
    assert!(
        mismatch.complaint().contains("the certificate and its key cannot be used"),
        "{}",
        mismatch.stderr
    );
    assert!(!folder.path().join("kek").exists(), "a start that fails leaves nothing");

    files.write(&first.certificate, &first.key);
    set_mode(&files.key, 0o644);
    let mut production =
        regente(&["serve", "--set", "mode=production", "--set", &certificate, "--set", &key]);
    let refused = run(production.arg("--data-dir").arg(folder.path())).await;
    let complaint = refused.complaint();
    assert!(complaint.contains("`server.tls_key_file`") && complaint.contains("mode 644"), "{complaint}");
}

/// Makes a handshake that offers these protocols.
async fn shake_hands(server: &Server, trusted: &Pair, protocols: &[&str]) -> TlsStream<TcpStream> {
    connect(server, trusted, protocols, rustls::DEFAULT_VERSIONS).await.unwrap()
}

async fn connect(
    server: &Server,
    trusted: &Pair,
    protocols: &[&str],
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
}

#[tokio::test]
async fn both_protocols_are_spoken_on_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new();
    let files = Files::new(folder.path(), &pair);
    let server = start(folder.path(), &files, &[]).await;
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut stream = connect(&server, &pair, &["h2", "http/1.1"], &[version]).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        // The preface in two pieces, and an empty SETTINGS frame: the server answers with its own SETTINGS.
        stream.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
        stream.flush().await.unwrap();
        stream.write_all(b"\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
        let mut frame = [0; 9];
        timeout(SOON, stream.read_exact(&mut frame)).await.unwrap().unwrap();
        assert_eq!(frame[3], 4, "{frame:?}");

        let mut stream = connect(&server, &pair, &[], &[version]).await.unwrap();
        stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        timeout(SOON, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn callers_that_waste_time_are_cut_off_behind_the_handshake_too() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new();
    let files = Files::new(folder.path(), &pair);
    let server = start(folder.path(), &files, &["server.header_timeout_ms=200"]).await;
    // A handshake without content, and bytes that are no TLS record.
    for begun in [b"".as_slice(), b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n"] {
        let mut connection = TcpStream::connect(server.address()).await.unwrap();
        connection.write_all(begun).await.unwrap();
        let mut rest = Vec::new();
        let ended = timeout(SOON, connection.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{begun:?} holds a connection for ever");
    }
    for begun in ["", "P", "PRI * HTTP/2.0\r\n", "GET / HTTP/1.1\r\nHost: x\r\n"] {
        let mut stream = shake_hands(&server, &pair, &[]).await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let ended = timeout(SOON, stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{begun:?} holds a connection for ever");
    }
    server.stop().await;
}

#[tokio::test]
async fn connections_past_the_limit_are_told_to_come_back_and_what_has_begun_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new();
    let files = Files::new(folder.path(), &pair);
    let (port, metrics) = metrics_setting();
    let server = start(folder.path(), &files, &["server.connections_max=1", &metrics]).await;
    let (first, second) = (client(&[&pair]), client(&[&pair]));
    certificate_shown(&first, &server).await;
    let refused = second.get(server.url("/health/live")).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(metric(port.address(), "regente_connections_refused_total").await, 1.0);
    // The first connection and this request's own; the others take a moment to close.
    timeout(SOON, async {
        while metric(port.address(), "regente_connections_open").await != 2.0 {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
    .await
    .unwrap();

    // The simulator does not answer for this card: the call takes two seconds.
    let slow = server.charge("REGENTE_MERCHANT_ID", "4485401945979546");
    let request = server.post("/v1/charges", &slow).build().unwrap();
    let running = tokio::spawn(async move { first.execute(request).await });
    until_calls_in_flight(port.address(), 1).await;
    server.signal(Signal::TERM);
    let answer = running.await.unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert!(answer.json::<Value>().await.unwrap()["id"].is_string());
    let (status, log) = server.ended().await;
    assert!(status.success() && !log.contains("has not ended in time"), "{log}");
}
