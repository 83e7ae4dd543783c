//! Balances of accounts, as of any time: the spans and hours before it, what is not folded yet, and the entries of the hour
//! that it cuts, read by one statement.

use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, MerchantId, SellerId};
use regente_domain::ledger::{Account, Purpose};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;

use super::{account, purposes_of_sellers};
use crate::row::Row;
use crate::spans::{END_OF_TIME, cover, listed};
use crate::sums::{Halves, NOBODY};
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

macro_rules! key {
    () => {
        "merchant_id, provider_type, currency, purpose, seller_id"
    };
}
pub(super) use key;

macro_rules! sums {
    () => {
        "n, debits_high, debits_low, credits_high, credits_low"
    };
}
pub(super) use sums;

// The side of entries that debits or credits an account, as a row of balances.
macro_rules! side {
    ($first:literal, $purpose:literal, $columns:literal) => {
        concat!(
            "SELECT ",
            $first,
            "merchant_id, provider_type, currency, ",
            $purpose,
            " AS purpose, CASE WHEN ",
            $purpose,
            " IN EACH_TEXT(:of_sellers) THEN COALESCE(seller_id, :nobody) ELSE :nobody END AS seller_id, ",
            $columns,
            " FROM ledger_entries WHERE client_id = :client_id"
        )
    };
}
pub(super) use side;

// Casts: see `is_counted` of the counters. `CROSS JOIN` and `IS TRUE`: see the spans of counters.
macro_rules! summed {
    () => {
        concat!(
            " FROM (
            SELECT ",
            key!(),
            ", ",
            sums!(),
            "
            FROM EACH_SPAN(:spans) AS wanted CROSS JOIN ledger_balance_spans AS spans
            WHERE spans.client_id = :client_id AND spans.hours = wanted.hours
              AND spans.first_hour >= wanted.from_hour AND spans.first_hour < wanted.to_hour
            UNION ALL
            SELECT ",
            key!(),
            ", ",
            sums!(),
            "
            FROM EACH_SPAN(:spans) AS wanted CROSS JOIN ledger_balances AS folded
            WHERE folded.client_id = :client_id AND wanted.hours = 1 AND folded.stripe < 0
              AND folded.hour >= wanted.from_hour AND folded.hour < wanted.to_hour
            UNION ALL
            SELECT ",
            key!(),
            ", ",
            sums!(),
            " FROM ledger_balances
            WHERE client_id = :client_id AND stripe >= 0 AND (hour < :to_hour) IS TRUE
            UNION ALL ",
            side!(
                "",
                "debit",
                "1 AS n, amount / 4294967296 AS debits_high, amount % 4294967296 AS debits_low,
                0 AS credits_high, 0 AS credits_low"
            ),
            " AND at >= :cut_from AND at <= :cut_to
            UNION ALL ",
            side!(
                "",
                "credit",
                "1 AS n, 0 AS debits_high, 0 AS debits_low, amount / 4294967296 AS credits_high,
                amount % 4294967296 AS credits_low"
            ),
            " AND at >= :cut_from AND at <= :cut_to
            ) AS summed
            WHERE (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants))
              AND (CAST(:provider_types AS JSONB) IS NULL OR provider_type IN EACH_TEXT(:provider_types))
              AND (CAST(:currencies AS JSONB) IS NULL OR currency IN EACH_TEXT(:currencies))
              AND (CAST(:purposes AS JSONB) IS NULL OR purpose IN EACH_TEXT(:purposes))
              AND (CAST(:sellers AS JSONB) IS NULL OR seller_id IN EACH_UUID(:sellers))"
        )
    };
}

