//! What the books say of a charge at the platform's own provider, as changes of what its receivers have, in the order in which
//! they happened. The same entries give the same changes, whenever they are read.

use std::collections::BTreeMap;

use crate::ledger::{self, Entry, Movement, Subject};
use crate::payout::{OrderType, Receiver};
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

/// By how much what a receiver has of a charge has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// Which change of the charge it is: steps grow.
    pub step: i64,
    /// When.
    pub at: Timestamp,
    /// Whose.
    pub receiver: Receiver,
    /// What an order about it is.
    pub order_type: OrderType,
    /// Minor units, never 0: more, or less.
    pub amount: i64,
}

/// The changes that the entries of one charge record.
pub fn changes(entries: &[Entry]) -> Vec<Change> {
    let mut steps: BTreeMap<i64, Vec<Entry>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.provider_type == ProviderType::Platform) {
        steps.entry(step_of(entry)).or_default().push(*entry);
    }
    steps.into_iter().flat_map(|(step, entries)| of_step(step, &entries)).collect()
}

/// A version has one step; what was posted late for it has one behind it.
const fn step_of(entry: &Entry) -> i64 {
    entry.source.version * 2 + if entry.source.ordinal < 0 { 1 } else { 0 }
}

fn of_step(step: i64, entries: &[Entry]) -> Vec<Change> {
    let mut amounts: BTreeMap<Receiver, i64> = BTreeMap::new();
    for (part, amount) in ledger::posted(entries) {
        let receiver = match part.subject {
            Subject::Merchant | Subject::PlatformFee => None,
            Subject::Seller => part.seller_id,
            Subject::Hold | Subject::Provider => continue,
        };
        *amounts.entry(receiver).or_default() += amount;
    }
    let is_charge_back = entries.iter().any(|entry| entry.movement == Movement::ChargeBack);
    let at = entries.iter().map(|entry| entry.at).max().unwrap_or_default();
    let changed = amounts.into_iter().filter(|(_, amount)| *amount != 0);
    let change = |(receiver, amount)| {
        let order_type = match (amount > 0, is_charge_back) {
            (true, _) => OrderType::Authorization,
            (false, true) => OrderType::ChargeBack,
            (false, false) => OrderType::Void,
        };
        Change { step, at, receiver, order_type, amount }
    };
    changed.map(change).collect()
}
