//! Lists of orders and batches by creation, with the filters of `docs/interface/payouts.md`.

use jiff::civil::Date;
use regente_domain::id::{ChargeId, ClientId, Id, PaymentBatchId};
use regente_domain::payout::{BatchStatus, Order, Receiver};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::batches::{self, PaymentBatch};
use super::{key_of, number_of, orders};
use crate::spans::Direction;
use crate::sql::Sql;
use crate::sums::NOBODY;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

macro_rules! orders_where {
    ($which:literal) => {
        concat!(
            " FROM payout_orders WHERE client_id = :client_id AND id >= :from AND id < :before \
             AND (CAST(:any_receiver AS BIGINT) = 1 OR receiver = :receiver)",
            $which
        )
    };
}
macro_rules! page {
    ($columns:expr, $from:expr, $direction:literal) => {
        concat!("SELECT ", $columns, $from, " ORDER BY id ", $direction, " LIMIT :limit OFFSET :offset")
    };
}
macro_rules! batches_where {
    ($which:literal) => {
        concat!(
            " FROM payment_batches WHERE client_id = :client_id AND id >= :from AND id < :before \
             AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
             AND payment_date >= :first_day AND payment_date <= :last_day",
            $which
        )
    };
}

sql! {
    /// Orders, newest first.
    PAYOUT_ORDERS_DESC = page!(orders::columns!(), orders_where!(""), "DESC");
    /// Orders, oldest first.
    PAYOUT_ORDERS_ASC = page!(orders::columns!(), orders_where!(""), "ASC");
    /// Counts orders.
    COUNT_PAYOUT_ORDERS = concat!("SELECT COUNT(*) AS n", orders_where!(""));
    /// Orders of a receiver, newest first.
    PAYOUT_ORDERS_OF_RECEIVER_DESC = page!(orders::columns!(), orders_where!(" AND receiver = :receiver"), "DESC");
    /// Orders of a receiver, oldest first.
    PAYOUT_ORDERS_OF_RECEIVER_ASC = page!(orders::columns!(), orders_where!(" AND receiver = :receiver"), "ASC");
    /// Counts the orders of a receiver.
    COUNT_PAYOUT_ORDERS_OF_RECEIVER = concat!("SELECT COUNT(*) AS n", orders_where!(" AND receiver = :receiver"));
    /// Orders of a charge, newest first.
    PAYOUT_ORDERS_OF_CHARGE_DESC = page!(orders::columns!(), orders_where!(" AND charge_id = :charge_id"), "DESC");
    /// Orders of a charge, oldest first.
    PAYOUT_ORDERS_OF_CHARGE_ASC = page!(orders::columns!(), orders_where!(" AND charge_id = :charge_id"), "ASC");
    /// Counts the orders of a charge.
    COUNT_PAYOUT_ORDERS_OF_CHARGE = concat!("SELECT COUNT(*) AS n", orders_where!(" AND charge_id = :charge_id"));
    /// Orders of a batch, newest first.
    PAYOUT_ORDERS_OF_BATCH_DESC = page!(orders::columns!(), orders_where!(" AND batch_id = :batch_id"), "DESC");
    /// Orders of a batch, oldest first.
    PAYOUT_ORDERS_OF_BATCH_ASC = page!(orders::columns!(), orders_where!(" AND batch_id = :batch_id"), "ASC");
    /// Counts the orders of a batch.
    COUNT_PAYOUT_ORDERS_OF_BATCH = concat!("SELECT COUNT(*) AS n", orders_where!(" AND batch_id = :batch_id"));
    /// Batches, newest first.
    PAYMENT_BATCHES_DESC = page!(batches::columns!(), batches_where!(""), "DESC");
    /// Batches, oldest first.
    PAYMENT_BATCHES_ASC = page!(batches::columns!(), batches_where!(""), "ASC");
    /// Counts batches.
    COUNT_PAYMENT_BATCHES = concat!("SELECT COUNT(*) AS n", batches_where!(""));
    /// Batches of a receiver, newest first.
    PAYMENT_BATCHES_OF_RECEIVER_DESC = page!(batches::columns!(), batches_where!(" AND receiver = :receiver"), "DESC");
    /// Batches of a receiver, oldest first.
    PAYMENT_BATCHES_OF_RECEIVER_ASC = page!(batches::columns!(), batches_where!(" AND receiver = :receiver"), "ASC");
    /// Counts the batches of a receiver.
    COUNT_PAYMENT_BATCHES_OF_RECEIVER = concat!("SELECT COUNT(*) AS n", batches_where!(" AND receiver = :receiver"));
}

/// The filter of a list of orders. An absent member means all.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderFilter {
    /// Of this receiver.
    pub receiver: Option<Receiver>,
    /// Of this charge.
    pub charge_id: Option<ChargeId>,
    /// In this batch.
    pub batch_id: Option<PaymentBatchId>,
    /// Created at or after.
    pub from: Option<Timestamp>,
    /// Created before.
    pub before: Option<Timestamp>,
}

