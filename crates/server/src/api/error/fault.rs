//! What an error's answer carries to the layers outside of the routes: its content, and the cause of a 5xx.

use std::error::Error;

use axum::http::StatusCode;
use regente_engine::error::Cause;

use super::super::schema::ErrorEnvelope;

/// An extension of every answer in the general envelope, with its content: layers put it into a resource's own envelope
/// or add the request id.
#[derive(Clone, Debug)]
pub struct General(pub ErrorEnvelope);

impl General {
    /// The body with the request id in `details`.
    pub(in super::super) fn signed_body(self, request_id: &str) -> Option<Vec<u8>> {
        let Self(mut envelope) = self;
        envelope.error.details = vec![format!("request id {request_id}")];
        serde_json::to_vec(&envelope).ok()
    }
}

/// An extension of a 5xx answer. The request-id layer ([`super::super::request_id`]) logs the cause once.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) cause: Option<Cause>,
}

impl Fault {
    /// Logs the error with all its causes.
    pub(in super::super) fn log(&self, status: StatusCode) {
        let cause = self.cause.as_deref().map(chain).unwrap_or_default();
        match status {
            StatusCode::SERVICE_UNAVAILABLE => tracing::warn!(%status, cause, "the service is not available"),
            _ => tracing::error!(%status, cause, "a request failed"),
        }
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
