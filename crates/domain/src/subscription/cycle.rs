//! A cycle: one period of a subscription, which is charged once. Its attempts are the payment history.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{AttemptStatus, CycleStatus};
use crate::charge::Recurrence;
use crate::decline::DeclinedCode;
use crate::id::{CardId, ChargeId, CustomerId, CycleId, Id, MerchantId, of};
use crate::money::Amount;
use crate::split::SplitRule;
use crate::time::Timestamp;

/// A cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cycle {
    /// Its id; the time of creation is the id's own.
    pub id: CycleId,
    /// Its number, counted from 1. Periods that were skipped have numbers too, so that there is one number for a due
    /// date.
    pub number: u32,
    /// The day on which it falls due.
    pub due_on: Date,
    /// Its status.
    pub status: CycleStatus,
    /// What is charged, as it was when the cycle was made.
    pub terms: CycleTerms,
    /// When the next attempt is due; `None` while one is under way and when none is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    /// Its attempts, oldest first.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// Whether a jump of the sandbox's clock has made it.
    #[serde(default)]
    pub is_emulated: bool,
}

/// What a cycle charges. A later change of the subscription does not change it; the card is looked up at each attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CycleTerms {
    /// The merchant whose providers process it.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: CustomerId,
    /// The amount, in cents.
    pub amount: Amount,
    /// Number of installments.
    pub installments: u8,
    /// How it is divided among sellers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_rules: Vec<SplitRule>,
}

/// An attempt to charge a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its id.
    pub id: Id<of::CycleAttempt>,
    /// Its number within the cycle, counted from 1.
    pub number: u32,
    /// Its charge; `None` when no charge could be made.
    pub charge_id: Option<ChargeId>,
    /// The card that it charges.
    pub card_id: CardId,
    /// What the charge says of the series.
    pub recurrence: Recurrence,
    /// When it began.
    pub begun_at: Timestamp,
    /// What came of it.
    pub state: AttemptState,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum AttemptState {
    /// Its outcome is awaited.
    UnderWay,
    /// Nobody asks the provider any more; an outcome that still comes counts.
    Unanswered,
    /// Approved.
    Approved,
    /// Approved after another attempt had paid the cycle: the payment is given back.
    GivenBack,
    /// Refused, also by a provider that had approved it.
    Declined {
        /// Why.
        code: DeclinedCode,
    },
    /// No charge could be made: the customer, the merchant or the card is gone.
    #[serde(rename_all = "camelCase")]
    Impossible {
        /// `errorCode` of the event, such as 404.
        error_code: u16,
    },
}

impl AttemptState {
    /// `status` in the payment history.
    pub const fn status(self) -> AttemptStatus {
        match self {
            Self::UnderWay | Self::Unanswered => AttemptStatus::Pending,
            Self::Approved | Self::GivenBack => AttemptStatus::Authorized,
            Self::Declined { .. } | Self::Impossible { .. } => AttemptStatus::Failed,
        }
    }

    /// Whether money may have moved, or may still move.
    pub const fn is_open(self) -> bool {
        match self {
            Self::UnderWay | Self::Unanswered => true,
            Self::Approved | Self::GivenBack | Self::Declined { .. } | Self::Impossible { .. } => false,
        }
    }
}

impl Cycle {
    /// Whether something may still happen to it by itself: an attempt is due, or its outcome is awaited. Cycles of
    /// which this is false need not be read to decide what is next.
    pub fn is_open(&self) -> bool {
        let waits = match self.status {
            CycleStatus::Scheduled | CycleStatus::Pending | CycleStatus::Retrying => true,
            CycleStatus::Authorized | CycleStatus::Failed | CycleStatus::Canceled => false,
        };
        waits || self.has_open_attempt()
    }

    /// Whether an attempt has no outcome yet.
    pub fn has_open_attempt(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.state.is_open())
    }

    /// The number of the next attempt.
    pub fn next_attempt(&self) -> u32 {
        self.attempts.last().map_or(1, |attempt| attempt.number + 1)
    }

    /// The idempotency key of an attempt: the same whenever the attempt is repeated, after a crash too, so that there
    /// is one charge for each attempt.
    pub fn key_of_attempt(&self, number: u32) -> String {
        format!("{}-{number}", self.id)
    }

    pub(super) fn attempt_mut(&mut self, number: u32) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.number == number)
    }
}
