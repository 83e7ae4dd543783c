//! Everything that can go wrong with a request, and the one place that says how it is answered.
//!
//! No rule is decided here, and nothing here knows a resource: whoever refuses names the case, this file words it.

mod fault;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_domain::decline::DeclinedCode;
use regente_domain::problems::Problems;
use regente_store::StoreError;

pub use fault::Fault;

use super::schema::{ErrorBody, ErrorEnvelope, ErrorType, ForbiddenBody};

/// When to come back after the database refused: a burst has passed by then, an outage may not have.
const STORE_RETRY_AFTER: Duration = Duration::from_secs(1);

/// When it is worth asking again for a record whose outcome is being found out.
const PROCESSING_RETRY_AFTER: Duration = Duration::from_secs(10);
/// What is said while an outcome is not known (contract 00 §5).
const PROCESSING: &str = "Transaction is processing";

/// Why a request was not done. Closed: a new case is a new variant and a new arm of [`ApiError::answer`].
#[derive(Debug)]
pub enum ApiError {
    /// `X-Client-Id` is missing, empty, no UUID or unknown (contract 00 open points 1 and 2).
    Unauthorized,
    /// The key is missing, wrong, expired or out of scope.
    Forbidden,
    /// There is no such record, or it is another client's, or the path id is no UUID.
    NotFound,
    /// A member of the body names a record that is not there. The same answer as [`ApiError::NotFound`], with the path.
    ReferenceNotFound(&'static str),
    /// The path exists, the method does not. The router adds `Allow`.
    MethodNotAllowed,
    /// The body, the query or a header breaks field rules: all of them together.
    Invalid(Problems),
    /// The body cannot be read at all. One sentence that names `body`, without any of its content.
    MalformedBody(String),
    /// The shape is right, the operation is impossible, such as capturing what is already captured.
    Impossible {
        /// What is impossible.
        message: Cow<'static, str>,
        /// More about it; may be empty.
        details: Vec<String>,
    },
    /// A card was refused before there was a charge (contract 02 §2).
    CardDeclined {
        /// Why.
        code: DeclinedCode,
        /// Why, in words.
        message: Cow<'static, str>,
    },
    /// The record clashes with another one, or with its own state.
    Conflict {
        /// What clashes; `Conflict Exception` where nothing better is known.
        message: Cow<'static, str>,
        /// One sentence for each clash.
        details: Vec<String>,
    },
    /// The outcome of an earlier operation on the record is not known yet.
    Processing {
        /// What is under way.
        detail: String,
        /// When it is worth asking again.
        retry_after: Duration,
    },
    /// The first request with this idempotency key is still running.
    IdempotencyRunning {
        /// When it is worth asking again.
        retry_after: Duration,
    },
    /// The idempotency key was used with another body.
    IdempotencyMismatch,
    /// The body is larger than the route takes.
    TooLarge {
        /// What the route takes, in bytes.
        bytes_max: usize,
    },
    /// The key asks too often.
    TooManyRequests {
        /// When the next request is let through.
        retry_after: Duration,
    },
    /// A business rule refuses it.
    BusinessRule {
        /// The stable name of the rule.
        business_code: &'static str,
        /// The rule in words.
        message: Cow<'static, str>,
    },
    /// A voucher cannot be voided as asked (contract 03 open point 3).
    Unprocessable {
        /// Why not.
        message: Cow<'static, str>,
    },
    /// Another party was needed and could not answer (contract 02 §4).
    FailedDependency {
        /// What was needed.
        message: Cow<'static, str>,
        /// More about it; may be empty.
        details: Vec<String>,
    },
    /// Nothing was done and the same request may work later.
    Unavailable {
        /// When it is worth asking again.
        retry_after: Duration,
        /// Why, for the log.
        cause: Option<Cause>,
    },
    /// A bug, or something that should never happen. The caller learns a request id, the log learns the rest.
    Internal(Cause),
}

/// An error of the inside, kept for the log and never shown.
pub type Cause = Arc<dyn Error + Send + Sync>;

impl ApiError {
    /// A fault of ours, with what caused it.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(Arc::from(cause.into()))
    }

    /// The wrong field at `path` and what it must be, when there is only that one problem.
    pub fn invalid(path: impl fmt::Display, rule: impl fmt::Display) -> Self {
        Self::Invalid(Problems::one(path, rule))
    }

    /// An impossible operation that one sentence describes.
    pub fn impossible(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Impossible { message: message.into(), details: Vec::new() }
    }

