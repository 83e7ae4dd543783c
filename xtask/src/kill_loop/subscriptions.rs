//! Subscriptions of an account whose clock is advanced while processes are killed: who makes, pauses, resumes and cancels
//! them. What each must be in the end is judged in `cycles`.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use super::clients::Crowd;
use super::cycles;
use super::dice::Dice;
use super::faults;
use super::requests::{self, Clients, Request, Requests};
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

pub(super) const SUBSCRIPTIONS: &str = "/v1/subscriptions";
/// Clients who make and change subscriptions.
const CLIENTS: usize = 3;
/// Most subscriptions of a run: each of them is charged on each day.
const SUBSCRIPTIONS_MAX: usize = 80;
/// The simulator refuses to give 991 back.
const AMOUNTS: std::ops::Range<u64> = 1..980;
/// More than the cycles of a subscription and all retries of the last one take.
const DAYS_AT_THE_END: i64 = 40;
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
    pub(super) requests: Requests,
    customer: String,
    merchants: Vec<String>,
    cards: Vec<String>,
    known: Mutex<Known>,
}

/// What they know of their subscriptions.
#[derive(Default)]
struct Known {
    /// Ids of subscriptions that were made.
    made: Vec<String>,
    canceled: HashSet<String>,
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
        let requests = Requests::of(account);
        Ok(Arc::new(Self { requests, customer, merchants, cards, known: Mutex::default() }))
    }

    /// Lets clients and the clock join a crowd, until the service is gone.
    pub(super) fn join(self: &Arc<Self>, crowd: &mut Crowd, service: &Service, dice: &mut Dice) {
        requests::join(self, CLIENTS, crowd, service, dice);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the clock until nothing more falls due, then lets everybody pay what is still unpaid or paused, and does so again.
    pub(super) async fn settle(&self, service: &Service) -> Outcome {
        let started = Instant::now();
        requests::advance_to_the_end(self, service, DAYS_AT_THE_END).await?;
        // A clock that advances comes to the end of a schedule of look-ups within moments, all of them under one plan of faults.
        let asked_anew = service.retry_given_up()?;
        println!("{asked_anew} requests were given up by then, and are asked for anew");
        let listed =
            cycles::all(async |path| service.get(&self.requests.account, &path).await, SUBSCRIPTIONS).await?;
        for subscription in listed {
            let path = format!("{SUBSCRIPTIONS}/{}", subscription["id"].as_str().unwrap_or_default());
            let card =
                json!({ "paymentMethod": { "type": "credit", "card": { "cardId": self.cards.first() } } });
            let resume = Request::post(format!("{path}/resume"), json!({}));
            let changed = Request { method: Method::PUT, path, body: card, ..resume.clone() };
            self.requests.add([changed, resume]);
        }
        let clock = requests::advance_to_the_end(self, service, DAYS_AT_THE_END).await?;
        println!("everything has fallen due after {} ms", started.elapsed().as_millis());
        self.requests.check_clock(&clock)
    }

    /// What was made and not found, found and not made, or canceled and goes on. `listed` are the subscriptions of the account.
    pub(super) fn unkept_promises(&self, listed: &[Value]) -> Vec<String> {
        let known = self.known();
        let made: HashSet<&str> = known.made.iter().map(String::as_str).collect();
        let found: HashSet<&str> = listed.iter().filter_map(|one| one["id"].as_str()).collect();
        let mut broken: Vec<String> =
            made.difference(&found).map(|id| format!("the subscription {id} is gone")).collect();
        broken.extend(found.difference(&made).map(|id| format!("nobody knows of the subscription {id}")));
        if made.len() != known.made.len() {
            broken.push(format!("{} keys have made {} subscriptions", known.made.len(), made.len()));
        }
        let goes_on = |one: &&Value| {
            one["status"] != "canceled" && one["id"].as_str().is_some_and(|id| known.canceled.contains(id))
        };
        broken.extend(listed.iter().filter(goes_on).map(|one| format!("it was canceled: {one}")));
        broken
    }
}

impl Clients for Subscribers {
    fn requests(&self) -> &Requests {
        &self.requests
    }

    fn invent(&self, dice: &mut Dice) -> Request {
        let known = self.known();
        // Mostly the latest: the older ones have ended.
        let latest = known.made.len().saturating_sub(15);
        let id = known.made.get(latest + dice.place(known.made.len() - latest)).cloned();
        let is_full = known.made.len() >= SUBSCRIPTIONS_MAX;
        drop(known);
        let card = json!({ "type": "credit", "card": { "cardId": dice.pick(&self.cards) } });
        match id.filter(|_| is_full || !dice.one_in(4)) {
            None => {
                let body = json!({
                    "name": "Premium", "merchantId": dice.pick(&self.merchants), "customerId": self.customer,
                    "items": [{ "name": "Plan", "amount": dice.price(AMOUNTS), "quantity": 1 }],
                    "recurrence": { "interval": "daily", "cycles": dice.within(2..7) }, "paymentMethod": card,
                });
                let make = Request::post(SUBSCRIPTIONS.to_owned(), body);
                Request { reference: Some("referenceKey"), ..make }
            }
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

    fn accepted(&self, request: &Request, body: &Value) {
        let id = || body["id"].as_str().unwrap_or_default().to_owned();
        if request.path == SUBSCRIPTIONS {
            self.known().made.push(id());
        } else if request.path.ends_with("/cancel") {
            self.known().canceled.insert(id());
        }
    }

    fn may_refuse(&self, request: &Request, status: u16) -> bool {
        // Not allowed in this state.
        status == 422 || (status == 409 && request.method == Method::PUT)
    }
}
