//! The clients: each sends one operation after the other until the service is gone, and records requests and answers.
//! It repeats an unanswered request with the same key.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regente_providers::sandbox::REFUSED_AMOUNT_MINOR_UNITS;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::dice::Dice;
use super::sessions::ForSale;
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

/// Where charges are made.
pub(super) const CHARGES: &str = "/v1/charges";
/// The errors of a key: its request is under way, or was another one.
pub(super) const UNDER_WAY: &str = "Transaction is processing";
const OTHER_REQUEST: &str = "Idempotency key reused with a different payload";
/// Longer than any request takes: a service that hangs is a finding.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Longer than a run.
pub(super) const EXPIRES_IN_SECONDS: u64 = 86_400;
/// Cards of the simulator: most are approved, some declined, some get no answer.
const CARDS: [(&str, &str); 8] = [
    ("4916745120294124", "560"),
    ("5214254988499590", "220"),
    ("6062829302997360", "980"),
    ("36757624613710", "490"),
    ("4916745120294124", "560"),
    ("4916878170842862", "650"),
    ("4485401945979546", "600"),
    ("4556613630132678", "850"),
];

/// The address and account of the clients.
#[derive(Clone)]
pub(super) struct Caller {
    http: Client,
    url: String,
    client_id: String,
    api_key: String,
    merchants: Vec<String>,
    /// The methods of those who pay by themselves.
    methods: &'static [&'static str],
    /// What some of them pay.
    sessions: Vec<ForSale>,
}

impl Caller {
    pub(super) fn of(
        service: &Service,
        account: &Account,
        merchants: Vec<String>,
        methods: &'static [&'static str],
        sessions: Vec<ForSale>,
    ) -> Self {
        Self {
            // A new client, so that no connection is left from before a kill.
            http: Client::new(),
            url: service.url.clone(),
            client_id: account.client_id.clone(),
            api_key: account.api_key.clone(),
            merchants,
            methods,
            sessions,
        }
    }

    /// Sends an operation; `None` when the service is gone.
    pub(super) async fn send(&self, operation: &Operation) -> Option<Answer> {
        let request = self
            .http
            .post(format!("{}{}", self.url, operation.path))
            .timeout(TIMEOUT)
            .header("X-Client-Id", &self.client_id)
            .header("X-Api-Key", operation.public_key.as_ref().unwrap_or(&self.api_key))
            .header("X-Idempotency-Key", &operation.key)
            .json(&operation.body);
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        Some(Answer { status, body: response.bytes().await.ok()?.to_vec() })
    }

    pub(super) async fn get(&self, path: &str) -> Outcome<Value> {
        let request = self.http.get(format!("{}{path}", self.url)).timeout(TIMEOUT);
        let request = request.header("X-Client-Id", &self.client_id).header("X-Api-Key", &self.api_key);
        Ok(request.send().await?.error_for_status()?.json().await?)
    }
}

/// An operation that a client requested.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) path: String,
    pub(super) key: String,
    pub(super) body: Value,
    /// The key of the session that is paid; without one the account's own key is used.
    pub(super) public_key: Option<String>,
}

impl Operation {
    /// Whether it makes a charge.
    fn is_charge(&self) -> bool {
        self.path == CHARGES || self.pays_session()
    }

    fn pays_session(&self) -> bool {
        self.public_key.is_some()
    }
}

/// The answer to it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn error_message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether the outcome comes later.
    pub(super) fn is_pending(&self) -> bool {
        self.json()["status"].as_str().is_some_and(|status| status.ends_with("pending"))
    }
}

/// The operations and answers of all clients.
#[derive(Default)]
pub(super) struct ClientLog {
    acknowledged: Mutex<Vec<(Operation, Answer)>>,
    unanswered: Mutex<Vec<Operation>>,
    /// Charges whose key was answered that the first request is still under way.
    under_way: Mutex<Vec<Operation>>,
    charges: Mutex<Vec<String>>,
    keys: AtomicU64,
    refused: AtomicU64,
    came_back: AtomicU64,
}

impl ClientLog {
    pub(super) fn acknowledged(&self) -> Vec<(Operation, Answer)> {
        lock(&self.acknowledged).clone()
    }

    pub(super) fn count(&self) -> String {
        format!(
            "{} acknowledged, {} without an answer, {} refused, {} told to come back",
            lock(&self.acknowledged).len(),
            lock(&self.unanswered).len() + lock(&self.under_way).len(),
            self.refused.load(Ordering::Relaxed),
            self.came_back.load(Ordering::Relaxed)
        )
    }

