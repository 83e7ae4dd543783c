//! Folds counters of finished hours into spans. What is taken from the stripe of a writer is added to the hour's folded
//! stripe and to each span of the hour, in one batch: a sum of folded and unfolded rows is the same before and after it,
//! also when a charge changes meanwhile or two nodes fold the same row.

use std::collections::BTreeMap;

use regente_domain::id::{ClientId, MerchantId};

use super::FOLDED;
use super::spans::{LENGTHS, first_hour};
use crate::batch::Batch;
use crate::group::ADD_TO_COUNTER;
use crate::row::Row;
use crate::value::Args;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Clients with counters of hours before one that are not folded, by id, after one.
    CLIENTS_WITH_UNFOLDED_COUNTERS = "
        SELECT DISTINCT client_id FROM charge_counters
        WHERE stripe >= 0 AND hour < :hour AND client_id > :after ORDER BY client_id LIMIT :limit";
    /// Counters of a client of hours before one that are not folded.
    UNFOLDED_COUNTERS = "
        SELECT hour, merchant_id, status, payment_type, provider_type, stripe, n FROM charge_counters
        WHERE client_id = :client_id AND stripe >= 0 AND (hour < :hour) IS TRUE
        ORDER BY stripe, hour LIMIT :limit";
    /// Adds to the sum of a span.
    ADD_TO_SPAN = "
        INSERT INTO charge_counter_spans
            (client_id, hours, first_hour, merchant_id, status, payment_type, provider_type, n)
        VALUES (:client_id, :hours, :first_hour, :merchant_id, :status, :payment_type, :provider_type, :n)
        ON CONFLICT (client_id, hours, first_hour, merchant_id, status, payment_type, provider_type)
        DO UPDATE SET n = charge_counter_spans.n + excluded.n";
    /// Deletes a row that nothing is left in. It is named by its key: among the rows that are not folded, of which an account
    /// may have a million after an update of the product, those that are empty cannot be found without reading all.
    DELETE_EMPTY_COUNTER = "
        DELETE FROM charge_counters
        WHERE client_id = :client_id AND hour = :hour AND merchant_id = :merchant_id AND status = :status
          AND payment_type = :payment_type AND provider_type = :provider_type AND stripe = :stripe AND n = 0";
}

/// A counter that no span contains yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfolded {
    stripe: i64,
    kind: Kind,
    n: i64,
}

/// Which charges are counted, without the account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    hour: i64,
    merchant_id: MerchantId,
    status: String,
    payment_type: String,
    provider_type: String,
}

/// Clients with counters to fold of hours before `hour`, by id, after `after`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn clients_with_unfolded(
    store: &Store,
    hour: i64,
    after: ClientId,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let rows = store.rows(&CLIENTS_WITH_UNFOLDED_COUNTERS, args! { hour, after, limit }).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// Counters of a client to fold, of hours before `hour`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn unfolded(
    store: &Store,
    client_id: ClientId,
    hour: i64,
    limit: i64,
) -> Result<Vec<Unfolded>, StoreError> {
    let rows = store.rows(&UNFOLDED_COUNTERS, args! { client_id, hour, limit }).await?;
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<Unfolded, StoreError> {
    Ok(Unfolded {
        stripe: row.get("stripe")?,
        kind: Kind {
            hour: row.get("hour")?,
            merchant_id: row.get("merchant_id")?,
            status: row.get("status")?,
            payment_type: row.get("payment_type")?,
            provider_type: row.get("provider_type")?,
        },
        n: row.get("n")?,
    })
}

/// Adds to a batch of the client what moves these counters into spans. A counter that has changed since it was read keeps
/// the difference for the next time.
pub fn fold(batch: &mut Batch, unfolded: &[Unfolded]) {
    // In the order in which writers update counters, so that they rarely lock rows crosswise.
    let (mut counters, mut spans) = (BTreeMap::new(), BTreeMap::new());
    for Unfolded { stripe, kind, n } in unfolded {
        *counters.entry((kind.clone(), *stripe)).or_insert(0) -= n;
        *counters.entry((kind.clone(), FOLDED)).or_insert(0) += n;
        for hours in LENGTHS {
            let span = Kind { hour: first_hour(kind.hour, hours), ..kind.clone() };
            *spans.entry((span, hours)).or_insert(0) += n;
        }
    }
    let client_id = batch.client_id();
    let read: Vec<_> = counters.keys().filter(|(_, stripe)| *stripe != FOLDED).cloned().collect();
    for ((kind, stripe), n) in changed(counters) {
        batch.push(&ADD_TO_COUNTER, kind.args("hour", client_id).with("stripe", stripe).with("n", n));
    }
    for ((kind, hours), n) in changed(spans) {
        batch.push(&ADD_TO_SPAN, kind.args("first_hour", client_id).with("hours", hours).with("n", n));
    }
    for (kind, stripe) in read {
        batch.push_at_most_one(&DELETE_EMPTY_COUNTER, kind.args("hour", client_id).with("stripe", stripe));
    }
}

fn changed<K: Ord>(sums: BTreeMap<K, i64>) -> impl Iterator<Item = (K, i64)> {
    sums.into_iter().filter(|(_, n)| *n != 0)
}

impl Kind {
    /// The columns that counters and spans share.
    fn args(self, hour_name: &'static str, client_id: ClientId) -> Args {
        let Self { hour, merchant_id, status, payment_type, provider_type } = self;
        args! { client_id, merchant_id, status, payment_type, provider_type }.with(hour_name, hour)
    }
}
