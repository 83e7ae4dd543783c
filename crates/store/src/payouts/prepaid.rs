//! Orders of prepayments.

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::payout::{Order, Receiver};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::orders::{columns, from_row};
use super::{key_of, number_of};
use crate::batch::Batch;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// The charges of which a receiver has orders in no batch that are due after a day, a page after one of them.
    OPEN_CHARGES = "
        SELECT DISTINCT charge_id FROM payout_orders
        WHERE client_id = :client_id AND receiver = :receiver AND batch_id IS NULL AND currency = :currency
          AND UNINDEXED scheduled_at > :due_after AND charge_id > :after ORDER BY charge_id LIMIT :limit";
    /// The orders of charges, in their order.
    PAYOUT_ORDERS_OF_CHARGES = concat!("SELECT ", columns!(), " FROM payout_orders
        WHERE UNINDEXED client_id = :client_id AND charge_id IN EACH_UUID(:charges) ORDER BY charge_id, ordinal");
    /// The orders that a prepayment has taken.
    PAYOUT_ORDERS_OF_PREPAYMENT = concat!("SELECT ", columns!(), " FROM payout_orders
        WHERE client_id = :client_id AND prepayment_id = :prepayment_id ORDER BY id");
    /// Takes the orders of a prepayment that is not paid out of it.
    RELEASE_PREPAID_ORDERS = "
        UPDATE payout_orders SET prepayment_id = NULL, updated_at = :updated_at
        WHERE client_id = :client_id AND prepayment_id = :prepayment_id AND batch_id IS NULL";
}

/// Up to `limit` charges, by their ids, after one of them, of which a receiver has something in this currency that is in no batch and is due
/// after a day. What a prepayment has taken counts too.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn open_charges(
    store: &Store,
    client_id: ClientId,
    (receiver, currency): (Receiver, Currency),
    (due_after, after): (Date, ChargeId),
    limit: i64,
) -> Result<Vec<ChargeId>, StoreError> {
    let (receiver, currency, due_after) = (key_of(receiver), currency.code(), number_of(due_after));
    let args = args! { client_id, receiver, currency, due_after, after, limit };
    store.rows(&OPEN_CHARGES, args).await?.iter().map(|row| row.get("charge_id")).collect()
}

/// The orders of these charges.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn of_charges(
    store: &Store,
    client_id: ClientId,
    charges: &[ChargeId],
) -> Result<Vec<Order>, StoreError> {
    let charges = Json::list(Some(charges), ToString::to_string);
    store.rows(&PAYOUT_ORDERS_OF_CHARGES, args! { client_id, charges }).await?.iter().map(from_row).collect()
}

/// The orders that a prepayment has taken.
///
/// # Errors
/// As [`of_charges`].
pub async fn of_prepayment(
    store: &Store,
    client_id: ClientId,
    prepayment_id: Uuid,
) -> Result<Vec<Order>, StoreError> {
    let rows = store.rows(&PAYOUT_ORDERS_OF_PREPAYMENT, args! { client_id, prepayment_id }).await?;
    rows.iter().map(from_row).collect()
}

/// Takes the orders, as many as these, out of a prepayment; the batch is refused when one of them is in a batch.
pub fn release(batch: &mut Batch, prepayment_id: Uuid, orders: u64, now: Timestamp) {
    let client_id = batch.client_id();
    batch.push_n(&RELEASE_PREPAID_ORDERS, args! { client_id, prepayment_id, updated_at: now }, orders);
}
