//! Makes purchases and reads them.

use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::agreement::booked_since;
use crate::support::app::TestApp;
use crate::support::client::Reply;
use crate::support::read::text;

/// The amounts of a test's first, second and third card.
pub const AMOUNTS: [i64; 3] = [10_000, 20_000, 5_000];

/// The body of a purchase with these cards.
pub async fn body(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> Value {
    let mut payments = Vec::new();
    for (card, amount) in cards.iter().zip(AMOUNTS) {
        let card_id = app.card(*card).await;
        payments.push(json!({ "cardId": card_id, "amount": amount, "cardCvv": card.1 }));
    }
    let amount: i64 = AMOUNTS.iter().take(cards.len()).sum();
    json!({ "merchantId": merchant, "amount": amount, "capture": capture, "payments": payments })
}

/// Sends a body under a new idempotency key.
pub async fn send(app: &TestApp, path: &str, body: &Value) -> Reply {
    app.post_with_key(path, &app.app.chance.uuid().to_string(), body).await
}

/// An accepted purchase before its job has run.
pub async fn accepted(app: &TestApp, merchant: &str, cards: &[(&str, &str)], capture: bool) -> String {
    let body = body(app, merchant, cards, capture).await;
    let answer = send(app, "/v1/purchases", &body).await.expect(202);
    assert_eq!(answer["status"], "pending");
    text(&answer["id"]).to_owned()
}

/// A purchase as it is now.
pub async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/purchases/{id}")).await.expect(200)
}

/// The captured and the reserved sum of everything in the simulator's transaction log, whether a charge has it or not.
pub async fn booked(app: &TestApp) -> (i64, i64) {
    let money = booked_since(&app.books, Timestamp::from_millis(0)).await;
    (money.kept, money.reserved)
}
