//! The states of merchants: sub-accounts with their providers. The store holds their records.

use crate::words::words;

words! {
    /// `status` of a merchant (`docs/interface/merchants-and-providers.md#merchants`).
    MerchantStatus {
        /// Accepts charges.
        Active = "active",
        /// Deleted: its charges stay readable, new ones are refused.
        Deleted = "deleted",
        /// Reserved; unused.
        Pending = "pending",
    }
}
