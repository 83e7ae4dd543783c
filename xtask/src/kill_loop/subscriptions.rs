//! Subscriptions of an account whose clock is advanced while processes are killed: who makes, pauses, resumes and cancels
//! them. What each must be in the end is judged in `cycles`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::clients::{Crowd, Finding, UNDER_WAY};
use super::cycles;
use super::dice::Dice;
use super::faults;
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

pub(super) const SUBSCRIPTIONS: &str = "/v1/subscriptions";
const CLOCK: &str = "/v1/sandbox/clock";
/// Clients who make and change subscriptions.
const CLIENTS: usize = 3;
/// Most subscriptions of a run: each of them is charged on each day.
const SUBSCRIPTIONS_MAX: usize = 80;
/// The simulator refuses to give 991 back.
const AMOUNTS: std::ops::Range<u64> = 1..980;
/// Between two requests of a client, and between two advances.
const PAUSE_MS: std::ops::Range<u64> = 40..400;
const ADVANCE_MS: std::ops::Range<u64> = 300..1_500;
const TIMEOUT: Duration = Duration::from_secs(30);
/// More than the cycles of a subscription and all retries of the last one take.
const DAYS_AT_THE_END: i64 = 40;
/// How long that may take.
const ADVANCED_WITHIN: Duration = Duration::from_secs(400);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const DAY_MS: i64 = 86_400_000;
/// Cards of the simulator: approved, refused, not answered, one or the other. A card that is not answered holds the clock up.
const CARDS: [(&str, &str); 7] = [
    ("4916745120294124", "560"),
    ("5214254988499590", "220"),
    ("6062829302997360", "980"),
    ("4916878170842862", "650"),
    ("5171407375927752", "300"),
    ("4485401945979546", "600"),
    ("4556613630132678", "850"),
];

/// The account, its records, and what its clients were answered.
pub(super) struct Subscribers {
    pub(super) account: Account,
    customer: String,
    merchants: Vec<String>,
    cards: Vec<String>,
    answered: Mutex<Answered>,
}

/// What was answered so far.
#[derive(Default)]
struct Answered {
    keys: u64,
    /// Ids of subscriptions that were made.
    made: Vec<String>,
    canceled: HashSet<String>,
    unanswered: Vec<Request>,
    accepted: usize,
    refused: usize,
    /// By how many days the clock was advanced.
    days: i64,
}

/// What a client requests.
#[derive(Clone)]
struct Request {
    method: Method,
    path: String,
    key: String,
    body: Value,
}

impl Subscribers {
    /// Makes what subscriptions need: a reliable merchant and one whose first provider often fails, a buyer, and a card of each
    /// kind.
    pub(super) async fn prepare(service: &Service, account: Account, dice: &mut Dice) -> Outcome<Arc<Self>> {
        let id = |made: Value, name: &str| made[name].as_str().map(str::to_owned).ok_or("no id");
        let providers = faults::providers(2, dice);
        let merchants = vec![account.merchant_id.clone(), service.make_merchant(&account, &providers).await?];
        let customer = json!({
            "name": "Jose Bonifacio", "phoneNumber": "21988899990", "email": "jose@example.com",
            "document": { "type": "cpf", "number": "72912053013", "country": "BR" },
        });
        let customer = id(service.post(&account, "/v1/customers", &customer).await?, "id")?;
        let mut cards = Vec::new();
        for (number, cvv) in CARDS {
            let card = json!({
                "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv,
                "cardExpirationDate": "12/2032",
            });
            let token = id(service.post(&account, "/v1/tokens", &card).await?, "tokenId")?;
            let card = service.post(&account, "/v1/cards", &json!({ "tokenId": token })).await?;
            cards.push(id(card, "id")?);
        }
        Ok(Arc::new(Self { account, customer, merchants, cards, answered: Mutex::default() }))
    }

    /// Lets clients and the clock join a crowd, until the service is gone.
    pub(super) fn join(self: &Arc<Self>, crowd: &mut Crowd, service: &Service, dice: &mut Dice) {
        for _ in 0..CLIENTS {
            let (subscribers, url, dice) = (Arc::clone(self), service.url.clone(), dice.split());
            crowd.spawn(async move { subscribers.go_on(&url, dice, PAUSE_MS, Self::invent).await });
        }
        let (subscribers, url, dice) = (Arc::clone(self), service.url.clone(), dice.split());
        crowd.spawn(async move { subscribers.go_on(&url, dice, ADVANCE_MS, |_, _| advance(1)).await });
    }

