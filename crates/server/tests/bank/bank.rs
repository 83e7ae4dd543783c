//! A bank that stands for every provider: it speaks the wire formats of `STRIPE`, `ADYEN` and `PAGARME_V5`, keeps books of what
//! it holds, and has the faults of life, drawn from a seed. The server's tests run it in their process, `cargo xtask
//! kill-loop` beside the service that it kills.
//!
//! * [`books`] is what the bank holds: one model for the three.
//! * `stripe`, `adyen` and `pagarme_v5` are its faces: requests, answers and notifications, and nothing of their own to remember.
//! * [`faults`] is the one table of what goes wrong.
//! * [`news`] is what it tells.
//! * [`world`] is what happens without a request: payers pay, banks take back, what was received is carried out.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what it cannot read is a fault of a test")]
#![allow(missing_docs, unreachable_pub, reason = "it is part of tests")]
#![allow(dead_code, reason = "not everybody who includes it needs all of it")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::time::Timestamp;
use serde_json::{Value, json};
use url::form_urlencoded;

mod adyen;
pub mod books;
pub mod faults;
pub mod news;
mod pagarme_v5;
mod stripe;
pub mod world;

use books::{Books, Face, Held};
use faults::{Dice, Fault, Operation, Plan, When};
use news::{Notice, ToDo};

/// Longest request, in bytes.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// How long an answer that is late takes: long enough for a process to be killed meanwhile.
const LATE: Duration = Duration::from_millis(40);

/// The time of the bank.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The bank. Clones share the books.
#[derive(Clone)]
pub struct Bank(Arc<Mutex<Inner>>);

/// What the faces work with.
struct Inner {
    books: Books,
    now: Now,
    dice: Dice,
    plan: Plan,
    /// What was answered to each key.
    kept: HashMap<String, Kept>,
    /// What was received and is carried out later.
    to_do: Vec<ToDo>,
    /// Notifications that were not delivered yet, oldest first.
    notices: Vec<Notice>,
    told: u64,
    /// How often each fault was met, and what happens seldom has happened.
    met: HashMap<String, u64>,
}

struct Kept {
    at: Timestamp,
    told: Told,
}

/// An answer: a status and a body.
type Told = (u16, Value);

/// A request.
pub struct Said {
    pub method: Method,
    /// Without the face.
    pub path: String,
    pub query: HashMap<String, String>,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn form(&self) -> HashMap<String, String> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }

    fn key(&self) -> Option<&str> {
        self.headers.get("idempotency-key")?.to_str().ok()
    }
}

impl Bank {
    pub fn new(seed: u64, plan: Plan, now: Now) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            books: Books::default(),
            now,
            dice: Dice(seed),
            plan,
            kept: HashMap::new(),
            to_do: Vec::new(),
            notices: Vec::new(),
            told: 0,
            met: HashMap::new(),
        })))
    }

    /// Draws from this seed from now on, with these faults.
    pub fn draw_from(&self, seed: u64, plan: Plan) {
        let mut inner = self.lock();
        (inner.dice, inner.plan) = (Dice(seed), plan);
    }

    /// Listens on a free port of this machine.
    pub async fn listen(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(receive).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }

    /// What it holds for a charge.
    pub fn held(&self, object_id: &str) -> Held {
        self.lock().books.held(Some(object_id.parse().unwrap()))
    }

    /// What it holds for all charges.
    pub fn held_in_all(&self) -> Held {
        self.lock().books.held(None)
    }

    /// Whether nothing of a charge has ever arrived.
    pub fn knows_nothing_of(&self, object_id: &str) -> bool {
        self.lock().books.of_charge(object_id.parse().unwrap()).next().is_none()
    }

    /// The payments of a charge, for whoever looks for a difference.
    pub fn shown(&self, object_id: &str) -> String {
        let object_id = object_id.parse().unwrap();
        format!("{:#?}", self.lock().books.of_charge(object_id).collect::<Vec<_>>())
    }

    /// How often each fault was met, and what happens seldom has happened.
    pub fn met(&self) -> HashMap<String, u64> {
        self.lock().met.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    async fn take(&self, said: Said) -> Response {
        let (face, path) = split(said.path.trim_start_matches('/'));
        let Some(face) = Face::of_path(face) else { return StatusCode::NOT_FOUND.into_response() };
        let said = Said { path: format!("/{path}"), ..said };
        let operation = face.operation(&said);
        let (fault, told) = {
            let mut inner = self.lock();
            let fault = operation.map_or(Fault::None, |operation| inner.fault(face, operation));
            (fault, inner.answer(face, &said, operation, fault))
        };
        if fault == Fault::Late {
            tokio::time::sleep(LATE).await;
        }
        answered(fault, told)
    }
}

