//! Payouts: how the money of the platform's own provider reaches who it belongs to (`docs/payouts.md`). [`orders`] writes
//! what receivers are due of a charge, [`payday`] makes batches of what is due, [`transfers`] hands them to the bank, or
//! [`files`] to one that takes files and [`returned`] reads what it answers, [`receivers`] says who may be paid, [`account`]
//! where they are paid, [`statement`] adds everything up.

pub mod account;
pub mod files;
pub mod orders;
pub mod payday;
pub mod receivers;
pub mod returned;
pub mod statement;
pub mod transfers;

use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, PaymentBatchId, PayoutOrderId};
use regente_domain::local_day;
use regente_domain::payout::{Order, Receiver};
use regente_store::charges::Direction;
use regente_store::payouts::batches::PaymentBatch;
use regente_store::payouts::{self as rows, BatchFilter, OrderFilter, batches, debts};

use crate::app::App;
use crate::error::Error;

/// The currency in which the own provider pays.
pub const CURRENCY: Currency = Currency::BRL;

/// What a receiver has, in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Due and not paid, less debts; may be negative.
    pub available: i64,
    /// Due on later days.
    pub receivable: i64,
}

/// What a receiver has.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn balance(app: &App, client_id: ClientId, receiver: Receiver) -> Result<Balance, Error> {
    let (store, of) = (&app.store, (receiver, CURRENCY));
    let open = rows::orders::open(store, client_id, of, local_day::day_of(app.clock.of(client_id))).await?;
    let on_its_way = batches::on_its_way(store, client_id, of).await?;
    let debts = debts::of_receiver(store, client_id, of).await?;
    Ok(Balance { available: open.due + on_its_way - debts, receivable: open.later })
}

/// A page of the orders of an account, and how many match.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list_orders(
    app: &App,
    client_id: ClientId,
    filter: &OrderFilter,
    direction: Direction,
    slice: (i64, i64),
) -> Result<(Vec<Order>, u64), Error> {
    let total = rows::count_orders(&app.store, client_id, filter).await?;
    Ok((rows::list_orders(&app.store, client_id, filter, direction, slice).await?, total))
}

/// An order of an account; of this receiver, where one is named.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find_order(
    app: &App,
    client_id: ClientId,
    id: PayoutOrderId,
    receiver: Option<Receiver>,
) -> Result<Order, Error> {
    let found = rows::orders::find(&app.store, client_id, id).await?;
    found.filter(|order| receiver.is_none_or(|receiver| order.receiver == receiver)).ok_or(Error::NotFound)
}

/// A page of the payment batches of an account, and how many match.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list_batches(
    app: &App,
    client_id: ClientId,
    filter: &BatchFilter,
    direction: Direction,
    slice: (i64, i64),
) -> Result<(Vec<PaymentBatch>, u64), Error> {
    let total = rows::count_batches(&app.store, client_id, filter).await?;
    Ok((rows::list_batches(&app.store, client_id, filter, direction, slice).await?, total))
}

/// A payment batch of an account; of this receiver, where one is named.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find_batch(
    app: &App,
    client_id: ClientId,
    id: PaymentBatchId,
    receiver: Option<Receiver>,
) -> Result<PaymentBatch, Error> {
    let found = batches::find(&app.store, client_id, id).await?;
    let is_wanted =
        |batch: &PaymentBatch| receiver.is_none_or(|receiver| batch.group.owner.receiver == receiver);
    found.filter(is_wanted).ok_or(Error::NotFound)
}