    /// A clash with another record, such as `customer with this email already exists`.
    pub fn conflict(details: Vec<String>) -> Self {
        Self::Conflict { message: Cow::Borrowed("Conflict Exception"), details }
    }

    /// An operation on a charge whose outcome is not known yet.
    pub fn processing(status: &str) -> Self {
        let detail = format!("charge is {status}: its outcome is not known yet");
        Self::Processing { detail, retry_after: PROCESSING_RETRY_AFTER }
    }

    /// A token that is expired, used or another client's: one answer for the three cases (contract 02 open point 1).
    /// `path` is the member that names it.
    pub fn token_not_found(path: &'static str) -> Self {
        let details = vec![format!("{path} must be a token that is not used and not expired")];
        Self::Impossible { message: "token not found or expired".into(), details }
    }

    /// The database did not take the request, and nothing was done.
    pub fn unavailable() -> Self {
        Self::Unavailable { retry_after: STORE_RETRY_AFTER, cause: None }
    }

    /// A change lost its race too often; nothing was done.
    pub fn busy() -> Self {
        Self::unavailable()
    }

    /// The answer as status and envelope, to be stored for a replay.
    pub fn into_envelope(self) -> (StatusCode, Option<ErrorEnvelope>) {
        let answer = self.answer();
        (answer.status, answer.error.map(|error| ErrorEnvelope { error }))
    }

    /// The one mapping from a case to its answer (contract 00 §6).
    pub fn answer(self) -> Answer {
        use ErrorType as Type;
        match self {
            Self::Unauthorized => Answer::new(StatusCode::UNAUTHORIZED, Type::Unauthorized, "Unauthorized")
                .details(vec!["unauthorized".to_owned()]),
            Self::Forbidden => Answer::forbidden(),
            Self::NotFound => {
                Answer::new(StatusCode::NOT_FOUND, Type::InvalidRequestError, "Resource not found")
            }
            Self::ReferenceNotFound(path) => {
                Self::NotFound.answer().details(vec![format!("{path} was not found")])
            }
            Self::MethodNotAllowed => {
                Answer::new(StatusCode::METHOD_NOT_ALLOWED, Type::InvalidRequestError, "Method not allowed")
            }
            Self::Invalid(problems) => Answer::new(StatusCode::BAD_REQUEST, Type::BadRequest, "Bad Request")
                .details(problems.into_details()),
            Self::MalformedBody(sentence) => {
                Answer::new(StatusCode::BAD_REQUEST, Type::BadRequest, "Bad Request").details(vec![sentence])
            }
            Self::Impossible { message, details } => {
                Answer::new(StatusCode::BAD_REQUEST, Type::InvalidRequestError, message).details(details)
            }
            Self::CardDeclined { code, message } => {
                Answer::new(StatusCode::BAD_REQUEST, Type::CardDeclined, message).declined(code)
            }
            Self::Conflict { message, details } => {
                Answer::new(StatusCode::CONFLICT, Type::InvalidRequestError, message).details(details)
            }
            Self::Processing { detail, retry_after } => {
                Answer::new(StatusCode::CONFLICT, Type::Conflict, PROCESSING)
                    .details(vec![detail])
                    .retry_after(retry_after)
            }
            Self::IdempotencyRunning { retry_after } => {
                Answer::new(StatusCode::CONFLICT, Type::Conflict, PROCESSING).retry_after(retry_after)
            }
            Self::IdempotencyMismatch => Answer::new(
                StatusCode::CONFLICT,
                Type::Conflict,
                "Idempotency key reused with a different payload",
            ),
            // A body that is too large fails before its content is looked at: that is the class `bad_request`.
            Self::TooLarge { bytes_max } => {
                Answer::new(StatusCode::PAYLOAD_TOO_LARGE, Type::BadRequest, "Payload Too Large")
                    .details(vec![format!("body must not be larger than {bytes_max} bytes")])
            }
            Self::TooManyRequests { retry_after } => {
                Answer::new(StatusCode::TOO_MANY_REQUESTS, Type::ApiError, "Too many requests")
                    .retry_after(retry_after)
            }
            Self::BusinessRule { business_code, message } => {
                Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::BadRequest, message)
                    .business_code(business_code)
            }
            Self::Unprocessable { message } => {
                Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::UnprocessableEntity, message)
            }
            Self::FailedDependency { message, details } => {
                Answer::new(StatusCode::FAILED_DEPENDENCY, Type::FailedDependency, message).details(details)
            }
            Self::Unavailable { retry_after, cause } => {
                Answer::new(StatusCode::SERVICE_UNAVAILABLE, Type::ApiError, "Service unavailable")
                    .retry_after(retry_after)
                    .cause(cause)
            }
            Self::Internal(cause) => {
                Answer::new(StatusCode::INTERNAL_SERVER_ERROR, Type::ApiError, "Internal server error")
                    .cause(Some(cause))
            }
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Overloaded => {
                Self::Unavailable { retry_after: STORE_RETRY_AFTER, cause: Some(Arc::new(error)) }
            }
            StoreError::Programming(_)
            | StoreError::Corrupt(_)
            | StoreError::Locked(_)
            | StoreError::Configuration(_)
            | StoreError::Schema(_) => Self::internal(error),
        }
    }
}

