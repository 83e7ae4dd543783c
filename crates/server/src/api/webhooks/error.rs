//! The error envelope of webhooks (`docs/interface/webhooks.md#errors`): one type, no code. A duplicate also carries
//! the published members.

use std::collections::BTreeMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use regente_engine::error::Error;
use serde::Serialize;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::{self, Ref, RefOr};
use utoipa::{IntoResponses, ToSchema};

use crate::http::error::{ApiError, CommonErrors, ErrorBody, ErrorType};

/// The message of a duplicate (`docs/interface/webhooks.md#errors`).
const DUPLICATE: &str = "webhook already registered for this endpoint";

/// Why an operation on a webhook was refused or failed.
#[derive(Debug)]
pub enum WebhookError {
    /// An error of the general interface, in the envelope of webhooks. What is not found there is a webhook.
    Api(ApiError),
    /// There is no such delivery.
    NoDelivery,
    /// Another webhook uses the same endpoint.
    Duplicate,
    /// An attempt is under way, so a replay would be a second one.
    UnderWay,
}

impl<E: Into<ApiError>> From<E> for WebhookError {
    fn from(error: E) -> Self {
        Self::Api(error.into())
    }
}

/// The body of every error of webhooks.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookErrorEnvelope, example = json!({
    "error": { "type": "api_error", "message": "webhook not found", "details": [] }
}))]
pub struct WebhookErrorBody {
    /// The status again; with a duplicate alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// The message again; with a duplicate alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What went wrong.
    pub error: WebhookErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookErrorDetail)]
pub struct WebhookErrorDetail {
    /// Always `api_error`.
    #[serde(rename = "type")]
    pub kind: ErrorType,
    /// A short text in English.
    pub message: String,
    /// One sentence for each problem; may be empty.
    pub details: Vec<String>,
}

impl WebhookErrorBody {
    fn new(message: &str, details: Vec<String>) -> Self {
        let error = WebhookErrorDetail { kind: ErrorType::ApiError, message: message.to_owned(), details };
        Self { status_code: None, message: None, error }
    }
}

impl IntoResponse for WebhookError {
    fn into_response(self) -> Response {
        let conflict = || ApiError::from(Error::conflict(Vec::new())).answer();
        match self {
            Self::Api(ApiError::Engine(Error::NotFound)) => {
                let body = WebhookErrorBody::new("webhook not found", Vec::new());
                ApiError::from(Error::NotFound).answer().with_body(Json(body))
            }
            Self::NoDelivery => {
                let body = WebhookErrorBody::new("delivery not found", Vec::new());
                ApiError::from(Error::NotFound).answer().with_body(Json(body))
            }
            Self::Duplicate => {
                let answer = conflict();
                let body = WebhookErrorBody {
                    status_code: Some(answer.status.as_u16()),
                    message: Some(DUPLICATE.to_owned()),
                    ..WebhookErrorBody::new(DUPLICATE, Vec::new())
                };
                answer.with_body(Json(body))
            }
            Self::UnderWay => {
                conflict().with_body(Json(WebhookErrorBody::new("an attempt is under way", Vec::new())))
            }
            // The layer of `crate::api::envelope` puts it into the envelope of webhooks.
            Self::Api(error) => error.into_response(),
        }
    }
}

/// An error of the general interface in the envelope of webhooks; `None` for an account that is not known, which is
/// answered alike everywhere.
pub fn in_own_envelope(error: ErrorBody) -> Option<WebhookErrorBody> {
    match error.kind {
        ErrorType::Unauthorized => None,
        ErrorType::ApiError
        | ErrorType::BadRequest
        | ErrorType::InvalidRequestError
        | ErrorType::CardDeclined
        | ErrorType::Conflict
        | ErrorType::FailedDependency
        | ErrorType::UnprocessableEntity => Some(WebhookErrorBody::new(&error.message, error.details)),
    }
}

/// The error answers of webhooks. Those of an account that is not known and of a refused key look as everywhere.
#[derive(Debug)]
pub enum WebhookErrors {}

impl IntoResponses for WebhookErrors {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let mut responses = CommonErrors::responses();
        let envelope = [
            ("400", "The body, the query or a header is wrong; `details` has one sentence for each problem."),
            ("404", "There is no such record."),
            ("409", "Another webhook is registered there, or something else is under way."),
            ("413", "The body is too large."),
            ("429", "Too many requests; come back after `Retry-After` seconds."),
            ("500", "A fault of the service."),
            ("503", "The service is busy; come back after `Retry-After` seconds."),
        ];
        for (status, description) in envelope {
            let schema = Ref::from_schema_name(WebhookErrorBody::name());
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let response =
                ResponseBuilder::new().description(description).content("application/json", content).build();
            responses.insert(status.to_owned(), RefOr::T(response));
        }
        responses
    }
}
