//! The endpoints of merchants: some answer at once, others accept a connection and never answer.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use hdrhistogram::Histogram;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::Outcome;
use crate::bench::received::{header, request};

/// One delivery in this many has its signature verified, so that the endpoints do not become the bottleneck.
const VERIFIED_EACH: u64 = 16;
/// Bytes of an Ed25519 key, at the end of its document.
const KEY_BYTES: usize = 32;
/// The longest delay that the histogram resolves: five minutes.
const DELAY_MICROS_MAX: u64 = 300_000_000;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// The behaviour of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It answers 200 at once.
    Quick,
    /// It reads, and never answers.
    Hanging,
}

/// An endpoint on its own port.
pub(super) struct Endpoint {
    /// Its address.
    pub(super) url: String,
    manner: Manner,
    public_key: OnceLock<Vec<u8>>,
}

/// The two ends of a connection on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Connection {
    /// The port of the node.
    pub(super) sender_port: u16,
    /// The port of the endpoint.
    pub(super) endpoint_port: u16,
}

/// Everything that the endpoints have received.
pub(super) struct Books(Mutex<Entries>);

struct Entries {
    totals: Totals,
    /// Received events, by the port of the endpoint.
    events: HashSet<(u16, u128)>,
    delays: Histogram<u64>,
    by_connection: HashMap<Connection, u64>,
}

/// Counts of deliveries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Accepted by fast endpoints, each event once for each endpoint.
    pub(super) taken: u64,
    /// Repeated deliveries.
    pub(super) twice: u64,
    /// Deliveries never answered.
    pub(super) hung: u64,
    /// Verified signatures that were valid.
    pub(super) right: u64,
    /// Invalid or missing signatures.
    pub(super) wrong: u64,
}

impl Totals {
    /// The sum of both.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            taken: self.taken + other.taken,
            twice: self.twice + other.twice,
            hung: self.hung + other.hung,
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
        }
    }
}

impl Endpoint {
    /// Starts an endpoint, which listens until `listening` is dropped.
    pub(super) async fn start(
        manner: Manner,
        books: &Arc<Books>,
        listening: &mut JoinSet<()>,
    ) -> Outcome<Arc<Self>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let endpoint = Arc::new(Self { url, manner, public_key: OnceLock::new() });
        let (books, serving) = (Arc::clone(books), Arc::clone(&endpoint));
        listening.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving), Arc::clone(&books)));
            }
        });
        Ok(endpoint)
    }

    /// Sets the key of its webhook, from a PEM document.
    pub(super) fn expect_key(&self, document: &[u8]) -> Outcome {
        let key = document.last_chunk::<KEY_BYTES>().ok_or("the public key is too short")?;
        self.public_key.set(key.to_vec()).map_err(|_| "an endpoint has one key")?;
        Ok(())
    }

    fn verifies(&self, head: &str, body: &[u8]) -> Option<()> {
        let (date, signature) = (header(head, "x-plug-date")?, header(head, "x-plug-signature")?);
        let message = [date.as_bytes(), b"\n", body].concat();
        let signature = hex::decode(signature).ok()?;
        UnparsedPublicKey::new(&ED25519, self.public_key.get()?).verify(&message, &signature).ok()
    }
}

impl Books {
    /// No deliveries yet.
    pub(super) fn new() -> Outcome<Self> {
        Ok(Self(Mutex::new(Entries {
            totals: Totals::default(),
            events: HashSet::new(),
            delays: Histogram::new_with_bounds(1, DELAY_MICROS_MAX, 3)?,
            by_connection: HashMap::new(),
        })))
    }

    /// The counts so far.
    pub(super) fn totals(&self) -> Totals {
        self.entries().totals
    }

    /// The delays from event to delivery since the last call, in microseconds; their resolution is a millisecond.
    pub(super) fn take_delays(&self) -> Histogram<u64> {
        let mut entries = self.entries();
        let delays = entries.delays.clone();
        entries.delays.reset();
        delays
    }

    /// Number of deliveries by connection, since the last call.
    pub(super) fn take_by_connection(&self) -> HashMap<Connection, u64> {
        std::mem::take(&mut self.entries().by_connection)
    }

    fn take(&self, endpoint: &Endpoint, head: &str, body: &[u8], connection: Connection) {
        let id =
            header(head, "webhook-id").and_then(|id| u128::from_str_radix(&id.replace('-', ""), 16).ok());
        let mut entries = self.entries();
        let Some(id) = id else {
            entries.totals.wrong += 1;
            return;
        };
        if !entries.events.insert((connection.endpoint_port, id)) {
            entries.totals.twice += 1;
            return;
        }
        if entries.totals.taken.is_multiple_of(VERIFIED_EACH) {
            match endpoint.verifies(head, body) {
                Some(()) => entries.totals.right += 1,
                None => entries.totals.wrong += 1,
            }
        }
        entries.totals.taken += 1;
        *entries.by_connection.entry(connection).or_insert(0) += 1;
        // The id of an event begins with its time.
        let happened_ms = u64::try_from(id >> 80).unwrap_or(0);
        entries.delays.saturating_record(now_ms().saturating_sub(happened_ms) * 1000);
    }

    fn hang(&self) {
        self.entries().totals.hung += 1;
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Serves one connection until the sender closes it.
async fn serve(mut stream: TcpStream, endpoint: Arc<Endpoint>, books: Arc<Books>) {
    let (Ok(sender), Ok(own)) = (stream.peer_addr(), stream.local_addr()) else { return };
    let connection = Connection { sender_port: sender.port(), endpoint_port: own.port() };
    // An answer is one small packet.
    let _ = stream.set_nodelay(true);
    let mut received = Vec::with_capacity(8 * 1024);
    while let Some((head_bytes, bytes)) = request(&mut stream, &mut received).await {
        match endpoint.manner {
            Manner::Quick => {
                let head = String::from_utf8_lossy(&received[..head_bytes]);
                books.take(&endpoint, &head, &received[head_bytes..bytes], connection);
                if stream.write_all(ANSWER).await.is_err() {
                    return;
                }
            }
            Manner::Hanging => books.hang(),
        }
        received.drain(..bytes);
    }
}
