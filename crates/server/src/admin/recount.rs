//! Holds the counters of charges against the charges themselves. What changes meanwhile is looked at again.

use std::collections::BTreeMap;

use regente_domain::id::{ClientId, MerchantId};
use regente_store::{Row, Store, StoreError, args, charges, counters};

/// How often a client whose charges keep changing is counted.
const ATTEMPTS_MAX: usize = 5;

/// What a counter counts, without the hour.
type Key = (MerchantId, String, String, String);
type Totals = BTreeMap<Key, i64>;

/// What came of counting the charges of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recount {
    /// Counters and charges agree on so many charges.
    Agrees(i64),
    /// So many counters are wrong.
    Differs(usize),
    /// The charges changed each time in between.
    Busy,
}

/// Counts the charges of a client.
pub(super) async fn recount(store: &Store, client_id: ClientId) -> Result<Recount, StoreError> {
    for _ in 0..ATTEMPTS_MAX {
        let before = counted(store, client_id).await?;
        let actual = actual(store, client_id).await?;
        if before == actual {
            return Ok(Recount::Agrees(actual.values().sum()));
        }
        // Counters that stand still while the charges were counted are wrong.
        if counted(store, client_id).await? == before {
            let keys: std::collections::BTreeSet<&Key> = before.keys().chain(actual.keys()).collect();
            let wrong = keys.into_iter().filter(|key| before.get(key) != actual.get(key)).count();
            return Ok(Recount::Differs(wrong));
        }
    }
    Ok(Recount::Busy)
}

async fn counted(store: &Store, client_id: ClientId) -> Result<Totals, StoreError> {
    let mut totals = Totals::new();
    for row in store.rows(&counters::COUNTERS_OF_CLIENT, args! { client_id }).await? {
        *totals.entry(key(&row)?).or_default() += row.get::<i64>("n")?;
    }
    totals.retain(|_, n| *n != 0);
    Ok(totals)
}

async fn actual(store: &Store, client_id: ClientId) -> Result<Totals, StoreError> {
    let rows = store.rows(&charges::CHARGES_BY_STATE, args! { client_id }).await?;
    rows.iter().map(|row| Ok((key(row)?, row.get("n")?))).collect()
}

fn key(row: &Row) -> Result<Key, StoreError> {
    Ok((row.get("merchant_id")?, row.get("status")?, row.get("payment_type")?, row.get("provider_type")?))
}
