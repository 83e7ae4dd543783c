//! Merchants: sub-accounts with their providers. Their records live in the store; the rules of their state here.

use serde::{Deserialize, Serialize};

/// Where a merchant stands (`docs/interface/merchants-and-providers.md#merchants`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MerchantStatus {
    /// Takes charges.
    Active,
    /// Was deleted: its charges stay readable, new ones are refused.
    Deleted,
    /// Reserved; nothing produces it.
    Pending,
}

impl MerchantStatus {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deleted => "deleted",
            Self::Pending => "pending",
        }
    }

    /// Reads the word of the wire, exactly.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Deleted, Self::Pending].into_iter().find(|status| status.word() == word)
    }
}
