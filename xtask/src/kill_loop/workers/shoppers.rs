//! The clients: each creates purchases and sometimes captures or voids an earlier one, until it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::clients::Finding;
use super::super::dice::Dice;
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

/// Longer than any request takes: a service that hangs is a finding.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two operations of a client.
const PAUSE_MS: std::ops::Range<u64> = 10..80;
/// Amounts of a card: below the amount that the simulator never captures or voids.
const AMOUNTS: std::ops::Range<u64> = 100..900;
/// An approved card of the simulator.
const CARD: (&str, &str) = ("4916745120294124", "560");
/// Stored cards that all purchases share.
const CARDS: usize = 6;
/// Events that a webhook must ask for by name.
const NAMED_EVENTS: [&str; 3] = ["purchase.paid", "purchase.failed", "purchase.cancelled"];

/// An account with a merchant, stored cards, and webhooks for all events.
pub(super) struct Shop {
    http: Client,
    url: String,
    client_id: String,
    api_key: String,
    merchant_id: String,
    cards: Vec<String>,
}

impl Shop {
    pub(super) async fn open(service: &Service, account: &Account, endpoint: &str) -> Outcome<Self> {
        let mut shop = Self {
            http: Client::new(),
            url: service.url.clone(),
            client_id: account.client_id.clone(),
            api_key: account.api_key.clone(),
            merchant_id: account.merchant_id.clone(),
            cards: Vec::new(),
        };
        for event in std::iter::once("*").chain(NAMED_EVENTS) {
            let body = json!({ "event": event, "endpoint": format!("{endpoint}/hook"), "version": 1.1 });
            shop.must("/v1/webhooks", &body, "hook").await?;
        }
        for number in 0..CARDS {
            let details = json!({ "cardHolderName": "JOAO DA SILVA", "cardNumber": CARD.0, "cardCvv": CARD.1,
                "cardExpirationDate": "12/2030" });
            let token = shop.must("/v1/tokens", &details, &format!("token {number}")).await?;
            let card = json!({ "tokenId": token["tokenId"] });
            let card = shop.must("/v1/cards", &card, &format!("card {number}")).await?;
            shop.cards.push(card["id"].as_str().ok_or("a card without an id")?.to_owned());
        }
        // A card whose first charge is refused cannot be used again, so there are no faults yet.
        for card in &shop.cards {
            let body = json!({ "merchantId": shop.merchant_id, "amount": 100, "capture": false,
                "paymentMethod": { "paymentType": "credit", "installments": 1 },
                "paymentSource": { "sourceType": "card", "cardId": card } });
            let charge = shop.must("/v1/charges", &body, card).await?;
            let path = format!("/v1/charges/{}/void", charge["id"].as_str().unwrap_or_default());
            shop.must(&path, &json!({}), card).await?;
        }
        Ok(shop)
    }

    async fn must(&self, path: &str, body: &Value, key: &str) -> Outcome<Value> {
        let answer = self.post(path, body, &format!("{path} {key} {}", body["event"])).await?;
        Ok(answer.error_for_status()?.json().await?)
    }

    async fn post(&self, path: &str, body: &Value, key: &str) -> reqwest::Result<reqwest::Response> {
        let request = self.http.post(format!("{}{path}", self.url)).timeout(TIMEOUT).json(body);
        let request = request.header("X-Client-Id", &self.client_id).header("X-Api-Key", &self.api_key);
        request.header("X-Idempotency-Key", key).send().await
    }

    /// Creates a purchase and returns its id.
    async fn buy(&self, dice: &mut Dice, key: &str) -> Result<Option<String>, Finding> {
        let first = dice.place(self.cards.len());
        let cards = self.cards.iter().cycle().skip(first).take(2 + dice.place(2));
        let payments: Vec<Value> = cards
            .map(|card| json!({ "cardId": card, "amount": dice.within(AMOUNTS), "cardCvv": CARD.1 }))
            .collect();
        let amount: u64 = payments.iter().filter_map(|payment| payment["amount"].as_u64()).sum();
        let body = json!({ "merchantId": self.merchant_id, "amount": amount, "capture": !dice.one_in(3),
            "orderId": key, "payments": payments });
        let answer = self.post("/v1/purchases", &body, key).await.map_err(finding)?;
        match answer.status() {
            StatusCode::ACCEPTED => {
                let purchase: Value = answer.json().await.map_err(finding)?;
                Ok(purchase["id"].as_str().map(str::to_owned))
            }
            StatusCode::SERVICE_UNAVAILABLE => Ok(None),
            status => Err(Finding(format!("a purchase was answered {status}"))),
        }
    }

    /// Captures or voids a purchase, if its state allows it.
    async fn operate(&self, dice: &mut Dice, id: &str, key: &str) -> Result<(), Finding> {
        let operation = *dice.pick(&["capture", "void"]);
        let path = format!("/v1/purchases/{id}/{operation}");
        let answer = self.post(&path, &json!({}), key).await.map_err(finding)?;
        match answer.status() {
            StatusCode::ACCEPTED
            | StatusCode::CONFLICT
            | StatusCode::UNPROCESSABLE_ENTITY
            | StatusCode::SERVICE_UNAVAILABLE => Ok(()),
            status => Err(Finding(format!("{path} was answered {status}"))),
        }
    }
}

fn finding(error: reqwest::Error) -> Finding {
    Finding(format!("the node that takes purchases does not answer: {error}"))
}

/// The clients of one round.
pub(super) struct Crowd {
    tasks: JoinSet<Result<(), Finding>>,
    is_over: Arc<AtomicBool>,
    accepted: Arc<Mutex<Vec<String>>>,
}

impl Crowd {
    pub(super) fn begin(shop: &Arc<Shop>, clients: usize, dice: &mut Dice) -> Self {
        let (is_over, accepted) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
        let mut tasks = JoinSet::new();
        for _ in 0..clients {
            tasks.spawn(go_on(Arc::clone(shop), dice.split(), Arc::clone(&is_over), Arc::clone(&accepted)));
        }
        Self { tasks, is_over, accepted }
    }

    /// Waits until all of them have stopped; returns the accepted purchases.
    pub(super) async fn end(mut self) -> Outcome<Vec<String>> {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        Ok(std::mem::take(&mut self.accepted.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

async fn go_on(
    shop: Arc<Shop>,
    mut dice: Dice,
    is_over: Arc<AtomicBool>,
    accepted: Arc<Mutex<Vec<String>>>,
) -> Result<(), Finding> {
    let mut own: Vec<String> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let key = format!("{:016x}", dice.next());
        if !own.is_empty() && dice.one_in(3) {
            // The oldest: most of the others are still under way.
            let id = own.remove(0);
            shop.operate(&mut dice, &id, &key).await?;
        } else if let Some(id) = shop.buy(&mut dice, &key).await? {
            accepted.lock().unwrap_or_else(PoisonError::into_inner).push(id.clone());
            own.push(id);
        }
        tokio::time::sleep(Duration::from_millis(dice.within(PAUSE_MS))).await;
    }
    Ok(())
}
