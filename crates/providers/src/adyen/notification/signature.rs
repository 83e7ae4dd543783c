//! Signatures of notifications: HMAC-SHA256 with the key of the webhook, in base64
//! (<https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures>). Each item of a standard
//! webhook has one over eight of its members, and none names a time; webhooks of other families have one over the body.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;
use zeroize::Zeroizing;

use super::message::{Item, Message};
use crate::notification::{Authentic, NotificationRefusal, NotificationRequest};
use crate::request::Credentials;

/// The member of the credentials with the key, in hexadecimal.
const KEY: &str = "webhookHmacKey";
/// Bytes of the key.
const KEY_BYTES: usize = 32;
/// The member of `additionalData` with the signature of an item.
const SIGNATURE: &str = "hmacSignature";
/// The header with the signature of the body, of webhooks of other families.
const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("hmacsignature");

/// Checks the signature of each item in constant time, so that the duration does not reveal how much of it is right. The date
/// is not signed: if an item were taken whose date somebody has spoilt, the true one would count as its repetition.
pub(in super::super) fn authenticate(
    request: &NotificationRequest<'_>,
) -> Result<Authentic, NotificationRefusal> {
    let key = key(request.credentials).ok_or(NotificationRefusal::NotAuthentic)?;
    let message = Message::read(request.body).ok_or(NotificationRefusal::NotAuthentic)?;
    let (is_authentic, id) = match &message {
        Message::Standard(items) => {
            let id = match items.as_slice() {
                [item] => Some(item.id()),
                _ => None,
            };
            (items.iter().all(|item| is_signed(&key, item) && item.occurred_at().is_some()), id)
        }
        Message::Other { .. } => {
            let signature = request.headers.get(SIGNATURE_HEADER).and_then(|value| value.to_str().ok());
            (signature.is_some_and(|signature| fits(&key, request.body, signature)), None)
        }
    };
    match is_authentic {
        true => Ok(Authentic { id, kept_headers: &[] }),
        false => Err(NotificationRefusal::NotAuthentic),
    }
}

/// Whether the key is one, or there is none.
pub(in super::super) fn has_valid_key(credentials: &Credentials) -> bool {
    credentials.expose(KEY).is_none_or(str::is_empty) || key(credentials).is_some()
}

fn key(credentials: &Credentials) -> Option<hmac::Key> {
    let bytes = Zeroizing::new(hex::decode(credentials.expose(KEY)?.trim()).ok()?);
    (bytes.len() == KEY_BYTES).then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn is_signed(key: &hmac::Key, item: &Item) -> bool {
    item.data(SIGNATURE).is_some_and(|signature| fits(key, signed(item).as_bytes(), signature))
}

fn fits(key: &hmac::Key, signed: &[u8], signature: &str) -> bool {
    STANDARD.decode(signature).is_ok_and(|signature| hmac::verify(key, signed, &signature).is_ok())
}

/// What the signature of an item covers. The provider joins the members as they are, without an escape.
fn signed(item: &Item) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (value, currency) = match &item.amount {
        Some(amount) => (amount.value.to_string(), amount.currency.clone()),
        None => (String::new(), String::new()),
    };
    [
        text(&item.psp_reference),
        text(&item.original_reference),
        text(&item.merchant_account_code),
        text(&item.merchant_reference),
        value,
        currency,
        item.event_code.clone(),
        item.success.to_string(),
    ]
    .join(":")
}
