//! The closed lists of words for charges.

use crate::webhook::EventName;
use crate::words::words;

words! {
    /// Where a charge stands.
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
    /// Whether a stored card is used for the first time, again, or without the buyer and without a schedule.
    Recurrence {
        /// First of a series; the buyer is present.
        Initial = "initial",
        /// A later charge of the series.
        Subsequent = "subsequent",
        /// Without the buyer and without a schedule.
        Unscheduled = "unscheduled",
    }
}
