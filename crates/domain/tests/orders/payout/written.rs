//! What a node writes of its decisions, under the conditions under which the store writes.

use regente_domain::business_days::Calendar;
use regente_domain::payout::BatchStatus;
use regente_domain::payout::batch::Told;
use regente_domain::payout::transfer::{self, Again, Decided, Sending};
use regente_domain::prepayment::Step as Moves;

use super::paying::{Batch, Debt, Node, Paying, Plan, Taking, batch_id, prepayment_id};
use super::{Fault, Payouts};

impl Payouts {
    /// Writes what a node has decided; what has changed since is left as it is, and the node is idle.
    pub(super) fn write(&self, after: &mut Paying, node: usize, plan: Plan) {
        after.nodes[node] = Node::Idle;
        match plan {
            Plan::Orders { charge, new } => {
                if after.of_charge(charge).all(|order| order.ordinal < new[0].ordinal) {
                    // That of a day that has come has a job of its own.
                    after.paydays.extend(new.iter().map(|order| order.scheduled_at.max(after.today)));
                    after.orders.extend(new);
                }
            }
            Plan::Draw { method, taking, orders, debt, drawn, discount } => {
                let taken = after.taken(method, taking);
                let is_guarded = match self.fault {
                    Some(Fault::DebtUnguarded) => false,
                    Some(Fault::FirstDebtUnguarded) => (debt.version, drawn.debt) != (0, 0),
                    Some(Fault::AnotherName | Fault::UnknownIsRefused | Fault::OneLook) | None => true,
                };
                if taken.len() != orders || (is_guarded && after.debt != debt) {
                    return;
                }
                if is_guarded || self.fault == Some(Fault::DebtUnguarded) {
                    after.debt = Debt { amount: drawn.debt, version: after.debt.version + 1 };
                }
                let prepayment = match taking {
                    Taking::Due(_) => None,
                    Taking::Prepaid(place) => Some(place),
                };
                let today = after.today;
                Self::add(after, taken, |orders| Batch {
                    status: drawn.status,
                    sending: Sending::Unsent,
                    prepayment,
                    orders,
                    figures: drawn.figures,
                    discount,
                    sent_on: today,
                    look: None,
                });
            }
            Plan::Begin(place) => {
                let batch = &mut after.batches[place];
                if (batch.status, batch.sending) == (BatchStatus::Pending, Sending::Unsent) {
                    batch.sending = Sending::Sent;
                    after.nodes[node] = Node::Sends(place);
                }
            }
            Plan::Decide(place, told) => Self::decide(after, place, told),
            Plan::Commit { prepayment, orders, changes } => {
                let status = after.prepayments[prepayment].after(Moves::Accepted);
                let stand_still = after.charges.iter().map(Vec::len).eq(changes);
                if let (Some(status), true, true) = (status, stand_still, Self::are_open(after, &orders)) {
                    after.prepayments[prepayment] = status;
                    Self::join(after, prepayment, orders);
                }
            }
            Plan::Join { prepayment, orders } => {
                if Self::are_open(after, &orders) {
                    Self::join(after, prepayment, orders);
                }
            }
        }
    }

    fn are_open(state: &Paying, orders: &[usize]) -> bool {
        let mut orders = orders.iter().map(|place| &state.orders[*place]);
        orders.all(|order| order.batch_id.is_none() && order.prepayment_id.is_none())
    }

    fn join(after: &mut Paying, prepayment: usize, orders: Vec<usize>) {
        for place in orders {
            after.change(place, |order| order.prepayment_id = Some(prepayment_id(prepayment)));
        }
    }

    /// Adds a batch, which takes these orders.
    fn add(after: &mut Paying, orders: Vec<usize>, batch: impl FnOnce(Vec<usize>) -> Batch) {
        let id = batch_id(after.batches.len());
        for place in &orders {
            after.change(*place, |order| order.batch_id = Some(id));
        }
        after.batches.push(batch(orders));
    }

    /// Writes what the bank says of a batch as it stands now.
    fn decide(after: &mut Paying, place: usize, told: Told) {
        let batch = after.batches[place].clone();
        let decided = transfer::decided(batch.status, told, &batch.figures, batch.prepayment.is_some());
        let tomorrow = Calendar::NATIONAL.after(after.today);
        match decided {
            None => {}
            Some(Decided::Paid) => {
                after.batches[place] = Batch { status: BatchStatus::Paid, look: Some(tomorrow), ..batch };
            }
            Some(Decided::Failed { again, .. }) => {
                after.batches[place] = Batch { status: BatchStatus::Failed, look: None, ..batch.clone() };
                match again {
                    Again::Alike => Self::add(after, batch.orders.clone(), |orders| Batch {
                        status: BatchStatus::Pending,
                        sending: Sending::Unsent,
                        sent_on: tomorrow,
                        look: None,
                        orders,
                        ..batch
                    }),
                    Again::Released { debt } => {
                        if debt > 0 {
                            after.debt.amount += debt;
                            after.debt.version += 1;
                        }
                        for order in batch.orders {
                            after.change(order, |order| order.batch_id = None);
                        }
                        after.paydays.insert(tomorrow);
                    }
                }
            }
        }
    }
}
