//! The error envelope of purchases (`docs/interface/purchases.md#errors`): seven types, one for each status.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::problems::Problems;
use regente_engine::error::Cause;
use regente_engine::error::Error;
use regente_engine::purchases::{Broken, Rule};
use serde::Serialize;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response as Described, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoResponses, ToSchema};

use self::PurchaseErrorType as Kind;
use crate::http::business_code::{BodyCode, IN_PROGRESS, KEY_MISMATCH, NOT_FOUND};
use crate::http::error::{Answer, ApiError, ErrorBody, ErrorType, ForbiddenBody};
use crate::http::words;

/// Why an operation on a purchase was refused or failed.
#[derive(Debug)]
pub enum PurchaseError {
    /// A rule of the body that has its own business code.
    Refused {
        /// Which.
        code: BodyCode,
        /// One sentence for each problem.
        details: Vec<String>,
    },
    /// An error of the general interface.
    Other(ApiError),
}

/// The class of an error of purchases: one for each status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PurchaseErrorType {
    /// The body or a header is wrong.
    BadRequest,
    /// The account is not known. Answered by the gate in front of the routes.
    Unauthorized,
    /// The account has no such purchase.
    NotFound,
    /// Something else is under way, or the idempotency key was used with another body.
    Conflict,
    /// The state of the purchase does not allow it.
    ValidationError,
    /// The service failed.
    ApiError,
    /// The service is busy.
    Unavailable,
}

/// The envelope of errors of purchases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PurchaseError, example = json!({
    "error": { "type": "bad_request", "code": 400, "message": "Invalid number of payments",
        "businessCode": "invalid_payments_count", "details": ["payments must contain 2 or 3 items"] }
}))]
pub struct PurchaseErrorEnvelope {
    /// What went wrong.
    pub error: PurchaseErrorContent,
}

/// What went wrong with a purchase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PurchaseErrorContent {
    /// The class of the error.
    #[serde(rename = "type")]
    pub kind: PurchaseErrorType,
    /// The HTTP status again.
    #[schema(example = 400)]
    pub code: u16,
    /// A short text in English.
    #[schema(value_type = String)]
    pub message: Cow<'static, str>,
    /// The stable name of the rule that was broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::BusinessCode>)]
    pub business_code: Option<&'static str>,
    /// One sentence for each problem; may be empty.
    pub details: Vec<String>,
}

impl PurchaseErrorContent {
    fn new(status: StatusCode, kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self { kind, code: status.as_u16(), message, business_code: None, details: Vec::new() }
    }

    fn business(mut self, code: &'static str, details: Vec<String>) -> Self {
        self.business_code = Some(code);
        self.details = details;
        self
    }

    /// For statuses whose details repeat the code.
    fn repeating(self, code: &'static str) -> Self {
        self.business(code, vec![code.to_owned()])
    }
}

