//! The jobs of payouts: one writes the orders of a charge, one pays what is due on a day, one hands a batch to the bank.

use jiff::civil::Date;
use regente_domain::charge::Charge;
use regente_domain::id::PaymentBatchId;
use regente_domain::ledger;
use regente_domain::local_day;
use regente_domain::payout::Order;
pub use regente_domain::payout::schedule::{moment_of, next_payday};
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::Seller;
use regente_domain::time::Timestamp;
use regente_store::Batch;

use super::{Kind, NO_PAYLOAD};
use crate::app::App;

/// Has the orders of a charge written in the batch that changes what the platform's own provider has of it. Charges of other
/// providers cost one comparison.
pub fn wake(app: &App, batch: &mut Batch, before: &Charge, after: &Charge) {
    if (is_own(before) || is_own(after)) && ledger::position(before) != ledger::position(after) {
        write_orders(app, batch, after);
    }
}

fn is_own(charge: &Charge) -> bool {
    charge.state.responsible() == Some(ProviderType::Platform)
}

/// Has the orders of a charge written if it is the own provider's. Each version has a job of its own: one that runs may have looked
/// already.
pub fn write_orders(app: &App, batch: &mut Batch, charge: &Charge) {
    if is_own(charge) {
        let (now, key) = (app.clock.of(charge.client_id), format!("{}/{}", charge.id, charge.version));
        super::enqueue(app, batch, Kind::PayoutOrders, &key, &charge.id.to_string(), now);
    }
}

/// Has paid out what an order is about, on its day. Orders of one day to come share one job; that of a day that has come may have run.
pub fn pay_out(app: &App, batch: &mut Batch, order: &Order) {
    let now = app.clock.of(order.client_id);
    let day = order.scheduled_at;
    if day > local_day::day_of(now) {
        pay_out_on(app, batch, day);
    } else {
        let key = format!("{day}/{}", order.id);
        super::enqueue(app, batch, Kind::Payday, &key, NO_PAYLOAD, moment_of(day).max(now));
    }
}

/// Has paid out what is due on a day to come.
pub fn pay_out_on(app: &App, batch: &mut Batch, day: Date) {
    super::enqueue(app, batch, Kind::Payday, &day.to_string(), NO_PAYLOAD, moment_of(day));
}

/// Has what a seller is due paid out on the next payday, in the batch of the change from which on it may be paid.
pub fn resume(app: &App, batch: &mut Batch, before: &Seller, after: &Seller) {
    let is_paid = |seller: &Seller| seller.is_paid_by(ProviderType::Platform);
    if !is_paid(before) && is_paid(after) {
        pay_out_on(app, batch, next_payday(&app.settings.calendar, app.clock.of(after.client_id)));
    }
}

/// Hands a batch to the bank at a time, and follows it until the bank has decided.
pub fn transfer(app: &App, batch: &mut Batch, id: PaymentBatchId, at: Timestamp) {
    super::enqueue(app, batch, Kind::Transfer, &id.to_string(), &id.to_string(), at);
}

/// Looks once more at a batch that was paid: it may have come back.
pub fn look_for_return(app: &App, batch: &mut Batch, id: PaymentBatchId, at: Timestamp) {
    super::enqueue(app, batch, Kind::Transfer, &format!("{id}/returned"), &id.to_string(), at);
}
