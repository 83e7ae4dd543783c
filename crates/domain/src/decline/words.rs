//! The closed lists of words for refusals, each with its default and its text
//! (`docs/interface/conventions.md#declines`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Retryable;

/// Why a payment was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeclinedCode {
    /// Card does not allow this kind of purchase.
    CardNotSupported,
    /// Card expired or expiry date wrong.
    ExpiredCard,
    /// Declined: fraud confirmed.
    FraudConfirmed,
    /// Declined: fraud suspected.
    FraudSuspect,
    /// Declined without a stated reason.
    Generic,
    /// Insufficient funds.
    InsufficientFunds,
    /// Amount invalid or above the limit.
    InvalidAmount,
    /// Invalid CVV.
    InvalidCvv,
    /// Card data invalid.
    InvalidData,
    /// Number of installments not accepted.
    InvalidInstallment,
    /// Merchant not valid at the provider.
    InvalidMerchant,
    /// Card number invalid.
    InvalidNumber,
    /// PIN invalid.
    InvalidPin,
    /// Issuer not reachable.
    IssuerNotAvailable,
    /// Card reported lost.
    LostCard,
    /// Charge not permitted for this card.
    NotPermitted,
    /// Card must not be used.
    PickupCard,
    /// PIN attempts exceeded.
    PinTryExceeded,
    /// Card restricted.
    RestrictedCard,
    /// Declined for security reasons.
    SecurityViolation,
    /// Card does not allow international charges.
    ServiceNotAllowed,
    /// Card reported stolen.
    StolenCard,
    /// Transaction not allowed.
    TransactionNotAllowed,
    /// Temporary refusal, try again.
    TryAgain,
}

impl DeclinedCode {
    /// The word on the wire.
    pub const fn code(self) -> &'static str {
        self.row().0
    }

    /// Whether another provider may be tried, unless the provider says more.
    pub const fn retryable(self) -> Retryable {
        self.row().1
    }

    /// A short text for people.
    pub const fn message(self) -> &'static str {
        self.row().2
    }

    /// Parses a code, exactly as on the wire.
    pub fn parse(word: &str) -> Option<Self> {
        Self::all().find(|code| code.code() == word)
    }

    /// All 24.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    const ALL: [Self; 24] = [
        Self::CardNotSupported,
        Self::ExpiredCard,
        Self::FraudConfirmed,
        Self::FraudSuspect,
        Self::Generic,
        Self::InsufficientFunds,
        Self::InvalidAmount,
        Self::InvalidCvv,
        Self::InvalidData,
        Self::InvalidInstallment,
        Self::InvalidMerchant,
        Self::InvalidNumber,
        Self::InvalidPin,
        Self::IssuerNotAvailable,
        Self::LostCard,
        Self::NotPermitted,
        Self::PickupCard,
        Self::PinTryExceeded,
        Self::RestrictedCard,
        Self::SecurityViolation,
        Self::ServiceNotAllowed,
        Self::StolenCard,
        Self::TransactionNotAllowed,
        Self::TryAgain,
    ];

    const fn row(self) -> (&'static str, Retryable, &'static str) {
        use Retryable::{No, ProviderDecides, Yes};
        match self {
            Self::CardNotSupported => ("card_not_supported", No, "Card does not allow this kind of purchase"),
            Self::ExpiredCard => ("expired_card", Yes, "Card expired or expiry date wrong"),
            Self::FraudConfirmed => ("fraud_confirmed", No, "Declined: fraud confirmed"),
            Self::FraudSuspect => ("fraud_suspect", Yes, "Declined: fraud suspected"),
            Self::Generic => ("generic", Yes, "Declined without a stated reason"),
            Self::InsufficientFunds => ("insufficient_funds", Yes, "Insufficient funds"),
            Self::InvalidAmount => ("invalid_amount", ProviderDecides, "Amount invalid or above the limit"),
            Self::InvalidCvv => ("invalid_cvv", Yes, "Invalid CVV"),
            Self::InvalidData => ("invalid_data", No, "Card data invalid"),
            Self::InvalidInstallment => ("invalid_installment", Yes, "Number of installments not accepted"),
            Self::InvalidMerchant => {
                ("invalid_merchant", ProviderDecides, "Merchant not valid at the provider")
            }
            Self::InvalidNumber => ("invalid_number", No, "Card number invalid"),
            Self::InvalidPin => ("invalid_pin", No, "PIN invalid"),
            Self::IssuerNotAvailable => ("issuer_not_available", Yes, "Issuer not reachable"),
            Self::LostCard => ("lost_card", No, "Card reported lost"),
            Self::NotPermitted => ("not_permitted", Yes, "Charge not permitted for this card"),
            Self::PickupCard => ("pickup_card", Yes, "Card must not be used"),
            Self::PinTryExceeded => ("pin_try_exceeded", No, "PIN attempts exceeded"),
            Self::RestrictedCard => ("restricted_card", Yes, "Card restricted"),
            Self::SecurityViolation => ("security_violation", Yes, "Declined for security reasons"),
            Self::ServiceNotAllowed => {
                ("service_not_allowed", No, "Card does not allow international charges")
            }
            Self::StolenCard => ("stolen_card", No, "Card reported stolen"),
            Self::TransactionNotAllowed => ("transaction_not_allowed", No, "Transaction not allowed"),
            Self::TryAgain => ("try_again", Yes, "Temporary refusal, try again"),
        }
    }
}