impl From<ApiError> for PurchaseError {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<Error> for PurchaseError {
    fn from(error: Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<Broken> for PurchaseError {
    fn from(broken: Broken) -> Self {
        let code = match broken.rule {
            Rule::InvalidPaymentsCount => BodyCode::InvalidPaymentsCount,
            Rule::PaymentSourceRequired => BodyCode::PaymentSourceRequired,
            Rule::AmbiguousSource => BodyCode::InvalidRequest,
            Rule::PaymentAmountBelowMinimum => BodyCode::PaymentAmountBelowMinimum,
            Rule::CurrencyNotBrl => BodyCode::CurrencyNotBrl,
            Rule::PaymentsAmountMismatch => BodyCode::PaymentsAmountMismatch,
        };
        Self::refused(code, broken.details)
    }
}

impl From<Problems> for PurchaseError {
    fn from(problems: Problems) -> Self {
        Self::refused(BodyCode::InvalidRequest, problems.into_details())
    }
}

impl PurchaseError {
    /// A refusal by a rule of the body.
    pub fn refused(code: BodyCode, details: Vec<String>) -> Self {
        Self::Refused { code, details }
    }
}

impl IntoResponse for PurchaseError {
    fn into_response(self) -> Response {
        match self {
            Self::Refused { code, details } => refused(code, details),
            Self::Other(error) => of_general(error),
        }
    }
}

fn refused(code: BodyCode, details: Vec<String>) -> Response {
    let status = StatusCode::BAD_REQUEST;
    let content = PurchaseErrorContent::new(status, Kind::BadRequest, code.message());
    answer(content.business(code.code(), details), None, None)
}

fn of_general(error: ApiError) -> Response {
    match error {
        // The layer of `crate::api::envelope` puts these into the envelope of purchases.
        ApiError::Unauthorized
        | ApiError::Forbidden
        | ApiError::MethodNotAllowed
        | ApiError::TooLarge { .. }
        | ApiError::BankIdentifierRequired
        | ApiError::FileTooLarge { .. }
        | ApiError::PersonUnproved { .. }
        | ApiError::TooManyRequests { .. } => error.into_response(),
        ApiError::MalformedBody(sentence) => refused(BodyCode::InvalidRequest, vec![sentence]),
        ApiError::Engine(error) => of_engine(error),
    }
}

fn of_engine(error: Error) -> Response {
    use StatusCode as Status;
    let content = |status, kind, message: &'static str| PurchaseErrorContent::new(status, kind, message);
    match error {
        Error::NotFound => {
            let content = content(Status::NOT_FOUND, Kind::NotFound, "Resource not found");
            answer(content.repeating(NOT_FOUND), None, None)
        }
        Error::Invalid(problems) => refused(BodyCode::InvalidRequest, problems.into_details()),
        Error::ReferenceNotFound(path) => {
            refused(BodyCode::InvalidRequest, vec![format!("{path} was not found")])
        }
        Error::Impossible { message, details } => {
            let details = if details.is_empty() { vec![message.into_owned()] } else { details };
            refused(BodyCode::InvalidRequest, details)
        }
        Error::IdempotencyMismatch => {
            let message = "Idempotency key reused with a different payload";
            let content = content(Status::CONFLICT, Kind::Conflict, message);
            answer(content.repeating(KEY_MISMATCH), None, None)
        }
        Error::IdempotencyRunning { retry_after } => in_progress(Some(retry_after)),
        Error::Conflict { .. } | Error::Processing { .. } => in_progress(None),
        Error::BusinessRule { business_code, message } => {
            let status = Status::UNPROCESSABLE_ENTITY;
            let content = PurchaseErrorContent::new(status, Kind::ValidationError, message);
            answer(content.repeating(business_code), None, None)
        }
        Error::Unavailable { retry_after, cause } => {
            let content = content(Status::SERVICE_UNAVAILABLE, Kind::Unavailable, "Service unavailable");
            answer(content, Some(retry_after), cause)
        }
        Error::Internal(cause) => fault(Some(cause)),
        Error::CardDeclined { .. }
        | Error::Gone(_)
        | Error::TooManyAtOnce { .. }
        | Error::FlowRefused { .. }
        | Error::PrepaymentRefused(_)
        | Error::RuleBroken(_)
        | Error::VoucherRefused { .. }
        | Error::SellersNotFound { .. }
        | Error::SellersUnable { .. }
        | Error::ProviderNeeded { .. } => fault(cause_of(error)),
    }
}

/// An error that does not belong to purchases is an internal one.
fn cause_of(error: impl std::error::Error + Send + Sync + 'static) -> Option<Cause> {
    Some(std::sync::Arc::new(error))
}

fn in_progress(retry_after: Option<Duration>) -> Response {
    let message = "Another operation on the purchase is in progress";
    let content = PurchaseErrorContent::new(StatusCode::CONFLICT, Kind::Conflict, message);
    answer(content.repeating(IN_PROGRESS), retry_after, None)
}

fn fault(cause: Option<Cause>) -> Response {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    answer(PurchaseErrorContent::new(status, Kind::ApiError, "Internal server error"), None, cause)
}

fn answer(content: PurchaseErrorContent, retry_after: Option<Duration>, cause: Option<Cause>) -> Response {
    let status = StatusCode::from_u16(content.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let answer = Answer { status, error: None, retry_after, challenge: None, cause };
    answer.with_body(Json(PurchaseErrorEnvelope { error: content }))
}

/// What was answered outside of the handlers (the gate, a limit, a panic, the router) in the envelope of purchases.
pub fn in_own_envelope(error: ErrorBody) -> PurchaseErrorEnvelope {
    use ErrorType as Type;
    let status = StatusCode::from_u16(error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = match error.kind {
        Type::ApiError if status == StatusCode::SERVICE_UNAVAILABLE => Kind::Unavailable,
        Type::ApiError => Kind::ApiError,
        Type::InvalidRequestError if status == StatusCode::NOT_FOUND => Kind::NotFound,
        Type::InvalidRequestError | Type::BadRequest | Type::CardDeclined => Kind::BadRequest,
        Type::Unauthorized => Kind::Unauthorized,
        Type::Conflict => Kind::Conflict,
        Type::FailedDependency | Type::UnprocessableEntity => Kind::ValidationError,
    };
    let content = PurchaseErrorContent::new(status, kind, error.message);
    let error = match kind {
        Kind::NotFound => content.repeating(NOT_FOUND),
        Kind::BadRequest
        | Kind::Unauthorized
        | Kind::Conflict
        | Kind::ValidationError
        | Kind::ApiError
        | Kind::Unavailable => PurchaseErrorContent { details: error.details, ..content },
    };
    PurchaseErrorEnvelope { error }
}

/// The error answers that every route of purchases has.
#[derive(Debug)]
pub enum PurchaseErrors {}

impl IntoResponses for PurchaseErrors {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let own = [
            ("400", "The body or a header is wrong; `businessCode` names the rule."),
            ("401", "`X-Client-Id` is missing, empty or not known."),
            ("404", "There is no such purchase, or the account is another one."),
            ("413", "The body is too large."),
            ("429", "Too many requests; come back after `Retry-After` seconds."),
            ("500", "A fault of the service."),
            ("503", "Nothing was done; come back after `Retry-After` seconds."),
        ];
        let mut responses = BTreeMap::new();
        for (status, text) in own {
            responses.insert(status.to_owned(), described::<PurchaseErrorEnvelope>(text));
        }
        let forbidden = described::<ForbiddenBody>("The key is missing, wrong or expired, or no secret key.");
        responses.insert("403".to_owned(), forbidden);
        responses
    }
}

fn described<T: ToSchema>(description: &str) -> RefOr<Described> {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(T::name()))).build();
    RefOr::T(ResponseBuilder::new().description(description).content("application/json", content).build())
}
