//! What a tester stages at a simulator: something that a payer or a bank does at a provider without a call of ours. A
//! probe of the call tells of it, and so does a notification.

use regente_domain::charge::reversal::ReversalKind;
use regente_domain::money::Amount;
use regente_domain::seller::LinkStatus;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// Something that a tester stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagedEvent {
    /// The key of the call that it is about.
    pub key: Uuid,
    /// When it happens, by the caller's clock.
    pub at: Timestamp,
    /// What happens.
    pub what: Staged,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Staged {
    /// The payer of an authorization pays, in time or late. If they have paid, nothing happens.
    Payment {
        /// What they pay, in minor units; what was asked of them when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
    /// The payer pays, although they may have paid.
    FurtherPayment {
        /// What they pay, in minor units; what was asked of them when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
    /// The payer of an authorization refuses to pay. If they have refused, nothing happens.
    Refusal,
    /// The provider withdraws the instructions of an authorization that nobody has paid.
    Withdrawal,
    /// The payer's bank takes back the first payment of a boleto.
    TakenBack,
    /// The provider has carried out the void that it had accepted.
    Refund,
    /// The provider refuses the void that it had accepted.
    RefundRefusal,
    /// The provider decides about the seller whose registration has this key.
    Seller {
        /// Where the seller stands from now on.
        status: LinkStatus,
    },
    /// The provider asks the seller whose registration has this key to confirm it.
    ReviewOpened,
    /// The provider asks that seller no more for what it has asked.
    ReviewWithdrawn,
    /// The payer disputes what was taken. If they do already, nothing happens.
    DisputeOpened,
    /// The open dispute is decided for the merchant.
    DisputeWon,
    /// The open dispute is decided for the payer, whose bank takes the money back.
    DisputeLost,
    /// The payer's bank takes the money back, with or without a dispute.
    ChargedBack,
    /// Something happens in one of several cases of the payment, open or not. If it was the last that has happened in that case,
    /// nothing happens.
    Case {
        /// The number of the case.
        number: u32,
        /// What happens.
        kind: ReversalKind,
        /// What it is about, in minor units; when absent, what the case was about, or all that is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
    /// A refund comes back.
    RefundReverted {
        /// What comes back, in minor units; everything that was refunded when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
}

/// Why nothing was staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StageRefusal {
    /// The provider is no simulator.
    #[error("the provider is no simulator")]
    NoSimulator,
    /// No call with this key waits for that.
    #[error("no call with this key waits for that")]
    NothingWaits,
    /// The simulator cannot be asked, or cannot write. It may have happened.
    #[error("the simulator did not answer")]
    Unanswered,
}
