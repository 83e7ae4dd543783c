//! What a 5xx answer carries to the boundary, where it is logged once and signed with the request id.

use std::error::Error;

use axum::http::StatusCode;
use regente_engine::error::Cause;

use super::super::schema::ErrorEnvelope;

/// Travels with a 5xx answer as far as the boundary ([`super::super::request_id`]), which logs the cause once and writes the
/// request id into the body.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) cause: Option<Cause>,
    pub(super) envelope: Option<ErrorEnvelope>,
}

impl Fault {
    /// Whether the body is the general envelope, which the boundary signs.
    pub fn is_in_general_envelope(&self) -> bool {
        self.envelope.is_some()
    }

    /// Why, for the log.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.clone()
    }

    /// Logs the whole chain of causes.
    pub(in super::super) fn log(&self, status: StatusCode) {
        let cause = self.cause.as_deref().map(chain).unwrap_or_default();
        match status {
            StatusCode::SERVICE_UNAVAILABLE => tracing::warn!(%status, cause, "the service is not available"),
            _ => tracing::error!(%status, cause, "a request failed"),
        }
    }

    /// The body with the request id in `details`; nothing when a resource has an envelope of its own.
    pub(in super::super) fn signed_body(self, request_id: &str) -> Option<Vec<u8>> {
        let mut envelope = self.envelope?;
        envelope.error.details = vec![format!("request id {request_id}")];
        serde_json::to_vec(&envelope).ok()
    }
}

/// The causes from the outside in, on one line.
fn chain(error: &(dyn Error + Send + Sync + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
