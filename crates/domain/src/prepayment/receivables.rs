//! Which orders of payouts can be paid early.

use jiff::civil::Date;

use crate::charge::{Charge, StateName};
use crate::currency::Currency;
use crate::id::{ChargeId, PayoutOrderId};
use crate::ledger::{Subject, position};
use crate::money::Amount;
use crate::payout::arrangement::Arrangement;
use crate::payout::{Order, OrderType, Receiver};
use crate::provider_type::ProviderType;

/// The currency in which the platform's own provider settles.
const SETTLED_IN: &str = "BRL";

/// What is to be settled on a later day: an order of a payout, less what has been taken back of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receivable {
    /// Id of the order.
    pub id: PayoutOrderId,
    /// The charge.
    pub charge_id: ChargeId,
    /// The orders that reduce it.
    pub reductions: Vec<PayoutOrderId>,
    /// When it would be settled.
    pub settlement_date: Date,
    /// The payment arrangement.
    pub arrangement: Arrangement,
    /// In cents, net of the fees of the plan, more than 0.
    pub amount: Amount,
}

/// What of the orders of one charge to one receiver is settled later than on a day, and can be paid early: captures by card that are in
/// no batch and in no prepayment, as far as they are not taken back.
pub fn receivables(orders: &[Order], after: Date) -> Vec<Receivable> {
    let open = orders.iter().filter(|order| {
        order.order_type == OrderType::Authorization
            && order.batch_id.is_none()
            && order.prepayment_id.is_none()
            && order.scheduled_at > after
            && Some(order.currency) == Currency::parse(SETTLED_IN)
    });
    let receivable = |order: &Order| {
        Some(Receivable {
            id: order.id,
            charge_id: order.charge_id,
            reductions: reductions(orders, order).map(|order| order.id).collect(),
            settlement_date: order.scheduled_at,
            arrangement: order.arrangement?,
            amount: Amount::new(left_of(orders, order)).filter(|left| *left > Amount::ZERO)?,
        })
    };
    open.filter_map(receivable).collect()
}

/// What is left of an order after what reduces it and is not paid out either, in minor units, net of fees. `orders` are those of its
/// charge to its receiver.
pub fn left_of(orders: &[Order], order: &Order) -> i64 {
    order.net() + reductions(orders, order).map(Order::net).sum::<i64>()
}

fn reductions<'a>(orders: &'a [Order], order: &Order) -> impl Iterator<Item = &'a Order> {
    let ordinal = order.ordinal;
    orders.iter().filter(move |other| other.reduces == Some(ordinal) && other.batch_id.is_none())
}

/// Whether nothing is under way with a charge, and its orders to this receiver say what it holds for them: a refund that is not in
/// the orders yet is about to change them.
pub fn stands_still(charge: &Charge, receiver: Receiver, orders: &[Order]) -> bool {
    let held = position(charge).into_iter().filter(|(part, _)| {
        let of = match part.subject {
            Subject::Merchant | Subject::PlatformFee => Some(None),
            Subject::Seller => Some(part.seller_id),
            Subject::Hold | Subject::Provider => None,
        };
        part.books.provider_type == ProviderType::Platform && of == Some(receiver)
    });
    let held: i64 = held.map(|(_, amount)| amount).sum();
    let ordered: i64 = orders.iter().map(|order| order.gross).sum();
    charge.state.name() == StateName::Authorized && held == ordered
}
