//! Notifications of the simulator: a JSON object, signed with a secret that both sides derive from the API key of the
//! registered provider.

use std::time::Duration;

use aws_lc_rs::hmac;
use http::{HeaderMap, HeaderName};
use regente_domain::money::Amount;
use regente_domain::seller::Standing;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use crate::outcome::{Finding, Reversal, ReversalKind};
use crate::request::Credentials;

/// The signature header: `t=<milliseconds>,v1=<signature>`. The signature is the HMAC-SHA256 over the time, a full stop
/// and the body, in hexadecimal.
pub const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("x-sandbox-signature");
/// How far the time of a signature may be from that of its arrival: both machines keep the time.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(5 * 60);

/// The member of the credentials that the secret is derived from.
const API_KEY: &str = "apiKey";
/// Domain separation: the signing secret differs from the API key.
const PURPOSE: &[u8] = b"regente sandbox notifications 1";

/// A seller stands differently.
const SELLER: &str = "seller.status";
/// The request has an outcome.
const OUTCOME: &str = "payment.outcome";
/// The other kinds. Their data name the case and the amount.
const KINDS: [(&str, ReversalKind); 5] = [
    ("payment.charged_back", ReversalKind::ChargedBack),
    ("dispute.opened", ReversalKind::DisputeOpened),
    ("dispute.won", ReversalKind::DisputeWon),
    ("dispute.lost", ReversalKind::DisputeLost),
    ("refund.reverted", ReversalKind::RefundReverted),
];

// The parser's own message could repeat parts of the body.
const NOT_AN_EVENT: NotificationRefusal = NotificationRefusal::NotReadable("it is not the JSON of an event");
const NOT_AN_OUTCOME: NotificationRefusal = NotificationRefusal::NotReadable("its data is not an outcome");
const NOT_A_STANDING: NotificationRefusal =
    NotificationRefusal::NotReadable("its data is not how a seller stands");
const NOT_A_CASE: NotificationRefusal = NotificationRefusal::NotReadable("its data names no case");

/// The body; unknown members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    id: String,
    kind: String,
    occurred_at: Timestamp,
    /// The charge or card that the call named.
    object_id: Uuid,
    /// The key that the call was made with.
    key: Uuid,
    /// Further members, which depend on the kind.
    #[serde(default)]
    data: Value,
}

/// The data of what happened to a payment. Releases before disputes sent none.
#[derive(Deserialize)]
struct Case {
    id: String,
    #[serde(default)]
    amount: Option<Amount>,
}

/// The word that tells the events about one request apart.
pub(super) fn word(what: &EventKind) -> String {
    let word = match what {
        EventKind::Outcome(Finding::Approved(_)) => "approved",
        EventKind::Outcome(Finding::Declined(_)) => "declined",
        EventKind::Revoked(_) => "revoked",
        EventKind::CaptureFailed { .. } => "capture-failed",
        EventKind::Outcome(Finding::Pending(_)) => "pending",
        EventKind::Outcome(Finding::Accepted(_)) => "accepted",
        EventKind::Outcome(Finding::Paid(payments)) => {
            let taken_back = payments.iter().filter(|payment| payment.taken_back.is_some()).count();
            return format!("paid-{}-taken-back-{taken_back}", payments.len());
        }
        EventKind::Outcome(Finding::Reversed { reversals, .. }) => {
            return format!("reversed-{}", reversals.len());
        }
        // A case may end so more than once.
        EventKind::Reversal(Reversal { kind, id, occurred_at: Some(at), .. }) => {
            return format!("{}-{id}-{}", kind.word(), at.as_millis());
        }
        EventKind::Reversal(reversal) => return format!("{}-{}", reversal.kind.word(), reversal.id),
        EventKind::DoneElsewhere(deed) => return format!("{}-{}", deed.kind.word(), deed.id),
        EventKind::Seller(standing) => return format!("seller-{}", standing.status.word()),
    };
    word.to_owned()
}

