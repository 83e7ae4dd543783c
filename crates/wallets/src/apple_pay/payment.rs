//! What a decrypted token says. It is card data: nothing here is printed, and what is secret is wiped when dropped.

use serde::Deserialize;
use zeroize::Zeroizing;

use super::error::TokenError;

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// The kind of payment that is supported: a network token with a cryptogram.
pub(super) const PAYMENT_TYPE: &str = "3DSecure";

/// A payment that a device has made.
pub struct DevicePayment {
    /// The number that stands for the card on this device (a network token).
    pub device_account_number: Zeroizing<String>,
    /// The year in which it expires.
    pub expiration_year: u16,
    /// The month in which it expires, 1 to 12.
    pub expiration_month: u8,
    /// The name on the card, which devices hardly ever send.
    pub cardholder_name: Option<Zeroizing<String>>,
    /// The currency's number in ISO 4217.
    pub currency_number: u16,
    /// The amount in the currency's minor unit.
    pub amount: u64,
    /// What proves to the network that the device made this payment, base64.
    pub cryptogram: Zeroizing<String>,
    /// The indicator of electronic commerce that the network asks for.
    pub eci: Option<String>,
    /// What identifies the payment among all others: the digest of everything that the device has signed.
    pub digest: Digest,
}

/// The JSON that is encrypted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    application_primary_account_number: Option<Zeroizing<String>>,
    application_expiration_date: Option<Zeroizing<String>>,
    currency_code: Option<String>,
    transaction_amount: Option<u64>,
    cardholder_name: Option<Zeroizing<String>>,
    payment_data_type: Option<String>,
    payment_data: Option<Proof>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Proof {
    online_payment_cryptogram: Option<Zeroizing<String>>,
    eci_indicator: Option<String>,
}

impl DevicePayment {
    pub(super) fn parse(json: &[u8], digest: Digest) -> Result<Self, TokenError> {
        let content: Content =
            serde_json::from_slice(json).map_err(|_| TokenError::Content("JSON object"))?;
        if content.payment_data_type.as_deref() != Some(PAYMENT_TYPE) {
            return Err(TokenError::PaymentType);
        }
        let missing = |name| move || TokenError::Content(name);
        let proof = content.payment_data.ok_or_else(missing("paymentData"))?;
        let (expiration_year, expiration_month) = content
            .application_expiration_date
            .and_then(|text| expiration(&text))
            .ok_or_else(missing("applicationExpirationDate"))?;
        Ok(Self {
            device_account_number: content
                .application_primary_account_number
                .filter(|number| is_number(number))
                .ok_or_else(missing("applicationPrimaryAccountNumber"))?,
            expiration_year,
            expiration_month,
            cardholder_name: content.cardholder_name.filter(|name| !name.trim().is_empty()),
            currency_number: content
                .currency_code
                .filter(|code| is_number(code))
                .and_then(|code| code.parse().ok())
                .ok_or_else(missing("currencyCode"))?,
            amount: content.transaction_amount.ok_or_else(missing("transactionAmount"))?,
            cryptogram: proof
                .online_payment_cryptogram
                .filter(|cryptogram| !cryptogram.is_empty())
                .ok_or_else(missing("onlinePaymentCryptogram"))?,
            eci: proof.eci_indicator.filter(|eci| !eci.is_empty()),
            digest,
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Year and month of a date `YYMMDD`.
fn expiration(text: &str) -> Option<(u16, u8)> {
    let year: u16 = text.get(0..2).filter(|_| text.len() == 6 && is_number(text))?.parse().ok()?;
    let month: u8 = text.get(2..4)?.parse().ok()?;
    (1..=12).contains(&month).then_some((2000 + year, month))
}
