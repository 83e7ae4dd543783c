//! The pieces of work that fall due: how they are made, when they are due, and how it shows that they are done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use futures_util::{StreamExt, TryStreamExt, stream};
use regente_engine::clock::Clock;
use regente_engine::jobs::Worker;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::Outcome;
use crate::place::sellers::seller;
use crate::place::{Account, Inside, uuid};

/// Requests in flight at once while pieces are made.
const AT_ONCE: usize = 64;
/// Rounds after which due work must have ended.
const ROUNDS_MAX: u32 = 500;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
/// Seconds that a Pix waits for its payer.
const PIX_SECONDS: u64 = 3_600;
/// Cards that the simulator approves, with their codes.
const CARDS: [(&str, &str); 2] = [("4916745120294124", "560"), ("5214254988499590", "220")];
/// The document of a seller.
const DOCUMENT: &str = "36243319067";
/// The key of each simulator.
const API_KEY: &str = "any";

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Pix,
    Unknown,
    Reservation,
    Purchase,
    Notification,
    Session,
    Review,
    Subscription,
    Delivery,
}

impl Piece {
    /// Deliveries last: the webhook hears of everything that comes after it was made.
    pub(super) const ALL: [Self; 9] = [
        Self::Pix,
        Self::Unknown,
        Self::Reservation,
        Self::Purchase,
        Self::Notification,
        Self::Session,
        Self::Review,
        Self::Subscription,
        Self::Delivery,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Pix => "a Pix that expires",
            Self::Unknown => "an unknown outcome that is looked up",
            Self::Reservation => "a reservation that is released",
            Self::Purchase => "a purchase with two cards that is driven",
            Self::Notification => "a notification that is settled",
            Self::Session => "a session that ends",
            Self::Review => "a review of a seller that ends",
            Self::Subscription => "a cycle of a subscription that is charged",
            Self::Delivery => "an event that is delivered",
        }
    }

    /// From its making, a time before it is due and one after that: what else falls due is done in the first one.
    const fn due_between(self) -> (Duration, Duration) {
        match self {
            Self::Pix => (Duration::from_secs(PIX_SECONDS - 1), Duration::from_secs(PIX_SECONDS + 1)),
            Self::Unknown => (Duration::ZERO, MINUTE),
            Self::Reservation => (Duration::from_secs(7 * 86_400 - 1), Duration::from_secs(7 * 86_400 + 1)),
            // Of ids that were made together the last ones are some milliseconds ahead, and events with them.
            Self::Purchase | Self::Notification | Self::Delivery => (Duration::ZERO, SECOND),
            Self::Session | Self::Review => {
                (Duration::from_secs(2 * 86_400 - 1), Duration::from_secs(2 * 86_400 + 1))
            }
            // Billed between 03:00 and 06:00 of the day after next.
            Self::Subscription => (DAY, Duration::from_secs(3 * 86_400)),
        }
    }

    /// A list of what has become of it, beside the number of its entries to each piece.
    const fn done(self) -> Option<(&'static str, u32)> {
        match self {
            Self::Pix => Some(("/v1/charges?status=failed", 1)),
            Self::Unknown => Some(("/v1/charges?status=authorized", 1)),
            Self::Reservation => Some(("/v1/charges?status=canceled", 1)),
            Self::Purchase | Self::Delivery => None,
            Self::Notification => Some(("/v1/charges?status=charged_back", 1)),
            Self::Session => Some(("/v1/sessions?isActive=false", 1)),
            Self::Review => Some(("/v1/sellers/registration-reviews?status=expired", 1)),
            Self::Subscription => Some(("/v1/subscriptions?status=active", 1)),
        }
    }
}

/// An account whose work falls due.
pub(super) struct Shop {
    inside: Inside,
    clock: Clock,
    account: Account,
    worker: Worker,
    customer: String,
    cards: [String; 2],
    /// A merchant whose provider does not answer authorizations.
    losing: String,
    receiver: Receiver,
    /// Pieces of each kind.
    pub(super) due: u32,
}

