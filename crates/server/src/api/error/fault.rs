//! Carries the cause of a 5xx answer to the request-id layer, which logs it once and adds the request id to the body.

use std::error::Error;

use axum::http::StatusCode;
use regente_engine::error::Cause;

use super::super::schema::ErrorEnvelope;

/// An extension of a 5xx answer. The request-id layer ([`super::super::request_id`]) logs the cause once and writes the
/// request id into the body.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) cause: Option<Cause>,
    pub(super) envelope: Option<ErrorEnvelope>,
}

impl Fault {
    /// Whether the body is the general envelope, to which the request id is added.
    pub fn is_in_general_envelope(&self) -> bool {
        self.envelope.is_some()
    }

    /// The cause, for the log.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.clone()
    }

    /// Logs the error with all its causes.
    pub(in super::super) fn log(&self, status: StatusCode) {
        let cause = self.cause.as_deref().map(chain).unwrap_or_default();
        match status {
            StatusCode::SERVICE_UNAVAILABLE => tracing::warn!(%status, cause, "the service is not available"),
            _ => tracing::error!(%status, cause, "a request failed"),
        }
    }

    /// The body with the request id in `details`; `None` when a resource has its own envelope.
    pub(in super::super) fn signed_body(self, request_id: &str) -> Option<Vec<u8>> {
        let mut envelope = self.envelope?;
        envelope.error.details = vec![format!("request id {request_id}")];
        serde_json::to_vec(&envelope).ok()
    }
}

/// The causes on one line, outermost first.
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
