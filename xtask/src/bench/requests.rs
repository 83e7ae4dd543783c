//! Builds the requests of the load as bytes, complete but for the idempotency key.

use serde_json::{Value, json};

use crate::Outcome;
use crate::place::Account;

/// Bytes of a charge's body.
const BODY_BYTES: usize = 600;
/// Bytes of the body of a charge that may be divided between two sellers.
const DIVIDED_BODY_BYTES: usize = 800;

/// A request in two parts, with the idempotency key between them.
#[derive(Clone, Debug)]
pub(crate) struct Charge {
    /// From the request line to the name of the key's header.
    pub(crate) head: String,
    /// The rest of the headers, and the body.
    pub(crate) tail: String,
}

impl Charge {
    /// A charge with an inline card that the simulator approves, with a body of 600 bytes.
    pub(crate) fn of(account: &Account) -> Outcome<Self> {
        Ok(Self::with_body(account, &padded(account, &Value::Null, BODY_BYTES)?))
    }

    /// The same, divided by these rules; longer, and as long without rules.
    pub(crate) fn divided(account: &Account, rules: &Value) -> Outcome<Self> {
        Ok(Self::with_body(account, &padded(account, rules, DIVIDED_BODY_BYTES)?))
    }

    /// A charge with any body.
    pub(crate) fn with_body(account: &Account, body: &str) -> Self {
        let Account { client_id, api_key, .. } = account;
        Self {
            head: format!(
                "POST /v1/charges HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nX-Client-Id: {client_id}\r\nX-Api-Key: {api_key}\r\nX-Idempotency-Key: ",
                body.len()
            ),
            tail: format!("\r\n\r\n{body}"),
        }
    }
}

/// A body of this many bytes.
fn padded(account: &Account, rules: &Value, bytes: usize) -> Outcome<String> {
    let body = body(account, rules, bytes.saturating_sub(body(account, rules, 0)?.len()))?;
    debug_assert_eq!(body.len(), bytes);
    Ok(body)
}

/// A body whose description is padded by this many letters.
pub(super) fn body(account: &Account, rules: &Value, padding: usize) -> Outcome<String> {
    let mut body: Value = json!({
        "merchantId": account.merchant_id, "amount": 150, "currency": "BRL", "capture": true,
        "orderId": "32c68ff7-902c-408b-b464-cf487c7cda97",
        "description": format!("Order 231{}", "x".repeat(padding)), "statementDescriptor": "LOJA JOAO",
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
            "cardExpirationDate": "12/2030" } },
        "appInfo": { "platform": { "integrator": "bench", "name": "shop", "version": "1.0" } },
    });
    if !rules.is_null() {
        body["splitRules"] = rules.clone();
    }
    Ok(serde_json::to_string(&body)?)
}

/// A read with an account's key.
pub(crate) fn get(account: &Account, path: &str) -> String {
    let Account { client_id, api_key, .. } = account;
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Client-Id: {client_id}\r\nX-Api-Key: {api_key}\r\n\r\n"
    )
}

/// A prefix of idempotency keys, unique to a run.
pub(crate) fn key_prefix() -> String {
    crate::place::uuid()
}
