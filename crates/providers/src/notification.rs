//! Notifications of providers: the HTTP request as received, and the events that the adapter reads from it after it has
//! authenticated the sender. The server receives them; the engine decides what they change.

use http::HeaderMap;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;

use crate::outcome::Finding;
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
    /// The key that the call was made with.
    Key(Uuid),
    /// The provider's id of the transaction.
    Reference(String),
}

/// What a provider reports about a request that it answered before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The current outcome of the request.
    Outcome(Finding),
    /// The cardholder's bank took the money back.
    ChargedBack,
}

/// Why a notification is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotificationRefusal {
    /// Providers of this type send no notifications.
    #[error("providers of this type send no notifications")]
    NotSupported,
    /// The signature is missing or wrong.
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
