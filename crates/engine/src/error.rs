//! Everything that can go wrong with what the product is asked to do, whoever asks: what is wrong, with its path where
//! there is one; when it is worth asking again; what the log gets to see. How a case is answered is the interface's.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::problems::Problems;
use regente_store::StoreError;

/// When to come back after the database refused: a burst has passed by then, an outage may not have.
const STORE_RETRY_AFTER: Duration = Duration::from_secs(1);

/// When it is worth asking again for a record whose outcome is being found out.
const PROCESSING_RETRY_AFTER: Duration = Duration::from_secs(10);

/// Why something was not done.
#[derive(Debug)]
pub enum Error {
    /// There is no such record, or it is another client's.
    NotFound,
    /// What was sent names a record that is not there: as [`Error::NotFound`], with the path of the member.
    ReferenceNotFound(&'static str),
    /// What was sent breaks field rules: all of them together.
    Invalid(Problems),
    /// The shape is right, the operation is impossible, such as capturing what is already captured.
    Impossible {
        /// What is impossible.
        message: Cow<'static, str>,
        /// More about it; may be empty.
        details: Vec<String>,
    },
    /// A card was refused before there was a charge (`docs/interface/tokens-and-cards.md#tokens`).
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
    /// A business rule refuses it.
    BusinessRule {
        /// The stable name of the rule.
        business_code: &'static str,
        /// The rule in words.
        message: Cow<'static, str>,
    },
    /// A voucher cannot be voided as asked (`docs/interface/charges.md#refusals`).
    VoucherRefused {
        /// Why not.
        message: Cow<'static, str>,
    },
    /// A provider was needed and could not do it (`docs/interface/tokens-and-cards.md#checks`).
    ProviderNeeded {
        /// What it was needed for.
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
    /// A bug, or something that should never happen.
    Internal(Cause),
}

/// An error of the inside, kept for the log and never shown.
pub type Cause = Arc<dyn StdError + Send + Sync>;

impl Error {
    /// A fault of ours, with what caused it.
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
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

    /// A token that is expired, used or another client's: one answer for the three cases
    /// (`docs/interface/tokens-and-cards.md#tokens`). `path` is the member that names it.
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
}

impl From<StoreError> for Error {
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

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

impl fmt::Display for Error {
    /// The case; never the cause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound | Self::ReferenceNotFound(_) => "not found",
            Self::Invalid(_) => "invalid request",
            Self::Impossible { .. } => "impossible operation",
            Self::CardDeclined { .. } => "card declined",
            Self::Conflict { .. } => "conflict",
            Self::Processing { .. } => "an earlier operation is under way",
            Self::IdempotencyRunning { .. } => "a request with this idempotency key is running",
            Self::IdempotencyMismatch => "idempotency key reused with a different payload",
            Self::BusinessRule { business_code, .. } => business_code,
            Self::VoucherRefused { .. } => "voucher refused",
            Self::ProviderNeeded { .. } => "a provider was needed",
            Self::Unavailable { .. } => "unavailable",
            Self::Internal(_) => "internal error",
        })
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        if let Self::Internal(cause) = self { Some(cause.as_ref()) } else { None }
    }
}
