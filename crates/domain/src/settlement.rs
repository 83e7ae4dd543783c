//! Settlement files of providers: what a provider says it took, gave back, kept and paid out, line by line. [`moved`]
//! is what the records of a charge say of the same, [`judge`] compares both, and [`entries`] is what the ledger gets.

mod kept;
mod matching;
mod moved;
mod orphaned;
mod posting;
mod scope;
mod shares;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::currency::Currency;
use crate::id::{ChargeId, ClientId, MerchantId, ProviderId, SellerId, TransactionRequestId};
use crate::provider_type::ProviderType;
use crate::time::Timestamp;
use crate::words::words;

pub use kept::{JudgedKept, Kept, judge_kept};
pub use matching::{Covered, Judged, SettledPayment, judge, judge_named};
pub use moved::moved;
pub use orphaned::orphaned;
pub use posting::{Borne, Settled, entries, source_of};
pub use scope::{Posting, Registered, Scope};
pub use shares::shares;

words! {
    /// What a line is about.
    Kind {
        /// A payment was taken.
        Sale = "sale",
        /// Money was given back.
        Refund = "refund",
        /// A refund came back.
        RefundReverted = "refund_reverted",
        /// The payer's bank took money back.
        ChargeBack = "charge_back",
        /// A charge back was undone.
        ChargeBackReversal = "charge_back_reversal",
        /// The provider kept a fee.
        Fee = "fee",
        /// The provider paid out.
        Payout = "payout",
        /// The provider kept what it costs to be paid early.
        Anticipation = "anticipation",
    }
}

words! {
    /// What a comparison has found.
    Verdict {
        /// Both say the same, or the line says what only the provider can know.
        Matched = "matched",
        /// The provider has settled what is not in the records.
        MissingHere = "missing_here",
        /// The records have what the provider has not settled.
        MissingThere = "missing_there",
        /// The amounts differ.
        DifferingAmount = "differing_amount",
        /// The amounts are the same, and divided otherwise among the sellers.
        DifferingParts = "differing_parts",
        /// The provider has settled the same twice.
        Doubled = "doubled",
        /// The provider has settled a further sale of a payment, and not the same amount again.
        SoldAgain = "sold_again",
        /// The currencies differ.
        ForeignCurrency = "foreign_currency",
        /// Nothing tells whose it is: the line names no payment, and the file is not of one registered provider; or it names
        /// a recipient who has no part of the payment, or a seller whom the merchant does not have.
        Unassigned = "unassigned",
        /// Not in the file, but so near to the end of its days that it may be in the next one.
        OnTheEdge = "on_the_edge",
    }
}

/// A line of a settlement file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its row in the file, from 1.
    pub row: u64,
    /// What the provider calls it; no other line of the same kind has the same.
    pub id: String,
    /// What it is about.
    pub kind: Kind,
    /// When that happened.
    pub at: Timestamp,
    /// The payment, in the provider's words or by our key.
    pub payment: Option<String>,
    /// ISO 4217, as it stands in the file.
    pub currency: String,
    /// In minor units. A fee, payout or anticipation is negative when it was given back.
    pub amount: i64,
    /// What the provider has kept of it as its fee.
    pub fee: i64,
    /// The seller that a fee, payout or anticipation is of.
    pub seller_id: Option<SellerId>,
    /// What sellers have of the amount, if the file says it; the rest is the merchant's.
    pub parts: Vec<LinePart>,
}

/// What a seller has of the amount of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinePart {
    /// The seller's id at the provider.
    pub recipient: String,
    /// In minor units.
    pub amount: i64,
}

/// What a seller has of what has moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedPart {
    /// The seller.
    pub seller_id: SellerId,
    /// The seller's id at the provider.
    pub recipient: String,
    /// In minor units.
    pub amount: i64,
}

/// What a provider has done with money by our records: one transaction request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The account.
    pub client_id: ClientId,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The registered provider.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// The charge.
    pub charge_id: ChargeId,
    /// The request.
    pub request_id: TransactionRequestId,
    /// The key under which the provider knows the payment.
    pub key: Uuid,
    /// The provider's id of the payment.
    pub transaction_id: Option<String>,
    /// What was done.
    pub kind: Kind,
    /// In minor units; 0 alone for a charge back of what was refunded in full, and for the end of one.
    pub amount: i64,
    /// Its currency.
    pub currency: Currency,
    /// When.
    pub at: Timestamp,
    /// Whether the charge is divided among sellers.
    pub is_split: bool,
    /// What each seller has of the amount; empty where the records do not say it.
    pub parts: Vec<MovedPart>,
}

impl Kind {
    /// Whether it moves the money of a charge, so that the records must have it too. The others only the provider knows.
    pub const fn moves_a_charge(self) -> bool {
        match self {
            Self::Sale
            | Self::Refund
            | Self::RefundReverted
            | Self::ChargeBack
            | Self::ChargeBackReversal => true,
            Self::Fee | Self::Payout | Self::Anticipation => false,
        }
    }

    /// Whether the provider owes more by it.
    pub const fn is_owed(self) -> bool {
        match self {
            Self::Sale | Self::RefundReverted | Self::ChargeBackReversal => true,
            Self::Refund | Self::ChargeBack | Self::Fee | Self::Payout | Self::Anticipation => false,
        }
    }

    /// What an amount of it adds to what the provider owes.
    const fn owed(self, amount: i64) -> i64 {
        if self.is_owed() { amount } else { -amount }
    }
}
