//! What a provider sends by itself: how it arrives, and the events that its adapter makes of it once it has proved that
//! the provider sent it. Who receives it over HTTP, and what becomes of a payment, never lives here.

use http::HeaderMap;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;

use crate::outcome::Finding;
use crate::request::Credentials;

/// Longest body of a notification that is read.
pub const NOTIFICATION_BYTES_MAX: usize = 256 * 1024;

/// A notification as it arrived for one registration of a provider.
#[derive(Debug)]
pub struct NotificationRequest<'a> {
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body, byte for byte: signatures are about these bytes.
    pub body: &'a [u8],
    /// How the merchant is known to the provider.
    pub credentials: &'a Credentials,
    /// `providers[].options`, as registered.
    pub options: &'a Map<String, Value>,
}

/// Something that happened at a provider. The provider proved that it said so; it may say so again, and in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderEvent {
    /// The provider's id of the event, the same each time that it is sent.
    pub id: String,
    /// When it happened, by the provider's clock.
    pub occurred_at: Timestamp,
    /// Which request it is about.
    pub about: EventSubject,
    /// What happened.
    pub what: EventKind,
}

/// How a provider names the request that an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSubject {
    /// By the key that the call was made with.
    Key(Uuid),
    /// By its own id of the transaction.
    Reference(String),
}

/// What can happen to a request after it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Its outcome is this now.
    Outcome(Finding),
    /// The cardholder's bank took the money back.
    ChargedBack,
}

/// Why nothing of a notification may be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotificationRefusal {
    /// Providers of this type send none.
    #[error("providers of this type send no notifications")]
    NotSupported,
    /// Anybody may have sent it, or changed it.
    #[error("the notification is not signed by the provider")]
    NotAuthentic,
    /// The body has more than [`NOTIFICATION_BYTES_MAX`] bytes.
    #[error("the notification is longer than {NOTIFICATION_BYTES_MAX} bytes")]
    TooLong,
    /// The provider sent it, and it is not what its documentation says.
    #[error("the notification cannot be read: {0}")]
    NotReadable(&'static str),
    /// The provider sent it, and this release does not know what it is about.
    #[error("the notification is of the unknown kind `{0}`")]
    UnknownKind(String),
}
