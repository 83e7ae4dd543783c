//! The body of a charge and of a card, and cards by what the simulator does with them.

pub mod payers;

use serde_json::{Value, json};

/// The body of a charge whose source is `source`.
pub fn by_source(merchant: &str, source: Value) -> Value {
    let mut body = charge_body(merchant, APPROVED);
    body["paymentSource"] = source;
    body
}

/// Approved by the simulator (`docs/interface/sandbox.md#cards`).
pub const APPROVED: (&str, &str) = ("4916745120294124", "560");

/// Not answered by the simulator.
pub const TIMED_OUT: (&str, &str) = ("4485401945979546", "600");

/// Declined as `restricted_card`, which is final for the card.
pub const BLOCKED: (&str, &str) = ("4556684530238865", "440");

/// Declined for its security code; no other provider is tried.
pub const WRONG_CVV: (&str, &str) = ("4716866286004545", "965");

/// The body of a charge by inline card.
pub fn charge_body(merchant_id: &str, card: (&str, &str)) -> Value {
    json!({
        "merchantId": merchant_id, "amount": 150, "capture": true,
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": token_body(card) },
    })
}

/// The body of a card token, and of an inline card.
pub fn token_body((number, cvv): (&str, &str)) -> Value {
    json!({
        "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv, "cardExpirationDate": "12/2030"
    })
}
