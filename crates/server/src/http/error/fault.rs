//! Carries the cause of a 5xx answer to the request-id layer, which logs it once and adds the request id to the body.

use axum::http::StatusCode;
use regente_engine::error::Cause;

use super::body::ErrorEnvelope;
use crate::chain::chain;

/// An extension of a 5xx answer. The request-id layer (`api/request_id.rs`) logs the cause once and writes the
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
    pub(crate) fn log(&self, status: StatusCode) {
        let cause = self.cause.as_deref().map(|cause| chain(cause)).unwrap_or_default();
        match status {
            StatusCode::SERVICE_UNAVAILABLE => tracing::warn!(%status, cause, "the service is not available"),
            _ => tracing::error!(%status, cause, "a request failed"),
        }
    }

    /// The body with the request id in `details`; `None` when a resource has its own envelope.
    pub(crate) fn signed_body(self, request_id: &str) -> Option<Vec<u8>> {
        let mut envelope = self.envelope?;
        envelope.error.details = vec![format!("request id {request_id}")];
        serde_json::to_vec(&envelope).ok()
    }
}
