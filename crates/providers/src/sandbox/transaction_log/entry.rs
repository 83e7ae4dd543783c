//! Entries of the transaction log, one for each key. They contain no card numbers and no security codes.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::division::Division;
use crate::outcome::{Finding, ReversalKind};
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
    /// How the amount is divided among sellers, if it is. Boxed, since few are.
    pub division: Option<Box<Division>>,
}

/// Words of deeds that are no operations of ours.
const PAYMENT: &str = "payment";
const WITHDRAWAL: &str = "withdrawal";
const VOID_RESULT: &str = "void_result";
const TAKEN_BACK: &str = "taken_back";
const CHARGE_BACK_REVERSED: &str = "charge_back_reversed";

/// An operation as it is logged, without card numbers, or what a payer or a bank did.
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
    /// A payer pays what an authorization has given them instructions for.
    Payment {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
    /// The instructions of an authorization are withdrawn.
    Withdrawal {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
    /// The result of a void that was accepted.
    VoidResult {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
    /// Something happens to a payment after it was taken.
    Reversal {
        /// The key of the authorization.
        authorization_key: Uuid,
        /// What happens.
        kind: ReversalKind,
    },
    /// A case that had taken money is decided for the merchant, who has it again.
    ChargeBackReversed {
        /// The key of the authorization.
        authorization_key: Uuid,
    },
    /// A payment is taken back by the payer's bank.
    TakenBack {
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
    /// Whether this charged or reserved money.
    pub fn is_effect(&self) -> bool {
        match self.approved().map(|answered| &answered.deed) {
            Some(Deed::Authorization { .. } | Deed::Payment { .. }) => true,
            Some(
                Deed::Verification { .. }
                | Deed::Capture { .. }
                | Deed::Void { .. }
                | Deed::Withdrawal { .. }
                | Deed::VoidResult { .. }
                | Deed::TakenBack { .. }
                | Deed::ChargeBackReversed { .. }
                | Deed::Reversal { .. },
            )
            | None => false,
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

    /// The call, if it was approved or accepted.
    pub(super) fn taken_on(&self) -> Option<&Answered> {
        self.answered().filter(|answered| match answered.finding {
            Finding::Approved(_) | Finding::Accepted(_) => true,
            Finding::Declined(_) | Finding::Pending(_) | Finding::Paid(_) | Finding::Reversed { .. } => false,
        })
    }

    /// The call, if it was approved.
    pub(in crate::sandbox) fn approved(&self) -> Option<&Answered> {
        self.answered().filter(|answered| matches!(answered.finding, Finding::Approved(_)))
    }
}

impl Deed {
    /// Its word in the log. An operation has the word of [`OperationKind`].
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Authorization { .. } => OperationKind::Authorization.word(),
            Self::Verification { .. } => OperationKind::ZeroDollar.word(),
            Self::Capture { .. } => OperationKind::Capture.word(),
            Self::Void { .. } => OperationKind::Void.word(),
            Self::Payment { .. } => PAYMENT,
            Self::Withdrawal { .. } => WITHDRAWAL,
            Self::VoidResult { .. } => VOID_RESULT,
            Self::Reversal { kind, .. } => kind.word(),
            Self::TakenBack { .. } => TAKEN_BACK,
            Self::ChargeBackReversed { .. } => CHARGE_BACK_REVERSED,
        }
    }

    /// The deed with this word and these facts; `None` for an unknown word or a missing fact.
    pub(in crate::sandbox) fn of(
        word: &str,
        capture: Option<CaptureMode>,
        card: Option<CardTrace>,
        authorization_key: Option<Uuid>,
    ) -> Option<Self> {
        Some(match (word, OperationKind::parse(word)) {
            (_, Some(OperationKind::Authorization)) => Self::Authorization { capture: capture?, card },
            (_, Some(OperationKind::ZeroDollar)) => Self::Verification { card: card? },
            (_, Some(OperationKind::Capture)) => Self::Capture { authorization_key: authorization_key? },
            (_, Some(OperationKind::Void)) => Self::Void { authorization_key: authorization_key? },
            (PAYMENT, None) => Self::Payment { authorization_key: authorization_key? },
            (WITHDRAWAL, None) => Self::Withdrawal { authorization_key: authorization_key? },
            (VOID_RESULT, None) => Self::VoidResult { authorization_key: authorization_key? },
            (CHARGE_BACK_REVERSED, None) => {
                Self::ChargeBackReversed { authorization_key: authorization_key? }
            }
            (TAKEN_BACK, None) => Self::TakenBack { authorization_key: authorization_key? },
            (word, None) => {
                let kind = ReversalKind::parse(word)?;
                Self::Reversal { authorization_key: authorization_key?, kind }
            }
        })
    }

    /// The card of an authorization or verification.
    pub const fn card(&self) -> Option<&CardTrace> {
        match self {
            Self::Authorization { card, .. } => card.as_ref(),
            Self::Verification { card } => Some(card),
            Self::Capture { .. }
            | Self::Void { .. }
            | Self::Payment { .. }
            | Self::Withdrawal { .. }
            | Self::VoidResult { .. }
            | Self::TakenBack { .. }
            | Self::ChargeBackReversed { .. }
            | Self::Reversal { .. } => None,
        }
    }

    /// Whether an authorization captures at once or later.
    pub const fn capture(&self) -> Option<CaptureMode> {
        match self {
            Self::Authorization { capture, .. } => Some(*capture),
            Self::Verification { .. }
            | Self::Capture { .. }
            | Self::Void { .. }
            | Self::Payment { .. }
            | Self::Withdrawal { .. }
            | Self::VoidResult { .. }
            | Self::TakenBack { .. }
            | Self::ChargeBackReversed { .. }
            | Self::Reversal { .. } => None,
        }
    }

    /// The key of the authorization that it follows, if it follows one.
    pub const fn authorization_key(&self) -> Option<Uuid> {
        match self {
            Self::Authorization { .. } | Self::Verification { .. } => None,
            Self::Capture { authorization_key }
            | Self::Void { authorization_key }
            | Self::Payment { authorization_key }
            | Self::Withdrawal { authorization_key }
            | Self::VoidResult { authorization_key }
            | Self::TakenBack { authorization_key }
            | Self::ChargeBackReversed { authorization_key }
            | Self::Reversal { authorization_key, .. } => Some(*authorization_key),
        }
    }
}
