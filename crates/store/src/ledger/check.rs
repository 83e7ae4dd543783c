//! Compares balances with what they are sums of: the entries, and the hours of spans. Each comparison is one statement, so
//! that it is of one moment.

use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::ledger::Account;

use super::balances::{key, side, sums};
use super::{account, currency, purposes_of_sellers};
use crate::spans::{LENGTHS, Run, listed};
use crate::sums::NOBODY;
use crate::{Store, StoreError, args, sql};

macro_rules! differ {
    () => {
        "SUM(n) <> 0 OR SUM(debits_high) * 4294967296 + SUM(debits_low) <> 0 \
           OR SUM(credits_high) * 4294967296 + SUM(credits_low) <> 0"
    };
}

macro_rules! negative_sums {
    () => {
        "-n, -debits_high, -debits_low, -credits_high, -credits_low"
    };
}

sql! {
    /// Balances of hours that are not the sums of their entries.
    WRONG_BALANCES = concat!("SELECT hour, ", key!(), " FROM (
            SELECT hour, ", key!(), ", ", sums!(), " FROM ledger_balances WHERE client_id = :client_id
            UNION ALL ",
            side!("at / 3600000 AS hour, ", "debit", "-1, -(amount / 4294967296), -(amount % 4294967296), 0, 0"), "
            UNION ALL ",
            side!("at / 3600000 AS hour, ", "credit", "-1, 0, 0, -(amount / 4294967296), -(amount % 4294967296)"), "
        ) AS both_sides GROUP BY hour, ", key!(), " HAVING ", differ!(), " ORDER BY hour, ", key!(), " LIMIT :limit");
    /// Counts the sums of spans that are not those of their hours.
    WRONG_BALANCE_SPANS = concat!("SELECT COUNT(*) AS n FROM (
            SELECT hours FROM (
                SELECT hours, first_hour, ", key!(), ", ", sums!(), "
                FROM ledger_balance_spans WHERE client_id = :client_id
                UNION ALL
                SELECT wanted.hours, hour - hour % wanted.hours, ", key!(), ", ", negative_sums!(), "
                FROM ledger_balances CROSS JOIN EACH_SPAN(:spans) AS wanted
                WHERE client_id = :client_id AND stripe < 0
            ) AS both_sides
            GROUP BY hours, first_hour, ", key!(), " HAVING ", differ!(), "
        ) AS wrong");
    /// Currencies in which debits and credits are not the same.
    UNBALANCED_CURRENCIES = "
        SELECT currency FROM ledger_balances WHERE client_id = :client_id
        GROUP BY currency
        HAVING (SUM(debits_high) - SUM(credits_high)) * 4294967296 + SUM(debits_low) - SUM(credits_low) <> 0
        ORDER BY currency";
}

/// A balance that is not the sum of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongBalance {
    /// The account.
    pub account: Account,
    /// The hour, in hours since the epoch.
    pub hour: i64,
}

/// Balances of a client that are not the sums of their entries, `limit` at most.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn wrong_balances(
    store: &Store,
    client_id: ClientId,
    limit: i64,
) -> Result<Vec<WrongBalance>, StoreError> {
    let args = args! { client_id, of_sellers: purposes_of_sellers(), nobody: NOBODY, limit };
    let rows = store.rows(&WRONG_BALANCES, args).await?;
    rows.iter().map(|row| Ok(WrongBalance { account: account(row)?, hour: row.get("hour")? })).collect()
}

/// How many balances of a client's spans differ from their hours.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn wrong_spans(store: &Store, client_id: ClientId) -> Result<usize, StoreError> {
    let lengths = LENGTHS.map(|hours| Run { hours, from_hour: 0, to_hour: 0 });
    let row = store.row(&WRONG_BALANCE_SPANS, args! { client_id, spans: listed(&lengths) }).await?;
    let wrong: i64 = row.map_or(Ok(0), |row| row.get("n"))?;
    Ok(usize::try_from(wrong).unwrap_or(usize::MAX))
}

/// Currencies in which a client's accounts do not add up to zero.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn unbalanced(store: &Store, client_id: ClientId) -> Result<Vec<Currency>, StoreError> {
    store.rows(&UNBALANCED_CURRENCIES, args! { client_id }).await?.iter().map(currency).collect()
}
