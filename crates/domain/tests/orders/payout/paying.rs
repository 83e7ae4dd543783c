//! What is stored of payouts, and what two nodes do with it. One receiver is paid, whose charges may be of different methods: those
//! are paid by different batches and share one debt.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;
use regente_domain::id::PaymentBatchId;
use regente_domain::payout::batch::{Drawn, Figures, Sums, Told};
use regente_domain::payout::change::Change;
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::transfer::Sending;
use regente_domain::payout::{BatchStatus, Order, OrderType};
use regente_domain::prepayment::PrepaymentStatus;

use super::bank::{Bank, Name};
use crate::id;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Paying {
    pub today: Date,
    /// What the books say of each charge; as many changes it has had.
    pub charges: Vec<Vec<Change>>,
    pub orders: Vec<Arc<Order>>,
    pub batches: Vec<Batch>,
    pub debt: Debt,
    pub prepayments: Vec<PrepaymentStatus>,
    /// Days on which what is due is paid out.
    pub paydays: BTreeSet<Date>,
    pub nodes: [Node; 2],
    pub bank: Bank,
    pub left: May,
}

/// What the receiver owes. Version 0 is that of no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Debt {
    pub amount: i64,
    pub version: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Batch {
    pub status: BatchStatus,
    pub sending: Sending,
    pub prepayment: Option<usize>,
    /// The places of its orders; it keeps them when they are paid by another one.
    pub orders: Vec<usize>,
    pub figures: Figures,
    /// What it costs to be paid early.
    pub discount: i64,
    /// From when on it is sent.
    pub sent_on: Date,
    /// From when on the bank is asked whether it came back.
    pub look: Option<Date>,
}

/// Which orders a batch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Taking {
    Due(Date),
    Prepaid(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    #[default]
    Idle,
    /// It has decided, and not written yet.
    Writes(Plan),
    /// It is about to send a transfer.
    Sends(Name),
    /// It waits for the answer to a transfer that it has sent.
    Waits(Name),
    /// It has read the status of a batch, and asks the bank what became of its transfer.
    Asks(usize, BatchStatus),
}

/// What a node writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Plan {
    /// The orders that a charge misses.
    Orders { charge: usize, new: Vec<Arc<Order>> },
    /// A batch of so many orders, as drawn from the debt that was read.
    Draw { method: PayoutMethod, taking: Taking, orders: usize, debt: Debt, drawn: Drawn, discount: i64 },
    /// That the transfer of a batch may have been sent.
    Begin(usize),
    /// What the bank has decided.
    Decide(usize, Told),
    /// That a prepayment is accepted: its orders, and how many changes each charge had.
    Commit { prepayment: usize, orders: Vec<usize>, changes: Vec<usize> },
    /// That orders go with a prepayment.
    Join { prepayment: usize, orders: Vec<usize> },
}

/// How often something may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct May {
    /// Charges that are captured.
    pub captures: u8,
    /// Refunds of a part.
    pub refunds: u8,
    pub charge_backs: u8,
    /// Charge backs that are undone.
    pub reversals: u8,
    /// Calls that are lost, and answers.
    pub silences: u8,
    /// Transfers that the bank decides later.
    pub delays: u8,
    pub refusals: u8,
    /// Transfers that the bank gives back.
    pub returns: u8,
    pub crashes: u8,
    /// How often a second node begins something while the first one is at work.
    pub twins: u8,
    /// Prepayments that are accepted or tried to be.
    pub commits: u8,
}

/// The name of a batch in its orders.
pub(super) fn batch_id(place: usize) -> PaymentBatchId {
    id(500 + place as u128)
}

impl Paying {
    /// The places of the orders that a batch of a method takes.
    pub(super) fn taken(&self, method: PayoutMethod, taking: Taking) -> Vec<usize> {
        let is_taken = |order: &Order| {
            let is_wanted = match taking {
                Taking::Due(today) => order.prepayment_id.is_none() && order.scheduled_at <= today,
                Taking::Prepaid(place) => order.prepayment_id == Some(prepayment_id(place)),
            };
            order.method == method && order.batch_id.is_none() && is_wanted
        };
        (0..self.orders.len()).filter(|place| is_taken(&self.orders[*place])).collect()
    }

    /// The sums of these orders.
    pub(super) fn sums(&self, places: &[usize], discount: i64) -> Sums {
        let orders = || places.iter().map(|place| &self.orders[*place]);
        let gross =
            |of: OrderType| orders().filter(move |order| order.order_type == of).map(|order| order.gross);
        Sums {
            authorized: gross(OrderType::Authorization).sum(),
            voided: -gross(OrderType::Void).sum::<i64>(),
            charged_back: -gross(OrderType::ChargeBack).sum::<i64>(),
            fee: orders().map(|order| order.fee).sum(),
            discount,
        }
    }

    /// The orders of a charge, in their order.
    pub(super) fn of_charge(&self, charge: usize) -> impl Iterator<Item = &Arc<Order>> {
        self.orders.iter().filter(move |order| order.charge_id == id(charge as u128))
    }

    /// Changes an order.
    pub(super) fn change(&mut self, place: usize, change: impl FnOnce(&mut Order)) {
        change(Arc::make_mut(&mut self.orders[place]));
    }
}

pub(super) fn prepayment_id(place: usize) -> uuid::Uuid {
    uuid::Uuid::from_u128(700 + place as u128)
}
