//! The chart of accounts: what an account is for, and on which side its balance grows. `docs/ledger.md` has the same table.

use crate::currency::Currency;
use crate::id::{MerchantId, SellerId};
use crate::provider_type::ProviderType;
use crate::words::words;

words! {
    /// What an account is for.
    #[schema(as = LedgerPurpose)]
    Purpose {
        /// What a provider owes: what it took, less what it gave back, kept or paid out.
        ProviderReceivable = "provider_receivable",
        /// What is due to the merchant for its parts of charges.
        MerchantPayable = "merchant_payable",
        /// What is due to a seller for its parts of charges.
        SellerPayable = "seller_payable",
        /// What the platform has earned by its fee.
        PlatformFee = "platform_fee",
        /// What a provider has kept for its services.
        ProviderFee = "provider_fee",
        /// What it has cost to be paid early.
        Anticipation = "anticipation",
        /// What a provider has paid out.
        Payout = "payout",
        /// What a provider settled otherwise than the charges say.
        SettlementDifference = "settlement_difference",
        /// What providers have reserved of buyers' money.
        Hold = "hold",
        /// The other side of reservations, which are nobody's money yet.
        HoldContra = "hold_contra",
    }
}

words! {
    /// The kind of an account, which says on which side its balance grows.
    #[schema(as = LedgerNature)]
    Nature {
        /// Grows by debits.
        Asset = "asset",
        /// Grows by credits.
        Liability = "liability",
        /// Grows by credits.
        Income = "income",
        /// Grows by debits.
        Expense = "expense",
        /// Stands beside the books of money; grows by debits.
        Memorandum = "memorandum",
        /// The other side of a memorandum account; grows by credits.
        MemorandumContra = "memorandum_contra",
    }
}

words! {
    /// Whether accounts of a purpose are a seller's.
    OfSeller {
        /// Always.
        Always = "always",
        /// Where the movement is a seller's.
        Sometimes = "sometimes",
        /// Never.
        Never = "never",
    }
}

impl Purpose {
    /// The kind of its accounts.
    pub const fn nature(self) -> Nature {
        match self {
            Self::ProviderReceivable | Self::Payout => Nature::Asset,
            Self::MerchantPayable | Self::SellerPayable => Nature::Liability,
            Self::PlatformFee => Nature::Income,
            Self::ProviderFee | Self::Anticipation | Self::SettlementDifference => Nature::Expense,
            Self::Hold => Nature::Memorandum,
            Self::HoldContra => Nature::MemorandumContra,
        }
    }

    /// Whether its accounts are a seller's.
    pub const fn of_seller(self) -> OfSeller {
        match self {
            Self::SellerPayable => OfSeller::Always,
            Self::ProviderFee | Self::Anticipation | Self::Payout | Self::SettlementDifference => {
                OfSeller::Sometimes
            }
            Self::ProviderReceivable
            | Self::MerchantPayable
            | Self::PlatformFee
            | Self::Hold
            | Self::HoldContra => OfSeller::Never,
        }
    }

    /// The balance of an account: positive on the side on which it grows.
    pub const fn balance(self, debits: i128, credits: i128) -> i128 {
        match self.nature() {
            Nature::Asset | Nature::Expense | Nature::Memorandum => debits - credits,
            Nature::Liability | Nature::Income | Nature::MemorandumContra => credits - debits,
        }
    }
}

/// An account of a client's books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The type of the provider that has the money.
    pub provider_type: ProviderType,
    /// The currency of all its entries.
    pub currency: Currency,
    /// What it is for.
    pub purpose: Purpose,
    /// The seller whose it is.
    pub seller_id: Option<SellerId>,
}
