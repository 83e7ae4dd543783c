//! What becomes of an offer of prepayment.

use crate::time::Timestamp;
use crate::words::words;

words! {
    /// Where a prepayment stands.
    PrepaymentStatus {
        /// It can be accepted.
        Pending = "pending",
        /// It is accepted, and paid on its day.
        Committed = "committed",
        /// It is paid.
        Paid = "paid",
        /// Nobody accepted it in time, or its acceptance was refused.
        Expired = "expired",
    }
}

/// What happens to a prepayment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is accepted.
    Accepted,
    /// The money is paid.
    PaidOut,
    /// Its time is over.
    TimeOver,
    /// The provider refuses what was accepted.
    Refused,
}

impl PrepaymentStatus {
    /// The status after a step; `None` where the step cannot be taken.
    pub const fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Pending, Step::Accepted) => Some(Self::Committed),
            (Self::Committed, Step::PaidOut) => Some(Self::Paid),
            (Self::Pending, Step::TimeOver) | (Self::Committed, Step::Refused) => Some(Self::Expired),
            (Self::Pending, Step::PaidOut | Step::Refused)
            | (Self::Committed, Step::Accepted | Step::TimeOver)
            | (Self::Paid | Self::Expired, Step::Accepted | Step::PaidOut | Step::TimeOver | Step::Refused) => {
                None
            }
        }
    }

    /// How it reads at this moment: what is pending past its time has expired, whether or not anybody has noted it.
    pub fn at(self, now: Timestamp, expires_at: Timestamp) -> Self {
        match self {
            Self::Pending if now >= expires_at => Self::Expired,
            Self::Pending | Self::Committed | Self::Paid | Self::Expired => self,
        }
    }
}
