//! The rows that a commit group adds to once for all of its batches: counters of charges, balances of the ledger and rates, each
//! by the hour.

use regente_domain::id::SellerId;
use regente_domain::ledger::Account;
use regente_domain::rates::RateKey;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::Row;
use crate::sql;
use crate::value::Args;

/// Stands for no seller in a key.
pub(crate) const NOBODY: SellerId = SellerId::new(Uuid::nil());

sql! {
    /// Adds to a counter. Each writer has its own stripe, so that writers never wait for the same row.
    pub(crate) ADD_TO_COUNTER = "
        INSERT INTO charge_counters
            (client_id, hour, merchant_id, status, payment_type, provider_type, stripe, n)
        VALUES (:client_id, :hour, :merchant_id, :status, :payment_type, :provider_type, :stripe, :n)
        ON CONFLICT (client_id, hour, merchant_id, status, payment_type, provider_type, stripe)
        DO UPDATE SET n = charge_counters.n + excluded.n";
    /// Adds to the balance of an account in an hour. Each writer has its own stripe, so that writers never wait for the
    /// same row.
    pub(crate) ADD_TO_BALANCE = "
        INSERT INTO ledger_balances (client_id, hour, merchant_id, provider_type, currency, purpose, seller_id, stripe,
            n, debits_high, debits_low, credits_high, credits_low)
        VALUES (:client_id, :hour, :merchant_id, :provider_type, :currency, :purpose, :seller_id, :stripe,
            :n, :debits_high, :debits_low, :credits_high, :credits_low)
        ON CONFLICT (client_id, hour, merchant_id, provider_type, currency, purpose, seller_id, stripe)
        DO UPDATE SET n = ledger_balances.n + excluded.n,
            debits_high = ledger_balances.debits_high + excluded.debits_high,
            debits_low = ledger_balances.debits_low + excluded.debits_low,
            credits_high = ledger_balances.credits_high + excluded.credits_high,
            credits_low = ledger_balances.credits_low + excluded.credits_low";
    /// Adds to what is counted for the rates. Each writer has its own stripe.
    pub(crate) ADD_TO_RATE = "
        INSERT INTO rates (client_id, hour, provider_id, payment_type, brand, bin, currency, band, counted, code, latency,
            known, first_try, stripe, merchant_id, provider_type, n)
        VALUES (:client_id, :hour, :provider_id, :payment_type, :brand, :bin, :currency, :band, :counted, :code, :latency,
            :known, :first_try, :stripe, :merchant_id, :provider_type, :n)
        ON CONFLICT (client_id, hour, provider_id, payment_type, brand, bin, currency, band, counted, code, latency, known,
            first_try, stripe)
        DO UPDATE SET n = rates.n + excluded.n";
}

/// A sum of amounts as the sums of their upper and of their lower 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Halves {
    high: i64,
    low: i64,
}

impl Halves {
    const LOW_BITS: u32 = 32;

    /// What a commit adds fits easily.
    pub(crate) fn of(total: i128) -> Self {
        let high = total >> Self::LOW_BITS;
        let low = total - (high << Self::LOW_BITS);
        Self { high: i64::try_from(high).unwrap_or(i64::MAX), low: i64::try_from(low).unwrap_or(0) }
    }

    pub(crate) fn total(self) -> i128 {
        (i128::from(self.high) << Self::LOW_BITS) + i128::from(self.low)
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { high: self.high + other.high, low: self.low + other.low }
    }

    pub(crate) const fn negative(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }

    pub(crate) fn read(row: &Row, high: &str, low: &str) -> Result<Self, StoreError> {
        Ok(Self { high: row.get(high)?, low: row.get(low)? })
    }
}

/// Adds the columns that name an account.
pub(crate) fn with_account(args: Args, account: &Account) -> Args {
    let Account { merchant_id, provider_type, currency, purpose, seller_id } = *account;
    args.with("merchant_id", merchant_id)
        .with("provider_type", provider_type.code())
        .with("currency", currency.code())
        .with("purpose", purpose.word())
        .with("seller_id", seller_id.unwrap_or(NOBODY))
}

/// Adds the columns of what was debited and credited.
pub(crate) fn with_sums(args: Args, debits: Halves, credits: Halves) -> Args {
    args.with("debits_high", debits.high)
        .with("debits_low", debits.low)
        .with("credits_high", credits.high)
        .with("credits_low", credits.low)
}

/// Adds the columns that name what is counted for the rates.
pub(crate) fn with_rate(args: Args, key: &RateKey) -> Args {
    args.with("hour", key.hour)
        .with("provider_id", key.provider_id)
        .with("payment_type", key.payment_type)
        .with("brand", key.brand)
        .with("bin", key.bin)
        .with("currency", key.currency)
        .with("band", key.band)
        .with("counted", key.counted.word())
        .with("code", key.code)
        .with("latency", key.latency)
        .with("known", key.known.number())
        .with("first_try", i64::from(key.is_first))
        .with("merchant_id", key.merchant_id)
        .with("provider_type", key.provider_type)
}
