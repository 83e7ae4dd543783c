//! The states of a charge, each with its own facts.
//!
//! `pending` on the wire is two states: the provider's answer is unknown, or it is known and waits for the payer.
//! Only [`StateName::is_settled`] says which states an answer may show.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ChargeStatus, OpenOperation};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::words::words;

/// The state of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChargeState {
    /// A provider was asked, or is about to be; its answer is unknown.
    Processing,
    /// A provider issued instructions and waits for the payer. The instructions are in the request that issued them.
    AwaitingPayer {
        /// The provider that waits for the payer.
        responsible: ProviderType,
        /// Whether asking the next provider needs the security code.
        security_code: SecurityCode,
    },
    /// A provider has reserved the amount.
    PreAuthorized {
        /// The provider that holds the reservation.
        responsible: ProviderType,
    },
    /// A capture was requested; its outcome is unknown.
    CapturePending {
        /// The provider that holds the reservation.
        responsible: ProviderType,
        /// The open capture.
        open: OpenOperation,
    },
    /// A provider has captured the amount.
    Authorized {
        /// The provider that captured it.
        responsible: ProviderType,
    },
    /// A void was requested, of a reservation or of a capture; its outcome is unknown.
    RefundPending {
        /// The provider that was asked.
        responsible: ProviderType,
        /// The open void.
        open: OpenOperation,
    },
    /// A provider has accepted a refund and reports its result later.
    RefundAccepted {
        /// The provider that refunds.
        responsible: ProviderType,
        /// The open void.
        open: OpenOperation,
    },
    /// No provider approved the charge.
    Failed {
        /// The provider that refused last.
        responsible: ProviderType,
    },
    /// Voided before a capture.
    Canceled {
        /// The provider that held the reservation.
        responsible: ProviderType,
    },
    /// Refunded in full.
    Voided {
        /// The provider that refunded it.
        responsible: ProviderType,
    },
    /// The cardholder's bank reversed the payment.
    ChargedBack {
        /// The provider that had captured it.
        responsible: ProviderType,
        /// What the cases that are lost have taken, where it is not all that was left.
        lost: Option<Amount>,
    },
}

words! {
    /// A state without its facts; the words are those of the database.
    StateName {
        /// [`ChargeState::Processing`]. Stored as `pending`, the word of releases before `awaiting_payer`.
        Processing = "pending",
        /// [`ChargeState::AwaitingPayer`].
        AwaitingPayer = "awaiting_payer",
        /// [`ChargeState::PreAuthorized`].
        PreAuthorized = "pre_authorized",
        /// [`ChargeState::CapturePending`].
        CapturePending = "capture_pending",
        /// [`ChargeState::Authorized`].
        Authorized = "authorized",
        /// [`ChargeState::RefundPending`].
        RefundPending = "refund_pending",
        /// [`ChargeState::RefundAccepted`].
        RefundAccepted = "refund_accepted",
        /// [`ChargeState::Failed`].
        Failed = "failed",
        /// [`ChargeState::Canceled`].
        Canceled = "canceled",
        /// [`ChargeState::Voided`].
        Voided = "voided",
        /// [`ChargeState::ChargedBack`].
        ChargedBack = "charged_back",
    }
}

words! {
    /// Whether asking the next provider needs the payer's security code.
    SecurityCode {
        /// It does. A sealed record holds the code for [`SECURITY_CODE_HELD_FOR`] from the charge's creation on.
        Needed = "needed",
        /// The payer gave none, or there is no other provider to ask.
        NotNeeded = "not_needed",
    }
}

/// How long the security code of a charge is held for the next provider, at most.
pub const SECURITY_CODE_HELD_FOR: Duration = Duration::from_secs(15 * 60);

/// The facts of a state that have no column in the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateFacts {
    /// The capture or void that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenOperation>,
    /// Set while the charge awaits its payer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_code: Option<SecurityCode>,
    /// What was charged back, where it is not all that was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Amount>,
}

impl StateName {
    /// Whether no answer to a request is awaited; a payer or the result of an accepted refund may be. Only a settled
    /// version of a charge answers an idempotency key, so that a repeated key gets the same answer.
    pub const fn is_settled(self) -> bool {
        match self {
            Self::Processing | Self::CapturePending | Self::RefundPending => false,
            Self::AwaitingPayer
            | Self::PreAuthorized
            | Self::Authorized
            | Self::RefundAccepted
            | Self::Failed
            | Self::Canceled
            | Self::Voided
            | Self::ChargedBack => true,
        }
    }

    /// `status` on the wire.
    pub const fn status(self) -> ChargeStatus {
        match self {
            Self::Processing | Self::AwaitingPayer => ChargeStatus::Pending,
            Self::PreAuthorized => ChargeStatus::PreAuthorized,
            Self::CapturePending => ChargeStatus::CapturePending,
            Self::Authorized => ChargeStatus::Authorized,
            Self::RefundPending | Self::RefundAccepted => ChargeStatus::RefundPending,
            Self::Failed => ChargeStatus::Failed,
            Self::Canceled => ChargeStatus::Canceled,
            Self::Voided => ChargeStatus::Voided,
            Self::ChargedBack => ChargeStatus::ChargedBack,
        }
    }

