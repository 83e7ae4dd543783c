//! The server that is typed by the provider's official package, and a front before it that plays faults.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use regente_domain::provider_type::ProviderType;
use regente_providers::http_client::{HttpClient, HttpOptions};
use regente_providers::pagarme_v5;
use regente_providers::provider::Providers;
use reqwest::Url;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The provider. It ends with the test.
pub(super) struct Judge {
    process: Child,
    // Its end tells the process to end, also when the test is killed.
    _stdin: ChildStdin,
    port: u16,
}

impl Judge {
    pub(super) fn start() -> Self {
        let mut process = Command::new("node")
            .arg("server.cjs")
            .current_dir(installed())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let stdin = process.stdin.take().unwrap();
        Self { process, _stdin: stdin, port: port.trim().parse().unwrap() }
    }

    pub(super) fn providers(&self) -> Providers {
        providers(self.port)
    }

    /// What the package's schemas did not take, or did not know.
    pub(super) async fn complaints(&self) -> Value {
        self.get("complaints").await["complaints"].take()
    }

    /// How often each operation had an effect.
    pub(super) async fn effects(&self) -> (i64, i64, i64) {
        let seen = self.get("seen").await;
        let count = |name: &str| seen[name].as_i64().unwrap();
        (count("orders"), count("captures"), count("cancels"))
    }

    /// The bodies of all notifications so far.
    pub(super) async fn notifications(&self) -> Vec<Value> {
        self.get("notifications").await.as_array().unwrap().clone()
    }

    /// Makes something happen: `pay/ch_…`.
    pub(super) async fn does(&self, what: &str) {
        let url = format!("http://127.0.0.1:{}/judge/{what}", self.port);
        assert!(reqwest::Client::new().post(url).send().await.unwrap().status().is_success());
    }

    async fn get(&self, what: &str) -> Value {
        let url = format!("http://127.0.0.1:{}/judge/{what}", self.port);
        let value: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        if what == "complaints" { serde_json::json!({ "complaints": value }) } else { value }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The adapter, with the provider at this port.
pub(super) fn providers(port: u16) -> Providers {
    let base = Url::parse(&format!("http://127.0.0.1:{port}/core/v5")).unwrap();
    let http = HttpClient::new(HttpOptions::default());
    let providers = Providers::with([pagarme_v5::adapter(http, Some(base))]);
    assert!(providers.has_adapter(ProviderType::PagarmeV5));
    providers
}

fn installed() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let script = root.join("scripts/judges/pagarme_v5");
        assert!(Command::new(script).status().unwrap().success(), "the judge cannot be installed");
        root.join("target/judges/pagarme_v5")
    })
}

/// What happens to a request on its way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    None,
    /// The connection breaks before the provider sees the request.
    CutBefore,
    /// The provider's answer is lost.
    CutAfter,
    /// The provider does nothing and answers with an error of this status.
    Status(u16),
    /// The provider does it and answers with an error of this status.
    StatusAfter(u16),
    /// The provider sees nothing of it: a firewall answers with this status.
    Page(u16),
    /// The provider does it, and a firewall answers with this status.
    PageAfter(u16),
    /// The provider does it, and its answer cannot be read.
    Garbage,
    /// The request arrives twice.
    Twice,
    /// It is never answered.
    Hang,
}

/// An error as the provider writes it.
const ERROR: &str = r#"{"message":"A text."}"#;

/// A server between the adapter and the judge.
pub(super) struct Front {
    pub(super) port: u16,
    faults: Arc<Mutex<VecDeque<Fault>>>,
    arrived: Arc<Notify>,
}

impl Front {
    pub(super) async fn before(judge: &Judge) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let faults = Arc::new(Mutex::new(VecDeque::new()));
        let arrived = Arc::new(Notify::new());
        let (queue, seen, behind) = (faults.clone(), arrived.clone(), judge.port);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(client, behind, queue.clone(), seen.clone()));
            }
        });
        Self { port, faults, arrived }
    }

    pub(super) fn providers(&self) -> Providers {
        providers(self.port)
    }

    /// What happens to the next requests, one after the other; nothing to those after them.
    pub(super) fn next(&self, faults: &[Fault]) {
        let mut queue = self.faults.lock().unwrap();
        assert!(queue.is_empty(), "faults are left: {queue:?}");
        queue.extend(faults);
    }

    /// Waits until a request has arrived.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }
}

async fn serve(
    mut client: TcpStream,
    behind: u16,
    faults: Arc<Mutex<VecDeque<Fault>>>,
    arrived: Arc<Notify>,
) {
    let Some(request) = message(&mut client).await else { return };
    let fault = faults.lock().unwrap().pop_front().unwrap_or(Fault::None);
    arrived.notify_one();
    let answer = match fault {
        Fault::CutBefore => return,
        Fault::Status(status) => own(status, ERROR),
        Fault::Page(status) => own(status, "<html>"),
        Fault::PageAfter(status) => {
            forward(&request, behind).await;
            own(status, "<html>")
        }
        Fault::Hang => return std::future::pending().await,
        Fault::CutAfter => {
            forward(&request, behind).await;
            return;
        }
        Fault::StatusAfter(status) => {
            forward(&request, behind).await;
            own(status, ERROR)
        }
        Fault::Garbage => {
            forward(&request, behind).await;
            own(200, "<html>")
        }
        Fault::Twice => {
            forward(&request, behind).await;
            forward(&request, behind).await
        }
        Fault::None => forward(&request, behind).await,
    };
    let _ = client.write_all(&answer).await;
}

fn own(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// Each connection has one request, so that a fault hits exactly one.
async fn forward(request: &[u8], behind: u16) -> Vec<u8> {
    let mut judge = TcpStream::connect(("127.0.0.1", behind)).await.unwrap();
    judge.write_all(request).await.unwrap();
    let answer = message(&mut judge).await.unwrap();
    let head = String::from_utf8_lossy(&answer).replacen("Connection: keep-alive", "Connection: close", 1);
    head.into_bytes()
}

/// A request or an answer: its head, and as much body as the head says.
async fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some(bytes);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
