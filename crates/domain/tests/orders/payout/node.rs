//! What a node reads, and what the product decides from it.

use std::sync::Arc;

use regente_domain::business_days::Calendar;
use regente_domain::card::Brand;
use regente_domain::currency::Currency;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::batch::{Told, draw};
use regente_domain::payout::drafts::{Deal, Known, drafts};
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::transfer::{self, Answer, Found, Sending, Step as Next};
use regente_domain::payout::{BatchStatus, Order};
use regente_domain::prepayment::{
    PrepaymentStatus, Receivable, Step as Moves, discount, late_reductions, receivables, unchanged,
};

use super::bank::OTHER;
use super::paying::{Batch, Node, Paying, Plan, Taking, batch_id, prepayment_id};
use super::{Fault, Payouts};
use crate::charge::NOW;
use crate::id;

/// What a node may begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Task {
    /// The orders of a charge are written.
    Orders(usize),
    /// What is due of a method is paid out.
    Payday(PayoutMethod),
    /// The transfer of a batch is followed.
    Transfer(usize),
    /// A prepayment is accepted.
    Commit(usize),
    /// What is due of a prepayment is done.
    Prepayment(usize),
}

impl Payouts {
    /// What a node reads and decides; `None` where there is nothing to do.
    pub(super) fn begin(&self, state: &Paying, node: usize, task: Task) -> Option<Paying> {
        let mut after = state.clone();
        match task {
            Task::Orders(charge) => after.nodes[node] = Node::Writes(self.missing(state, charge)?),
            Task::Payday(method) => {
                let plan = Self::drawn(state, method, Taking::Due(state.today), 0)?;
                after.nodes[node] = Node::Writes(plan);
            }
            Task::Transfer(place) => self.follow(&mut after, node, place, state.batches[place].status, None),
            Task::Commit(place) => {
                after.left.commits = after.left.commits.checked_sub(1)?;
                after.nodes[node] = Node::Writes(self.accepted(state, place)?);
            }
            Task::Prepayment(place) => self.look(&mut after, node, place)?,
        }
        Some(after)
    }

    /// What is next for a transfer: `status` is that of its batch when it was read.
    pub(super) fn follow(
        &self,
        after: &mut Paying,
        node: usize,
        place: usize,
        status: BatchStatus,
        found: Option<Found>,
    ) {
        let sending = after.batches[place].sending;
        let next = match (self.fault, found) {
            (Some(Fault::AnotherName), None)
                if (status, sending) == (BatchStatus::Pending, Sending::Sent) =>
            {
                after.nodes[node] = Node::Sends(OTHER + place);
                return;
            }
            (Some(Fault::UnknownIsRefused), Some(Found::Told(Answer::Unknown))) => {
                Next::Decide(Told::Refused, None)
            }
            (Some(Fault::OneLook), Some(Found::Told(Answer::Unknown))) if status == BatchStatus::Paid => {
                Next::Rest
            }
            (_, found) => transfer::next(status, sending, found),
        };
        after.nodes[node] = match next {
            Next::Rest => {
                after.batches[place].look = None;
                Node::Idle
            }
            Next::Wait => Node::Idle,
            Next::Begin => Node::Writes(Plan::Begin(place)),
            Next::Ask => Node::Asks(place, status),
            Next::Send => Node::Sends(place),
            Next::Decide(told, _) => Node::Writes(Plan::Decide(place, told)),
        };
    }

    /// The orders that a charge misses.
    fn missing(&self, state: &Paying, charge: usize) -> Option<Plan> {
        let done = state.of_charge(charge).map(|order| order.step).max();
        let mut known: Vec<Known> = state.of_charge(charge).map(|order| Known::of(order)).collect();
        let sale = &self.sales[charge];
        let brand = (sale.method == PayoutMethod::Credit).then_some(Brand::Visa);
        let deal = Deal {
            terms: &self.terms,
            method: sale.method.in_plans(),
            brand,
            installments: 1,
            calendar: &Calendar::NATIONAL,
        };
        let mut new = Vec::new();
        for change in state.charges[charge].iter().filter(|change| done.is_none_or(|done| change.step > done))
        {
            let next = known.len() as i64;
            let drafted = drafts(&known, change, &deal, next);
            known.extend(&drafted);
            new.extend(drafted.into_iter().map(|draft| {
                Arc::new(Order {
                    id: id(1_000 * (charge as u128 + 1) + draft.ordinal as u128),
                    client_id: id(2),
                    charge_id: id(charge as u128),
                    ordinal: draft.ordinal,
                    step: change.step,
                    receiver: None,
                    merchant_id: id(3),
                    order_type: draft.order_type,
                    installment: draft.installment,
                    total_installments: draft.total_installments,
                    gross: draft.gross,
                    fee: draft.fee,
                    currency: Currency::BRL,
                    method: sale.method,
                    arrangement: Arrangement::of(sale.method, brand),
                    scheduled_at: draft.scheduled_at,
                    reduces: draft.reduces,
                    batch_id: None,
                    prepayment_id: None,
                    updated_at: NOW,
                })
            }));
        }
        (!new.is_empty()).then_some(Plan::Orders { charge, new })
    }

