//! The closed lists of words for charges.

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

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Parses a word, exactly as spelled in the interface.
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
        /// Approved, and captured.
        Authorized = "authorized",
        /// Refused.
        Failed = "failed",
        /// Voided before capture.
        Canceled = "canceled",
        /// Refunded in full.
        Voided = "voided",
        /// The cardholder's bank reversed the payment.
        ChargedBack = "charged_back",
        /// A refund is under way.
        RefundPending = "refund_pending",
        /// A capture is under way.
        CapturePending = "capture_pending",
    }
}

/// An event of a charge; [`ChargeEvent::name`] gives its name on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChargeEvent {
    /// It was created.
    Pending,
    /// Reserved.
    PreAuthorized,
    /// Captured.
    Authorized,
    /// Refused.
    Failed,
    /// Voided before capture.
    Canceled,
    /// Refunded, in full or in part.
    Voided,
    /// A refund is under way.
    RefundPending,
    /// The cardholder's bank reversed the payment.
    ChargedBack,
    /// The payer disputes the payment.
    Dispute,
    /// A dispute was decided for the merchant.
    DisputeClosed,
    /// A refund came back.
    RevertVoid,
    /// An orphaned authorization was voided.
    ProbeVoid,
}

impl ChargeEvent {
    /// Every event.
    pub const ALL: [Self; 12] = [
        Self::Pending,
        Self::PreAuthorized,
        Self::Authorized,
        Self::Failed,
        Self::Canceled,
        Self::Voided,
        Self::RefundPending,
        Self::ChargedBack,
        Self::Dispute,
        Self::DisputeClosed,
        Self::RevertVoid,
        Self::ProbeVoid,
    ];

    /// The name on the wire.
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
            Self::Dispute => EventName::TransactionDispute,
            Self::DisputeClosed => EventName::TransactionDisputeClosed,
            Self::RevertVoid => EventName::TransactionRevertVoid,
            Self::ProbeVoid => EventName::TransactionProbeVoid,
        }
    }

    /// The event of a name; `None` for names that are not about charges.
    pub fn of(name: EventName) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

words! {
    /// Stored-credential flag of a card charge (`docs/interface/charges.md#payment-methods`).
    Recurrence {
        /// First of a series; the buyer is present.
        Initial = "initial",
        /// A later charge of the series.
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
    /// `capture: false`: reserved, captured later by a separate call.
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
