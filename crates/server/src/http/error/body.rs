//! The bodies of errors as types, for answers and for the OpenAPI document. [`super::ApiError::answer`] chooses the
//! body of an error. The envelopes of purchases and webhooks are defined with their resources.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoResponses, ToSchema};

use crate::http::words;

/// The envelope of every error but a refused key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "error": { "type": "bad_request", "code": 400, "message": "Bad Request", "details": ["amount must be greater than 0"] }
}))]
pub struct ErrorEnvelope {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong. Programs look at the status, `type`, `declinedCode`, `key` and `businessCode`; people read the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// The class of the error.
    #[serde(rename = "type")]
    pub kind: ErrorType,
    /// The HTTP status again.
    #[schema(example = 400)]
    pub code: u16,
    /// One of the 24 decline codes; only with `card_declined`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::DeclinedCode>, example = "invalid_number")]
    pub declined_code: Option<&'static str>,
    /// The same as `declinedCode`, in the spelling that one shipped client reads.
    #[serde(rename = "declined_code", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::DeclinedCode>, example = "invalid_number")]
    pub declined_code_alias: Option<&'static str>,
    /// A short text in English.
    #[schema(value_type = String, example = "Bad Request")]
    pub message: std::borrow::Cow<'static, str>,
    /// The stable name of the rule that was broken; with most 422.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::BusinessCode>)]
    pub business_code: Option<&'static str>,
    /// The stable name of a rule about a field; of bank accounts alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "bank_identifier_required")]
    pub key: Option<&'static str>,
    /// One sentence for each problem; may be empty.
    #[schema(example = json!(["amount must be greater than 0"]))]
    pub details: Vec<String>,
}

/// The class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// The service failed or is busy; also 429.
    ApiError,
    /// The body, the query or a header is wrong, or a business rule refuses it.
    BadRequest,
    /// The request has the right shape but cannot be done.
    InvalidRequestError,
    /// The card was refused.
    CardDeclined,
    /// The account is not known.
    Unauthorized,
    /// The idempotency key is in use.
    Conflict,
    /// Another party was needed and could not answer.
    FailedDependency,
    /// A voucher cannot be voided as asked.
    UnprocessableEntity,
}

/// The body of every 403: a refused key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({ "message": "Forbidden" }))]
pub struct ForbiddenBody {
    /// Always `Forbidden`.
    #[schema(value_type = String, example = "Forbidden")]
    pub message: &'static str,
}

impl ForbiddenBody {
    /// The only value.
    pub const BODY: Self = Self { message: "Forbidden" };
}

const TOO_LARGE: (&str, &str) = ("413", "The body is too large.");
const FAULT: (&str, &str) = ("500", "A fault of the service; `details` names the request id.");
const BUSY: (&str, &str) = ("503", "The service is busy; come back after `Retry-After` seconds.");

/// The error answers that every route with a key has: `responses((status = 200, …), CommonErrors)`. A route names its own
/// 404, 409 and 422 itself.
#[derive(Debug)]
pub enum CommonErrors {}

impl IntoResponses for CommonErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = envelopes([
            ("400", "The body, the query or a header is wrong; `details` has one sentence for each problem."),
            ("401", "`X-Client-Id` is missing, empty or not known."),
            TOO_LARGE,
            ("429", "Too many requests; come back after `Retry-After` seconds."),
            FAULT,
            BUSY,
        ]);
        let forbidden =
            response::<ForbiddenBody>("The key is missing, wrong, expired or has not the needed scope.");
        responses.insert("403".to_owned(), forbidden);
        responses
    }
}

/// The error answers that every route without a key has. A route names its own 404 itself.
#[derive(Debug)]
pub enum KeylessErrors {}

impl IntoResponses for KeylessErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        envelopes([
            TOO_LARGE,
            (
                "429",
                "Too many requests, or names that do not exist; come back after `Retry-After` seconds. A page where \
                 `Accept` has `text/html`, as with 503.",
            ),
            FAULT,
            BUSY,
        ])
    }
}

fn envelopes<const COUNT: usize>(errors: [(&str, &str); COUNT]) -> BTreeMap<String, RefOr<Response>> {
    let described = |(status, text): (&str, &str)| (status.to_owned(), response::<ErrorEnvelope>(text));
    errors.into_iter().map(described).collect()
}

fn response<T: ToSchema>(description: &str) -> RefOr<Response> {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(T::name()))).build();
    RefOr::T(ResponseBuilder::new().description(description).content("application/json", content).build())
}