impl From<Problems> for ApiError {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

/// An error as it is answered. Resources with an envelope of their own (purchases, webhooks) build theirs from this.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// What the body says; nothing for a 403, whose body is [`ForbiddenBody`].
    pub error: Option<ErrorBody>,
    /// The time for `Retry-After`.
    pub retry_after: Option<Duration>,
    /// What the log gets to see.
    pub cause: Option<Cause>,
}

impl Answer {
    fn new(status: StatusCode, kind: ErrorType, message: impl Into<Cow<'static, str>>) -> Self {
        let error = ErrorBody {
            kind,
            code: status.as_u16(),
            declined_code: None,
            declined_code_alias: None,
            message: message.into(),
            business_code: None,
            details: Vec::new(),
        };
        Self { status, error: Some(error), retry_after: None, cause: None }
    }

    fn forbidden() -> Self {
        Self { status: StatusCode::FORBIDDEN, error: None, retry_after: None, cause: None }
    }

    fn with(mut self, change: impl FnOnce(&mut ErrorBody)) -> Self {
        self.error.as_mut().map(change);
        self
    }

    fn details(self, details: Vec<String>) -> Self {
        self.with(|error| error.details = details)
    }

    fn declined(self, code: DeclinedCode) -> Self {
        self.with(|error| {
            error.declined_code = Some(code.code());
            error.declined_code_alias = Some(code.code());
        })
    }

    fn business_code(self, code: &'static str) -> Self {
        self.with(|error| error.business_code = Some(code))
    }

    fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    fn cause(mut self, cause: Option<Cause>) -> Self {
        self.cause = cause;
        self
    }

    /// The answer with a body of the resource's own; status, `Retry-After` and the note for the log stay.
    pub fn with_body(self, body: impl IntoResponse) -> Response {
        let mut response = body.into_response();
        *response.status_mut() = self.status;
        if let Some(after) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(after));
        }
        if self.status.is_server_error() {
            response.extensions_mut().insert(Fault { cause: self.cause, envelope: None });
        }
        response
    }
}

/// Rounded up, at least one: whoever comes back then is not sent away again.
fn whole_seconds(duration: Duration) -> HeaderValue {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    HeaderValue::from(seconds.max(1))
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut answer = self.answer();
        let Some(error) = answer.error.take() else {
            return answer.with_body(Json(ForbiddenBody::BODY));
        };
        let envelope = ErrorEnvelope { error };
        let mut response = answer.with_body(Json(&envelope));
        if let Some(fault) = response.extensions_mut().get_mut::<Fault>() {
            fault.envelope = Some(envelope);
        }
        response
    }
}

impl fmt::Display for ApiError {
    /// Status and message; never the cause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound | Self::ReferenceNotFound(_) => "not found",
            Self::MethodNotAllowed => "method not allowed",
            Self::Invalid(_) => "invalid request",
            Self::MalformedBody(_) => "malformed body",
            Self::Impossible { .. } => "impossible operation",
            Self::CardDeclined { .. } => "card declined",
            Self::Conflict { .. } => "conflict",
            Self::Processing { .. } => "an earlier operation is under way",
            Self::IdempotencyRunning { .. } => "a request with this idempotency key is running",
            Self::IdempotencyMismatch => "idempotency key reused with a different payload",
            Self::TooLarge { .. } => "body too large",
            Self::TooManyRequests { .. } => "too many requests",
            Self::BusinessRule { business_code, .. } => business_code,
            Self::Unprocessable { .. } => "unprocessable",
            Self::FailedDependency { .. } => "failed dependency",
            Self::Unavailable { .. } => "unavailable",
            Self::Internal(_) => "internal error",
        })
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Self::Internal(cause) = self { Some(cause.as_ref()) } else { None }
    }
}