sql! {
    /// A page of the accounts with entries, each with its sums.
    LEDGER_BALANCES = concat!("SELECT ", key!(), ", CAST(SUM(n) AS BIGINT) AS n,
            CAST(SUM(debits_high) AS BIGINT) AS debits_high, CAST(SUM(debits_low) AS BIGINT) AS debits_low,
            CAST(SUM(credits_high) AS BIGINT) AS credits_high, CAST(SUM(credits_low) AS BIGINT) AS credits_low",
        summed!(), " GROUP BY ", key!(), " HAVING SUM(n) <> 0 ORDER BY ", key!(), " LIMIT :limit OFFSET :offset");
    /// Counts them, and sums their numbers of entries.
    COUNT_LEDGER_ACCOUNTS = concat!("SELECT COUNT(*) AS accounts, CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM (
        SELECT SUM(n) AS n", summed!(), " GROUP BY ", key!(), " HAVING SUM(n) <> 0) AS accounts");
}

/// Which accounts. An absent list means all.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// Sellers: accounts of these alone.
    pub sellers: Option<Vec<SellerId>>,
    /// Types of the provider.
    pub provider_types: Option<Vec<ProviderType>>,
    /// Currencies.
    pub currencies: Option<Vec<Currency>>,
    /// What they are for.
    pub purposes: Option<Vec<Purpose>>,
}

/// The sums of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The account.
    pub account: Account,
    /// Number of its entries.
    pub entries: i64,
    /// What they debit, in minor units.
    pub debits: i128,
    /// What they credit.
    pub credits: i128,
}

impl Balance {
    /// Positive on the side on which the account grows.
    pub const fn amount(&self) -> i128 {
        self.account.purpose.balance(self.debits, self.credits)
    }
}

/// How many accounts there are, and how many entries on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Accounts.
    pub accounts: i64,
    /// Entries, each once for each of its accounts that is counted.
    pub entries: i64,
}

impl AccountFilter {
    fn args(&self, client_id: ClientId, at: Option<Timestamp>) -> Args {
        // Without a time nothing is cut; with one, the hour that it is in.
        let cut = at.map(|at| (Timestamp::of_hour(at.hour()), at));
        let to_hour = cut.map_or(END_OF_TIME, |(from, _)| from).hour();
        let (cut_from, cut_to) = cut.unwrap_or((END_OF_TIME, Timestamp::EPOCH));
        args! {
            client_id,
            spans: listed(&cover(0, to_hour)),
            to_hour,
            cut_from,
            cut_to,
            of_sellers: purposes_of_sellers(),
            nobody: NOBODY,
            merchants: Json::list(self.merchants.as_deref(), ToString::to_string),
            sellers: Json::list(self.sellers.as_deref(), ToString::to_string),
            provider_types: Json::list(self.provider_types.as_deref(), |kind| kind.code().to_owned()),
            currencies: Json::list(self.currencies.as_deref(), |currency| currency.code().to_owned()),
            purposes: Json::list(self.purposes.as_deref(), |purpose| purpose.word().to_owned()),
        }
    }
}

/// A page of the accounts of a client that have entries up to and with `at`, or any, with their sums up to then.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn balances(
    store: &Store,
    client_id: ClientId,
    filter: &AccountFilter,
    at: Option<Timestamp>,
    limit: i64,
    offset: i64,
) -> Result<Vec<Balance>, StoreError> {
    let args = filter.args(client_id, at).with("limit", limit).with("offset", offset);
    store.rows(&LEDGER_BALANCES, args).await?.iter().map(from_row).collect()
}

/// How many accounts [`balances`] has in all.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count_accounts(
    store: &Store,
    client_id: ClientId,
    filter: &AccountFilter,
    at: Option<Timestamp>,
) -> Result<Counted, StoreError> {
    let row = store.row(&COUNT_LEDGER_ACCOUNTS, filter.args(client_id, at)).await?;
    row.map_or(Ok(Counted { accounts: 0, entries: 0 }), |row| {
        Ok(Counted { accounts: row.get("accounts")?, entries: row.get("n")? })
    })
}

fn from_row(row: &Row) -> Result<Balance, StoreError> {
    Ok(Balance {
        account: account(row)?,
        entries: row.get("n")?,
        debits: Halves::read(row, "debits_high", "debits_low")?.total(),
        credits: Halves::read(row, "credits_high", "credits_low")?.total(),
    })
}
