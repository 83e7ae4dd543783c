//! What an error's answer carries to the layers outside of the routes: its content, and the cause of a 5xx.

use axum::http::StatusCode;
use regente_engine::error::Cause;

use super::body::ErrorEnvelope;
use crate::chain::chain;

/// An extension of every answer in the general envelope, with its content: layers put it into a resource's own envelope
/// or add the request id.
#[derive(Clone, Debug)]
pub struct General(pub ErrorEnvelope);

impl General {
    /// The body with the request id in `details`.
    pub(crate) fn signed_body(self, request_id: &str) -> Option<Vec<u8>> {
        let Self(mut envelope) = self;
        envelope.error.details = vec![format!("request id {request_id}")];
        serde_json::to_vec(&envelope).ok()
    }
}

/// An extension of a 5xx answer. The request-id layer (`api/request_id.rs`) logs the cause once.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) cause: Option<Cause>,
}

impl Fault {
    /// Logs the error with all its causes.
    pub(crate) fn log(&self, status: StatusCode) {
        let cause = self.cause.as_deref().map(|cause| chain(cause)).unwrap_or_default();
        match status {
            StatusCode::SERVICE_UNAVAILABLE => tracing::warn!(%status, cause, "the service is not available"),
            _ => tracing::error!(%status, cause, "a request failed"),
        }
    }
}