    /// Repeats every operation without a final answer. Each charge must be answered with one of these statuses: its key leads
    /// to the charge of the first request, or to a new one.
    pub(super) async fn repeat_the_rest(&self, caller: &Caller, answers: &[u16]) -> Result<(), Finding> {
        let mut left = std::mem::take(&mut *lock(&self.unanswered));
        left.append(&mut lock(&self.under_way));
        for operation in left {
            let answer = caller.send(&operation).await;
            let status = answer.as_ref().map(|answer| answer.status);
            // Another client has paid the session.
            let is_refused = operation.pays_session() && status == Some(422);
            if operation.is_charge() && !is_refused && status.is_none_or(|status| !answers.contains(&status))
            {
                let key = &operation.key;
                return Err(Finding(format!(
                    "{key} was interrupted, and its repetition is answered {status:?}"
                )));
            }
            self.enter(operation, answer)?;
        }
        Ok(())
    }

    /// Records an answer.
    fn enter(&self, operation: Operation, answer: Option<Answer>) -> Result<(), Finding> {
        let Some(answer) = answer else {
            lock(&self.unanswered).push(operation);
            return Ok(());
        };
        match answer.status {
            201 => {
                let told = answer.json();
                // A failed charge has no follow-ups.
                if operation.is_charge()
                    && told["status"] != "failed"
                    && let Some(id) = told["id"].as_str()
                {
                    lock(&self.charges).push(id.to_owned());
                }
                lock(&self.acknowledged).push((operation, answer));
            }
            // The key of a charge that an earlier life of the service has begun.
            409 if operation.is_charge() && answer.error_message() == UNDER_WAY => {
                lock(&self.under_way).push(operation);
            }
            // Not allowed in this state, or another operation is under way.
            400 | 409 if !operation.is_charge() && answer.error_message() != OTHER_REQUEST => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            // The session is paid.
            422 if operation.pays_session() => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            // A session takes no more cards at once than it has places: come back later.
            429 if operation.pays_session() => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            503 => {
                self.came_back.fetch_add(1, Ordering::Relaxed);
                lock(&self.unanswered).push(operation);
            }
            status => {
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                return Err(Finding(format!("{} was answered {status}: {body}", operation.path)));
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A broken guarantee.
#[derive(Debug)]
pub(super) struct Finding(pub(super) String);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Finding {}

/// The clients during one run of the service.
pub(super) struct Crowd(JoinSet<Result<(), Finding>>);

impl Crowd {
    pub(super) fn begin(
        caller: Caller,
        clients: usize,
        dice: &mut Dice,
        client_log: &Arc<ClientLog>,
    ) -> Self {
        let mut tasks = JoinSet::new();
        for _ in 0..clients {
            tasks.spawn(go_on(caller.clone(), dice.split(), Arc::clone(client_log)));
        }
        Self(tasks)
    }

    /// Adds a client of another kind, which ends when the service is gone.
    pub(super) fn spawn(&mut self, client: impl Future<Output = Result<(), Finding>> + Send + 'static) {
        self.0.spawn(client);
    }

    /// Waits until all of them have noticed that the service is gone.
    pub(super) async fn end(mut self) -> Outcome {
        while let Some(ended) = self.0.join_next().await {
            ended??;
        }
        Ok(())
    }
}

async fn go_on(caller: Caller, mut dice: Dice, client_log: Arc<ClientLog>) -> Result<(), Finding> {
    loop {
        let left = lock(&client_log.unanswered).pop();
        let operation = match left {
            Some(operation) if !dice.one_in(3) => operation,
            other => {
                lock(&client_log.unanswered).extend(other);
                invent(&caller, &mut dice, &client_log)
            }
        };
        let answer = if dice.one_in(8) {
            send_twice(&caller, &operation).await?
        } else {
            caller.send(&operation).await
        };
        let is_gone = answer.is_none();
        let repeated = operation.clone();
        client_log.enter(operation, answer.clone())?;
        if is_gone {
            return Ok(());
        }
        if let Some(first) = answer.filter(|first| first.status == 201 && dice.one_in(8)) {
            repeat(&caller, &repeated, &first).await?;
        }
    }
}

/// Sends the same key twice at once: one request is carried out, the other gets the same answer or must come back.
async fn send_twice(caller: &Caller, operation: &Operation) -> Result<Option<Answer>, Finding> {
    let (Some(one), Some(other)) = tokio::join!(caller.send(operation), caller.send(operation)) else {
        return Ok(None);
    };
    if one.status != 201 || other.status != 201 {
        return Ok(Some(if one.status == 201 { one } else { other }));
    }
    let may_differ = one.is_pending() || other.is_pending();
    if one.json()["id"] == other.json()["id"] && (one == other || may_differ) {
        return Ok(Some(one));
    }
    let (one, other) = (String::from_utf8_lossy(&one.body), String::from_utf8_lossy(&other.body));
    Err(Finding(format!("the same key twice at once was answered\n{one}\nand\n{other}")))
}

/// Repeats a key: the answer is the same, or the outcome is still unknown, or the session has no place for a card just now.
async fn repeat(caller: &Caller, operation: &Operation, first: &Answer) -> Result<(), Finding> {
    let Some(again) = caller.send(operation).await else { return Ok(()) };
    let may_differ =
        first.is_pending() || again.status == 503 || (again.status == 429 && operation.pays_session());
    if again == *first || may_differ {
        return Ok(());
    }
    let (first, again) = (String::from_utf8_lossy(&first.body), String::from_utf8_lossy(&again.body));
    Err(Finding(format!("the same key was answered\n{first}\nand then\n{again}")))
}

fn invent(caller: &Caller, dice: &mut Dice, client_log: &ClientLog) -> Operation {
    let key = format!("key {}", client_log.keys.fetch_add(1, Ordering::Relaxed));
    let charge = {
        let charges = lock(&client_log.charges);
        // Mostly the latest charges: the older ones have been captured and voided.
        let latest = charges.len().saturating_sub(200);
        charges.get(latest + dice.place(charges.len() - latest)).cloned()
    };
    if dice.one_in(5) && !caller.sessions.is_empty() {
        return pay_session(dice.pick(&caller.sessions).clone(), dice, key);
    }
    match charge.filter(|_| !dice.one_in(3)) {
        None => Operation {
            path: CHARGES.to_owned(),
            body: charge_body(caller, dice, &key),
            key,
            public_key: None,
        },
        Some(id) => {
            let operation = *dice.pick(&["capture", "void", "void"]);
            let body = match dice.within(0..4) {
                0 => json!({}),
                1 => json!({ "amount": REFUSED_AMOUNT_MINOR_UNITS }),
                _ => json!({ "amount": dice.within(1..300) }),
            };
            Operation { path: format!("/v1/charges/{id}/{operation}"), key, body, public_key: None }
        }
    }
}

fn pay_session(session: ForSale, dice: &mut Dice, key: String) -> Operation {
    let (method, source) = match dice.pick(&session.methods).as_str() {
        "pix" => (json!({ "paymentType": "pix" }), by_payer(&["pix"], dice).1),
        _ => by_card(dice),
    };
    Operation {
        path: format!("/v1/sessions/{}/charge", session.id),
        key,
        body: json!({ "paymentMethod": method, "paymentSource": source }),
        public_key: Some(session.public_key),
    }
}

fn charge_body(caller: &Caller, dice: &mut Dice, key: &str) -> Value {
    let mut body = json!({
        "merchantId": dice.pick(&caller.merchants), "amount": dice.price(1..2_000), "orderId": key,
        "capture": dice.one_in(2),
    });
    let (method, source) = if dice.one_in(3) { by_payer(caller.methods, dice) } else { by_card(dice) };
    body["paymentMethod"] = method;
    body["paymentSource"] = source;
    if dice.one_in(3) {
        // The last digit decides what the simulator finds.
        let identity = format!("1111111111{}", dice.pick(&[0, 1, 1, 1, 2, 3]));
        body["fraudAnalysis"] = json!({ "customer": { "identity": identity } });
    }
    if body["paymentMethod"]["paymentType"] == "nupay" {
        body["fraudAnalysis"]["cart"] = json!({ "items": [{ "name": "Shoe" }] });
    }
    body
}

/// A payment method by card, with its source.
pub(super) fn by_card(dice: &mut Dice) -> (Value, Value) {
    let (number, cvv) = *dice.pick(&CARDS);
    let card = json!({
        "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv, "cardExpirationDate": "12/2030",
    });
    (json!({ "paymentType": "credit", "installments": 1 }), json!({ "sourceType": "card", "card": card }))
}

/// A payment method of these, whose payer gets instructions, with its source.
fn by_payer(methods: &[&str], dice: &mut Dice) -> (Value, Value) {
    let method = match *dice.pick(methods) {
        "pix" => json!({ "paymentType": "pix", "expiresIn": EXPIRES_IN_SECONDS }),
        "nupay" => json!({ "paymentType": "nupay", "delayToAutoCancel": EXPIRES_IN_SECONDS / 60 }),
        other => json!({ "paymentType": other }),
    };
    let customer = json!({
        "name": "Jose Bonifacio", "phoneNumber": "21988899990", "email": "jose@example.com",
        "document": { "type": "cpf", "number": "72912053013" },
        "address": {
            "street": "Rua A", "streetNumber": "9", "zipCode": "01310100", "country": "BR", "state": "SP",
            "city": "Sao Paulo", "district": "Centro",
        },
    });
    (method, json!({ "sourceType": "customer", "customer": customer }))
}
