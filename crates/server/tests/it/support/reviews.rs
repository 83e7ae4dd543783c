//! Reviews of sellers: how they are read and answered.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::client::Reply;
use crate::support::read::text;
use crate::support::sellers::{SELLERS, path};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Opens a review of these fields with a deadline so many days ahead.
pub async fn opened(app: &TestApp, seller: &Value, fields: &[&str], days: u32) -> Value {
    let deadline = app.clock.deployment() + DAY * days;
    let body = json!({ "fields": fields, "deadlineAt": deadline });
    app.post(&format!("{}/registration-reviews", path(seller)), &body).await.expect(201)
}

pub fn place(review: &Value) -> String {
    format!("{SELLERS}/{}/registration-reviews/{}", text(&review["sellerId"]), text(&review["id"]))
}

/// A review as it is now.
pub async fn now(app: &TestApp, review: &Value) -> Value {
    app.get(&place(review)).await.expect(200)
}

pub async fn try_answer(app: &TestApp, review: &Value, data: &Value) -> Reply {
    let body = json!({ "data": data, "collectedAt": app.clock.deployment(), "declaration": true });
    app.post(&format!("{}/answer", place(review)), &body).await
}

pub async fn answered(app: &TestApp, review: &Value, data: &Value) -> Value {
    try_answer(app, review, data).await.expect(200)
}
