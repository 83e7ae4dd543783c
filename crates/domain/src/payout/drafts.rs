//! The orders that a change of a charge makes. Money that came is divided over installments; money that went reduces what is not
//! paid out yet, from the last installment backwards, and then what is; what comes back undoes that. Orders keep what their fee was,
//! so that what is taken back gives it back, the last cent with the last part.

mod back;

use std::cmp::Reverse;

use jiff::civil::Date;

use super::change::Change;
use super::schedule::{divided, due_on, next_payday};
use super::{Order, OrderType};
use crate::business_days::Calendar;
use crate::card::Brand;
use crate::local_day;
use crate::money::Amount;
use crate::plan::{PlanMethod, Terms};

/// How a charge is paid out to one receiver.
#[derive(Clone, Copy, Debug)]
pub struct Deal<'a> {
    /// The receiver's terms as of the capture.
    pub terms: &'a Terms,
    /// How it was paid.
    pub method: PlanMethod,
    /// The brand of the card.
    pub brand: Option<Brand>,
    /// Number of installments.
    pub installments: u8,
    /// The days on which it can be due.
    pub calendar: &'a Calendar,
}

/// What there is of an order that the next change looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its place among the orders of the charge.
    pub ordinal: i64,
    /// What it is about.
    pub order_type: OrderType,
    /// The installment.
    pub installment: Option<u8>,
    /// Of how many.
    pub total_installments: Option<u8>,
    /// Minor units.
    pub gross: i64,
    /// Minor units.
    pub fee: i64,
    /// When it is due.
    pub scheduled_at: Date,
    /// The place of the order that it reduces.
    pub reduces: Option<i64>,
    /// Whether it is in no batch.
    pub is_open: bool,
}

impl Known {
    /// Of an order.
    pub const fn of(order: &Order) -> Self {
        Self {
            ordinal: order.ordinal,
            order_type: order.order_type,
            installment: order.installment,
            total_installments: order.total_installments,
            gross: order.gross,
            fee: order.fee,
            scheduled_at: order.scheduled_at,
            reduces: order.reduces,
            is_open: order.batch_id.is_none(),
        }
    }
}

/// The orders that a change makes, in their order from the place `next`. `known` are those of the receiver for this charge.
pub fn drafts(known: &[Known], change: &Change, deal: &Deal<'_>, next: i64) -> Vec<Known> {
    let today = local_day::day_of(change.at);
    let next_day = deal.calendar.after(today);
    let mut made = match change.amount {
        0 => Vec::new(),
        1.. if known.is_empty() => brought(change.amount, today, deal),
        1.. => back::brought_back(known, change.amount, (today, next_day)),
        ..0 => taken(known, change, next_payday(deal.calendar, change.at)),
    };
    for (ordinal, order) in (next..).zip(&mut made) {
        order.ordinal = ordinal;
    }
    made
}

/// What a capture brings: one order for each installment.
fn brought(amount: i64, today: Date, deal: &Deal<'_>) -> Vec<Known> {
    let gross = Amount::new(amount).unwrap_or(Amount::ZERO);
    let fee = deal.terms.fee_of(deal.method, deal.brand, deal.installments, gross).minor_units();
    let policy = deal.terms.policy_of(deal.method);
    let total = deal.installments.max(1);
    let parts = divided(amount, total).into_iter().zip(divided(fee, total));
    let orders = (1..=total).zip(parts).filter(|(_, (gross, _))| *gross != 0);
    let order = |(installment, (gross, fee))| Known {
        ordinal: 0,
        order_type: OrderType::Authorization,
        installment: Some(installment),
        total_installments: Some(total),
        gross,
        fee,
        scheduled_at: due_on(deal.calendar, today, &policy, installment),
        reduces: None,
        is_open: true,
    };
    orders.map(order).collect()
}

/// What an order has left after what reduces it.
struct Left {
    order: Known,
    gross: i64,
    fee: i64,
}

/// What is given or taken back. What was paid out already is deducted on the next payday, which may be that of the same day.
fn taken(known: &[Known], change: &Change, payday: Date) -> Vec<Known> {
    let reductions = |of: i64| known.iter().filter(move |order| order.reduces == Some(of));
    let receivables = known.iter().filter(|order| is_receivable(order));
    let mut left: Vec<Left> = receivables
        .map(|order| Left {
            order: *order,
            gross: order.gross + sum(reductions(order.ordinal).map(|order| order.gross)),
            fee: order.fee + sum(reductions(order.ordinal).map(|order| order.fee)),
        })
        .collect();
    // What is not paid out yet comes first, of each the latest.
    left.sort_by_key(|left| Reverse((left.order.is_open, left.order.scheduled_at, left.order.ordinal)));
    let (mut missing, mut made) = (-change.amount, Vec::new());
    let mut held = sum(known.iter().map(|order| order.fee));
    let unreduced = Known {
        ordinal: 0,
        order_type: change.order_type,
        installment: None,
        total_installments: None,
        gross: 0,
        fee: 0,
        scheduled_at: payday,
        reduces: None,
        is_open: true,
    };
    for Left { order, gross, fee } in left.iter().filter(|left| left.gross > 0) {
        let part = missing.min(*gross);
        if part == 0 {
            break;
        }
        let of_fee = if part == *gross { *fee } else { share(order.fee, part, order.gross).min(*fee) };
        // Never more than is kept of all, nor less than nothing.
        let of_fee = of_fee.min(held).max(0);
        held -= of_fee;
        made.push(Known {
            installment: order.installment,
            total_installments: order.total_installments,
            gross: -part,
            fee: -of_fee,
            scheduled_at: if order.is_open { order.scheduled_at } else { payday },
            reduces: Some(order.ordinal),
            ..unreduced
        });
        missing -= part;
    }
    if missing > 0 {
        made.push(Known { gross: -missing, ..unreduced });
    }
    let all = || known.iter().chain(&made);
    let (gross, fee) = (sum(all().map(|order| order.gross)), sum(all().map(|order| order.fee)));
    // Nothing is kept of what there is nothing left of.
    if gross <= 0
        && let Some(last) = made.last_mut()
    {
        last.fee -= fee;
    }
    made
}

/// Whether others can reduce it.
const fn is_receivable(order: &Known) -> bool {
    match order.order_type {
        OrderType::Authorization => true,
        OrderType::Void | OrderType::ChargeBack => false,
    }
}

fn sum(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.sum()
}

/// `whole` by `part` of `of`, half a cent rounded up; 0 of nothing.
fn share(whole: i64, part: i64, of: i64) -> i64 {
    if of <= 0 {
        return 0;
    }
    let (whole, part, of) = (i128::from(whole), i128::from(part), i128::from(of));
    i64::try_from((whole * part * 2 + of).div_euclid(of * 2)).unwrap_or(0)
}