/// The filter of a list of batches. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct BatchFilter {
    /// Of this receiver.
    pub receiver: Option<Receiver>,
    /// In one of these states.
    pub statuses: Option<Vec<BatchStatus>>,
    /// Created at or after.
    pub from: Option<Timestamp>,
    /// Created before.
    pub before: Option<Timestamp>,
    /// To be paid on this day.
    pub payment_date: Option<Date>,
}

/// Ids of what was created at or after one moment and before another.
fn ids(from: Option<Timestamp>, before: Option<Timestamp>) -> (Uuid, Uuid) {
    let first = |at| Id::<Uuid>::first_at(at).uuid();
    (from.map_or(Uuid::nil(), first), before.map_or(Uuid::max(), first))
}

/// The statements of a list: newest first, oldest first, and its count.
type Statements = [&'static Sql; 3];

impl OrderFilter {
    fn statements(&self) -> Statements {
        if self.batch_id.is_some() {
            [&PAYOUT_ORDERS_OF_BATCH_DESC, &PAYOUT_ORDERS_OF_BATCH_ASC, &COUNT_PAYOUT_ORDERS_OF_BATCH]
        } else if self.charge_id.is_some() {
            [&PAYOUT_ORDERS_OF_CHARGE_DESC, &PAYOUT_ORDERS_OF_CHARGE_ASC, &COUNT_PAYOUT_ORDERS_OF_CHARGE]
        } else if self.receiver.is_some() {
            [
                &PAYOUT_ORDERS_OF_RECEIVER_DESC,
                &PAYOUT_ORDERS_OF_RECEIVER_ASC,
                &COUNT_PAYOUT_ORDERS_OF_RECEIVER,
            ]
        } else {
            [&PAYOUT_ORDERS_DESC, &PAYOUT_ORDERS_ASC, &COUNT_PAYOUT_ORDERS]
        }
    }

    fn args(&self, client_id: ClientId) -> Args {
        let (from, before) = ids(self.from, self.before);
        let args = args! {
            client_id, from, before,
            any_receiver: self.receiver.is_none(),
            receiver: self.receiver.map_or(NOBODY, key_of),
        };
        match (self.batch_id, self.charge_id) {
            (Some(batch_id), _) => args.with("batch_id", batch_id),
            (None, Some(charge_id)) => args.with("charge_id", charge_id),
            (None, None) => args,
        }
    }
}

impl BatchFilter {
    const fn statements(&self) -> Statements {
        match self.receiver {
            Some(_) => [
                &PAYMENT_BATCHES_OF_RECEIVER_DESC,
                &PAYMENT_BATCHES_OF_RECEIVER_ASC,
                &COUNT_PAYMENT_BATCHES_OF_RECEIVER,
            ],
            None => [&PAYMENT_BATCHES_DESC, &PAYMENT_BATCHES_ASC, &COUNT_PAYMENT_BATCHES],
        }
    }

    fn args(&self, client_id: ClientId) -> Args {
        let (from, before) = ids(self.from, self.before);
        let args = args! {
            client_id, from, before,
            statuses: Json::list(self.statuses.as_deref(), |status| status.word().to_owned()),
            first_day: self.payment_date.map_or(0, number_of),
            last_day: self.payment_date.map_or(i64::MAX, number_of),
        };
        match self.receiver {
            Some(receiver) => args.with("receiver", key_of(receiver)),
            None => args,
        }
    }
}

/// One page of the orders of a client. `batch_id` of a filter is not combined with `charge_id`.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn list_orders(
    store: &Store,
    client_id: ClientId,
    filter: &OrderFilter,
    direction: Direction,
    (limit, offset): (i64, i64),
) -> Result<Vec<Order>, StoreError> {
    let [descending, ascending, _] = filter.statements();
    let args = filter.args(client_id).with("limit", limit).with("offset", offset);
    store.rows(of(direction, descending, ascending), args).await?.iter().map(orders::from_row).collect()
}

/// How many orders of a client match.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count_orders(
    store: &Store,
    client_id: ClientId,
    filter: &OrderFilter,
) -> Result<u64, StoreError> {
    let [_, _, count] = filter.statements();
    store.row(count, filter.args(client_id)).await?.map_or(Ok(0), |row| row.get("n"))
}

/// One page of the batches of a client.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn list_batches(
    store: &Store,
    client_id: ClientId,
    filter: &BatchFilter,
    direction: Direction,
    (limit, offset): (i64, i64),
) -> Result<Vec<PaymentBatch>, StoreError> {
    let [descending, ascending, _] = filter.statements();
    let args = filter.args(client_id).with("limit", limit).with("offset", offset);
    store.rows(of(direction, descending, ascending), args).await?.iter().map(batches::from_row).collect()
}

/// How many batches of a client match.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn count_batches(
    store: &Store,
    client_id: ClientId,
    filter: &BatchFilter,
) -> Result<u64, StoreError> {
    let [_, _, count] = filter.statements();
    store.row(count, filter.args(client_id)).await?.map_or(Ok(0), |row| row.get("n"))
}

const fn of(direction: Direction, descending: &'static Sql, ascending: &'static Sql) -> &'static Sql {
    match direction {
        Direction::Descending => descending,
        Direction::Ascending => ascending,
    }
}
