//! Prepayment: money that would come later is paid on the next business day, less what that costs
//! (`docs/interface/prepayment.md`). [`Rates`] is the arithmetic, [`Schedule`] until when an offer stands and when it is
//! paid, [`PrepaymentStatus`] what becomes of it, [`NewPrepayment`] what is sent, [`receivables`] which there are.

mod items;
mod payment;
mod rates;
mod receivables;
mod refusal;
mod schedule;
mod sent;
mod status;

pub use items::{Item, Offers, Totals, unchanged};
pub use payment::{discount, late_reductions};
pub use rates::{Cost, EffectiveRate, Factor, Rates};
pub use receivables::{Receivable, left_of, receivables, stands_still};
pub use refusal::Refusal;
pub use schedule::{HOUR_OF_DEADLINE, Schedule};
pub use sent::{DATES_MAX, NewPrepayment, Selection};
pub use status::{PrepaymentStatus, Step};
