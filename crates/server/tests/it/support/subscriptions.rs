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