    /// The states that the interface shows as `status`.
    pub fn shown_as(status: ChargeStatus) -> impl Iterator<Item = Self> {
        Self::WORDS.iter().map(|(_, name)| *name).filter(move |name| name.status() == status)
    }
}

impl ChargeState {
    /// The state without its facts.
    pub const fn name(&self) -> StateName {
        match self {
            Self::Processing => StateName::Processing,
            Self::AwaitingPayer { .. } => StateName::AwaitingPayer,
            Self::PreAuthorized { .. } => StateName::PreAuthorized,
            Self::CapturePending { .. } => StateName::CapturePending,
            Self::Authorized { .. } => StateName::Authorized,
            Self::RefundPending { .. } => StateName::RefundPending,
            Self::RefundAccepted { .. } => StateName::RefundAccepted,
            Self::Failed { .. } => StateName::Failed,
            Self::Canceled { .. } => StateName::Canceled,
            Self::Voided { .. } => StateName::Voided,
            Self::ChargedBack { .. } => StateName::ChargedBack,
        }
    }

    /// `status` on the wire.
    pub const fn status(&self) -> ChargeStatus {
        self.name().status()
    }

    /// See [`StateName::is_settled`].
    pub const fn is_settled(&self) -> bool {
        self.name().is_settled()
    }

    /// The provider that handled the charge; `None` before one has.
    pub const fn responsible(&self) -> Option<ProviderType> {
        match self {
            Self::Processing => None,
            Self::AwaitingPayer { responsible, .. }
            | Self::PreAuthorized { responsible }
            | Self::CapturePending { responsible, .. }
            | Self::Authorized { responsible }
            | Self::RefundPending { responsible, .. }
            | Self::RefundAccepted { responsible, .. }
            | Self::Failed { responsible }
            | Self::Canceled { responsible }
            | Self::Voided { responsible }
            | Self::ChargedBack { responsible, .. } => Some(*responsible),
        }
    }

    /// The capture or void that is under way.
    pub const fn open_operation(&self) -> Option<&OpenOperation> {
        match self {
            Self::CapturePending { open, .. }
            | Self::RefundPending { open, .. }
            | Self::RefundAccepted { open, .. } => Some(open),
            Self::Processing
            | Self::AwaitingPayer { .. }
            | Self::PreAuthorized { .. }
            | Self::Authorized { .. }
            | Self::Failed { .. }
            | Self::Canceled { .. }
            | Self::Voided { .. }
            | Self::ChargedBack { .. } => None,
        }
    }

    /// The facts that have no column.
    pub const fn facts(&self) -> StateFacts {
        let open = match self.open_operation() {
            Some(open) => Some(*open),
            None => None,
        };
        let security_code = match self {
            Self::AwaitingPayer { security_code, .. } => Some(*security_code),
            Self::Processing
            | Self::PreAuthorized { .. }
            | Self::CapturePending { .. }
            | Self::Authorized { .. }
            | Self::RefundPending { .. }
            | Self::RefundAccepted { .. }
            | Self::Failed { .. }
            | Self::Canceled { .. }
            | Self::Voided { .. }
            | Self::ChargedBack { .. } => None,
        };
        let lost = match self {
            Self::ChargedBack { lost, .. } => *lost,
            Self::Processing
            | Self::AwaitingPayer { .. }
            | Self::PreAuthorized { .. }
            | Self::CapturePending { .. }
            | Self::Authorized { .. }
            | Self::RefundPending { .. }
            | Self::RefundAccepted { .. }
            | Self::Failed { .. }
            | Self::Canceled { .. }
            | Self::Voided { .. } => None,
        };
        StateFacts { open, security_code, lost }
    }

    /// From columns and facts; `None` when they do not fit together.
    pub fn of(name: StateName, responsible: Option<ProviderType>, facts: StateFacts) -> Option<Self> {
        let StateFacts { open, security_code, lost } = facts;
        let state = match name {
            StateName::Processing => Self::Processing,
            StateName::AwaitingPayer => {
                Self::AwaitingPayer { responsible: responsible?, security_code: security_code? }
            }
            StateName::PreAuthorized => Self::PreAuthorized { responsible: responsible? },
            StateName::CapturePending => Self::CapturePending { responsible: responsible?, open: open? },
            StateName::Authorized => Self::Authorized { responsible: responsible? },
            StateName::RefundPending => Self::RefundPending { responsible: responsible?, open: open? },
            StateName::RefundAccepted => Self::RefundAccepted { responsible: responsible?, open: open? },
            StateName::Failed => Self::Failed { responsible: responsible? },
            StateName::Canceled => Self::Canceled { responsible: responsible? },
            StateName::Voided => Self::Voided { responsible: responsible? },
            StateName::ChargedBack => Self::ChargedBack { responsible: responsible?, lost },
        };
        // Reject a fact of another state: the next change would lose it.
        (state.facts() == facts).then_some(state)
    }
}
