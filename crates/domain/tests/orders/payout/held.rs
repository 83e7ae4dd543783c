//! What must hold of the money.

use std::collections::BTreeMap;
use std::sync::Arc;

use regente_domain::payout::{BatchStatus, Order};
use regente_domain::prepayment::PrepaymentStatus;
use stateright::Property;

use super::Payouts;
use super::bank::Has;
use super::paying::{Batch, Paying, prepayment_id};
use crate::several::is_over;

pub(super) const ONE_PAID_BATCH: &str = "an order is paid by one batch";
pub(super) const ONE_TRANSFER: &str = "a batch is paid by one transfer";
pub(super) const NAMED: &str = "every cent is paid, on its way or due, less what is owed";
pub(super) const BATCH_OF_ORDERS: &str = "a batch pays what its orders come to";
pub(super) const DEBT_ONCE: &str = "a debt is set off once";
pub(super) const AS_THE_BANK: &str = "a batch ends as its transfer does";

pub(super) fn properties() -> Vec<Property<Payouts>> {
    vec![
        Property::always(ONE_PAID_BATCH, |_, state: &Paying| {
            let mut paid: BTreeMap<usize, usize> = BTreeMap::new();
            for (place, batch) in state.batches.iter().enumerate() {
                let times = state.bank.paid(place);
                batch.orders.iter().for_each(|order| *paid.entry(*order).or_default() += times);
            }
            paid.values().all(|times| *times <= 1)
        }),
        Property::always(ONE_TRANSFER, |_, state: &Paying| {
            (0..state.batches.len()).all(|place| state.bank.paid(place) <= 1)
        }),
        Property::always(NAMED, |_, state: &Paying| state.names_every_cent()),
        Property::always(BATCH_OF_ORDERS, |_, state: &Paying| state.batches_pay_their_orders()),
        Property::always(DEBT_ONCE, |_, state: &Paying| state.debts_are_set_off_once()),
        Property::always(
            "an order is of one prepayment at once, and of none that is over",
            |_, state: &Paying| state.prepays_once(),
        ),
        Property::always(AS_THE_BANK, |model: &Payouts, state: &Paying| {
            !model.rests(state) || state.is_as_the_bank_has_it()
        }),
        Property::always(
            "nothing that is due is left, once nothing is under way",
            |model: &Payouts, state: &Paying| {
                let is_open =
                    |order: &Arc<Order>| order.batch_id.is_none() && order.scheduled_at <= state.today;
                !model.rests(state) || !state.orders.iter().any(is_open)
            },
        ),
        Property::always("every run ends at rest", |model: &Payouts, state: &Paying| {
            model.rests(state) || !is_over(model, state)
        }),
    ]
}

impl Batch {
    fn is_kept(&self) -> bool {
        self.status != BatchStatus::Failed
    }

    fn is_paid_out(&self) -> bool {
        matches!(self.status, BatchStatus::Pending | BatchStatus::Paid)
    }
}

impl Paying {
    /// The orders, less what it costs to be paid early, are what is paid, on its way or due, less what is owed.
    pub(super) fn names_every_cent(&self) -> bool {
        let orders: i64 = self.orders.iter().map(|order| order.net()).sum();
        let costs: i64 = self.batches.iter().filter(|of| of.is_kept()).map(|of| of.discount).sum();
        let paid = self.batches.iter().filter(|of| of.is_paid_out()).map(|of| of.figures.final_balance());
        let open = self.orders.iter().filter(|order| order.batch_id.is_none()).map(|order| order.net());
        orders - costs == paid.sum::<i64>() + open.sum::<i64>() - self.debt.amount
    }

    pub(super) fn batches_pay_their_orders(&self) -> bool {
        self.batches.iter().all(|batch| {
            let net: i64 = batch.orders.iter().map(|place| self.orders[*place].net()).sum();
            batch.figures.net() == net - batch.discount
        })
    }

    /// What batches have left missing is what others have set off, and what is owed.
    pub(super) fn debts_are_set_off_once(&self) -> bool {
        let kept = || self.batches.iter().filter(|of| of.is_kept()).map(|of| of.figures);
        let missing: i64 = kept().map(|figures| (-figures.net()).max(0)).sum();
        let set_off: i64 = kept().map(|figures| figures.balance).sum();
        self.debt.amount >= 0 && missing == set_off + self.debt.amount
    }

    pub(super) fn prepays_once(&self) -> bool {
        self.prepayments.iter().enumerate().all(|(place, status)| {
            let orders = self.orders.iter().filter(|of| of.prepayment_id == Some(prepayment_id(place)));
            let has_orders = orders.count() > 0;
            has_orders == matches!(status, PrepaymentStatus::Committed | PrepaymentStatus::Paid)
        })
    }

    /// What is paid is paid at the bank, and nothing else is.
    pub(super) fn is_as_the_bank_has_it(&self) -> bool {
        self.batches.iter().enumerate().all(|(place, batch)| match batch.status {
            BatchStatus::Pending => false,
            BatchStatus::Paid => self.bank.has.get(&place) == Some(&Has::Paid),
            BatchStatus::Failed => {
                matches!(self.bank.has.get(&place), Some(Has::Refused | Has::Returned))
            }
            BatchStatus::Offset => !self.bank.has.contains_key(&place),
        })
    }
}
