//! Errors of operations, for all callers: the problem with its path, when to retry, and the cause for the log. The
//! server decides how each case is answered.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::flow::FlowRefusal;
use regente_domain::prepayment::Refusal;
use regente_domain::problems::Problems;
use regente_store::StoreError;

/// Retry delay after the database refused: long enough for a burst to pass, not for an outage.
const STORE_RETRY_AFTER: Duration = Duration::from_secs(1);

/// Retry delay for a record whose outcome is unknown.
const PROCESSING_RETRY_AFTER: Duration = Duration::from_secs(10);

/// Why an operation was not carried out.
#[derive(Debug)]
pub enum Error {
    /// The record does not exist or belongs to another account.
    NotFound,
    /// What was there is gone for good; the sentence says what.
    Gone(&'static str),
    /// The request refers to a missing record: like [`Error::NotFound`], with the path of the member.
    ReferenceNotFound(&'static str),
    /// The request breaks field rules; all problems are listed.
    Invalid(Problems),
    /// The request is well-formed but impossible, such as a second capture.
    Impossible {
        /// Why it is impossible.
        message: Cow<'static, str>,
        /// Further details; may be empty.
        details: Vec<String>,
    },
    /// A card was declined before a charge existed (`docs/interface/tokens-and-cards.md#tokens`).
    CardDeclined {
        /// The reason.
        code: DeclinedCode,
        /// The reason, for people.
        message: Cow<'static, str>,
    },
    /// The record conflicts with another one or with its own state.
    Conflict {
        /// The conflict; `Conflict Exception` where nothing more specific is known.
        message: Cow<'static, str>,
        /// One sentence for each conflict.
        details: Vec<String>,
    },
    /// The outcome of an earlier operation on the record is still unknown.
    Processing {
        /// The operation under way.
        detail: String,
        /// How long to wait before a retry.
        retry_after: Duration,
    },
    /// The first request with this idempotency key is still running.
    IdempotencyRunning {
        /// How long to wait before a retry.
        retry_after: Duration,
    },
    /// The idempotency key was used with a different body.
    IdempotencyMismatch,
    /// A business rule forbids the operation.
    BusinessRule {
        /// The stable code of the rule.
        business_code: &'static str,
        /// The rule, for people.
        message: Cow<'static, str>,
    },
    /// A flow is not published, and why (`docs/interface/flows.md#publication`).
    FlowRefused {
        /// The first reason.
        code: FlowRefusal,
        /// One sentence for each reason.
        details: Vec<String>,
    },
    /// A prepayment is not made (`docs/interface/prepayment.md#errors`).
    PrepaymentRefused(Refusal),
    /// Others do the same at this moment, and nothing was done: the same request may succeed soon.
    TooManyAtOnce {
        /// The stable code of the bound.
        business_code: &'static str,
        /// The bound, for people.
        message: Cow<'static, str>,
        /// How long to wait before a retry.
        retry_after: Duration,
    },
    /// The request is understood and breaks a rule of its record, which one sentence names.
    RuleBroken(&'static str),
    /// A voucher cannot be voided in this way (`docs/interface/charges.md#refusals`).
    VoucherRefused {
        /// The reason.
        message: Cow<'static, str>,
    },
    /// A session cannot be charged, since sellers of its split are gone (`docs/interface/sessions.md#split`).
    SellersNotFound {
        /// The sellers.
        message: Cow<'static, str>,
    },
    /// A session cannot be charged, since sellers of its split may not take part in charges.
    SellersUnable {
        /// One sentence for each.
        details: Vec<String>,
    },
    /// A provider was required and failed (`docs/interface/tokens-and-cards.md#checks`).
    ProviderNeeded {
        /// What the provider was required for.
        message: Cow<'static, str>,
        /// Further details; may be empty.
        details: Vec<String>,
    },
    /// Nothing was done; the same request may succeed later.
    Unavailable {
        /// How long to wait before a retry.
        retry_after: Duration,
        /// The cause, for the log.
        cause: Option<Cause>,
    },
    /// A bug or a state that cannot occur.
    Internal(Cause),
}

/// An internal error: logged, never shown to callers.
pub type Cause = Arc<dyn StdError + Send + Sync>;

impl Error {
    /// An internal error with its cause.
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Internal(Arc::from(cause.into()))
    }

    /// A single invalid field: its `path` and the rule that it breaks.
    pub fn invalid(path: impl fmt::Display, rule: impl fmt::Display) -> Self {
        Self::Invalid(Problems::one(path, rule))
    }

    /// An impossible operation, explained in one sentence.
    pub fn impossible(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Impossible { message: message.into(), details: Vec::new() }
    }

    /// A conflict with another record, such as `customer with this email already exists`.
    pub fn conflict(details: Vec<String>) -> Self {
        Self::Conflict { message: Cow::Borrowed("Conflict Exception"), details }
    }

    /// The outcome of an operation on the charge is still unknown.
    pub fn processing(status: &str) -> Self {
        let detail = format!("charge is {status}: its outcome is not known yet");
        Self::Processing { detail, retry_after: PROCESSING_RETRY_AFTER }
    }

    /// A token that is expired, used or of another account: all three get the same answer
    /// (`docs/interface/tokens-and-cards.md#tokens`). `path` is the member that names it.
    pub fn token_not_found(path: &'static str) -> Self {
        let details = vec![format!("{path} must be a token that is not used and not expired")];
        Self::Impossible { message: "token not found or expired".into(), details }
    }

    /// Whether the operation is refused for what it asks, so that trying it again does not help.
    pub const fn is_final(&self) -> bool {
        match self {
            Self::NotFound
            | Self::Gone(_)
            | Self::ReferenceNotFound(_)
            | Self::Invalid(_)
            | Self::Impossible { .. }
            | Self::CardDeclined { .. }
            | Self::Conflict { .. }
            | Self::IdempotencyMismatch
            | Self::BusinessRule { .. }
            | Self::FlowRefused { .. }
            | Self::PrepaymentRefused(_)
            | Self::RuleBroken(_)
            | Self::VoucherRefused { .. }
            | Self::SellersNotFound { .. }
            | Self::SellersUnable { .. }
            | Self::ProviderNeeded { .. } => true,
            Self::Processing { .. }
            | Self::IdempotencyRunning { .. }
            | Self::TooManyAtOnce { .. }
            | Self::Unavailable { .. }
            | Self::Internal(_) => false,
        }
    }

    /// The database did not accept the batch, and nothing was done.
    pub fn unavailable() -> Self {
        Self::Unavailable { retry_after: STORE_RETRY_AFTER, cause: None }
    }

    /// The change lost its race too often; nothing was done.
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
    /// Shows the case, not the cause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound | Self::ReferenceNotFound(_) => "not found",
            Self::Gone(_) => "gone",
            Self::Invalid(_) => "invalid request",
            Self::Impossible { .. } => "impossible operation",
            Self::CardDeclined { .. } => "card declined",
            Self::Conflict { .. } => "conflict",
            Self::Processing { .. } => "an earlier operation is under way",
            Self::IdempotencyRunning { .. } => "a request with this idempotency key is running",
            Self::IdempotencyMismatch => "idempotency key reused with a different payload",
            Self::BusinessRule { business_code, .. } | Self::TooManyAtOnce { business_code, .. } => {
                business_code
            }
            Self::FlowRefused { code, .. } => code.word(),
            Self::PrepaymentRefused(refusal) => refusal.message(),
            Self::RuleBroken(rule) => rule,
            Self::VoucherRefused { .. } => "voucher refused",
            Self::SellersNotFound { .. } => "sellers are gone",
            Self::SellersUnable { .. } => "sellers may not take part",
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
