//! The merchants' side: endpoints that take what they get at once, and endpoints that take a connection and never answer.
//! As little as possible of HTTP is spoken here, because what is measured shares the machine with it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::Outcome;

/// Bytes that a head and a body may have.
const REQUEST_BYTES_MAX: usize = 512 * 1024;
/// One in so many deliveries has its signature verified: the endpoints are not to be what is measured.
const VERIFIED_EACH: u64 = 16;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// How an endpoint behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It answers 200 at once.
    Quick,
    /// It reads, and never answers.
    Hanging,
}

/// One endpoint, at a port of its own.
pub(super) struct Endpoint {
    /// Where it listens.
    pub(super) url: String,
    manner: Manner,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    public_key: Vec<u8>,
    events: HashSet<u128>,
}

/// What all endpoints together have got since the last look.
#[derive(Default)]
pub(super) struct Books {
    taken: AtomicU64,
    duplicates: AtomicU64,
    verified: AtomicU64,
    not_verified: AtomicU64,
    hung: AtomicU64,
    lags_ms: Mutex<Vec<u64>>,
    /// Deliveries by connection: the sender's port and the endpoint's.
    by_connection: Mutex<HashMap<(u16, u16), u64>>,
}

impl Endpoint {
    /// Starts one.
    pub(super) async fn start(manner: Manner, books: &Arc<Books>) -> Outcome<Arc<Self>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let endpoint = Arc::new(Self { url, manner, state: Mutex::default() });
        let (books, serving) = (Arc::clone(books), Arc::clone(&endpoint));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving), Arc::clone(&books)));
            }
        });
        Ok(endpoint)
    }

    /// What its webhook signs with.
    pub(super) fn expect_key(&self, public_key: Vec<u8>) {
        self.state().public_key = public_key;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// Deliveries that quick endpoints have taken, each event of each endpoint once.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Deliveries that an endpoint had taken before.
    pub(super) fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }

    /// Signatures that were right, and that were wrong.
    pub(super) fn signatures(&self) -> (u64, u64) {
        (self.verified.load(Ordering::Relaxed), self.not_verified.load(Ordering::Relaxed))
    }

    /// Deliveries that were never answered.
    pub(super) fn hung(&self) -> u64 {
        self.hung.load(Ordering::Relaxed)
    }

    /// From each event to its delivery, since the last call, in milliseconds.
    pub(super) fn take_lags_ms(&self) -> Vec<u64> {
        std::mem::take(&mut self.lags_ms.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Deliveries by the ports of their connection, since the last call.
    pub(super) fn take_connections(&self) -> HashMap<(u16, u16), u64> {
        std::mem::take(&mut self.by_connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, endpoint: &Endpoint, head: &str, body: &[u8], connection: (u16, u16)) -> Option<()> {
        let id = header(head, "webhook-id")?;
        let id = u128::from_str_radix(&id.replace('-', ""), 16).ok()?;
        let mut state = endpoint.state();
        if !state.events.insert(id) {
            self.duplicates.fetch_add(1, Ordering::Relaxed);
            return Some(());
        }
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let mut by_connection = self.by_connection.lock().unwrap_or_else(PoisonError::into_inner);
        *by_connection.entry(connection).or_insert(0) += 1;
        if taken.is_multiple_of(VERIFIED_EACH) {
            let of_outcome = if is_signed(&state.public_key, head, body) == Some(true) {
                &self.verified
            } else {
                &self.not_verified
            };
            of_outcome.fetch_add(1, Ordering::Relaxed);
        }
        // The id of an event begins with its time.
        let happened_ms = u64::try_from(id >> 80).unwrap_or(0);
        let lag_ms = now_ms().saturating_sub(happened_ms);
        self.lags_ms.lock().unwrap_or_else(PoisonError::into_inner).push(lag_ms);
        Some(())
    }
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn is_signed(public_key: &[u8], head: &str, body: &[u8]) -> Option<bool> {
    let (date, signature) = (header(head, "x-plug-date")?, header(head, "x-plug-signature")?);
    let message = [date.as_bytes(), b"\n", body].concat();
    let signature = hex::decode(signature).ok()?;
    Some(UnparsedPublicKey::new(&ED25519, public_key).verify(&message, &signature).is_ok())
}

/// One connection, until the sender ends it.
async fn serve(mut stream: TcpStream, endpoint: Arc<Endpoint>, books: Arc<Books>) {
    let (Ok(sender), Ok(own)) = (stream.peer_addr(), stream.local_addr()) else { return };
    // An answer is one small packet.
    let _ = stream.set_nodelay(true);
    let mut received = Vec::with_capacity(8 * 1024);
    while let Some((head_bytes, bytes)) = request(&mut stream, &mut received).await {
        match endpoint.manner {
            Manner::Quick => {
                let head = String::from_utf8_lossy(&received[..head_bytes]);
                let body = &received[head_bytes..bytes];
                if books.count(&endpoint, &head, body, (sender.port(), own.port())).is_none() {
                    books.not_verified.fetch_add(1, Ordering::Relaxed);
                }
                if stream.write_all(ANSWER).await.is_err() {
                    return;
                }
            }
            Manner::Hanging => {
                books.hung.fetch_add(1, Ordering::Relaxed);
            }
        }
        received.drain(..bytes);
    }
}

/// Reads one request: how many bytes its head has, and how many it has in all.
async fn request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<(usize, usize)> {
    loop {
        if let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            let head_bytes = at + 4;
            let head = String::from_utf8_lossy(&received[..head_bytes]);
            let body_bytes: usize = header(&head, "content-length")?.parse().ok()?;
            let bytes = head_bytes.checked_add(body_bytes).filter(|bytes| *bytes <= REQUEST_BYTES_MAX)?;
            while received.len() < bytes {
                if stream.read_buf(received).await.ok()? == 0 {
                    return None;
                }
            }
            return Some((head_bytes, bytes));
        }
        if received.len() > REQUEST_BYTES_MAX || stream.read_buf(received).await.ok()? == 0 {
            return None;
        }
    }
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
