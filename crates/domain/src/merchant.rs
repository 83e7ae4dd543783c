//! The states of merchants: sub-accounts with their providers. The store holds their records.

mod data;
mod provider;

pub use data::{AddedProvider, MerchantChanges, NewMerchant, PROVIDERS_MAX};
pub use provider::{Acquirer, NewCredentials, NewProvider, ProviderChanges};

use crate::words::words;

words! {
    /// Where a merchant stands (`docs/interface/merchants-and-providers.md#merchants`).
    MerchantStatus {
        /// Accepts charges.
        Active = "active",
        /// Deleted: its charges stay readable, new ones are refused.
        Deleted = "deleted",
        /// Reserved; unused.
        Pending = "pending",
    }
}
