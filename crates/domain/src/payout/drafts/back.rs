//! What comes back undoes what has taken it, the latest first: with the installment and the part of the fee that it had, on the day on
//! which it was taken. A dispute that is won pays no installment before its day.

use jiff::civil::Date;

use super::{Known, is_receivable, share, sum};
use crate::payout::OrderType;

/// What is still taken by an order, in minor units, more than 0.
#[derive(Clone, Copy)]
struct Taken {
    by: Known,
    gross: i64,
    fee: i64,
}

/// The orders that bring `amount` back; what nothing has taken is due on the next business day.
pub(super) fn brought_back(known: &[Known], amount: i64, (today, next_day): (Date, Date)) -> Vec<Known> {
    let parts = undo(&mut still_taken(known), amount);
    let more = amount - sum(parts.iter().map(|part| part.gross));
    let mut made: Vec<Known> = parts.iter().map(|part| part.given_back(today, next_day)).collect();
    if more > 0 {
        made.push(of_no_installment(more, next_day));
    }
    keep_within(known, &mut made);
    made
}

impl Taken {
    const fn of(by: Known) -> Self {
        Self { by, gross: -by.gross, fee: -by.fee }
    }

    /// A part of it; the last part has what is left of the fee.
    fn part(self, gross: i64) -> Self {
        let fee = if gross == self.gross {
            self.fee
        } else {
            share(-self.by.fee, gross, -self.by.gross).min(self.fee)
        };
        Self { gross, fee, ..self }
    }

    /// The order that gives it back. What was taken on a day that has come, and has been paid out, comes on the next business day.
    fn given_back(&self, today: Date, next_day: Date) -> Known {
        let is_over = !self.by.is_open && self.by.scheduled_at <= today;
        Known {
            installment: self.by.installment,
            total_installments: self.by.total_installments,
            fee: self.fee,
            ..of_no_installment(self.gross, if is_over { next_day } else { self.by.scheduled_at })
        }
    }
}

const fn of_no_installment(gross: i64, scheduled_at: Date) -> Known {
    Known {
        ordinal: 0,
        order_type: OrderType::Authorization,
        installment: None,
        total_installments: None,
        gross,
        fee: 0,
        scheduled_at,
        reduces: None,
        is_open: true,
    }
}

/// What is taken and has not come back, the latest last.
fn still_taken(known: &[Known]) -> Vec<Taken> {
    let mut taken = Vec::new();
    for order in known {
        match order.order_type {
            OrderType::Void | OrderType::ChargeBack => taken.push(Taken::of(*order)),
            OrderType::Authorization => {
                undo(&mut taken, order.gross);
            }
        }
    }
    taken
}

/// Undoes as much of what was taken last, and tells its parts.
fn undo(taken: &mut Vec<Taken>, amount: i64) -> Vec<Taken> {
    let (mut missing, mut parts) = (amount, Vec::new());
    while missing > 0
        && let Some(last) = taken.pop()
    {
        let part = last.part(missing.min(last.gross));
        missing -= part.gross;
        if part.gross < last.gross {
            taken.push(Taken { gross: last.gross - part.gross, fee: last.fee - part.fee, ..last });
        }
        parts.push(part);
    }
    parts
}

/// Keeps all of the capture's fee when all of it is back, never more of it, and nothing of what is still owed.
fn keep_within(known: &[Known], made: &mut [Known]) {
    let brought = || known.iter().take_while(|order| is_receivable(order) && order.installment.is_some());
    let (gross, fee) = (sum(brought().map(|order| order.gross)), sum(brought().map(|order| order.fee)));
    let mut after = sum(known.iter().map(|order| order.gross));
    let mut left = fee - sum(known.iter().map(|order| order.fee));
    for order in made {
        after += order.gross;
        let most = if after > 0 { left } else { 0 };
        let least = if after >= gross { left } else { 0 };
        order.fee = order.fee.min(most).max(least);
        left -= order.fee;
    }
}