    fn drawn(state: &Paying, method: PayoutMethod, taking: Taking, discount: i64) -> Option<Plan> {
        let taken = state.taken(method, taking);
        let drawn = draw(&state.sums(&taken, discount), state.debt.amount);
        let (orders, debt) = (taken.len(), state.debt);
        (orders > 0).then_some(Plan::Draw { method, taking, orders, debt, drawn, discount })
    }

    /// The acceptance of an offer. The charges of its items stand still: what they hold is in their orders.
    fn accepted(&self, state: &Paying, place: usize) -> Option<Plan> {
        if state.today >= self.paid_on || state.prepayments[place].after(Moves::Accepted).is_none() {
            return None;
        }
        let mut found: Vec<Receivable> = Vec::new();
        for (charge, changes) in state.charges.iter().enumerate() {
            let orders = owned(state.of_charge(charge));
            let held: i64 = changes.iter().map(|change| change.amount).sum();
            if held > 0 && held == orders.iter().map(|order| order.gross).sum::<i64>() {
                found.extend(receivables(&orders, self.paid_on));
            }
        }
        let accepted = unchanged(&self.offers[place], &found)?;
        let ids: Vec<_> =
            accepted.iter().flat_map(|one| [one.id].into_iter().chain(one.reductions.clone())).collect();
        let orders = (0..state.orders.len()).filter(|place| ids.contains(&state.orders[*place].id)).collect();
        let changes = state.charges.iter().map(Vec::len).collect();
        Some(Plan::Commit { prepayment: place, orders, changes })
    }

    /// What is due of a prepayment: its end and its payment are written at once, as they are read again before.
    fn look(&self, after: &mut Paying, node: usize, place: usize) -> Option<()> {
        let status = after.prepayments[place];
        if after.today < self.paid_on {
            return None;
        }
        if status != PrepaymentStatus::Committed {
            after.prepayments[place] = status.after(Moves::TimeOver)?;
            return Some(());
        }
        let known = owned(&after.orders);
        let of_prepayment = |order: &&Order| order.prepayment_id == Some(prepayment_id(place));
        let taken: Vec<Order> = known.iter().filter(of_prepayment).cloned().collect();
        if taken.iter().all(|order| order.batch_id.is_some()) {
            let batches = after.batches.iter().enumerate();
            let drawn =
                batches.filter(|(at, _)| taken.iter().any(|order| order.batch_id == Some(batch_id(*at))));
            let is_settled = |of: &Batch| matches!(of.status, BatchStatus::Paid | BatchStatus::Offset);
            if !drawn.map(|(_, batch)| batch).all(is_settled) {
                return None;
            }
            after.prepayments[place] = status.after(Moves::PaidOut)?;
            return Some(());
        }
        let late = late_reductions(&taken, &known);
        let plan = if late.is_empty() {
            let costs = discount(&self.offers[place], self.rates, &known, |_| true);
            Self::drawn(after, PayoutMethod::Credit, Taking::Prepaid(place), costs)?
        } else {
            let orders = (0..known.len()).filter(|at| late.contains(&known[*at].id)).collect();
            Plan::Join { prepayment: place, orders }
        };
        after.nodes[node] = Node::Writes(plan);
        Some(())
    }
}

fn owned<'a>(orders: impl IntoIterator<Item = &'a Arc<Order>>) -> Vec<Order> {
    orders.into_iter().map(|order| Order::clone(order)).collect()
}