impl Inner {
    fn now(&self) -> Timestamp {
        (self.now)()
    }

    fn fault(&mut self, face: Face, operation: Operation) -> Fault {
        let fault = self.plan.draw(&mut self.dice, face, operation);
        if fault != Fault::None {
            *self.met.entry(format!("{fault:?}")).or_default() += 1;
        }
        fault
    }

    /// The answer of a face. What did not get through has no effect; what came twice has it once, by its key.
    fn answer(&mut self, face: Face, said: &Said, operation: Option<Operation>, fault: Fault) -> Told {
        match fault.when() {
            When::Before => (503, Value::Null),
            When::After => {
                let told = self.once(face, said, operation, fault);
                if fault == Fault::Twice { self.once(face, said, operation, Fault::None) } else { told }
            }
        }
    }

    fn once(&mut self, face: Face, said: &Said, operation: Option<Operation>, fault: Fault) -> Told {
        let now = self.now();
        let account = face.account(said);
        let key = said.key().map(|key| format!("{face:?} {account} {key}"));
        let known = key.as_ref().and_then(|key| self.kept.get(key));
        if let Some(known) = known.filter(|known| now.since(known.at) < face.key_life()) {
            return known.told.clone();
        }
        let told = match face {
            Face::Stripe => stripe::answer(self, &account, said, fault),
            Face::Adyen => adyen::answer(self, &account, said, fault),
            Face::PagarmeV5 => pagarme_v5::answer(self, &account, said, fault),
        };
        // The first provider repeats its own faults too.
        let told = match (face, fault) {
            (Face::Stripe, Fault::Broken(status)) => (status, json!({ "error": { "type": "api_error" } })),
            _ => told,
        };
        if let Some(key) = key.filter(|_| operation.is_some_and(Operation::changes)) {
            self.kept.insert(key, Kept { at: now, told: told.clone() });
        }
        told
    }

    /// A number that nothing else has.
    fn number(&mut self) -> u64 {
        self.told += 1;
        self.told
    }
}

impl Face {
    /// The first part of the path.
    fn of_path(word: &str) -> Option<Self> {
        match word {
            "stripe" => Some(Self::Stripe),
            "adyen" => Some(Self::Adyen),
            "pagarme_v5" => Some(Self::PagarmeV5),
            _ => None,
        }
    }

    fn operation(self, said: &Said) -> Option<Operation> {
        match self {
            Self::Stripe => stripe::operation(said),
            Self::Adyen => adyen::operation(said),
            Self::PagarmeV5 => pagarme_v5::operation(said),
        }
    }

    /// Whose key it is.
    fn account(self, said: &Said) -> String {
        match self {
            Self::Stripe => stripe::account(said),
            Self::Adyen => adyen::account(said),
            Self::PagarmeV5 => pagarme_v5::account(said),
        }
    }

    fn key_life(self) -> Duration {
        let days = match self {
            Self::Stripe | Self::PagarmeV5 => 1,
            Self::Adyen => 7,
        };
        Duration::from_secs(days * 24 * 60 * 60)
    }
}

async fn receive(State(bank): State<Bank>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, REQUEST_BYTES_MAX).await.unwrap().to_vec();
    let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned();
    let path = parts.uri.path().to_owned();
    bank.take(Said { method: parts.method, path, query: query.collect(), headers: parts.headers, body }).await
}

/// What comes of an answer on its way.
fn answered(fault: Fault, (status, body): Told) -> Response {
    let json =
        |status: u16, body: Value| (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response();
    match fault {
        Fault::None | Fault::Late | Fault::Twice | Fault::Denies | Fault::Undecided | Fault::Retracts => {
            json(status, body)
        }
        Fault::LostBefore | Fault::LostAfter => {
            let cut = futures_util::stream::once(async { Err::<Vec<u8>, _>(std::io::Error::other("cut")) });
            Body::from_stream(cut).into_response()
        }
        Fault::PageBefore(status) | Fault::PageAfter(status) => {
            let page = "<html><head><title>Request blocked</title></head><body><hr>proxy</body></html>";
            let headers = [("content-type", "text/html")];
            (StatusCode::from_u16(status).unwrap(), headers, page).into_response()
        }
        Fault::TooMany => json(429, json!({ "message": "Too many requests" })),
        Fault::Broken(status) => json(status, json!({ "message": "Internal server error" })),
    }
}

fn split(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, ""))
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no amount"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
