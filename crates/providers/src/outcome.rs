//! The three answers of a money call, and the three of a probe. An error is none of them: what is not known is said to
//! be unknown, never guessed.

use std::fmt;

pub use regente_domain::charge::attempt::Approval;
use regente_domain::decline::Decline;
use serde::{Deserialize, Serialize};

/// What is known after a provider was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The provider did it.
    Approved(Approval),
    /// The provider did not do it, and will not.
    Declined(Decline),
    /// The provider may or may not have done it: only a probe can tell.
    Unknown(UnknownReason),
}

/// Why nobody knows what the provider did (`docs/interface/charges.md#unknown-outcomes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// No answer came within the provider's deadline.
    TimedOut,
    /// The connection broke after the request was sent.
    ConnectionLost,
    /// The provider failed while it worked on the request.
    ProviderFailed,
}

impl UnknownReason {
    /// The word for logs and metrics; the list is closed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::ConnectionLost => "connection_lost",
            Self::ProviderFailed => "provider_failed",
        }
    }
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a provider says about the key of an earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It has done, or refused, exactly this.
    Found(Finding),
    /// Certainly nothing is there, and for this key never will be: a request that is still on its way is refused.
    Absent,
    /// The provider could not tell, or did not in time: ask again later.
    Unknown,
}

/// How a call ended, as the provider's books have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Done.
    Approved(Approval),
    /// Refused.
    Declined(Decline),
}

impl From<Finding> for Answer {
    fn from(finding: Finding) -> Self {
        match finding {
            Finding::Approved(approval) => Self::Approved(approval),
            Finding::Declined(decline) => Self::Declined(decline),
        }
    }
}
