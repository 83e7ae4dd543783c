//! Entries of the transaction log, one for each key. They contain no card numbers and no security codes.

use regente_domain::charge::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::outcome::Finding;
use crate::request::OperationKind;

/// The log entry of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Our key of the operation.
    pub key: Uuid,
    /// When the call or the probe was made, by the caller's clock.
    pub at: Timestamp,
    /// The call and its answer, or the probe that came before the call.
    pub record: Record,
}

/// The two kinds of entries; the first one for a key stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A call was answered.
    Answered(Box<Answered>),
    /// A probe came before the call: a call that comes later is refused.
    ProbedBeforeArrival,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The operation.
    pub deed: Deed,
    /// Amount in minor units.
    pub amount: Amount,
    /// ISO 4217 currency of `amount`.
    pub currency: Currency,
    /// The recorded outcome.
    pub finding: Finding,
}

/// An operation as it is logged, without card numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Charges an amount, or reserves it.
    Authorization {
        /// Whether the amount is captured at once or later.
        capture: CaptureMode,
        /// The charged card, if one was charged.
        card: Option<CardTrace>,
    },
    /// Verifies a card.
    Verification {
        /// The verified card.
        card: CardTrace,
    },
    /// Captures a reserved amount.
    Capture {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
    /// Releases a reserved amount, or refunds a captured one.
    Void {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
}

/// Identifies a card; not enough to charge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardTrace {
    /// Keyed hash of the number (PCI DSS 4.0.1, requirement 3.5.1.1).
    pub hash: Vec<u8>,
    /// The last four digits.
    pub last_four: String,
}

impl Entry {
    /// Whether this is an authorization that charged or reserved money.
    pub fn is_effect(&self) -> bool {
        match self.approved().map(|answered| answered.deed.kind()) {
            Some(OperationKind::Authorization) => true,
            Some(OperationKind::ZeroDollar | OperationKind::Capture | OperationKind::Void) | None => false,
        }
    }

    /// The call, if the entry is an answered one.
    pub fn answered(&self) -> Option<&Answered> {
        match &self.record {
            Record::Answered(answered) => Some(answered),
            Record::ProbedBeforeArrival => None,
        }
    }

    /// The key of the authorization that it follows, if it follows one.
    pub fn authorization_key(&self) -> Option<Uuid> {
        self.answered().and_then(|answered| answered.deed.authorization_key())
    }

    /// The call, if it was approved.
    pub(super) fn approved(&self) -> Option<&Answered> {
        self.answered().filter(|answered| matches!(answered.finding, Finding::Approved(_)))
    }
}

impl Deed {
    /// The operation's kind.
    pub const fn kind(&self) -> OperationKind {
        match self {
            Self::Authorization { .. } => OperationKind::Authorization,
            Self::Verification { .. } => OperationKind::ZeroDollar,
            Self::Capture { .. } => OperationKind::Capture,
            Self::Void { .. } => OperationKind::Void,
        }
    }

    /// The card of an authorization or verification.
    pub const fn card(&self) -> Option<&CardTrace> {
        match self {
            Self::Authorization { card, .. } => card.as_ref(),
            Self::Verification { card } => Some(card),
            Self::Capture { .. } | Self::Void { .. } => None,
        }
    }

    /// Whether an authorization captures at once or later.
    pub const fn capture(&self) -> Option<CaptureMode> {
        match self {
            Self::Authorization { capture, .. } => Some(*capture),
            Self::Verification { .. } | Self::Capture { .. } | Self::Void { .. } => None,
        }
    }

    /// The key of the authorization that it follows, if it follows one.
    pub const fn authorization_key(&self) -> Option<Uuid> {
        match self {
            Self::Authorization { .. } | Self::Verification { .. } => None,
            Self::Capture { authorization_key } | Self::Void { authorization_key } => {
                Some(*authorization_key)
            }
        }
    }
}