/// Finer reasons of providers. They decide the retry and the text; on the wire each is sent as a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Card blocked.
    BlockedCard,
    /// Card cancelled.
    CanceledCard,
    /// PIN attempts exceeded.
    MaximumPinTries,
    /// Provider answered in an unexpected way.
    DeniedReasonNotAvailable,
    /// Internal error at the provider.
    InternalError,
    /// Processing error at the provider.
    ProcessingError,
    /// Request could not be sent.
    RequestNotSent,
    /// Provider refused the request.
    BadRequest,
    /// Provider credentials refused.
    InvalidCredentials,
    /// No answer in time.
    Timeout,
    /// 3DS: issuer does not support attempts.
    AuthenticationAttemptsUnavailableByIssuer,
    /// 3DS: error.
    AuthenticationError,
    /// 3DS: error, no challenge shown.
    AuthenticationErrorWithoutChallenge,
    /// 3DS: not available.
    AuthenticationUnavailable,
    /// 3DS: not completed by the cardholder.
    CardholderNotCompleteAuthentication,
    /// 3DS: failed (ECI 07/00).
    FailedAuthentication,
    /// 3DS: answer of the issuer invalid.
    InvalidPares,
    /// 3DS: issuer unable to authenticate.
    UnableToPerformAuthentication,
}

impl Reason {
    /// The provider's word.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// The code on the wire.
    pub const fn sent_as(self) -> DeclinedCode {
        self.row().1
    }

    /// Whether another provider may be tried, unless the provider says more.
    pub const fn retryable(self) -> Retryable {
        self.row().2
    }

    /// A short text for people.
    pub const fn message(self) -> &'static str {
        self.row().3
    }

    /// Parses the word, exactly.
    pub fn parse(word: &str) -> Option<Self> {
        Self::all().find(|reason| reason.word() == word)
    }

    /// All 18.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    const ALL: [Self; 18] = [
        Self::BlockedCard,
        Self::CanceledCard,
        Self::MaximumPinTries,
        Self::DeniedReasonNotAvailable,
        Self::InternalError,
        Self::ProcessingError,
        Self::RequestNotSent,
        Self::BadRequest,
        Self::InvalidCredentials,
        Self::Timeout,
        Self::AuthenticationAttemptsUnavailableByIssuer,
        Self::AuthenticationError,
        Self::AuthenticationErrorWithoutChallenge,
        Self::AuthenticationUnavailable,
        Self::CardholderNotCompleteAuthentication,
        Self::FailedAuthentication,
        Self::InvalidPares,
        Self::UnableToPerformAuthentication,
    ];

    #[rustfmt::skip] // One row a reason.
    const fn row(self) -> (&'static str, DeclinedCode, Retryable, &'static str) {
        use DeclinedCode as Code;
        use Retryable::{No, ProviderDecides, Yes};
        match self {
            Self::BlockedCard =>
                ("blocked_card", Code::RestrictedCard, Yes, "Card blocked"),
            Self::CanceledCard =>
                ("canceled_card", Code::PickupCard, Yes, "Card cancelled"),
            Self::MaximumPinTries =>
                ("maximum_pin_tries", Code::PinTryExceeded, ProviderDecides, "PIN attempts exceeded"),
            Self::DeniedReasonNotAvailable =>
                ("denied_reason_not_available", Code::Generic, Yes, "Provider answered in an unexpected way"),
            Self::InternalError =>
                ("internal_error", Code::TryAgain, Yes, "Internal error at the provider"),
            Self::ProcessingError =>
                ("processing_error", Code::TryAgain, Yes, "Processing error at the provider"),
            Self::RequestNotSent =>
                ("request_not_sent", Code::TryAgain, Yes, "Request could not be sent"),
            Self::BadRequest =>
                ("bad_request", Code::Generic, Yes, "Provider refused the request"),
            Self::InvalidCredentials =>
                ("invalid_credentials", Code::InvalidMerchant, Yes, "Provider credentials refused"),
            Self::Timeout =>
                ("timeout", Code::IssuerNotAvailable, Yes, "No answer in time"),
            Self::AuthenticationAttemptsUnavailableByIssuer =>
                ("authentication_attempts_unavailable_by_issuer", Code::TransactionNotAllowed, No, "3DS: issuer does not support attempts"),
            Self::AuthenticationError =>
                ("authentication_error", Code::TransactionNotAllowed, No, "3DS: error"),
            Self::AuthenticationErrorWithoutChallenge =>
                ("authentication_error_without_challenge", Code::TransactionNotAllowed, No, "3DS: error, no challenge shown"),
            Self::AuthenticationUnavailable =>
                ("authentication_unavailable", Code::TransactionNotAllowed, No, "3DS: not available"),
            Self::CardholderNotCompleteAuthentication =>
                ("cardholder_not_complete_authentication", Code::TransactionNotAllowed, No, "3DS: not completed by the cardholder"),
            Self::FailedAuthentication =>
                ("failed_authentication", Code::TransactionNotAllowed, No, "3DS: failed (ECI 07/00)"),
            Self::InvalidPares =>
                ("invalid_pares", Code::TransactionNotAllowed, No, "3DS: answer of the issuer invalid"),
            Self::UnableToPerformAuthentication =>
                ("unable_to_perform_authentication", Code::TransactionNotAllowed, No, "3DS: issuer unable to authenticate"),
        }
    }
}
