//! What is written down for one key. Never here: card numbers, security codes.

use regente_domain::charge::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::outcome::Finding;
use crate::request::OperationKind;

/// What the books say about one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Our key.
    pub key: Uuid,
    /// When the call or the probe was made, by the caller's clock.
    pub at: Timestamp,
    /// What happened.
    pub record: Record,
}

/// The two things that can be written down for a key; the first one stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A call was answered.
    Answered(Box<Answered>),
    /// Someone asked for the key before any call came: a call that comes later is refused.
    ProbedBeforeArrival,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What was asked.
    pub deed: Deed,
    /// For how much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// The answer.
    pub finding: Finding,
}

/// What can be asked, with the facts that only it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// To take or to reserve an amount.
    Authorization {
        /// Taken at once, or reserved.
        capture: CaptureMode,
        /// With which card.
        card: CardTrace,
    },
    /// To verify a card.
    Verification {
        /// Which card.
        card: CardTrace,
    },
    /// To take what is reserved.
    Capture {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
    /// To release what is reserved, or to give back what was taken.
    Void {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
}

/// Enough of a card to recognise it, too little to charge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardTrace {
    /// Keyed hash of the number (PCI DSS 4.0.1, requirement 3.5.1.1).
    pub hash: Vec<u8>,
    /// The last four digits.
    pub last_four: String,
}

impl Entry {
    /// Whether an authorization took or reserved money.
    pub fn is_effect(&self) -> bool {
        match self.approved().map(|answered| answered.deed.kind()) {
            Some(OperationKind::Authorization) => true,
            Some(OperationKind::ZeroDollar | OperationKind::Capture | OperationKind::Void) | None => false,
        }
    }

    /// The call, if one was answered.
    pub fn answered(&self) -> Option<&Answered> {
        match &self.record {
            Record::Answered(answered) => Some(answered),
            Record::ProbedBeforeArrival => None,
        }
    }

    /// The authorization that it follows, if it follows one.
    pub fn authorization_key(&self) -> Option<Uuid> {
        self.answered().and_then(|answered| answered.deed.authorization_key())
    }

    /// The call, if it was approved.
    pub(super) fn approved(&self) -> Option<&Answered> {
        self.answered().filter(|answered| matches!(answered.finding, Finding::Approved(_)))
    }
}

impl Deed {
    /// Its kind alone.
    pub const fn kind(&self) -> OperationKind {
        match self {
            Self::Authorization { .. } => OperationKind::Authorization,
            Self::Verification { .. } => OperationKind::ZeroDollar,
            Self::Capture { .. } => OperationKind::Capture,
            Self::Void { .. } => OperationKind::Void,
        }
    }

    /// The card, if it is about one.
    pub const fn card(&self) -> Option<&CardTrace> {
        match self {
            Self::Authorization { card, .. } | Self::Verification { card } => Some(card),
            Self::Capture { .. } | Self::Void { .. } => None,
        }
    }

    /// Whether an authorization takes at once or reserves.
    pub const fn capture(&self) -> Option<CaptureMode> {
        match self {
            Self::Authorization { capture, .. } => Some(*capture),
            Self::Verification { .. } | Self::Capture { .. } | Self::Void { .. } => None,
        }
    }

    /// The authorization that it follows, if it follows one.
    pub const fn authorization_key(&self) -> Option<Uuid> {
        match self {
            Self::Authorization { .. } | Self::Verification { .. } => None,
            Self::Capture { authorization_key } | Self::Void { authorization_key } => {
                Some(*authorization_key)
            }
        }
    }
}