impl Shop {
    pub(super) async fn open(inside: Inside, clock: Clock, account: Account, due: u32) -> Outcome<Self> {
        let buyer = json!({
            "name": "Jose Bonifacio", "email": "jose@example.com", "phoneNumber": "21988899990",
            "document": { "type": "cpf", "number": "72912053013" },
        });
        let customer = id(&inside.post(&account, "/v1/customers", &uuid(), &buyer).await?, "id")?;
        let store = async |card: Value| -> Outcome<String> {
            let token = id(&inside.post(&account, "/v1/tokens", &uuid(), &card).await?, "tokenId")?;
            id(&inside.post(&account, "/v1/cards", &uuid(), &json!({ "tokenId": token })).await?, "id")
        };
        let cards = [store(card(CARDS[0])).await?, store(card(CARDS[1])).await?];
        let losing = json!([{
            "name": "Loses answers", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": API_KEY },
            "options": { "type": "SANDBOX", "faults": [
                { "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } },
            ] },
        }]);
        let losing = inside.make_merchant(&account, &losing).await?;
        let (worker, receiver) = (inside.worker().await?, Receiver::listen().await?);
        Ok(Self { inside, clock, account, worker, customer, cards, losing, receiver, due })
    }

    /// Makes pieces, and lets their time come.
    pub(super) async fn make_due(&self, piece: Piece) -> Outcome {
        let making = stream::iter(0..self.due).map(|_| self.make(piece));
        if piece == Piece::Delivery {
            let webhook = json!({ "event": "transaction.pre_authorized", "endpoint": self.receiver.url });
            self.post("/v1/webhooks", &webhook).await?;
        }
        making.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let (before, after) = piece.due_between();
        if !before.is_zero() {
            self.work_off().await?;
            self.clock.advance(before);
            self.work_off().await?;
        }
        self.clock.advance(after - before);
        Ok(())
    }

    async fn make(&self, piece: Piece) -> Outcome {
        let merchant = &self.account.merchant_id;
        match piece {
            Piece::Pix => {
                let body = json!({
                    "merchantId": merchant, "amount": 150, "currency": "BRL",
                    "paymentMethod": { "paymentType": "pix", "expiresIn": PIX_SECONDS },
                    "paymentSource": { "sourceType": "customer", "customerId": self.customer },
                });
                self.post("/v1/charges", &body).await.map(drop)
            }
            Piece::Unknown => self.charge(&self.losing, true).await.map(drop),
            Piece::Reservation | Piece::Delivery => self.charge(merchant, false).await.map(drop),
            Piece::Purchase => {
                let payments = self.cards.iter().zip(CARDS);
                let payments: Vec<Value> = payments
                    .map(|(id, (_, code))| json!({ "cardId": id, "amount": 10_000, "cardCvv": code }))
                    .collect();
                let body = json!({
                    "merchantId": merchant, "amount": 20_000, "capture": true, "payments": payments,
                });
                self.post("/v1/purchases", &body).await.map(drop)
            }
            Piece::Notification => {
                let charge = self.charge(merchant, true).await?;
                let charge_id = charge["id"].as_str().ok_or("no id of a charge")?;
                self.inside.charged_back(&self.account, charge_id, API_KEY).await
            }
            Piece::Session => {
                let body = json!({
                    "merchantId": merchant, "amount": 150, "name": "Order", "dueDate": self.in_days(2),
                    "paymentMethods": [{ "paymentType": "credit", "installments": 3 }],
                    "items": [{ "name": "Shoe", "unitPrice": 150, "quantity": 1 }],
                });
                self.post("/v1/sessions", &body).await.map(drop)
            }
            Piece::Review => {
                let merchant_id =
                    self.inside.make_merchant(&self.account, &crate::place::one_simulator()).await?;
                let account = Account { merchant_id, ..self.account.clone() };
                let seller = self.post("/v1/sellers", &seller(&account, DOCUMENT)).await?;
                let path = format!("/v1/sellers/{}/registration-reviews", id(&seller, "id")?);
                let body = json!({ "fields": ["owner.phoneNumber"], "deadlineAt": self.in_days(2) });
                self.post(&path, &body).await.map(drop)
            }
            Piece::Subscription => {
                let body = json!({
                    "name": "Premium", "merchantId": merchant, "customerId": self.customer,
                    "items": [{ "name": "Plan", "amount": 150, "quantity": 1 }],
                    "recurrence": { "interval": "monthly", "startAt": &self.in_days(2)[..10] },
                    "paymentMethod": { "type": "credit", "card": { "cardId": self.cards[0] } },
                });
                self.post("/v1/subscriptions", &body).await.map(drop)
            }
        }
    }

    /// Runs rounds until one finds nothing.
    pub(super) async fn work_off(&self) -> Outcome {
        for _ in 0..ROUNDS_MAX {
            if !self.round().await? {
                return Ok(());
            }
        }
        Err(format!("there is still work after {ROUNDS_MAX} rounds").into())
    }

    /// Runs so many rounds that find nothing.
    pub(super) async fn look(&self, looks: u32) -> Outcome {
        for _ in 0..looks {
            if self.round().await? {
                return Err("a look has found something".into());
            }
        }
        Ok(())
    }

    /// Whether a round has done anything.
    async fn round(&self) -> Outcome<bool> {
        let done = self.worker.round().await.map_err(|error| format!("{error:?}"))?;
        Ok(done.jobs + done.resolved + done.delivered > 0)
    }

    /// Whether all pieces of a kind were done.
    pub(super) async fn check(&self, piece: Piece) -> Outcome {
        if piece == Piece::Delivery {
            return match self.receiver.taken.load(Ordering::Relaxed) {
                taken if taken == self.due => Ok(()),
                taken => Err(format!("{taken} events were delivered instead of {}", self.due).into()),
            };
        }
        let Some((list, each)) = piece.done() else { return Ok(()) };
        let page = self.inside.get(&self.account, &format!("{list}&limit=1")).await?;
        let (wanted, found) = (u64::from(self.due * each), &page["meta"]["totalItems"]);
        if found.as_u64() == Some(wanted) {
            return Ok(());
        }
        Err(format!("{list} has {found} entries instead of {wanted}").into())
    }

    /// By then the recurring jobs are due.
    pub(super) fn an_hour_later(&self) {
        self.clock.advance(HOUR);
    }

    /// Advances the clock of the account by a minute, so many times.
    pub(super) async fn advance_clock(&self, times: u32) -> Outcome {
        for _ in 0..times {
            let shown = self.post("/v1/sandbox/clock", &json!({ "by": "1m" })).await?;
            if shown["advance"]["status"] == "running" {
                self.work_off().await?;
            }
        }
        Ok(())
    }

    async fn charge(&self, merchant: &str, captured: bool) -> Outcome<Value> {
        let body = json!({
            "merchantId": merchant, "amount": 150, "currency": "BRL", "capture": captured,
            "statementDescriptor": "LOJA JOAO", "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": card(CARDS[0]) },
        });
        self.post("/v1/charges", &body).await
    }

    async fn post(&self, path: &str, body: &Value) -> Outcome<Value> {
        self.inside.post(&self.account, path, &uuid(), body).await
    }

    fn in_days(&self, days: u32) -> String {
        (self.clock.deployment() + DAY * days).to_string()
    }
}

fn card((number, code): (&str, &str)) -> Value {
    json!({
        "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": code, "cardExpirationDate": "12/2032",
    })
}

fn id(made: &Value, name: &str) -> Outcome<String> {
    Ok(made[name].as_str().ok_or_else(|| format!("no {name} in {made}"))?.to_owned())
}

/// An endpoint that takes every delivery.
struct Receiver {
    url: String,
    /// How many it has taken.
    taken: Arc<AtomicU32>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Receiver {
    async fn listen() -> Outcome<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let taken = Arc::<AtomicU32>::default();
        let counted = taken.clone();
        let router: Router = Router::new().fallback(async move || {
            counted.fetch_add(1, Ordering::Relaxed);
            "ok"
        });
        let task = tokio::spawn(axum::serve(listener, router).into_future());
        Ok(Self { url, taken, task })
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}
