//! Folds sums of finished hours into spans. What is taken from the stripe of a writer is added to the hour's folded stripe
//! and to each span of the hour, in one batch: a sum of folded and unfolded rows is the same before and after it, also when
//! it grows meanwhile or two nodes fold the same row.

use std::collections::BTreeMap;

use regente_domain::id::ClientId;

use crate::batch::Batch;
use crate::spans::{LENGTHS, first_hour};
use crate::sql::Sql;
use crate::value::Args;

/// What is in the spans of its hour too is summed in this stripe; each writer has a stripe of 0 or more.
const FOLDED: i64 = -1;

/// What is summed by the hour, without the account and the hour.
pub(crate) trait Summed: Clone + Ord {
    /// The sums of a row.
    type Sums: Sums;
    /// Adds to the row of an hour.
    const ADD_TO_HOUR: &'static Sql;
    /// Adds to the row of a span.
    const ADD_TO_SPAN: &'static Sql;
    /// Deletes the row of an hour that nothing is left in. It is named by its key: among the rows that are not folded, of
    /// which an account may have a million after an update of the product, those that are empty cannot be found without
    /// reading all.
    const DELETE_EMPTY: &'static Sql;

    /// The columns that name it.
    fn columns(&self) -> Args;
}

/// The sums of a row.
pub(crate) trait Sums: Copy + Default + PartialEq {
    fn plus(self, other: Self) -> Self;
    fn negative(self) -> Self;
    fn columns(self, args: Args) -> Args;
}

/// The sums of an hour that no span contains yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfolded<K, S> {
    pub(crate) stripe: i64,
    pub(crate) hour: i64,
    pub(crate) summed: K,
    pub(crate) sums: S,
}

/// Adds to a batch of the client what moves these sums into spans. One that has changed since it was read keeps the
/// difference for the next time.
pub(crate) fn fold<K: Summed>(batch: &mut Batch, unfolded: &[Unfolded<K, K::Sums>]) {
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
