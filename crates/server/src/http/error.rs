//! The errors of requests, and the only place that turns them into HTTP answers.
//!
//! No rule of a resource is decided here: callers name the case, this module words the answer.

mod body;
mod fault;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_domain::decline::DeclinedCode;
use regente_domain::problems::Problems;
use regente_engine::error::{Cause, Error};
use regente_engine::vault::VaultError;
use regente_store::StoreError;

use super::business_code::CAPTCHA_REQUIRED;
use super::headers::CAPTCHA_CHALLENGE;

pub use body::{CommonErrors, ErrorBody, ErrorEnvelope, ErrorType, ForbiddenBody, KeylessErrors};
pub use fault::{Fault, General};

/// The message while an outcome is unknown (`docs/interface/conventions.md#idempotency`).
const PROCESSING: &str = "Transaction is processing";

/// `key` of a bank account without a bank.
const BANK_IDENTIFIER_REQUIRED: &str = "bank_identifier_required";
const BANK_IDENTIFIER_RULE: &str = "bank account must keep at least one of bank (COMPE) or ispb after update";

/// Why a request was refused or failed. A new case is a new variant and a new arm of [`ApiError::answer`].
#[derive(Debug)]
pub enum ApiError {
    /// `X-Client-Id` is missing, empty, no UUID or unknown (`docs/interface/auth.md#gate`).
    Unauthorized,
    /// The key is missing, wrong, expired or out of scope.
    Forbidden,
    /// The path exists, the method does not. The router adds `Allow`.
    MethodNotAllowed,
    /// The body cannot be parsed. The message is one sentence that names `body` and repeats none of its content.
    MalformedBody(String),
    /// The body is larger than the route takes.
    TooLarge {
        /// The route's limit, in bytes.
        bytes_max: usize,
    },
    /// A bank account names its bank in neither way (`docs/interface/sellers.md#bank-account`).
    BankIdentifierRequired,
    /// A file is larger than its field takes.
    FileTooLarge {
        /// The field.
        field: &'static str,
        /// Its limit, in bytes.
        bytes_max: usize,
    },
    /// The session wants to know whether a person asks, and nothing proves it (`docs/checkout.md#human-check`).
    PersonUnproved {
        /// What is missing.
        message: &'static str,
        /// What a proof for the key of the request starts with.
        challenge: Option<String>,
    },
    /// The key exceeds its rate.
    TooManyRequests {
        /// The time until the next request is accepted.
        retry_after: Duration,
    },
    /// An error of the engine.
    Engine(Error),
}

impl ApiError {
    /// The answer of each case (`docs/interface/conventions.md#errors`).
    pub fn answer(self) -> Answer {
        use ErrorType as Type;
        match self {
            Self::Unauthorized => Answer::new(StatusCode::UNAUTHORIZED, Type::Unauthorized, "Unauthorized")
                .details(vec!["unauthorized".to_owned()]),
            Self::Forbidden => Answer::forbidden(),
            Self::MethodNotAllowed => {
                Answer::new(StatusCode::METHOD_NOT_ALLOWED, Type::InvalidRequestError, "Method not allowed")
            }
            Self::MalformedBody(sentence) => {
                Answer::new(StatusCode::BAD_REQUEST, Type::BadRequest, "Bad Request").details(vec![sentence])
            }
            // A body is refused for its size before it is parsed, so the class is `bad_request`.
            Self::TooLarge { bytes_max } => {
                Answer::new(StatusCode::PAYLOAD_TOO_LARGE, Type::BadRequest, "Payload Too Large")
                    .details(vec![format!("body must not be larger than {bytes_max} bytes")])
            }
            Self::BankIdentifierRequired => {
                Answer::new(StatusCode::BAD_REQUEST, Type::BadRequest, "Bad Request Exception")
                    .details(vec![BANK_IDENTIFIER_RULE.to_owned()])
                    .with(|error| error.key = Some(BANK_IDENTIFIER_REQUIRED))
            }
            Self::FileTooLarge { field, bytes_max } => {
                Answer::new(StatusCode::PAYLOAD_TOO_LARGE, Type::BadRequest, "Payload Too Large")
                    .details(vec![format!("{field} must not be larger than {bytes_max} bytes")])
            }
            Self::PersonUnproved { message, challenge } => {
                Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::BadRequest, message)
                    .business_code(CAPTCHA_REQUIRED)
                    .challenge(challenge)
            }
            Self::TooManyRequests { retry_after } => {
                Answer::new(StatusCode::TOO_MANY_REQUESTS, Type::ApiError, "Too many requests")
                    .retry_after(retry_after)
            }
            Self::Engine(error) => answer_of_engine(error),
        }
    }
}