/// The body of a notification about one request.
pub(super) fn body(event: &ProviderEvent, object_id: Uuid, key: Uuid) -> Vec<u8> {
    let (kind, data) = match &event.what {
        EventKind::Seller(standing) => (SELLER, json!(standing)),
        EventKind::Outcome(finding) => (OUTCOME, json!(finding)),
        // The simulator has no page on which a merchant could do anything, and says of each payment how it ended.
        EventKind::DoneElsewhere(_) | EventKind::Revoked(_) | EventKind::CaptureFailed { .. } => {
            (event.what.word(), Value::Null)
        }
        EventKind::Reversal(reversal) => {
            let known = KINDS.iter().find(|(_, kind)| *kind == reversal.kind);
            (
                known.map_or("unknown", |(word, _)| *word),
                json!({ "id": reversal.id, "amount": reversal.amount }),
            )
        }
    };
    let message = json!({
        "id": event.id, "kind": kind, "occurredAt": event.occurred_at, "objectId": object_id, "key": key,
        "data": data,
    });
    message.to_string().into_bytes()
}

/// Signs the notifications of one registration. Derived from its API key, which it does not reveal.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningKey(String);

impl SigningKey {
    /// The key of a registration; `None` for one without an API key.
    pub fn of(credentials: &Credentials) -> Option<Self> {
        api_key(credentials).map(Self::derived_from)
    }

    pub(super) fn derived_from(api_key: &str) -> Self {
        let secret = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, api_key.as_bytes()), PURPOSE);
        Self(hex::encode(secret))
    }

    /// The value of [`SIGNATURE_HEADER`] for a body that is sent at `at`.
    pub fn sign(&self, at: Timestamp, body: &[u8]) -> String {
        let signature = hmac::sign(&self.hmac(), &signed(at, body));
        format!("t={},v1={}", at.as_millis(), hex::encode(signature))
    }

    fn hmac(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes())
    }
}

/// The API key of a registration; `None` for one without.
pub(super) fn api_key(credentials: &Credentials) -> Option<&str> {
    credentials.expose(API_KEY).filter(|api_key| !api_key.is_empty())
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

fn signed(at: Timestamp, body: &[u8]) -> Vec<u8> {
    let mut signed = format!("{}.", at.as_millis()).into_bytes();
    signed.extend_from_slice(body);
    signed
}

/// Checks the signature in constant time, so that the duration does not reveal how much of it is right, and its age.
pub(crate) fn authenticate(request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
    verify(request).ok_or(NotificationRefusal::NotAuthentic)?;
    let message: Option<Message> = serde_json::from_slice(request.body).ok();
    Ok(Authentic { id: message.map(|message| message.id), kept_headers: &[] })
}

fn verify(request: &NotificationRequest<'_>) -> Option<()> {
    let (at, signature) = signature(request.headers)?;
    let key = SigningKey::of(request.credentials)?;
    hmac::verify(&key.hmac(), &signed(at, request.body), &signature).ok()?;
    let distance = request.now.since(at).max(at.since(request.now));
    (distance <= SIGNATURE_AGE_MAX).then_some(())
}

/// The time and the signature in the header.
fn signature(headers: &HeaderMap) -> Option<(Timestamp, Vec<u8>)> {
    let (at, signature) = headers.get(SIGNATURE_HEADER)?.to_str().ok()?.split_once(',')?;
    let at = at.strip_prefix("t=")?.parse().ok().map(Timestamp::from_millis)?;
    Some((at, hex::decode(signature.strip_prefix("v1=")?).ok()?))
}

/// Reads the event.
pub(crate) fn events(notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let message: Message = serde_json::from_slice(notification.body).map_err(|_| NOT_AN_EVENT)?;
    let what = if message.kind == SELLER {
        EventKind::Seller(Standing::deserialize(message.data).map_err(|_| NOT_A_STANDING)?)
    } else if message.kind == OUTCOME {
        EventKind::Outcome(Finding::deserialize(message.data).map_err(|_| NOT_AN_OUTCOME)?)
    } else {
        let known = KINDS.iter().find(|(word, _)| *word == message.kind);
        let Some((_, kind)) = known else { return Err(NotificationRefusal::UnknownKind(message.kind)) };
        let case = Option::<Case>::deserialize(message.data).map_err(|_| NOT_A_CASE)?;
        let Case { id, amount } = case.unwrap_or_else(|| Case { id: message.id.clone(), amount: None });
        EventKind::Reversal(Reversal::new(*kind, id, amount))
    };
    let about = EventSubject::Call { object_id: message.object_id, key: message.key };
    Ok(vec![ProviderEvent { id: message.id, occurred_at: message.occurred_at, about, what }])
}
