//! What each seller has of what has moved, by the entries of the charge.

use std::collections::{BTreeMap, HashSet};

use super::{Kind, Moved};
use crate::id::{SellerId, TransactionRequestId};
use crate::ledger::{Entry, Movement, Purpose};

/// One movement of a charge in the ledger.
#[derive(Default)]
struct Division {
    total: i64,
    sellers: BTreeMap<SellerId, i64>,
}

/// What each seller has of each of these sales and refunds of one charge. The ledger knows it: a void may name what each
/// seller gives back. A movement of the same amount is looked for, in the order in which they happened; what the
/// `orphaned` requests have moved has none. What sellers lose by a charge back is between them and the merchant.
pub fn shares(
    moved: &[Moved],
    entries: &[Entry],
    orphaned: &HashSet<TransactionRequestId>,
) -> Vec<BTreeMap<SellerId, i64>> {
    let mut divisions: BTreeMap<(i64, Movement), Division> = BTreeMap::new();
    let is_owed = |entry: &&Entry| [entry.debit, entry.credit].contains(&Purpose::ProviderReceivable);
    for entry in entries.iter().filter(is_owed) {
        let amount = entry.amount.minor_units();
        let owed = if entry.debit == Purpose::ProviderReceivable { amount } else { -amount };
        let division = divisions.entry((entry.source.version, entry.movement)).or_default();
        division.total += owed;
        if let Some(seller_id) = entry.seller_id {
            *division.sellers.entry(seller_id).or_default() += owed;
        }
    }
    let mut of = |moved: &Moved| {
        if orphaned.contains(&moved.request_id) {
            return BTreeMap::new();
        }
        let (movement, sign) = match moved.kind {
            Kind::Sale => (Movement::Capture, 1),
            Kind::Refund => (Movement::Refund, -1),
            Kind::RefundReverted
            | Kind::ChargeBack
            | Kind::ChargeBackReversal
            | Kind::Fee
            | Kind::Payout
            | Kind::Anticipation => return BTreeMap::new(),
        };
        let is_it = |(key, division): &(&(i64, Movement), &Division)| {
            key.1 == movement && division.total * sign == moved.amount
        };
        let Some(key) = divisions.iter().find(is_it).map(|(key, _)| *key) else { return BTreeMap::new() };
        let sellers = divisions.remove(&key).unwrap_or_default().sellers;
        sellers.into_iter().map(|(seller_id, owed)| (seller_id, owed * sign)).collect()
    };
    moved.iter().map(&mut of).collect()
}
