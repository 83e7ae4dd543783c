//! Notifications of the simulator: a JSON object, signed with a secret that both sides derive from the API key of the
//! registered provider.

use aws_lc_rs::hmac;
use http::HeaderName;
use regente_domain::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::notification::{EventKind, EventSubject, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::Finding;
use crate::request::Credentials;

/// The signature header: HMAC-SHA256 over the body, in hexadecimal.
pub const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("x-sandbox-signature");

/// The member of the credentials that the secret is derived from.
const API_KEY: &str = "apiKey";
/// Domain separation: the signing secret differs from the API key.
const PURPOSE: &[u8] = b"regente sandbox notifications 1";

/// The payment has an outcome.
const OUTCOME: &str = "payment.outcome";
/// The cardholder's bank took the money back.
const CHARGED_BACK: &str = "payment.charged_back";

// The parser's own message could repeat parts of the body.
const NOT_AN_EVENT: NotificationRefusal = NotificationRefusal::NotReadable("it is not the JSON of an event");
const NOT_AN_OUTCOME: NotificationRefusal = NotificationRefusal::NotReadable("its data is not an outcome");

/// The body; unknown members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    id: String,
    kind: String,
    occurred_at: Timestamp,
    /// The key that the call was made with.
    key: Uuid,
    /// Further members, which depend on the kind.
    #[serde(default)]
    data: Value,
}

/// The signature that the simulator sends with a body; `None` for a provider registered without an API key.
pub fn sign_notification(credentials: &Credentials, body: &[u8]) -> Option<String> {
    Some(hex::encode(hmac::sign(&signing_key(credentials)?, body)))
}

/// Checks the signature, then reads the event.
pub(super) fn read(request: &NotificationRequest<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    authenticate(request).ok_or(NotificationRefusal::NotAuthentic)?;
    let message: Message = serde_json::from_slice(request.body).map_err(|_| NOT_AN_EVENT)?;
    let what = match message.kind.as_str() {
        OUTCOME => EventKind::Outcome(Finding::deserialize(message.data).map_err(|_| NOT_AN_OUTCOME)?),
        CHARGED_BACK => EventKind::ChargedBack,
        _ => return Err(NotificationRefusal::UnknownKind(message.kind)),
    };
    let about = EventSubject::Key(message.key);
    Ok(vec![ProviderEvent { id: message.id, occurred_at: message.occurred_at, about, what }])
}

/// Compares in constant time, so that the duration does not reveal how much of a signature is right.
fn authenticate(request: &NotificationRequest<'_>) -> Option<()> {
    let signature = hex::decode(request.headers.get(SIGNATURE_HEADER)?).ok()?;
    hmac::verify(&signing_key(request.credentials)?, request.body, &signature).ok()
}

fn signing_key(credentials: &Credentials) -> Option<hmac::Key> {
    let api_key = credentials.expose(API_KEY).filter(|api_key| !api_key.is_empty())?;
    let secret = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, api_key.as_bytes()), PURPOSE);
    Some(hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref()))
}
