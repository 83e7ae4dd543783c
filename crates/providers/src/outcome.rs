//! Answers to provider calls and to probes. There is no error type: whatever is not certain is reported as unknown.

use std::fmt;

pub use regente_domain::charge::attempt::Approval;
pub use regente_domain::charge::instructions::{Instructions, Pending};
pub use regente_domain::charge::reversal::{Reversal, ReversalKind};
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use serde::{Deserialize, Serialize};

/// The answer to a provider call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The provider carried the operation out.
    Approved(Approval),
    /// The provider refused the operation; it has no effect.
    Declined(Decline),
    /// The provider has accepted a capture or void and reports its result later.
    Accepted(Approval),
    /// The provider waits for the payer, who gets these instructions; it reports the outcome later. Boxed to keep calls
    /// in flight small.
    Pending(Box<Pending>),
    /// The provider could not be reached: nothing was sent, and the operation has no effect.
    NotSent,
    /// The operation may or may not have been carried out: only a probe can tell.
    Unknown(UnknownReason),
}

/// Why the outcome of a call is unknown (`docs/interface/charges.md#unknown-outcomes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// No answer came within the provider's deadline.
    TimedOut,
    /// The connection broke after the request was sent.
    ConnectionLost,
    /// The provider reported an error of its own, or said nothing that proves an outcome.
    ProviderFailed,
    /// The provider answered what cannot be read.
    Unreadable,
}

impl UnknownReason {
    /// Label for logs and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::ConnectionLost => "connection_lost",
            Self::ProviderFailed => "provider_failed",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The answer to a probe for the key of an earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The provider has recorded this outcome for the key.
    Found(Finding),
    /// The provider has no record of the key and will refuse a request with it that arrives later.
    Absent,
    /// The provider could not tell, or did not answer in time: probe again later.
    Unknown,
}

/// How a call ended, as the provider has recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The provider carried the operation out.
    Approved(Approval),
    /// The provider refused the operation.
    Declined(Decline),
    /// The provider waits for the payer, who has these instructions.
    Pending(Box<Pending>),
    /// The payer has paid: the payments in the order of their arrival, at least one.
    Paid(Vec<PayerPayment>),
    /// The provider has accepted a capture or void and has no result yet.
    Accepted(Approval),
    /// The payment was taken, and something has happened to it since.
    Reversed {
        /// How the call ended.
        taken: Box<Finding>,
        /// What has happened since, in order; at least one.
        reversals: Vec<Reversal>,
    },
}

/// A payment of a payer who followed instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PayerPayment {
    /// The provider's identifiers of this payment; its transaction id is of no other payment.
    pub reference: Approval,
    /// What was paid, in minor units.
    pub amount: Amount,
    /// The provider's identifiers of that, when the payer's bank has taken the payment back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<Approval>,
}

impl From<Finding> for Answer {
    fn from(finding: Finding) -> Self {
        match finding {
            Finding::Approved(approval) => Self::Approved(approval),
            Finding::Declined(decline) => Self::Declined(decline),
            Finding::Pending(pending) => Self::Pending(pending),
            Finding::Accepted(approval) => Self::Accepted(approval),
            Finding::Reversed { taken, .. } => Self::from(*taken),
            Finding::Paid(payments) => {
                let first = payments.into_iter().next().map(|payment| payment.reference);
                Self::Approved(first.unwrap_or_default())
            }
        }
    }
}
