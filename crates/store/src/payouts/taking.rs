//! Which orders a batch takes: all of one owner, method and arrangement that are due, or those of a prepayment. They are summed
//! and then taken by the same condition; the number of rows tells whether it was still the same ones.

use jiff::civil::Date;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::payout::Receiver;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::batch::Sums;
use regente_domain::payout::method::PayoutMethod;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::{Owner, arrangement, code_of, key_of, method, number_of, receiver};
use crate::batch::Batch;
use crate::row::Row;
use crate::value::Args;
use crate::{Store, StoreError, args, sql};

macro_rules! of_group {
    () => {
        "client_id = :client_id AND receiver = :receiver AND merchant_id = :merchant_id AND currency = :currency \
         AND method = :method AND arrangement = :arrangement AND batch_id IS NULL"
    };
}
macro_rules! sums {
    () => {
        "SELECT COUNT(*) AS n, \
         CAST(COALESCE(SUM(CASE WHEN order_type = 'authorization' THEN gross ELSE 0 END), 0) AS BIGINT) AS authorized, \
         CAST(COALESCE(SUM(CASE WHEN order_type = 'void' THEN -gross ELSE 0 END), 0) AS BIGINT) AS voided, \
         CAST(COALESCE(SUM(CASE WHEN order_type = 'charge_back' THEN -gross ELSE 0 END), 0) AS BIGINT) AS charged_back, \
         CAST(COALESCE(SUM(fee), 0) AS BIGINT) AS fee FROM payout_orders WHERE "
    };
}
macro_rules! take {
    () => {
        "UPDATE payout_orders SET batch_id = :batch_id, updated_at = :updated_at WHERE "
    };
}
macro_rules! groups {
    ($which:literal) => {
        concat!(
            "SELECT receiver, merchant_id, currency, method, arrangement FROM payout_orders \
             WHERE client_id = :client_id AND receiver = :receiver AND batch_id IS NULL AND ",
            $which,
            " GROUP BY receiver, merchant_id, currency, method, arrangement \
             ORDER BY merchant_id, currency, CASE WHEN SUM(gross - fee) > 0 THEN 1 ELSE 0 END, method, arrangement \
             LIMIT :limit"
        )
    };
}

sql! {
    /// To whom something is due.
    DUE_PAYOUT_RECEIVERS = "
        SELECT receiver FROM payout_orders
        WHERE client_id = :client_id AND UNINDEXED receiver >= :first AND batch_id IS NULL AND prepayment_id IS NULL
          AND scheduled_at <= :today
        GROUP BY receiver ORDER BY receiver LIMIT :limit";
    /// Of what something is due.
    DUE_PAYOUT_GROUPS = groups!("prepayment_id IS NULL AND scheduled_at <= :today");
    /// Of what a prepayment has orders.
    PREPAID_PAYOUT_GROUPS = groups!("prepayment_id = :prepayment_id");
    /// The sums of what is due.
    SUM_DUE_PAYOUT_ORDERS = concat!(sums!(), of_group!(), " AND prepayment_id IS NULL AND scheduled_at <= :today");
    /// The sums of what a prepayment has.
    SUM_PREPAID_PAYOUT_ORDERS = concat!(sums!(), of_group!(), " AND prepayment_id = :prepayment_id");
    /// Takes what is due.
    TAKE_DUE_PAYOUT_ORDERS = concat!(take!(), of_group!(), " AND prepayment_id IS NULL AND scheduled_at <= :today");
    /// Takes what a prepayment has.
    TAKE_PREPAID_PAYOUT_ORDERS = concat!(take!(), of_group!(), " AND prepayment_id = :prepayment_id");
}

/// What one batch is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Whose.
    pub owner: Owner,
    /// How the charges were paid.
    pub method: PayoutMethod,
    /// The arrangement of their cards.
    pub arrangement: Option<Arrangement>,
}

/// Which orders of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// Those that are due by a day.
    Due(Date),
    /// Those of a prepayment.
    Prepaid(Uuid),
}

impl Taking {
    fn bound_to(self, args: Args) -> Args {
        match self {
            Self::Due(today) => args.with("today", number_of(today)),
            Self::Prepaid(prepayment_id) => args.with("prepayment_id", prepayment_id),
        }
    }
}

fn args_of(client_id: ClientId, group: &Group) -> Args {
    args! {
        client_id,
        receiver: key_of(group.owner.receiver),
        merchant_id: group.owner.merchant_id,
        currency: group.owner.currency.code(),
        method: group.method.word(),
        arrangement: code_of(group.arrangement),
    }
}

/// Up to `limit` receivers to whom something is due by a day, in their order, after one of them.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn due_receivers(
    store: &Store,
    client_id: ClientId,
    today: Date,
    after: Option<Receiver>,
    limit: i64,
) -> Result<Vec<Receiver>, StoreError> {
    // The account itself has the least id.
    let first =
        after.map_or(Uuid::nil(), |after| Uuid::from_u128(key_of(after).uuid().as_u128().saturating_add(1)));
    let args = args! { client_id, today: number_of(today), first, limit };
    store.rows(&DUE_PAYOUT_RECEIVERS, args).await?.iter().map(receiver).collect()
}

/// Up to `limit` groups of a receiver that have such orders. Of one owner those come first that leave a debt: the others set it off.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn groups(
    store: &Store,
    client_id: ClientId,
    receiver: Receiver,
    taking: Taking,
    limit: i64,
) -> Result<Vec<Group>, StoreError> {
    let sql = match taking {
        Taking::Due(_) => &DUE_PAYOUT_GROUPS,
        Taking::Prepaid(_) => &PREPAID_PAYOUT_GROUPS,
    };
    let args = args! { client_id, receiver: key_of(receiver), limit };
    let rows = store.rows(sql, taking.bound_to(args)).await?;
    rows.iter().map(group_from).collect()
}

/// How many such orders a group has, and their sums, without a discount.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn sums(
    store: &Store,
    client_id: ClientId,
    group: &Group,
    taking: Taking,
) -> Result<(u64, Sums), StoreError> {
    let sql = match taking {
        Taking::Due(_) => &SUM_DUE_PAYOUT_ORDERS,
        Taking::Prepaid(_) => &SUM_PREPAID_PAYOUT_ORDERS,
    };
    let Some(row) = store.row(sql, taking.bound_to(args_of(client_id, group))).await? else {
        return Ok((0, Sums::default()));
    };
    let sums = Sums {
        authorized: row.get("authorized")?,
        voided: row.get("voided")?,
        charged_back: row.get("charged_back")?,
        fee: row.get("fee")?,
        discount: 0,
    };
    Ok((row.get("n")?, sums))
}

/// Takes the orders that [`sums`] has counted into a batch; it is refused when it is not the same number any more.
pub fn take(
    batch: &mut Batch,
    (group, taking): (&Group, Taking),
    (batch_id, orders): (PaymentBatchId, u64),
    now: Timestamp,
) {
    let sql = match taking {
        Taking::Due(_) => &TAKE_DUE_PAYOUT_ORDERS,
        Taking::Prepaid(_) => &TAKE_PREPAID_PAYOUT_ORDERS,
    };
    let args = args_of(batch.client_id(), group).with("batch_id", batch_id).with("updated_at", now);
    batch.push_n(sql, taking.bound_to(args), orders);
}

fn group_from(row: &Row) -> Result<Group, StoreError> {
    Ok(Group { owner: Owner::of(row)?, method: method(row)?, arrangement: arrangement(row)? })
}
