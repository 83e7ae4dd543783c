//! Merchants: sub-accounts with their providers. Their records live in the store; the rules of their state here.

use crate::charge::words::words;

words! {
    /// Where a merchant stands (`docs/interface/merchants-and-providers.md#merchants`).
    MerchantStatus {
        /// Takes charges.
        Active = "active",
        /// Was deleted: its charges stay readable, new ones are refused.
        Deleted = "deleted",
        /// Reserved; nothing produces it.
        Pending = "pending",
    }
}