    async fn go_on(
        &self,
        url: &str,
        mut dice: Dice,
        pauses: std::ops::Range<u64>,
        invent: impl Fn(&Self, &mut Dice) -> Request,
    ) -> Result<(), Finding> {
        // A new client, so that no connection is left from before a kill.
        let http = Client::new();
        loop {
            tokio::time::sleep(Duration::from_millis(dice.within(pauses.clone()))).await;
            let left = self.answered().unanswered.pop();
            let request = match left {
                Some(left) => left,
                None => self.named(invent(self, &mut dice)),
            };
            let answer = self.send(&http, url, &request).await;
            let is_gone = answer.is_none();
            self.enter(request, answer)?;
            if is_gone {
                return Ok(());
            }
        }
    }

    fn answered(&self) -> MutexGuard<'_, Answered> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a request its key, which is the reference of the subscription that it makes.
    fn named(&self, request: Request) -> Request {
        let mut answered = self.answered();
        answered.keys += 1;
        let mut named = Request { key: format!("subscriber {}", answered.keys), ..request };
        if named.path == SUBSCRIPTIONS {
            named.body["referenceKey"] = json!(named.key);
        }
        named
    }

    fn invent(&self, dice: &mut Dice) -> Request {
        let answered = self.answered();
        // Mostly the latest: the older ones have ended.
        let latest = answered.made.len().saturating_sub(15);
        let known = answered.made.get(latest + dice.place(answered.made.len() - latest)).cloned();
        let is_full = answered.made.len() >= SUBSCRIPTIONS_MAX;
        drop(answered);
        let card = json!({ "type": "credit", "card": { "cardId": dice.pick(&self.cards) } });
        match known.filter(|_| is_full || !dice.one_in(4)) {
            None => Request::post(
                SUBSCRIPTIONS.to_owned(),
                json!({
                    "name": "Premium", "merchantId": dice.pick(&self.merchants), "customerId": self.customer,
                    "items": [{ "name": "Plan", "amount": dice.price(AMOUNTS), "quantity": 1 }],
                    "recurrence": { "interval": "daily", "cycles": dice.within(2..7) }, "paymentMethod": card,
                }),
            ),
            Some(id) => match dice.within(0..20) {
                0 => Request::post(format!("{SUBSCRIPTIONS}/{id}/cancel"), json!({})),
                1..=5 => Request::post(format!("{SUBSCRIPTIONS}/{id}/pause"), json!({})),
                6..=13 => Request::post(format!("{SUBSCRIPTIONS}/{id}/resume"), json!({})),
                _ => Request {
                    method: Method::PUT,
                    body: json!({ "paymentMethod": card }),
                    ..Request::post(format!("{SUBSCRIPTIONS}/{id}"), Value::Null)
                },
            },
        }
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

    fn enter(&self, request: Request, answer: Option<(u16, Value)>) -> Result<(), Finding> {
        let mut answered = self.answered();
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
                } else if request.path == SUBSCRIPTIONS {
                    answered.made.push(body["id"].as_str().unwrap_or_default().to_owned());
                } else if request.path.ends_with("/cancel") {
                    answered.canceled.insert(body["id"].as_str().unwrap_or_default().to_owned());
                }
            }
            // An earlier life of the service has begun it.
            409 if message == UNDER_WAY => answered.unanswered.push(request),
            503 => answered.unanswered.push(request),
            // Not allowed in this state, or another advance is under way.
            422 => answered.refused += 1,
            409 if is_clock || request.method == Method::PUT => answered.refused += 1,
            _ => {
                let Request { method, path, key, .. } = request;
                return Err(Finding(format!("{method} {path}, {key}, was answered {status}: {body}")));
            }
        }
        Ok(())
    }

    /// Advances the clock until nothing more falls due, then lets everybody pay what is still unpaid or paused, and does so again.
    pub(super) async fn settle(&self, service: &Service) -> Outcome {
        let started = Instant::now();
        self.advance_to_the_end(service).await?;
        // A clock that advances comes to the end of a schedule of look-ups within moments, all of them under one plan of faults.
        let asked_anew = service.retry_given_up()?;
        println!("{asked_anew} requests were given up by then, and are asked for anew");
        let listed = cycles::all(async |path| service.get(&self.account, &path).await, SUBSCRIPTIONS).await?;
        for subscription in listed {
            let path = format!("{SUBSCRIPTIONS}/{}", subscription["id"].as_str().unwrap_or_default());
            let card =
                json!({ "paymentMethod": { "type": "credit", "card": { "cardId": self.cards.first() } } });
            let resume = Request::post(format!("{path}/resume"), json!({}));
            let changed = Request { method: Method::PUT, path, body: card, ..resume.clone() };
            let requests = [changed, resume].map(|request| self.named(request));
            self.answered().unanswered.extend(requests);
        }
        let clock = self.advance_to_the_end(service).await?;
        println!("everything has fallen due after {} ms", started.elapsed().as_millis());
        self.check_clock(&clock)
    }

    /// Repeats what was not answered, and advances the clock by many days; returns the clock.
    async fn advance_to_the_end(&self, service: &Service) -> Outcome<Value> {
        let (http, started) = (Client::new(), Instant::now());
        let last = self.named(advance(DAYS_AT_THE_END));
        let mut is_last_accepted = false;
        while started.elapsed() < ADVANCED_WITHIN {
            let left = std::mem::take(&mut self.answered().unanswered);
            let is_left = !left.is_empty();
            for request in left {
                let answer = self.send(&http, &service.url, &request).await;
                self.enter(request, answer)?;
            }
            let clock = service.get(&self.account, CLOCK).await?;
            if !is_left && clock["advance"]["status"] != "running" {
                if is_last_accepted {
                    return Ok(clock);
                }
                let answer = self.send(&http, &service.url, &last).await;
                // Otherwise it is sent again.
                is_last_accepted = matches!(answer, Some((200..=202, _)));
                if is_last_accepted {
                    self.enter(last.clone(), answer)?;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let clock = service.get(&self.account, CLOCK).await?;
        let left = self.answered().unanswered.len();
        Err(Finding(format!("the clock does not arrive: {clock}; {left} requests without an answer")).into())
    }

    /// Each key has moved the clock once.
    fn check_clock(&self, clock: &Value) -> Outcome {
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

    /// What was made and not found, found and not made, or canceled and goes on. `listed` are the subscriptions of the account.
    pub(super) fn unkept_promises(&self, listed: &[Value]) -> Vec<String> {
        let answered = self.answered();
        let made: HashSet<&str> = answered.made.iter().map(String::as_str).collect();
        let found: HashSet<&str> = listed.iter().filter_map(|one| one["id"].as_str()).collect();
        let mut broken: Vec<String> =
            made.difference(&found).map(|id| format!("the subscription {id} is gone")).collect();
        broken.extend(found.difference(&made).map(|id| format!("nobody knows of the subscription {id}")));
        if made.len() != answered.made.len() {
            broken.push(format!("{} keys have made {} subscriptions", answered.made.len(), made.len()));
        }
        let goes_on = |one: &&Value| {
            one["status"] != "canceled" && one["id"].as_str().is_some_and(|id| answered.canceled.contains(id))
        };
        broken.extend(listed.iter().filter(goes_on).map(|one| format!("it was canceled: {one}")));
        broken
    }

    /// The requests and the clock, in words.
    pub(super) fn count(&self) -> String {
        let answered = self.answered();
        let mut told = format!("{} requests accepted, {} refused", answered.accepted, answered.refused);
        let _ = write!(told, ", the clock {} days ahead", answered.days);
        told
    }
}

impl Request {
    const fn post(path: String, body: Value) -> Self {
        Self { method: Method::POST, path, key: String::new(), body }
    }
}

fn advance(days: i64) -> Request {
    Request::post(CLOCK.to_owned(), json!({ "by": format!("{days}d") }))
}

/// The days of a span that [`advance`] has written.
fn days_of(span: &str) -> Option<i64> {
    span.strip_suffix('d')?.parse().ok()
}
