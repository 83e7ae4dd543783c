//! Every combination of outcomes for the cards of a purchase: approved, declined, timed out before or after the effect,
//! unanswered for a while; during authorization, capture and void. At the end, by the simulator's transaction log,
//! every card is charged or none is, and the history is complete and in order.
//!
//! `REGENTE_ORDERS=all` runs every combination on both databases, combines every order of captures with every order of
//! voids, and stops the process at each step of each.

mod crashes;
mod order;
mod planted;
mod verdict;

use std::time::Duration;

use order::{Intention, Order};
use regente_domain::purchase::Phase;
use regente_domain::time::Timestamp;
use regente_store::{DatabaseKind, purchases};
use serde_json::{Value, json};
use verdict::{End, verdicts};

use crate::support::agreement::is_nothing_open;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::providers::sandbox;
use crate::support::purchases::{AMOUNTS, send};
use crate::support::read::text;

stories! {
    every_order_of_outcomes_of_two_cards,
    every_order_of_outcomes_of_three_cards,
}

/// One of several equal steps of time; together they exceed every schedule many times over.
const LATER: Duration = Duration::from_secs(60);
const LATERS_MAX: usize = 4 * 60;
/// Short, so that time-outs take little time.
const DEADLINE: Duration = Duration::from_millis(15);
/// Concurrent purchases, so that their time-outs overlap.
const AT_ONCE: usize = 125;

/// Whether `REGENTE_ORDERS=all` is set.
fn is_long() -> bool {
    std::env::var("REGENTE_ORDERS").is_ok_and(|orders| orders == "all")
}

async fn every_order_of_outcomes_of_two_cards(app: TestApp) {
    every_order(app, 2).await;
}

async fn every_order_of_outcomes_of_three_cards(app: TestApp) {
    every_order(app, 3).await;
}

async fn every_order(app: TestApp, cards: usize) {
    let (app, shop) = Shop::open(app).await;
    let orders = match (is_long(), app.app.store.database_kind(), cards) {
        (true, _, _) => [Order::all(cards), Order::captures_and_voids(cards)].concat(),
        // The database has no influence on the order of captures and voids.
        (false, DatabaseKind::Postgres, 3..) => Order::authorized(cards),
        (false, DatabaseKind::Sqlite | DatabaseKind::Postgres, _) => Order::all(cards),
    };
    let mut ends = Vec::new();
    for orders in orders.chunks(AT_ONCE) {
        let round = shop.round(&app, orders).await;
        settle(&app, &round.ids).await;
        for (order, id) in orders.iter().zip(&round.ids) {
            shop.carry_out(&app, order, id).await;
        }
        settle(&app, &round.ids).await;
        for (order, end) in orders.iter().zip(verdicts(&app, &round, orders).await) {
            assert_eq!(end, order.end(), "{order:?}");
            ends.push(end);
        }
    }
    let count = |end| ends.iter().filter(|other| **other == end).count();
    let (paid, failed, cancelled) = (count(End::Paid), count(End::Failed), count(End::Cancelled));
    println!("{cards} cards, {} orders: {paid} paid, {failed} failed, {cancelled} cancelled", ends.len());
}

/// Purchases that are made together, with nothing else beside them.
struct Round {
    since: Timestamp,
    ids: Vec<String>,
}

/// A merchant and stored cards; each purchase brings its own faults.
struct Shop {
    merchant: String,
    cards: Vec<String>,
}

impl Shop {
    async fn open(app: TestApp) -> (TestApp, Self) {
        let app = app.with_settings(|settings| settings.circuits = None).await;
        let app = app.with_sandbox_deadline(DEADLINE).await;
        let merchant = app.merchant_with(json!([sandbox("Only", 1)])).await;
        let mut cards = Vec::new();
        for _ in AMOUNTS {
            cards.push(app.card(APPROVED).await);
        }
        let shop = Self { merchant, cards };
        // A card whose first charge fails cannot be used again.
        let first = shop.round(&app, &[Order::smooth(AMOUNTS.len(), Intention::CaptureAtOnce)]).await;
        settle(&app, &first.ids).await;
        (app, shop)
    }

    /// Accepted purchases, one for each order, before their jobs have run.
    async fn round(&self, app: &TestApp, orders: &[Order]) -> Round {
        // No earlier purchase has charges of this time.
        app.clock.advance(Duration::from_millis(1));
        let mut round = Round { since: app.clock.deployment(), ids: Vec::new() };
        for order in orders {
            round.ids.push(self.accepted(app, order).await);
        }
        round
    }

    /// An accepted purchase with this order's faults and a reference of its own.
    async fn accepted(&self, app: &TestApp, order: &Order) -> String {
        let payments: Vec<Value> = order
            .amounts()
            .zip(&self.cards)
            .map(|(amount, card)| json!({ "cardId": card, "amount": amount, "cardCvv": APPROVED.1 }))
            .collect();
        let amount: i64 = order.amounts().sum();
        let body = json!({
            "merchantId": self.merchant, "amount": amount, "capture": order.intention.captures_at_once(),
            "orderId": app.app.chance.uuid().to_string(), "payments": payments, "paymentFlow": { "metadata": { "sandboxFaults": order.faults() } },
        });
        let answer = send(app, "/v1/purchases", &body).await.expect(202);
        text(&answer["id"]).to_owned()
    }

    /// Sends the merchant's operation once every card is reserved or charged; a failed purchase gets none.
    async fn carry_out(&self, app: &TestApp, order: &Order, id: &str) {
        let operation = match order.intention {
            Intention::CaptureAtOnce => return,
            Intention::CaptureLater => "capture",
            Intention::Release | Intention::Refund => "void",
        };
        send(app, &format!("/v1/purchases/{id}/{operation}"), &json!({})).await.expect(202);
    }
}

/// Advances the clock until none of these purchases is under way and no outcome is unknown.
async fn settle(app: &TestApp, ids: &[String]) {
    for _ in 0..LATERS_MAX {
        app.later(LATER).await;
        if is_nothing_open(app).await && are_at_rest(app, ids).await {
            return;
        }
    }
    panic!("something goes on for ever");
}

async fn are_at_rest(app: &TestApp, ids: &[String]) -> bool {
    for id in ids {
        let found = purchases::find(&app.app.store, app.client_id(), id.parse().unwrap()).await.unwrap();
        match found.unwrap().purchase.phase {
            Phase::Authorizing { .. } | Phase::Capturing { .. } | Phase::Undoing(_) => return false,
            Phase::PreAuthorized { .. } | Phase::Paid | Phase::Failed | Phase::Cancelled => {}
        }
    }
    true
}