fn answer_of_engine(error: Error) -> Answer {
    use ErrorType as Type;
    match error {
        Error::NotFound => {
            Answer::new(StatusCode::NOT_FOUND, Type::InvalidRequestError, "Resource not found")
        }
        Error::Gone(message) => Answer::new(StatusCode::GONE, Type::InvalidRequestError, message),
        Error::ReferenceNotFound(path) => {
            answer_of_engine(Error::NotFound).details(vec![format!("{path} was not found")])
        }
        Error::Invalid(problems) => Answer::new(StatusCode::BAD_REQUEST, Type::BadRequest, "Bad Request")
            .details(problems.into_details()),
        Error::Impossible { message, details } => {
            Answer::new(StatusCode::BAD_REQUEST, Type::InvalidRequestError, message).details(details)
        }
        Error::CardDeclined { code, message } => {
            Answer::new(StatusCode::BAD_REQUEST, Type::CardDeclined, message).declined(code)
        }
        Error::Conflict { message, details } => {
            Answer::new(StatusCode::CONFLICT, Type::InvalidRequestError, message).details(details)
        }
        Error::Processing { detail, retry_after } => {
            Answer::new(StatusCode::CONFLICT, Type::Conflict, PROCESSING)
                .details(vec![detail])
                .retry_after(retry_after)
        }
        Error::IdempotencyRunning { retry_after } => {
            Answer::new(StatusCode::CONFLICT, Type::Conflict, PROCESSING).retry_after(retry_after)
        }
        Error::IdempotencyMismatch => Answer::new(
            StatusCode::CONFLICT,
            Type::Conflict,
            "Idempotency key reused with a different payload",
        ),
        Error::BusinessRule { business_code, message } => {
            Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::BadRequest, message)
                .business_code(business_code)
        }
        Error::FlowRefused { code, details } => {
            Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::BadRequest, "flow is not published")
                .business_code(code.word())
                .details(details)
        }
        Error::PrepaymentRefused(refusal) => {
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::CONFLICT);
            Answer::new(status, Type::InvalidRequestError, refusal.message())
        }
        Error::TooManyAtOnce { business_code, message, retry_after } => {
            Answer::new(StatusCode::TOO_MANY_REQUESTS, Type::ApiError, message)
                .business_code(business_code)
                .retry_after(retry_after)
        }
        Error::RuleBroken(rule) => {
            Answer::new(StatusCode::BAD_REQUEST, Type::BadRequest, "Bad Request Exception")
                .details(vec![rule.to_owned()])
        }
        Error::VoucherRefused { message } => {
            Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::UnprocessableEntity, message)
        }
        Error::SellersNotFound { message } => {
            Answer::new(StatusCode::UNPROCESSABLE_ENTITY, Type::BadRequest, message)
        }
        Error::SellersUnable { details } => Answer::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            Type::InvalidRequestError,
            "session cannot be charged: its split names sellers who may not take part",
        )
        .details(details),
        Error::ProviderNeeded { message, details } => {
            Answer::new(StatusCode::FAILED_DEPENDENCY, Type::FailedDependency, message).details(details)
        }
        Error::Unavailable { retry_after, cause } => {
            Answer::new(StatusCode::SERVICE_UNAVAILABLE, Type::ApiError, "Service unavailable")
                .retry_after(retry_after)
                .cause(cause)
        }
        Error::Internal(cause) => {
            Answer::new(StatusCode::INTERNAL_SERVER_ERROR, Type::ApiError, "Internal server error")
                .cause(Some(cause))
        }
    }
}

/// The answer to an engine's error, for answers that are stored before a caller fetches them.
pub fn kept_answer(error: Error) -> regente_engine::app::Answer {
    let answer = answer_of_engine(error);
    let envelope = answer.error.map(|error| ErrorEnvelope { error });
    let bytes = serde_json::to_vec(&envelope).unwrap_or_default();
    regente_engine::app::Answer { status: answer.status.as_u16(), bytes }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<VaultError> for ApiError {
    fn from(error: VaultError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<Problems> for ApiError {
    fn from(problems: Problems) -> Self {
        Self::Engine(problems.into())
    }
}

/// The answer to an error. Resources with their own envelope (purchases, webhooks) build it from this.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body's content; `None` for a 403, whose body is [`ForbiddenBody`].
    pub error: Option<ErrorBody>,
    /// The value of `Retry-After`.
    pub retry_after: Option<Duration>,
    /// The value of `X-Captcha-Challenge`.
    pub challenge: Option<String>,
    /// The cause, for the log only.
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
            key: None,
            details: Vec::new(),
        };
        Self { status, error: Some(error), retry_after: None, challenge: None, cause: None }
    }

    fn forbidden() -> Self {
        Self { status: StatusCode::FORBIDDEN, error: None, retry_after: None, challenge: None, cause: None }
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

    fn challenge(mut self, challenge: Option<String>) -> Self {
        self.challenge = challenge;
        self
    }

    fn cause(mut self, cause: Option<Cause>) -> Self {
        self.cause = cause;
        self
    }

    /// An answer with the resource's own body; status, headers and the cause for the log stay.
    pub fn with_body(self, body: impl IntoResponse) -> Response {
        let mut response = body.into_response();
        *response.status_mut() = self.status;
        if let Some(after) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(after));
        }
        if let Some(Ok(challenge)) = self.challenge.map(HeaderValue::try_from) {
            response.headers_mut().insert(CAPTCHA_CHALLENGE, challenge);
        }
        if self.status.is_server_error() {
            response.extensions_mut().insert(Fault { cause: self.cause });
        }
        response
    }
}

/// The duration rounded up to at least one second, so that a caller who waits that long is accepted.
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
        response.extensions_mut().insert(General(envelope));
        response
    }
}

impl fmt::Display for ApiError {
    /// Writes the case without its cause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::MethodNotAllowed => "method not allowed",
            Self::MalformedBody(_) => "malformed body",
            Self::TooLarge { .. } => "body too large",
            Self::BankIdentifierRequired => BANK_IDENTIFIER_REQUIRED,
            Self::FileTooLarge { .. } => "file too large",
            Self::PersonUnproved { message, .. } => message,
            Self::TooManyRequests { .. } => "too many requests",
            Self::Engine(error) => return error.fmt(f),
        })
    }
}

impl StdError for ApiError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        if let Self::Engine(error) = self { error.source() } else { None }
    }
}
