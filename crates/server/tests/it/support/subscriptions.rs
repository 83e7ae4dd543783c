//! Bodies of subscriptions, and who is charged by them.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::APPROVED;
use crate::support::client::Reply;
use crate::support::read::text;
use crate::support::records::Records;

pub const SUBSCRIPTIONS: &str = "/v1/subscriptions";
pub const SETTINGS: &str = "/v1/subscriptions/settings";

/// The least that a subscription has: monthly, from today on, without an end.
pub fn subscription_body(merchant: &str, customer: &str, card: &str) -> Value {
    json!({
        "name": "Premium", "merchantId": merchant, "customerId": customer,
        "items": [{ "name": "Plan", "amount": 29900, "quantity": 1 }],
        "recurrence": { "interval": "monthly" },
        "paymentMethod": { "type": "credit", "card": { "cardId": card } },
    })
}

/// An item with every member.
pub fn complete_item() -> Value {
    json!({
        "name": "Ticket", "amount": 100, "quantity": 2, "description": "Two days", "sku": "T-1",
        "categoryId": "events", "locality": "Rio de Janeiro", "genre": "rock", "risk": "Low", "date": "2030-02-28",
        "type": -3,
        "tickets": { "quantityTicketSale": 4, "quantityEventHouse": 5, "convenienceFeeValue": 2.5,
            "quantityFull": 1, "quantityHalf": 3, "batch": 2 },
        "location": { "street": "Rua A", "number": "1", "complement": "2", "zipCode": "25650011", "city": "Rio",
            "state": "RJ", "country": "BR", "district": "Leblon", "reference": "the beach", "quantityHalf": 3,
            "batch": 2 },
    })
}

/// A body with every member but a split.
pub fn complete_body(body: &Value, merchant: &str) -> Value {
    let mut body = body.clone();
    for (pointer, member, value) in [
        ("", "merchantId", json!(merchant)),
        ("", "referenceKey", json!("SUB-1")),
        ("", "items", json!([complete_item()])),
        ("", "trial", json!({ "endAt": "2030-01-01" })),
        ("/recurrence", "cycles", json!(12)),
        ("/recurrence", "startAt", json!("2030-01-01")),
        ("/paymentMethod", "installments", json!(2)),
        ("/paymentMethod/card", "cvv", json!("560")),
    ] {
        body.pointer_mut(pointer).unwrap()[member] = value;
    }
    body
}

/// A change with every member but a split, from a complete body.
pub fn changes(mut body: Value) -> Value {
    for member in ["customerId", "trial"] {
        body.as_object_mut().unwrap().shift_remove(member);
    }
    body["paymentMethod"]["card"].as_object_mut().unwrap().shift_remove("cvv");
    body["cancelAtPeriodEnd"] = json!(true);
    body["scheduledCancellationAt"] = json!("2030-12-31");
    body["scheduledCancellationReason"] = json!("Customer asked");
    body
}

/// A merchant, a buyer and a card that is approved.
pub struct Parties {
    pub merchant: String,
    pub customer: String,
    pub card: String,
}

impl Parties {
    pub async fn of(app: &TestApp) -> Self {
        let records = Records { app, client: &app.client };
        let (merchant, customer) = (records.merchant().await, records.customer().await);
        Self { merchant, customer, card: app.card(APPROVED).await }
    }

    /// The least that a subscription of theirs has, with these members.
    pub fn body(&self, members: &Value) -> Value {
        let mut body = subscription_body(&self.merchant, &self.customer, &self.card);
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        body
    }
}

/// A day of the account's calendar, so many days from now.
pub fn day(app: &TestApp, ahead: i64) -> String {
    let now = app.clock.of(app.client_id()).as_millis() + ahead * 86_400_000;
    regente_domain::time::Timestamp::from_millis(now).to_string()[..10].to_owned()
}

/// Makes a subscription.
pub async fn made(app: &TestApp, body: &Value) -> Value {
    app.post(SUBSCRIPTIONS, body).await.expect(201)
}

/// Reads one again.
pub async fn read(app: &TestApp, subscription: &Value) -> Value {
    app.get(&path_of(subscription)).await.expect(200)
}

pub fn path_of(subscription: &Value) -> String {
    format!("{SUBSCRIPTIONS}/{}", text(&subscription["id"]))
}

/// Changes one.
pub async fn put(app: &TestApp, subscription: &Value, changes: &Value) -> Reply {
    app.call(&app.client, Method::PUT, &path_of(subscription), &[], Some(changes)).await
}

/// The answer to `verb`, such as `cancel`, by PATCH.
pub async fn ask(app: &TestApp, subscription: &Value, verb: &str) -> Reply {
    app.patch(&format!("{}/{verb}", path_of(subscription)), &json!({})).await
}

/// The charges of a subscription, oldest first.
pub async fn charges_of(app: &TestApp, subscription: &Value) -> Vec<Value> {
    let path = format!("/v1/charges?sort=ASC&limit=100&subscriptionId={}", text(&subscription["id"]));
    app.get(&path).await.expect(200)["items"].as_array().unwrap().clone()
}

/// The charges of each cycle of a subscription. Each of its charges is an attempt of one cycle.
pub async fn attempts_of(app: &TestApp, subscription: &Value) -> Vec<Vec<Value>> {
    of_each_cycle(app, subscription).await.into_iter().map(|(_, charges)| charges).collect()
}

async fn of_each_cycle(app: &TestApp, subscription: &Value) -> Vec<(Value, Vec<Value>)> {
    let charges = charges_of(app, subscription).await;
    let listed = app.get(&format!("{}/cycles?limit=100", path_of(subscription))).await.expect(200);
    let mut cycles = Vec::new();
    for cycle in listed["items"].as_array().unwrap() {
        let path = format!("{}/cycles/{}", path_of(subscription), text(&cycle["id"]));
        let cycle = app.get(&path).await.expect(200);
        let history = cycle["paymentHistory"].as_array().unwrap();
        let charge_of = |attempt: &Value| charges.iter().find(|of| of["id"] == attempt["chargeId"]).cloned();
        let attempts = history.iter().filter_map(charge_of).collect();
        cycles.push((cycle, attempts));
    }
    let known: usize = cycles.iter().map(|(_, charges): &(_, Vec<_>)| charges.len()).sum();
    assert_eq!(known, charges.len(), "a charge belongs to no cycle: {cycles:#?} {charges:#?}");
    cycles
}

/// How the cycles of a subscription ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct CyclesEnded {
    pub paid: usize,
    pub failed: usize,
}

/// Compares the cycles of a subscription with their charges when nothing is under way any more: a paid cycle has one charge that
/// took its money, and no other cycle has one. `seed` begins what a failure says.
pub async fn cycles_agree(app: &TestApp, subscription: &Value, seed: &str) -> CyclesEnded {
    let mut ended = CyclesEnded::default();
    for (cycle, charges) in of_each_cycle(app, subscription).await {
        let paid = charges.iter().filter(|charge| charge["status"] == "authorized").count();
        let is_paid = cycle["status"] == "authorized";
        assert_eq!(paid, usize::from(is_paid), "{seed}: {cycle:#} {charges:#?}");
        ended.paid += paid;
        ended.failed += usize::from(cycle["status"] == "failed");
    }
    ended
}
