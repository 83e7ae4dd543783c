//! Folds sums of finished hours into spans. What is taken from the stripe of a writer is added to the hour's folded stripe
//! and to each span of the hour, in one batch: a sum of folded and unfolded rows is the same before and after it, also when
//! it grows meanwhile or two nodes fold the same row.

use std::collections::BTreeMap;

use regente_domain::id::ClientId;

use crate::batch::Batch;
use crate::row::Row;
use crate::spans::{LENGTHS, first_hour};
use crate::sql::Sql;
use crate::value::Args;
use crate::{Store, StoreError, args};

/// What is in the spans of its hour too is summed in this stripe; each writer has a stripe of 0 or more.
const FOLDED: i64 = -1;

/// What is summed by the hour, without the account and the hour.
pub trait Summed: Clone + Ord {
    /// The sums of a row.
    type Sums: Sums;
    /// Clients with rows of hours before `:hour` that are not folded, by id, after `:after`, at most `:limit`.
    const CLIENTS_WITH_UNFOLDED: &'static Sql;
    /// Rows of a client of hours before `:hour` that are not folded, by stripe and hour, at most `:limit`.
    const UNFOLDED: &'static Sql;
    /// Adds to the row of an hour.
    const ADD_TO_HOUR: &'static Sql;
    /// Adds to the row of a span.
    const ADD_TO_SPAN: &'static Sql;
    /// Deletes the row of an hour that nothing is left in. It is named by its key: among the rows that are not folded, of
    /// which an account may have a million after an update of the product, those that are empty cannot be found without
    /// reading all.
    const DELETE_EMPTY: &'static Sql;

    /// Reads what is summed and its sums.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    fn read(row: &Row) -> Result<(Self, Self::Sums), StoreError>;

    /// The columns that name it.
    fn columns(&self) -> Args;
}

/// The sums of a row.
pub trait Sums: Copy + Default + PartialEq {
    /// Both together.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// What takes them back.
    #[must_use]
    fn negative(self) -> Self;

    /// Adds the columns that hold them.
    fn columns(self, args: Args) -> Args;
}

/// The sums of an hour that no span contains yet.
pub struct Unfolded<K: Summed> {
    stripe: i64,
    hour: i64,
    summed: K,
    sums: K::Sums,
}

/// Clients with sums to fold of hours before `hour`, by id, after `after`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn clients_with_unfolded<K: Summed>(
    store: &Store,
    hour: i64,
    after: ClientId,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let rows = store.rows(K::CLIENTS_WITH_UNFOLDED, args! { hour, after, limit }).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// Sums of a client to fold, of hours before `hour`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn unfolded<K: Summed>(
    store: &Store,
    client_id: ClientId,
    hour: i64,
    limit: i64,
) -> Result<Vec<Unfolded<K>>, StoreError> {
    let rows = store.rows(K::UNFOLDED, args! { client_id, hour, limit }).await?;
    let unfolded = |row: &Row| {
        let (summed, sums) = K::read(row)?;
        Ok(Unfolded { stripe: row.get("stripe")?, hour: row.get("hour")?, summed, sums })
    };
    rows.iter().map(unfolded).collect()
}

/// Adds to a batch of the client what moves these sums into spans. One that has changed since it was read keeps the
/// difference for the next time.
pub fn fold<K: Summed>(batch: &mut Batch, unfolded: &[Unfolded<K>]) {
    // In the order in which writers update sums, so that they rarely lock rows crosswise.
    let (mut by_hour, mut spans) = (BTreeMap::new(), BTreeMap::new());
    for Unfolded { stripe, hour, summed, sums } in unfolded {
        add(&mut by_hour, (*hour, summed.clone(), *stripe), sums.negative());
        add(&mut by_hour, (*hour, summed.clone(), FOLDED), *sums);
        for hours in LENGTHS {
            add(&mut spans, (first_hour(*hour, hours), summed.clone(), hours), *sums);
        }
    }
    let client_id = batch.client_id();
    let read: Vec<_> = by_hour.keys().filter(|(.., stripe)| *stripe != FOLDED).cloned().collect();
    for ((hour, summed, stripe), sums) in changed(by_hour) {
        let args = named(&summed, client_id).with("hour", hour).with("stripe", stripe);
        batch.push(K::ADD_TO_HOUR, sums.columns(args));
    }
    for ((first_hour, summed, hours), sums) in changed(spans) {
        let args = named(&summed, client_id).with("first_hour", first_hour).with("hours", hours);
        batch.push(K::ADD_TO_SPAN, sums.columns(args));
    }
    for (hour, summed, stripe) in read {
        let args = named(&summed, client_id).with("hour", hour).with("stripe", stripe);
        batch.push_at_most_one(K::DELETE_EMPTY, args);
    }
}

fn add<K: Ord, S: Sums>(to: &mut BTreeMap<K, S>, key: K, sums: S) {
    let before = to.entry(key).or_default();
    *before = before.plus(sums);
}

fn changed<K: Ord, S: Sums>(sums: BTreeMap<K, S>) -> impl Iterator<Item = (K, S)> {
    sums.into_iter().filter(|(_, sums)| *sums != S::default())
}

fn named<K: Summed>(summed: &K, client_id: ClientId) -> Args {
    summed.columns().with("client_id", client_id)
}
