//! Orders: added, read, and named by the batch or the prepayment that pays them.

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId, PaymentBatchId, PayoutOrderId};
use regente_domain::payout::{Order, OrderType, Receiver};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::{arrangement, code_of, corrupt, currency, day, key_of, method, number_of, receiver};
use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "id, client_id, charge_id, ordinal, step, receiver, merchant_id, order_type, installment, total_installments, \
         gross, fee, currency, method, arrangement, scheduled_at, reduces, batch_id, prepayment_id, updated_at"
    };
}
pub(super) use columns;

sql! {
    /// Adds an order; the unique index refuses a second one in the same place.
    pub INSERT_PAYOUT_ORDER = "
        INSERT INTO payout_orders (id, client_id, charge_id, ordinal, step, receiver, merchant_id, order_type, installment,
            total_installments, gross, fee, currency, method, arrangement, scheduled_at, reduces, updated_at)
        VALUES (:id, :client_id, :charge_id, :ordinal, :step, :receiver, :merchant_id, :order_type, :installment,
            :total_installments, :gross, :fee, :currency, :method, :arrangement, :scheduled_at, :reduces, :updated_at)";
    /// One order.
    pub FIND_PAYOUT_ORDER = concat!("SELECT ", columns!(), " FROM payout_orders
        WHERE id = :id AND client_id = :client_id");
    /// The orders of a charge, in their order.
    pub PAYOUT_ORDERS_OF_CHARGE = concat!("SELECT ", columns!(), " FROM payout_orders
        WHERE charge_id = :charge_id AND client_id = :client_id ORDER BY ordinal");
    /// Gives open orders to a prepayment.
    pub PREPAY_PAYOUT_ORDERS = "
        UPDATE payout_orders SET prepayment_id = :prepayment_id, updated_at = :updated_at
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND batch_id IS NULL AND prepayment_id IS NULL";
    /// What a receiver has in no batch: what is due by a day, and what later.
    pub OPEN_PAYOUT_SUMS = "
        SELECT CAST(COALESCE(SUM(CASE WHEN scheduled_at <= :today THEN gross - fee ELSE 0 END), 0) AS BIGINT) AS due,
            CAST(COALESCE(SUM(CASE WHEN scheduled_at > :today THEN gross - fee ELSE 0 END), 0) AS BIGINT) AS later
        FROM payout_orders
        WHERE client_id = :client_id AND receiver = :receiver AND batch_id IS NULL AND currency = :currency";
    /// Takes the orders out of a batch that was not paid.
    pub RELEASE_PAYOUT_ORDERS = "
        UPDATE payout_orders SET batch_id = NULL, updated_at = :updated_at
        WHERE client_id = :client_id AND batch_id = :batch_id";
    /// Gives the orders of a batch that was not paid to the one that pays them instead.
    pub PASS_PAYOUT_ORDERS_ON = "
        UPDATE payout_orders SET batch_id = :new_batch_id, updated_at = :updated_at
        WHERE client_id = :client_id AND batch_id = :batch_id";
}

/// What a receiver has in no batch, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// Due.
    pub due: i64,
    /// Due on later days.
    pub later: i64,
}

/// Adds an order, which is in no batch yet.
pub fn insert(batch: &mut Batch, order: &Order) {
    batch.push(
        &INSERT_PAYOUT_ORDER,
        args! {
            id: order.id,
            client_id: order.client_id,
            charge_id: order.charge_id,
            ordinal: order.ordinal,
            step: order.step,
            receiver: key_of(order.receiver),
            merchant_id: order.merchant_id,
            order_type: order.order_type.word(),
            installment: order.installment,
            total_installments: order.total_installments,
            gross: order.gross,
            fee: order.fee,
            currency: order.currency.code(),
            method: order.method.word(),
            arrangement: code_of(order.arrangement),
            scheduled_at: number_of(order.scheduled_at),
            reduces: order.reduces,
            updated_at: order.updated_at,
        },
    );
}

/// One order of a client.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: PayoutOrderId,
) -> Result<Option<Order>, StoreError> {
    store.row(&FIND_PAYOUT_ORDER, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The orders of a charge, in their order.
///
/// # Errors
/// As [`find`].
pub async fn of_charge(
    store: &Store,
    client_id: ClientId,
    charge_id: ChargeId,
) -> Result<Vec<Order>, StoreError> {
    let rows = store.rows(&PAYOUT_ORDERS_OF_CHARGE, args! { charge_id, client_id }).await?;
    rows.iter().map(from_row).collect()
}

/// Gives orders to a prepayment. The batch is refused when one of them is in a batch or in another prepayment. What reduces an order
/// goes with it.
pub fn prepay(batch: &mut Batch, ids: &[PayoutOrderId], prepayment_id: Uuid, now: Timestamp) {
    let (client_id, rows) = (batch.client_id(), ids.len() as u64);
    let ids = Json::list(Some(ids), ToString::to_string);
    batch.push_n(&PREPAY_PAYOUT_ORDERS, args! { client_id, ids, prepayment_id, updated_at: now }, rows);
}

/// What a receiver has in no batch.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn open(
    store: &Store,
    client_id: ClientId,
    (receiver, currency): (Receiver, Currency),
    today: Date,
) -> Result<Open, StoreError> {
    let args = args! {
        client_id, receiver: key_of(receiver), currency: currency.code(), today: number_of(today),
    };
    let row = store.row(&OPEN_PAYOUT_SUMS, args).await?;
    row.map_or(Ok(Open::default()), |row| Ok(Open { due: row.get("due")?, later: row.get("later")? }))
}

/// Takes the orders, as many as these, out of a batch that was not paid.
pub fn release(batch: &mut Batch, batch_id: PaymentBatchId, orders: u64, now: Timestamp) {
    let client_id = batch.client_id();
    batch.push_n(&RELEASE_PAYOUT_ORDERS, args! { client_id, batch_id, updated_at: now }, orders);
}

/// Gives the orders, as many as these, of a batch that was not paid to another one.
pub fn pass_on(batch: &mut Batch, (from, to): (PaymentBatchId, PaymentBatchId), orders: u64, now: Timestamp) {
    let args = args! { client_id: batch.client_id(), batch_id: from, new_batch_id: to, updated_at: now };
    batch.push_n(&PASS_PAYOUT_ORDERS_ON, args, orders);
}

pub(super) fn from_row(row: &Row) -> Result<Order, StoreError> {
    Ok(Order {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        charge_id: row.get("charge_id")?,
        ordinal: row.get("ordinal")?,
        step: row.get("step")?,
        receiver: receiver(row)?,
        merchant_id: row.get("merchant_id")?,
        order_type: OrderType::parse(row.get("order_type")?).ok_or_else(|| corrupt("order_type"))?,
        installment: row.get("installment")?,
        total_installments: row.get("total_installments")?,
        gross: row.get("gross")?,
        fee: row.get("fee")?,
        currency: currency(row)?,
        method: method(row)?,
        arrangement: arrangement(row)?,
        scheduled_at: day(row, "scheduled_at")?,
        reduces: row.get("reduces")?,
        batch_id: row.get("batch_id")?,
        prepayment_id: row.get("prepayment_id")?,
        updated_at: row.get("updated_at")?,
    })
}
