//! The charges that are made for an event when none is named.

use regente_domain::time::Timestamp;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::super::Failure;
use super::super::dev::expiry;
use super::super::remote::{Remote, RemoteError, read};

/// The amount, in minor units.
const AMOUNT: i64 = 1500;
/// How long the payer of a Pix has.
const PIX_SECONDS: i64 = 3600;
/// A card that the simulator approves, with its code.
const CARD: (&str, &str) = ("4916745120294124", "560");

/// How a new charge is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Card,
    Pix,
    Boleto,
}

/// Makes a charge at the merchant that is known.
pub(super) async fn make(remote: &Remote, kind: Kind) -> Result<Value, Failure> {
    let merchant = remote.merchant_id.as_deref().ok_or(
        "no merchant is named for a new charge: give `--merchant` or set REGENTE_MERCHANT_ID; or name a charge",
    )?;
    let now = account_time(remote).await?;
    Ok(remote.send(Method::POST, "/v1/charges", &body(merchant, kind, now), None).await?.body)
}

/// The time of the account. Only a sandbox tells it, so nothing is charged elsewhere.
pub(super) async fn account_time(remote: &Remote) -> Result<Timestamp, Failure> {
    match remote.get("/v1/sandbox/clock", &[]).await {
        Ok(clock) => read(clock.get("now").unwrap_or(&Value::Null)),
        Err(RemoteError::Refused(refusal)) if refusal.status == StatusCode::NOT_FOUND => {
            Err("nothing can be triggered there: the service is no sandbox".into())
        }
        Err(error) => Err(error.into()),
    }
}

fn body(merchant: &str, kind: Kind, now: Timestamp) -> Value {
    let payer = || {
        json!({ "sourceType": "customer", "customer": {
            "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
            "document": { "type": "cpf", "number": "97055503019" },
        } })
    };
    let (method, source) = match kind {
        Kind::Card => {
            let (number, code) = CARD;
            let card = json!({ "cardHolderName": "ANA SOUZA", "cardNumber": number, "cardCvv": code,
                "cardExpirationDate": expiry(now) });
            (
                json!({ "paymentType": "credit", "installments": 1 }),
                json!({ "sourceType": "card", "card": card }),
            )
        }
        Kind::Pix => (json!({ "paymentType": "pix", "expiresIn": PIX_SECONDS }), payer()),
        Kind::Boleto => (json!({ "paymentType": "boleto" }), payer()),
    };
    json!({ "merchantId": merchant, "amount": AMOUNT, "capture": true, "paymentMethod": method,
        "paymentSource": source })
}
