//! The merchant's endpoint: accepts every event and counts how often each has arrived, with as little HTTP as that
//! needs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::Outcome;

/// Most bytes of a head and a body together.
const REQUEST_BYTES_MAX: usize = 512 * 1024;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/// The header with the event's id, the same in each attempt.
const EVENT_HEADER: &str = "x-idempotency-key";

/// An endpoint.
pub(super) struct Receiver {
    /// Where it listens.
    pub(super) url: String,
    got: Arc<Mutex<HashMap<String, u64>>>,
}

impl Receiver {
    pub(super) async fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let receiver = Self { url, got: Arc::default() };
        let got = Arc::clone(&receiver.got);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&got)));
            }
        });
        Ok(receiver)
    }

    /// Whether an event has arrived.
    pub(super) fn has(&self, event_id: &str) -> bool {
        lock(&self.got).contains_key(event_id)
    }

    /// Number of events, and of repeated deliveries.
    pub(super) fn count(&self) -> (u64, u64) {
        let got = lock(&self.got);
        let (events, deliveries) = (got.len() as u64, got.values().sum::<u64>());
        (events, deliveries - events)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request after the other, until the sender closes or breaks the connection.
async fn serve(mut stream: TcpStream, got: Arc<Mutex<HashMap<String, u64>>>) {
    let mut buffer = Vec::new();
    loop {
        let whole = loop {
            if let Some(whole) = request(&buffer) {
                break whole;
            }
            let is_too_much = buffer.len() > REQUEST_BYTES_MAX;
            match stream.read_buf(&mut buffer).await {
                Ok(read) if read > 0 && !is_too_much => {}
                Ok(_) | Err(_) => return,
            }
        };
        // Count before answering: a counted event may arrive again, but an answered one must be counted.
        *lock(&got).entry(whole.event_id).or_insert(0) += 1;
        buffer.drain(..whole.length);
        if stream.write_all(ANSWER).await.is_err() {
            return;
        }
    }
}

struct Request {
    event_id: String,
    length: usize,
}

/// The first request, once it is complete.
fn request(bytes: &[u8]) -> Option<Request> {
    let head_length = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(bytes.get(..head_length)?).into_owned();
    let header = |name: &str| {
        let named = head.lines().filter_map(|line| line.split_once(':'));
        named.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    };
    let body_length: usize = header("content-length")?.parse().ok()?;
    let length = head_length + body_length;
    let event_id = header(EVENT_HEADER).unwrap_or_default().to_owned();
    (bytes.len() >= length).then_some(Request { event_id, length })
}
