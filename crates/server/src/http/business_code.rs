//! Every `businessCode`: the stable names of rules that were broken (`docs/interface/purchases.md#errors`).

use regente_domain::flow::FlowRefusal;
use regente_engine::charges::split;
use regente_engine::purchases::operations::{INTENT_MISMATCH, INVALID_STATE};
use regente_engine::subscriptions::card_links;
use regente_engine::{link_settings, receipts, reports, sessions, subscriptions};

/// The rules of the body with their own codes (`docs/interface/purchases.md#errors`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyCode {
    /// The shape is wrong.
    InvalidRequest,
    /// A member contains a card number.
    PanNotAllowed,
    /// Not two or three cards.
    InvalidPaymentsCount,
    /// The amounts of the cards do not sum to the purchase's amount.
    PaymentsAmountMismatch,
    /// A card's amount is below the minimum.
    PaymentAmountBelowMinimum,
    /// The currency is not BRL.
    CurrencyNotBrl,
    /// A payment without a card.
    PaymentSourceRequired,
}

impl BodyCode {
    /// Its word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::PanNotAllowed => "pan_not_allowed",
            Self::InvalidPaymentsCount => "invalid_payments_count",
            Self::PaymentsAmountMismatch => "payments_amount_mismatch",
            Self::PaymentAmountBelowMinimum => "payment_amount_below_minimum",
            Self::CurrencyNotBrl => "currency_not_brl",
            Self::PaymentSourceRequired => "payment_source_required",
        }
    }

    /// The message of its error.
    pub const fn message(self) -> &'static str {
        match self {
            Self::InvalidRequest => "Invalid request",
            Self::PanNotAllowed => "Card numbers are not allowed",
            Self::InvalidPaymentsCount => "Invalid number of payments",
            Self::PaymentsAmountMismatch => "Amounts of the payments do not add up",
            Self::PaymentAmountBelowMinimum => "Amount of a payment below the minimum",
            Self::CurrencyNotBrl => "Currency must be BRL",
            Self::PaymentSourceRequired => "Payment source required",
        }
    }
}

/// Another operation is under way.
pub const IN_PROGRESS: &str = "purchase_operation_in_progress";
/// The account has no such purchase.
pub const NOT_FOUND: &str = "purchase_not_found";
/// The idempotency key was used with another body.
pub const KEY_MISMATCH: &str = "idempotency_key_payload_mismatch";

/// A buyer has not proved that they are a person, where the session asks for that.
pub const CAPTCHA_REQUIRED: &str = "session_captcha_required";

/// Every `businessCode`.
pub const CODES: [&str; 37] = [
    BodyCode::InvalidRequest.code(),
    BodyCode::PanNotAllowed.code(),
    BodyCode::InvalidPaymentsCount.code(),
    BodyCode::PaymentsAmountMismatch.code(),
    BodyCode::PaymentAmountBelowMinimum.code(),
    BodyCode::CurrencyNotBrl.code(),
    BodyCode::PaymentSourceRequired.code(),
    INVALID_STATE,
    INTENT_MISMATCH,
    IN_PROGRESS,
    NOT_FOUND,
    KEY_MISMATCH,
    sessions::DISABLED,
    sessions::LIMIT_REACHED,
    sessions::CARDS_BLOCKED,
    sessions::CARDS_BEING_TRIED,
    sessions::TOO_MANY_OPEN,
    sessions::TOO_MANY_CUSTOMERS,
    sessions::TAKES_NO_PAYMENT,
    card_links::TAKES_NO_CARD,
    CAPTCHA_REQUIRED,
    sessions::PIX_OR_BOLETO_WITH_LIMIT,
    sessions::CONSUMED,
    split::FEE_EXCEEDS,
    link_settings::NO_EFFECTIVE_FIELD,
    subscriptions::INVALID_STATE,
    FlowRefusal::ProviderRequired.word(),
    FlowRefusal::ProviderAfterAntiFraudRequired.word(),
    FlowRefusal::AntiFraudDuplicated.word(),
    FlowRefusal::ProviderNotInMerchant.word(),
    FlowRefusal::MetadataDefaultRequired.word(),
    FlowRefusal::Invalid.word(),
    reports::TOO_MANY,
    receipts::NOT_CONFIRMED,
    receipts::TYPE_NOT_SUPPORTED,
    receipts::PROVIDER_NOT_SUPPORTED,
    receipts::TOO_MANY_REFUNDS,
];
