//! A provider of type `STRIPE` on this machine: it approves every payment with the body of a recorded one, in a process of
//! its own, so that what it costs is neither the service's nor the load's. It keeps nothing, and knows no other requests
//! than those of a card charge.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use url::form_urlencoded;

use super::received::{header, request};
use crate::Outcome;
use crate::service::Process;

/// The task that serves.
pub(crate) const COMMAND: &str = "stripe-loopback";

/// A merchant's key is this, and then how many milliseconds the provider takes for each of its payments.
const KEY_PREFIX: &str = "sk_test_";
/// A payment as the provider answers it.
const RECORDED: &str = include_str!("../../../crates/providers/tests/it/stripe/bodies/payment_intent.json");
/// What stands in the recorded payment, and the member of the form whose value takes its place. Amounts first: an id that
/// has taken its place already may have the same digits.
const REPEATED: [(&str, &str); 5] = [
    ("1500", "amount"),
    // Each payment has an id of its own.
    ("3SQ", "metadata[regente_key]"),
    ("01980000-0000-7000-8000-000000000001", "metadata[regente_key]"),
    ("01980000-0000-7000-8000-000000000009", "metadata[regente_object_id]"),
    ("order-7", "metadata[order_id]"),
];
const BALANCE: &str = r#"{ "object": "balance", "livemode": false }"#;
const NO_SUCH_PATH: &str = r#"{ "error": { "type": "invalid_request_error", "message": "no such path" } }"#;

/// The running provider.
pub(super) struct StripeLoopback {
    process: Process,
    /// Its address.
    pub(super) url: String,
}

impl StripeLoopback {
    /// Starts it.
    pub(super) fn start() -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = Process::spawn(command.arg(COMMAND).stdout(Stdio::piped()))?;
        let printed = process.take_stdout().ok_or("the output of the provider is not read")?;
        let mut url = String::new();
        match BufReader::new(printed).read_line(&mut url)? {
            0 => Err("the provider ended at its start".into()),
            _ => Ok(Self { process, url: url.trim_end().to_owned() }),
        }
    }

    /// The process.
    pub(super) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The providers of a merchant whose payments are answered after this time.
    pub(super) fn answering_after(delay_ms: u64) -> Value {
        let secret_key = format!("{KEY_PREFIX}{delay_ms}");
        json!([{
            "name": "Loopback", "priority": 1,
            "credentials": { "type": "STRIPE", "secretKey": secret_key },
        }])
    }
}

/// Serves on a free port until the process is ended; prints its address first.
pub(crate) async fn serve() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer_all(stream));
    }
}

/// Serves one connection until the service closes it.
async fn answer_all(mut stream: TcpStream) {
    // An answer is written at once.
    let _ = stream.set_nodelay(true);
    let mut received = Vec::with_capacity(4 * 1024);
    while let Some((head_bytes, bytes)) = request(&mut stream, &mut received).await {
        let (answer, delay) = {
            let head = String::from_utf8_lossy(&received[..head_bytes]);
            answer(&head, &received[head_bytes..bytes])
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        received.drain(..bytes);
    }
}

/// The answer to a request, and how long the provider takes for it.
fn answer(head: &str, body: &[u8]) -> (String, Duration) {
    let mut line = head.split_ascii_whitespace();
    match (line.next(), line.next()) {
        (Some("POST"), Some("/v1/payment_intents")) => (with_head("200 OK", &payment(body)), delay(head)),
        // Any key will do.
        (Some("GET"), Some("/v1/balance")) => (with_head("200 OK", BALANCE), Duration::ZERO),
        (_, _) => (with_head("404 Not Found", NO_SUCH_PATH), Duration::ZERO),
    }
}

fn with_head(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The recorded payment with the amount and the metadata of this one.
fn payment(form: &[u8]) -> String {
    let form: HashMap<Cow<'_, str>, Cow<'_, str>> = form_urlencoded::parse(form).collect();
    let repeated = REPEATED.iter().filter_map(|(recorded, member)| Some((*recorded, form.get(*member)?)));
    repeated.fold(RECORDED.to_owned(), |body, (recorded, value)| body.replace(recorded, value))
}

/// What the merchant's key says.
fn delay(head: &str) -> Duration {
    let key = header(head, "authorization").and_then(|value| value.strip_prefix("Bearer "));
    let delay_ms = key.and_then(|key| key.strip_prefix(KEY_PREFIX)).and_then(|ms| ms.parse().ok());
    Duration::from_millis(delay_ms.unwrap_or(0))
}
