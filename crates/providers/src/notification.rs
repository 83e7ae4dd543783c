//! Notifications of providers: the HTTP request as received, what an adapter says of its sender, and the events that the
//! adapter reads from it. The server receives them and stores them; a job of the engine decides what they change.

use http::{HeaderMap, HeaderName};
use regente_domain::charge::elsewhere::Deed;
use regente_domain::decline::Decline;
use regente_domain::seller::Standing;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;

use crate::outcome::{Finding, Reversal};
use crate::request::Credentials;

/// Longest body of a notification that is read, in bytes.
pub const NOTIFICATION_BYTES_MAX: usize = 256 * 1024;

/// A notification as received for one registered provider.
#[derive(Debug)]
pub struct NotificationRequest<'a> {
    /// HTTP headers.
    pub headers: &'a HeaderMap,
    /// The body, byte for byte: signatures cover these bytes.
    pub body: &'a [u8],
    /// The merchant's credentials at the provider.
    pub credentials: &'a Credentials,
    /// `providers[].options`, as registered.
    pub options: &'a Map<String, Value>,
    /// When it arrived: a signature that names a time is good only around it.
    pub now: Timestamp,
}

/// What an adapter says of a notification that the provider has sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authentic {
    /// The provider's id of the notification, where it gives one: a repetition has the same one. Without it, a
    /// repetition has the same body.
    pub id: Option<String>,
    /// The headers that [`events`](crate::provider::Provider::events) needs besides the body. They are stored in the
    /// clear, so none of them may be a secret.
    pub kept_headers: &'static [HeaderName],
}

/// A notification that was authentic when it arrived, as it was stored.
#[derive(Clone, Debug)]
pub struct Notification<'a> {
    /// The kept headers.
    pub headers: &'a HeaderMap,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// An authenticated event of a provider. Providers repeat events and send them in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderEvent {
    /// The provider's id of the event; a repetition has the same one.
    pub id: String,
    /// When it happened, by the provider's clock.
    pub occurred_at: Timestamp,
    /// The request that the event is about.
    pub about: EventSubject,
    /// What happened.
    pub what: EventKind,
}

/// How an event identifies the request that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSubject {
    /// By what the call gave the provider.
    Call {
        /// [`Call::object_id`](crate::request::Call::object_id).
        object_id: Uuid,
        /// [`Call::key`](crate::request::Call::key).
        key: Uuid,
    },
    /// By the provider's own id of the transaction, as it answered a call; of the simulator, with instructions for a payer.
    Reference(String),
}

/// What a provider reports about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The current outcome of a request: of an authorization, a capture or a void. A refund that the provider confirms or
    /// refuses later is the outcome of its void.
    Outcome(Finding),
    /// What was approved is refused: by its meaning that came after the approval, in whatever order the two are heard.
    Revoked(Decline),
    /// A capture has failed that nobody here has asked for: the merchant has captured by hand, or the provider by itself.
    CaptureFailed {
        /// Why, with the provider's id of the capture.
        decline: Decline,
        /// The provider's id of the payment, where it tells it.
        payment: Option<String>,
    },
    /// Something has happened to the payment after it was taken.
    Reversal(Reversal),
    /// The merchant has done something with the payment elsewhere.
    DoneElsewhere(Deed),
    /// How a seller stands; the event is about its registration.
    Seller(Standing),
}

impl EventKind {
    /// Its word in logs and in what is kept of a notification.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Outcome(_) => "outcome",
            Self::Revoked(_) => "revoked",
            Self::CaptureFailed { .. } => "capture_failed",
            Self::Reversal(reversal) => reversal.kind.word(),
            Self::DoneElsewhere(deed) => deed.kind.word(),
            Self::Seller(_) => "seller",
        }
    }
}

/// Why a notification is rejected, or not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotificationRefusal {
    /// Providers of this type send no notifications.
    #[error("providers of this type send no notifications")]
    NotSupported,
    /// The signature is missing, wrong or of another time.
    #[error("the notification is not signed by the provider")]
    NotAuthentic,
    /// The body has more than [`NOTIFICATION_BYTES_MAX`] bytes.
    #[error("the notification is longer than {NOTIFICATION_BYTES_MAX} bytes")]
    TooLong,
    /// The notification is authentic but malformed.
    #[error("the notification cannot be read: {0}")]
    NotReadable(&'static str),
    /// The notification is authentic, but this release does not know its kind.
    #[error("the notification is of the unknown kind `{0}`")]
    UnknownKind(String),
}
