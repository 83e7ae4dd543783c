//! Why a prepayment is not made, in the words of its own error body (`docs/interface/prepayment.md#errors`).

/// Why a prepayment is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The operator has not enabled it for the account.
    NotEnabled,
    /// Nothing is to be settled by the own provider.
    NoReceivables,
    /// Something is, but nothing of it can be paid early and falls due on what was asked for.
    NothingAvailable,
    /// It was accepted, or refused, already.
    NotPending,
    /// Its time is over, or its acceptance was refused.
    Expired,
    /// Its receivables are not what they were when it was simulated.
    ReceivablesChanged,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::NotEnabled,
        Self::NoReceivables,
        Self::NothingAvailable,
        Self::NotPending,
        Self::Expired,
        Self::ReceivablesChanged,
    ];

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Self::NotEnabled => 403,
            Self::NoReceivables => 404,
            Self::NotPending | Self::Expired => 409,
            Self::NothingAvailable | Self::ReceivablesChanged => 422,
        }
    }

    /// One sentence for people.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NotEnabled => "prepayment is not enabled for this account",
            Self::NoReceivables => "no receivables of the platform's own provider",
            Self::NothingAvailable => "no receivables available for the period",
            Self::NotPending => "the prepayment is not pending any more",
            Self::Expired => "the prepayment has expired",
            Self::ReceivablesChanged => "the receivables have changed since the simulation",
        }
    }
}
