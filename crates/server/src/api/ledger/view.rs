//! How accounts, balances and entries are shown.

use regente_domain::currency::Currency;
use regente_domain::id::{MerchantId, SellerId};
use regente_domain::ledger::{Account, Entry, Movement, Nature, Purpose};
use regente_domain::provider_type::ShownProviderType;
use regente_domain::time::Timestamp;
use regente_store::ledger::Balance;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// An account of the books.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LedgerAccount, example = json!({
    "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "providerType": "SANDBOX", "currency": "BRL",
    "purpose": "provider_receivable", "nature": "asset", "sellerId": null
}))]
pub struct AccountView {
    /// The merchant.
    #[schema(value_type = Uuid)]
    pub merchant_id: MerchantId,
    /// The type of the provider that has the money.
    pub provider_type: ShownProviderType,
    /// The currency of its entries.
    pub currency: Currency,
    /// What it is for.
    pub purpose: Purpose,
    /// The kind of account, which says on which side it grows.
    pub nature: Nature,
    /// The seller whose it is.
    #[schema(value_type = Option<Uuid>, required = true)]
    pub seller_id: Option<SellerId>,
}

/// The balance of an account.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LedgerBalance, example = json!({
    "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "providerType": "SANDBOX", "currency": "BRL",
    "purpose": "provider_receivable", "nature": "asset", "sellerId": null,
    "entries": 2, "debits": 150, "credits": 50, "balance": 100
}))]
pub struct BalanceView {
    /// The merchant.
    #[schema(value_type = Uuid)]
    pub merchant_id: MerchantId,
    /// The type of the provider that has the money.
    pub provider_type: ShownProviderType,
    /// The currency of its entries.
    pub currency: Currency,
    /// What it is for.
    pub purpose: Purpose,
    /// The kind of account, which says on which side it grows.
    pub nature: Nature,
    /// The seller whose it is.
    #[schema(value_type = Option<Uuid>, required = true)]
    pub seller_id: Option<SellerId>,
    /// Number of its entries.
    pub entries: i64,
    /// What they debit, in minor units.
    pub debits: i64,
    /// What they credit, in minor units.
    pub credits: i64,
    /// Positive on the side on which the account grows.
    pub balance: i64,
}

/// An amount that moves from one account to another.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LedgerEntry, example = json!({
    "sourceId": "019e1c5e-0b5a-7c3e-a3b1-2f6f6f0d7f11", "version": 2, "ordinal": 0, "at": "2026-03-23T15:12:38.421Z",
    "movement": "capture", "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "providerType": "SANDBOX",
    "currency": "BRL", "debit": "provider_receivable", "credit": "merchant_payable", "sellerId": null, "amount": 150
}))]
pub struct EntryView {
    /// The charge, or the line of a settlement file.
    pub source_id: Uuid,
    /// The version of the charge that moved it; 0 for what has none.
    pub version: i64,
    /// The place among the entries of that change; negative for what was posted late.
    pub ordinal: i64,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What happened.
    pub movement: Movement,
    /// The merchant of both accounts.
    #[schema(value_type = Uuid)]
    pub merchant_id: MerchantId,
    /// The provider type of both accounts.
    pub provider_type: ShownProviderType,
    /// The currency of both accounts.
    pub currency: Currency,
    /// What the account is for that is debited.
    pub debit: Purpose,
    /// What the account is for that is credited.
    pub credit: Purpose,
    /// The seller of the one that is a seller's.
    #[schema(value_type = Option<Uuid>, required = true)]
    pub seller_id: Option<SellerId>,
    /// In minor units, more than 0.
    #[schema(minimum = 1)]
    pub amount: i64,
}

impl AccountView {
    /// Shows an account.
    pub fn of(account: &Account) -> Self {
        Self {
            merchant_id: account.merchant_id,
            provider_type: ShownProviderType(account.provider_type),
            currency: account.currency,
            purpose: account.purpose,
            nature: account.purpose.nature(),
            seller_id: account.seller_id,
        }
    }
}

impl BalanceView {
    /// Shows a balance.
    pub fn of(balance: &Balance) -> Self {
        let AccountView { merchant_id, provider_type, currency, purpose, nature, seller_id } =
            AccountView::of(&balance.account);
        Self {
            merchant_id,
            provider_type,
            currency,
            purpose,
            nature,
            seller_id,
            entries: balance.entries,
            debits: shown(balance.debits),
            credits: shown(balance.credits),
            balance: shown(balance.amount()),
        }
    }
}

impl EntryView {
    /// Shows an entry.
    pub fn of(entry: &Entry) -> Self {
        Self {
            source_id: entry.source.id,
            version: entry.source.version,
            ordinal: entry.source.ordinal,
            at: entry.at,
            movement: entry.movement,
            merchant_id: entry.merchant_id,
            provider_type: ShownProviderType(entry.provider_type),
            currency: entry.currency,
            debit: entry.debit,
            credit: entry.credit,
            seller_id: entry.seller_id,
            amount: entry.amount.minor_units(),
        }
    }
}

/// A sum as an integer of 64 bits, the most that readers know. No real sum is larger.
pub fn shown(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}
