//! The body of a charge and of a card, and cards by what the simulator does with them.

pub mod payers;

use serde_json::{Value, json};

/// Approved by the simulator (`docs/interface/sandbox.md#cards`).
pub const APPROVED: (&str, &str) = ("4916745120294124", "560");

/// Not answered by the simulator.
pub const TIMED_OUT: (&str, &str) = ("4485401945979546", "600");

/// Declined as `restricted_card`, which is final for the card.
pub const BLOCKED: (&str, &str) = ("4556684530238865", "440");

/// Declined for its security code; no other provider is tried.
pub const WRONG_CVV: (&str, &str) = ("4716866286004545", "965");

/// The body of a charge, from what a story says of it:
/// `Charge::by_card(&merchant, APPROVED).amount(1500).reserved().body()`.
pub struct Charge(Value);

impl Charge {
    /// A charge of 150 by an inline card, in one installment and captured at once.
    pub fn by_card(merchant: &str, card: (&str, &str)) -> Self {
        Self::by_source(merchant, json!({ "sourceType": "card", "card": token_body(card) }))
    }

    /// The same by another source: a stored card, a token, a customer.
    pub fn by_source(merchant: &str, source: Value) -> Self {
        Self(json!({
            "merchantId": merchant, "amount": 150, "capture": true,
            "paymentMethod": { "paymentType": "credit", "installments": 1 }, "paymentSource": source,
        }))
    }

    /// A charge of 150 in BRL by another method.
    pub fn by(method: Value, merchant: &str, source: Value) -> Self {
        Self(json!({
            "merchantId": merchant, "amount": 150, "currency": "BRL", "paymentMethod": method,
            "paymentSource": source,
        }))
    }

    /// Of this amount, in minor units.
    pub fn amount(self, minor_units: i64) -> Self {
        self.with("amount", minor_units)
    }

    /// Authorized, and not captured.
    pub fn reserved(self) -> Self {
        self.with("capture", false)
    }

    /// With this member, whatever it was before.
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.0[member] = value.into();
        self
    }

    /// What is sent.
    pub fn body(self) -> Value {
        self.0
    }
}

/// The plain one: a charge of 150 by an inline card.
pub fn charge_body(merchant: &str, card: (&str, &str)) -> Value {
    Charge::by_card(merchant, card).body()
}

/// The body of a card token, and of an inline card.
pub fn token_body((number, cvv): (&str, &str)) -> Value {
    json!({
        "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv, "cardExpirationDate": "12/2030"
    })
}
