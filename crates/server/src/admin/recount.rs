//! Compares the counters of charges with the charges themselves, and counts again when charges change meanwhile; and the
//! spans of counters with their hours.

use std::collections::BTreeMap;

use regente_domain::id::{ClientId, MerchantId};
use regente_store::{Row, Store, StoreError, args, charges, counters};

/// How often the charges of one client are counted when they keep changing.
const ATTEMPTS_MAX: usize = 5;

/// The dimensions of a counter without the hour.
type Key = (MerchantId, String, String, String);
type Totals = BTreeMap<Key, i64>;

/// The result for one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recount {
    /// Counters and charges agree; the number of charges.
    Agrees(i64),
    /// The number of wrong counters, or of wrong spans.
    Differs(usize),
    /// The charges changed during every count.
    Busy,
}

/// Compares the counters of one client.
pub(super) async fn recount(store: &Store, client_id: ClientId) -> Result<Recount, StoreError> {
    let wrong_spans = counters::wrong_spans(store, client_id).await?;
    if wrong_spans > 0 {
        return Ok(Recount::Differs(wrong_spans));
    }
    for _ in 0..ATTEMPTS_MAX {
        let before = counted(store, client_id).await?;
        let actual = actual(store, client_id).await?;
        if before == actual {
            return Ok(Recount::Agrees(actual.values().sum()));
        }
        // The counters did not change while the charges were counted, so a difference is an error.
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
