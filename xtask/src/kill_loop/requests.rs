//! The requests of clients of one account whose clock is advanced while processes are killed. What was not answered is sent again
//! under the same key.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::clients::{Crowd, Finding, UNDER_WAY};
use super::dice::Dice;
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

const CLOCK: &str = "/v1/sandbox/clock";
/// Between two requests of a client, and between two advances.
const PAUSE_MS: Range<u64> = 40..400;
const ADVANCE_MS: Range<u64> = 300..1_500;
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long an advance of many days may take.
const ADVANCED_WITHIN: Duration = Duration::from_secs(400);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const DAY_MS: i64 = 86_400_000;

/// What a client requests.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    /// Empty until it gets one.
    pub(super) key: String,
    /// The member of the body that has the key as well.
    pub(super) reference: Option<&'static str>,
    pub(super) body: Value,
}

impl Request {
    pub(super) const fn post(path: String, body: Value) -> Self {
        Self { method: Method::POST, path, key: String::new(), reference: None, body }
    }
}

/// An account, with what its clients were answered so far.
pub(super) struct Requests {
    pub(super) account: Account,
    answered: Mutex<Answered>,
}

#[derive(Default)]
struct Answered {
    keys: u64,
    unanswered: Vec<Request>,
    accepted: usize,
    refused: usize,
    /// By how many days the clock was advanced.
    days: i64,
}

/// Clients of a kind.
pub(super) trait Clients: Send + Sync + 'static {
    /// Their account.
    fn requests(&self) -> &Requests;

    /// Draws the next request of one of them.
    fn invent(&self, dice: &mut Dice) -> Request;

    /// Notes what a request has led to.
    fn accepted(&self, request: &Request, body: &Value);

    /// Whether a request may be refused with this status.
    fn may_refuse(&self, request: &Request, status: u16) -> bool;
}

/// Lets so many clients, and one who advances the clock, join a crowd until the service is gone.
pub(super) fn join<C: Clients>(
    clients: &Arc<C>,
    how_many: usize,
    crowd: &mut Crowd,
    service: &Service,
    dice: &mut Dice,
) {
    for _ in 0..how_many {
        crowd.spawn(go_on(Arc::clone(clients), service.url.clone(), dice.split(), PAUSE_MS, C::invent));
    }
    let clock = |_: &C, _: &mut Dice| advance(1);
    crowd.spawn(go_on(Arc::clone(clients), service.url.clone(), dice.split(), ADVANCE_MS, clock));
}

async fn go_on<C: Clients>(
    clients: Arc<C>,
    url: String,
    mut dice: Dice,
    pauses: Range<u64>,
    invent: impl Fn(&C, &mut Dice) -> Request + Send,
) -> Result<(), Finding> {
    let requests = clients.requests();
    // A new client, so that no connection is left from before a kill.
    let http = Client::new();
    loop {
        tokio::time::sleep(Duration::from_millis(dice.within(pauses.clone()))).await;
        let left = requests.answered().unanswered.pop();
        let request = match left {
            Some(left) => left,
            None => requests.named(invent(&clients, &mut dice)),
        };
        let answer = requests.send(&http, &url, &request).await;
        let is_gone = answer.is_none();
        enter(&*clients, request, answer)?;
        if is_gone {
            return Ok(());
        }
    }
}

fn enter(clients: &impl Clients, request: Request, answer: Option<(u16, Value)>) -> Result<(), Finding> {
    let mut answered = clients.requests().answered();
    let Some((status, body)) = answer else {
        answered.unanswered.push(request);
        return Ok(());
    };
    let is_clock = request.path == CLOCK;
    let message = body["error"]["message"].as_str().unwrap_or_default();
    match status {
        200..=202 => {
            answered.accepted += 1;
            if is_clock {
                answered.days += request.body["by"].as_str().and_then(days_of).unwrap_or_default();
            } else {
                clients.accepted(&request, &body);
            }
        }
        // An earlier life of the service has begun it.
        409 if message == UNDER_WAY => answered.unanswered.push(request),
        503 => answered.unanswered.push(request),
        // Another advance is under way.
        409 if is_clock => answered.refused += 1,
        _ if clients.may_refuse(&request, status) => answered.refused += 1,
        _ => {
            let Request { method, path, key, .. } = request;
            return Err(Finding(format!("{method} {path}, {key}, was answered {status}: {body}")));
        }
    }
    Ok(())
}

