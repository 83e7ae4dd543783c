//! The error answers of the simulator.

use axum::Json;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::problems::Problems;
use regente_providers::sandbox::TransactionLogError;
use regente_providers::sandbox::http::{ErrorMessage, MessageError};

use super::BODY_BYTES_MAX;

/// A request was refused; nothing was changed.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(super) fn failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "the simulator failed; its log says why")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = ErrorMessage { code: self.code.to_owned(), message: self.message };
        (self.status, Json(body)).into_response()
    }
}

impl From<TransactionLogError> for Refusal {
    fn from(error: TransactionLogError) -> Self {
        tracing::error!(error = %crate::chain::chain(&error), "the transaction log of the simulator cannot be used");
        Self::failed()
    }
}

impl From<MessageError> for Refusal {
    fn from(error: MessageError) -> Self {
        let code = match &error {
            MessageError::Protocol(_) => "other_protocol",
            MessageError::Shape(_) | MessageError::Value(_) => "bad_request",
        };
        Self::new(StatusCode::BAD_REQUEST, code, error.to_string())
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        let message = format!("{}; a body has at most {BODY_BYTES_MAX} bytes", rejection.body_text());
        Self::new(rejection.status(), "no_body", message)
    }
}

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Self {
        Self::bad_request(problems.into_details().join("; "))
    }
}

pub(super) async fn no_route() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "no_route",
        "there are /, /v1/calls, /v1/probes, /v1/staged, /v1/entries, /v1/entries/{key}, /v1/balances and /v1/faults",
    )
}

pub(super) async fn no_method() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "no_method", "this route has no such method")
}
