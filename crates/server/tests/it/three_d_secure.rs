//! 3-D Secure: a 3DS server or the payment provider authenticates the cardholder before a charge is authorized.

mod challenges;
mod crashes;
mod hosted;
mod rules;
mod setups;

use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::read::text;
use crate::support::three_d_secure::{merchant, own_body};

/// A charge that waits for its cardholder, in the own flow.
pub async fn challenged(app: &TestApp, card: (&str, &str)) -> Value {
    let body = own_body(app, &merchant(app).await, card).await;
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "pending", "{charge:#}");
    charge
}

/// Why the newest request was refused: the code and the reason.
pub fn refusal(charge: &Value) -> (&str, &str) {
    let error = &charge["transactionRequests"][0]["providerError"];
    (text(&error["declinedCode"]), text(&error["networkDeniedReason"]))
}
