//! What of a prepayment is paid on its day. What was given back of a receivable since the commit is deducted at once, and costs
//! nothing.

use std::collections::{BTreeSet, HashMap};

use super::{Item, Offers, Rates, left_of};
use crate::id::{ChargeId, PayoutOrderId};
use crate::money::Amount;
use crate::payout::Order;

/// The orders that reduce what a prepayment has `taken`, and are not paid yet: they go with it. `known` are all orders of its charges to
/// its receiver.
pub fn late_reductions(taken: &[Order], known: &[Order]) -> Vec<PayoutOrderId> {
    let places: BTreeSet<(ChargeId, i64)> =
        taken.iter().map(|order| (order.charge_id, order.ordinal)).collect();
    let is_late = |order: &&Order| {
        let reduces = order.reduces.is_some_and(|ordinal| places.contains(&(order.charge_id, ordinal)));
        reduces && order.batch_id.is_none() && order.prepayment_id.is_none()
    };
    known.iter().filter(is_late).map(|order| order.id).collect()
}

/// What it costs to pay early what is left of the items whose orders are in no batch, and for which `belongs` holds, in minor units.
/// `known` are all orders of their charges to their receiver.
pub fn discount(items: &[Item], rates: Rates, known: &[Order], belongs: impl Fn(&Order) -> bool) -> i64 {
    let mut offers = Offers::at(rates);
    let mut of_charge: HashMap<ChargeId, Vec<Order>> = HashMap::new();
    for order in known {
        of_charge.entry(order.charge_id).or_default().push(order.clone());
    }
    let costs = items.iter().filter_map(|item| {
        let orders = of_charge.get(&item.charge_id)?;
        let is_open = |order: &&Order| order.id == item.id && order.batch_id.is_none();
        let order = orders.iter().find(is_open).filter(|order| belongs(order))?;
        let left = Amount::new(left_of(orders, order))?;
        Some(left.minor_units() - offers.cost(left, item.days).net.minor_units())
    });
    costs.sum()
}