/// Repeats what was not answered until nothing is left, and advances the clock by these days; returns the clock.
pub(super) async fn advance_to_the_end<C: Clients>(
    clients: &C,
    service: &Service,
    days: i64,
) -> Outcome<Value> {
    let requests = clients.requests();
    let (http, started) = (Client::new(), Instant::now());
    let last = requests.named(advance(days));
    let mut is_last_accepted = false;
    while started.elapsed() < ADVANCED_WITHIN {
        let is_left = repeat_once(clients, &http, service).await?;
        let clock = service.get(&requests.account, CLOCK).await?;
        if !is_left && clock["advance"]["status"] != "running" {
            if is_last_accepted {
                return Ok(clock);
            }
            let answer = requests.send(&http, &service.url, &last).await;
            // Otherwise it is sent again.
            is_last_accepted = matches!(answer, Some((200..=202, _)));
            if is_last_accepted {
                enter(clients, last.clone(), answer)?;
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let clock = service.get(&requests.account, CLOCK).await?;
    let left = requests.answered().unanswered.len();
    Err(Finding(format!("the clock does not arrive: {clock}; {left} requests without an answer")).into())
}

/// Repeats what was not answered until nothing is left.
pub(super) async fn repeat_the_rest<C: Clients>(clients: &C, service: &Service) -> Outcome {
    let (http, started) = (Client::new(), Instant::now());
    while repeat_once(clients, &http, service).await? {
        if started.elapsed() > ADVANCED_WITHIN {
            let left = clients.requests().answered().unanswered.len();
            return Err(Finding(format!("{left} requests are still not answered")).into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Repeats what was not answered; whether there was anything.
async fn repeat_once<C: Clients>(clients: &C, http: &Client, service: &Service) -> Result<bool, Finding> {
    let requests = clients.requests();
    let left = std::mem::take(&mut requests.answered().unanswered);
    let is_left = !left.is_empty();
    for request in left {
        let answer = requests.send(http, &service.url, &request).await;
        enter(clients, request, answer)?;
    }
    Ok(is_left)
}

impl Requests {
    pub(super) fn of(account: Account) -> Self {
        Self { account, answered: Mutex::default() }
    }

    /// Adds requests that are sent before anything else.
    pub(super) fn add(&self, requests: impl IntoIterator<Item = Request>) {
        for request in requests {
            let named = self.named(request);
            self.answered().unanswered.push(named);
        }
    }

    /// Each key has moved the clock once.
    pub(super) fn check_clock(&self, clock: &Value) -> Outcome {
        let now = clock["now"].as_str().and_then(Timestamp::parse).ok_or("a clock without a time")?;
        let ahead_ms = now.as_millis() - Clock::system().deployment().as_millis();
        // The clock does not go on by itself while it is advanced, so it is some minutes behind the days.
        let days = (ahead_ms + DAY_MS / 2) / DAY_MS;
        let advanced = self.answered().days;
        if days == advanced {
            return Ok(());
        }
        Err(Finding(format!("the clock was advanced by {advanced} days and is {ahead_ms} ms ahead: {clock}"))
            .into())
    }

    fn answered(&self) -> MutexGuard<'_, Answered> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a request a key, unless it has one.
    fn named(&self, request: Request) -> Request {
        if !request.key.is_empty() {
            return request;
        }
        let mut answered = self.answered();
        answered.keys += 1;
        let mut named = Request { key: format!("request {}", answered.keys), ..request };
        if let Some(member) = named.reference {
            named.body[member] = json!(named.key);
        }
        named
    }

    /// The status and body of the answer; `None` when the service is gone.
    async fn send(&self, http: &Client, url: &str, request: &Request) -> Option<(u16, Value)> {
        let mut sent =
            http.request(request.method.clone(), format!("{url}{}", request.path)).timeout(TIMEOUT);
        sent = sent.header("X-Client-Id", &self.account.client_id);
        sent = sent.header("X-Api-Key", &self.account.api_key);
        if request.method == Method::POST {
            sent = sent.header("X-Idempotency-Key", &request.key);
        }
        let response = sent.json(&request.body).send().await.ok()?;
        let status = response.status().as_u16();
        let body = response.bytes().await.ok()?;
        Some((status, serde_json::from_slice(&body).unwrap_or_default()))
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered = self.answered();
        let Answered { accepted, refused, days, .. } = &*answered;
        write!(f, "{accepted} requests accepted, {refused} refused, the clock {days} days ahead")
    }
}

fn advance(days: i64) -> Request {
    Request::post(CLOCK.to_owned(), json!({ "by": format!("{days}d") }))
}

/// The days of a span that [`advance`] has written.
fn days_of(span: &str) -> Option<i64> {
    span.strip_suffix('d')?.parse().ok()
}
