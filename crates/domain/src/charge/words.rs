//! The closed lists of words that describe a charge.

use serde::{Deserialize, Serialize};

use crate::webhook::EventName;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant),* }

        impl $name {
            /// Every word with its value, in the order of the interface.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];

            /// The word of the interface.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The value of a word, exactly as spelled in the interface.
            pub fn parse(word: &str) -> Option<Self> {
                Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// `paymentType` (`docs/interface/charges.md#payment-methods`).
    PaymentType {
        /// Credit card.
        Credit = "credit",
        /// Debit card.
        Debit = "debit",
        /// Meal or food voucher card.
        Voucher = "voucher",
        /// Brazilian instant payment.
        Pix = "pix",
        /// Brazilian bank slip.
        Boleto = "boleto",
        /// Wallet of a digital bank.
        Nupay = "nupay",
        /// Pix in installments.
        Drip = "drip",
        /// Wallet paid by QR code.
        Picpay = "picpay",
        /// Wallet of a phone.
        ApplePay = "apple_pay",
        /// Wallet of the card schemes.
        ClickToPay = "click_to_pay",
    }
}

words! {
    /// `status` of a charge (`docs/interface/charges.md#states`).
    ChargeStatus {
        /// Not decided yet.
        Pending = "pending",
        /// Reserved.
        PreAuthorized = "pre_authorized",
        /// Taken.
        Authorized = "authorized",
        /// Refused.
        Failed = "failed",
        /// Undone before capture.
        Canceled = "canceled",
        /// Refunded in full.
        Voided = "voided",
        /// Taken back by the cardholder's bank.
        ChargedBack = "charged_back",
        /// A refund is under way.
        RefundPending = "refund_pending",
        /// A capture is under way.
        CapturePending = "capture_pending",
    }
}

/// What is announced of a charge. Its name on the wire is that of [`ChargeEvent::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChargeEvent {
    /// It is there.
    Pending,
    /// Reserved.
    PreAuthorized,
    /// Taken.
    Authorized,
    /// Refused.
    Failed,
    /// Undone before capture.
    Canceled,
    /// Given back, all of it or a part.
    Voided,
    /// A refund is under way.
    RefundPending,
    /// Taken back by the cardholder's bank.
    ChargedBack,
    /// What a provider took without a charge to stand on was given back.
    ProbeVoid,
}

impl ChargeEvent {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::PreAuthorized,
        Self::Authorized,
        Self::Failed,
        Self::Canceled,
        Self::Voided,
        Self::RefundPending,
        Self::ChargedBack,
        Self::ProbeVoid,
    ];

    /// The name under which it is announced.
    pub const fn name(self) -> EventName {
        match self {
            Self::Pending => EventName::TransactionPending,
            Self::PreAuthorized => EventName::TransactionPreAuthorized,
            Self::Authorized => EventName::TransactionAuthorized,
            Self::Failed => EventName::TransactionFailed,
            Self::Canceled => EventName::TransactionCanceled,
            Self::Voided => EventName::TransactionVoided,
            Self::RefundPending => EventName::TransactionRefundPending,
            Self::ChargedBack => EventName::TransactionChargedBack,
            Self::ProbeVoid => EventName::TransactionProbeVoid,
        }
    }

    /// The event of a name; nothing for what is not announced of charges.
    pub fn of(name: EventName) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

words! {
    /// Stored-credential flag of a card charge (`docs/interface/charges.md#payment-methods`).
    Recurrence {
        /// First of a series, the buyer is present.
        Initial = "initial",
        /// A later one of the series.
        Subsequent = "subsequent",
        /// Without the buyer and without a schedule.
        Unscheduled = "unscheduled",
    }
}

/// Whether an authorization captures at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureMode {
    /// `capture: true`: authorized and captured in one step.
    Automatic,
    /// `capture: false`: reserved, captured later by a call of its own.
    Manual,
}

impl CaptureMode {
    /// From the wire's boolean.
    pub const fn from_flag(capture: bool) -> Self {
        if capture { Self::Automatic } else { Self::Manual }
    }

    /// The wire's boolean.
    pub const fn flag(self) -> bool {
        match self {
            Self::Automatic => true,
            Self::Manual => false,
        }
    }
}
