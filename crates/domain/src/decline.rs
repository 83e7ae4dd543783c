//! Maps refusals of providers to the 24 codes that are sent (`docs/interface/conventions.md#declines`). Each adapter
//! knows its provider's words.

use serde::{Deserialize, Serialize};

use crate::text::chars_max;

mod words;

pub use words::{DeclinedCode, Reason};

/// Whether routing may try the next provider after a refusal with this code or reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retryable {
    /// It may.
    Yes,
    /// It must not.
    No,
    /// The provider decides; without its word, no.
    ProviderDecides,
}

/// Whether a provider allows another try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retry {
    /// It does.
    Yes,
    /// The refusal is final.
    No,
}

/// Whether a refusal of a charge says that its card will never be approved (decision 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CardVerdict {
    /// It will not: a charge of this card is not tried again.
    Final,
    /// Another charge of the card may be approved.
    Open,
}

impl DeclinedCode {
    /// What this refusal says about the card.
    pub const fn card_verdict(self) -> CardVerdict {
        match self {
            Self::ExpiredCard
            | Self::FraudConfirmed
            | Self::InvalidNumber
            | Self::LostCard
            | Self::PickupCard
            | Self::RestrictedCard
            | Self::StolenCard => CardVerdict::Final,
            Self::CardNotSupported
            | Self::FraudSuspect
            | Self::Generic
            | Self::InsufficientFunds
            | Self::InvalidAmount
            | Self::InvalidCvv
            | Self::InvalidData
            | Self::InvalidInstallment
            | Self::InvalidMerchant
            | Self::InvalidPin
            | Self::IssuerNotAvailable
            | Self::NotPermitted
            | Self::PinTryExceeded
            | Self::SecurityViolation
            | Self::ServiceNotAllowed
            | Self::TransactionNotAllowed
            | Self::TryAgain => CardVerdict::Open,
        }
    }

    /// Whether it tells something of the card. When a provider or a merchant's contract is at fault, buyers must not be
    /// blocked for it.
    pub const fn tells_of_the_card(self) -> bool {
        match self {
            Self::CardNotSupported
            | Self::ExpiredCard
            | Self::FraudConfirmed
            | Self::FraudSuspect
            | Self::Generic
            | Self::InsufficientFunds
            | Self::InvalidCvv
            | Self::InvalidData
            | Self::InvalidNumber
            | Self::InvalidPin
            | Self::LostCard
            | Self::PickupCard
            | Self::PinTryExceeded
            | Self::RestrictedCard
            | Self::SecurityViolation
            | Self::StolenCard => true,
            Self::InvalidAmount
            | Self::InvalidInstallment
            | Self::InvalidMerchant
            | Self::IssuerNotAvailable
            | Self::NotPermitted
            | Self::ServiceNotAllowed
            | Self::TransactionNotAllowed
            | Self::TryAgain => false,
        }
    }
}

impl Retryable {
    /// Combines both. A provider's "no" always counts; its "yes" never overrules a final refusal, so that a stolen
    /// card is not tried elsewhere.
    pub fn settle(self, provider_says: Option<Retry>) -> bool {
        match (self, provider_says) {
            (Self::No, _) | (_, Some(Retry::No)) | (Self::ProviderDecides, None) => false,
            (Self::Yes, None | Some(Retry::Yes)) | (Self::ProviderDecides, Some(Retry::Yes)) => true,
        }
    }
}

/// Who has refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedBy {
    /// The provider, or whoever it has asked.
    #[default]
    Provider,
    /// The payer, who was given instructions and does not want to pay.
    Payer,
}

impl RefusedBy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    const fn is_provider(&self) -> bool {
        matches!(self, Self::Provider)
    }
}

/// A refusal, as the charge carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decline {
    /// One of the 24 codes.
    pub code: DeclinedCode,
    /// Whether the next provider may be tried.
    pub retryable: bool,
    /// A short text for people.
    pub message: String,
    /// The provider's own reason; without one, the finer reason that was mapped to the code.
    pub network_denied_reason: Option<String>,
    /// The provider's own text.
    pub network_denied_message: Option<String>,
    /// The provider's id of the refused operation, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// Who has refused.
    #[serde(default, skip_serializing_if = "RefusedBy::is_provider")]
    pub refused_by: RefusedBy,
}

impl Decline {
    /// A refusal with the default text and retry rule of its code.
    pub fn of(code: DeclinedCode) -> Self {
        Self {
            code,
            retryable: code.retryable().settle(None),
            message: code.message().to_owned(),
            network_denied_reason: None,
            network_denied_message: None,
            transaction_id: None,
            refused_by: RefusedBy::Provider,
        }
    }

    /// A refusal for a finer reason: sent as the reason's code, with the reason beside it.
    pub fn from_reason(reason: Reason) -> Self {
        Self::with_provider_word(Word::Reason(reason), None)
    }

    /// Whether this is a refusal for `reason`, also where the network has given words of its own.
    pub fn is_for(&self, reason: Reason) -> bool {
        self.code == reason.sent_as() && self.message == reason.message()
    }

    /// A refusal from a provider's word: a code, a reason or a known spelling of one. An unknown word becomes
    /// `generic` and is kept as the network's reason.
    pub fn from_word(word: &str, provider_says_retryable: Option<Retry>) -> Self {
        match Word::parse(word) {
            Some(known) => Self::with_provider_word(known, provider_says_retryable),
            None => Self {
                retryable: DeclinedCode::Generic.retryable().settle(provider_says_retryable),
                network_denied_reason: (!word.is_empty())
                    .then(|| word.chars().take(chars_max::LINE).collect()),
                ..Self::of(DeclinedCode::Generic)
            },
        }
    }

    /// Replaces the mapped reason and text with the network's own.
    #[must_use]
    pub fn with_network(mut self, reason: impl Into<String>, message: impl Into<String>) -> Self {
        self.network_denied_reason = Some(reason.into());
        self.network_denied_message = Some(message.into());
        self
    }

    fn with_provider_word(word: Word, provider_says: Option<Retry>) -> Self {
        match word {
            Word::Code(code) => Self { retryable: code.retryable().settle(provider_says), ..Self::of(code) },
            Word::Reason(reason) => Self {
                code: reason.sent_as(),
                retryable: reason.retryable().settle(provider_says),
                message: reason.message().to_owned(),
                network_denied_reason: Some(reason.word().to_owned()),
                network_denied_message: None,
                transaction_id: None,
                refused_by: RefusedBy::Provider,
            },
        }
    }
}

/// What a provider's word maps to.
enum Word {
    Code(DeclinedCode),
    Reason(Reason),
}

impl Word {
    fn parse(word: &str) -> Option<Self> {
        let word = ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, meant)| meant);
        DeclinedCode::parse(word).map(Self::Code).or_else(|| Reason::parse(word).map(Self::Reason))
    }
}

/// Other spellings that providers' dashboards use, and what they mean (`docs/interface/conventions.md#declines`).
const ALIASES: [(&str, &str); 9] = [
    ("invalid_security_code", "invalid_cvv"),
    ("invalid_credential", "invalid_credentials"),
    ("invalid_card_number", "invalid_number"),
    ("pick_up_card", "pickup_card"),
    ("card_reported_lost", "lost_card"),
    ("card_reported_stolen", "stolen_card"),
    ("card_cannot_make_this_charge", "card_not_supported"),
    ("pin_retry_exceeded", "pin_try_exceeded"),
    ("invalid_charge_amount", "invalid_amount"),
];
