//! Payment batches.

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::payout::batch::Figures;
use regente_domain::payout::transfer::Sending;
use regente_domain::payout::{BatchStatus, Feature, Receiver};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::{Group, Owner, arrangement, code_of, corrupt, day, day_of, key_of, method, number_of};
use crate::batch::Batch;
use crate::row::Row;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "id, client_id, receiver, merchant_id, currency, method, arrangement, feature, status, prepayment_id, orders, amount, \
         fee, total_fee, balance, credit, refund, debit_adjustment, credit_adjustment, withdrawal_fee, final_balance, \
         payment_date, payout_date, transfer, looks, error, version, updated_at"
    };
}
pub(super) use columns;

sql! {
    /// Adds a batch.
    pub INSERT_PAYMENT_BATCH = "
        INSERT INTO payment_batches (id, client_id, receiver, merchant_id, currency, method, arrangement, feature, status,
            prepayment_id, orders, amount, fee, total_fee, balance, credit, refund, debit_adjustment, credit_adjustment,
            withdrawal_fee, final_balance, payment_date, payout_date, transfer, looks, error, version, updated_at)
        VALUES (:id, :client_id, :receiver, :merchant_id, :currency, :method, :arrangement, :feature, :status,
            :prepayment_id, :orders, :amount, :fee, :total_fee, :balance, :credit, :refund, :debit_adjustment,
            :credit_adjustment, :withdrawal_fee, :final_balance, :payment_date, :payout_date, :transfer, :looks, :error, 1,
            :updated_at)";
    /// Moves a batch; guarded by the version.
    pub UPDATE_PAYMENT_BATCH = "
        UPDATE payment_batches SET status = :status, payout_date = :payout_date, transfer = :transfer, looks = :looks,
            error = :error, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// One batch.
    pub FIND_PAYMENT_BATCH = concat!("SELECT ", columns!(), " FROM payment_batches
        WHERE id = :id AND client_id = :client_id");
    /// Batches that are on their way, oldest first.
    pub PENDING_PAYMENT_BATCHES = concat!("SELECT ", columns!(), " FROM payment_batches
        WHERE client_id = :client_id AND status = 'pending' AND id > :after ORDER BY id LIMIT :limit");
    /// Batches between two ids.
    pub PAYMENT_BATCHES_BETWEEN = concat!("SELECT ", columns!(), " FROM payment_batches
        WHERE client_id = :client_id AND id >= :first AND id <= :last ORDER BY id LIMIT :limit");
    /// The batches that a prepayment has made.
    pub PAYMENT_BATCHES_OF_PREPAYMENT = concat!("SELECT ", columns!(), " FROM payment_batches
        WHERE client_id = :client_id AND receiver = :receiver AND prepayment_id = :prepayment_id ORDER BY id");
    /// What is on its way to a receiver.
    pub SUM_PENDING_PAYMENT_BATCHES = "
        SELECT CAST(COALESCE(SUM(final_balance), 0) AS BIGINT) AS n FROM payment_batches
        WHERE client_id = :client_id AND receiver = :receiver AND status = 'pending' AND currency = :currency";
}

/// A batch as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentBatch {
    /// Its id; the time of creation is the id's own. It is also the name of its transfer.
    pub id: PaymentBatchId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// Whose and of what.
    pub group: Group,
    /// Where the money comes from.
    pub feature: Feature,
    /// Where it stands.
    pub status: BatchStatus,
    /// The prepayment that it pays.
    pub prepayment_id: Option<Uuid>,
    /// Number of its orders.
    pub orders: u64,
    /// What it shows.
    pub figures: Figures,
    /// When it is to be paid.
    pub payment_date: Date,
    /// When it was.
    pub payout_date: Option<Date>,
    /// Whether the bank may have been asked.
    pub transfer: Sending,
    /// How often the bank has been asked what became of it.
    pub looks: i64,
    /// Why it has failed.
    pub error: Option<String>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Adds a batch.
pub fn insert(batch: &mut Batch, new: &PaymentBatch) {
    let (owner, figures) = (&new.group.owner, &new.figures);
    batch.push(
        &INSERT_PAYMENT_BATCH,
        args! {
            id: new.id,
            client_id: new.client_id,
            receiver: key_of(owner.receiver),
            merchant_id: owner.merchant_id,
            currency: owner.currency.code(),
            method: new.group.method.word(),
            arrangement: code_of(new.group.arrangement),
            feature: new.feature.word(),
            status: new.status.word(),
            prepayment_id: new.prepayment_id,
            orders: i64::try_from(new.orders).unwrap_or(i64::MAX),
            amount: figures.amount,
            fee: figures.fee,
            total_fee: figures.total_fee,
            balance: figures.balance,
            credit: figures.credit,
            refund: figures.refund,
            debit_adjustment: figures.debit_adjustment,
            credit_adjustment: figures.credit_adjustment,
            withdrawal_fee: figures.withdrawal_fee,
            final_balance: figures.final_balance(),
            payment_date: number_of(new.payment_date),
            payout_date: new.payout_date.map(number_of),
            transfer: new.transfer.word(),
            looks: new.looks,
            error: new.error.clone(),
            updated_at: new.updated_at,
        },
    );
}

/// Writes where a batch stands; the change is refused when it has changed since the version in `batch`.
pub fn update(change: &mut Batch, batch: &PaymentBatch) {
    change.guard(
        &UPDATE_PAYMENT_BATCH,
        args! {
            id: batch.id,
            client_id: batch.client_id,
            version: batch.version,
            status: batch.status.word(),
            payout_date: batch.payout_date.map(number_of),
            transfer: batch.transfer.word(),
            looks: batch.looks,
            error: batch.error.clone(),
            updated_at: batch.updated_at,
        },
    );
}

/// One batch of a client.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: PaymentBatchId,
) -> Result<Option<PaymentBatch>, StoreError> {
    store.row(&FIND_PAYMENT_BATCH, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// Batches that are on their way, after one of them, oldest first.
///
/// # Errors
/// As [`find`].
pub async fn pending(
    store: &Store,
    client_id: ClientId,
    after: PaymentBatchId,
    limit: i64,
) -> Result<Vec<PaymentBatch>, StoreError> {
    let rows = store.rows(&PENDING_PAYMENT_BATCHES, args! { client_id, after, limit }).await?;
    rows.iter().map(from_row).collect()
}

/// Batches from one id to another, oldest first.
///
/// # Errors
/// As [`find`].
pub async fn between(
    store: &Store,
    client_id: ClientId,
    (first, last): (PaymentBatchId, PaymentBatchId),
    limit: i64,
) -> Result<Vec<PaymentBatch>, StoreError> {
    let rows = store.rows(&PAYMENT_BATCHES_BETWEEN, args! { client_id, first, last, limit }).await?;
    rows.iter().map(from_row).collect()
}

/// The batches that a prepayment of a receiver has made, oldest first.
///
/// # Errors
/// As [`find`].
pub async fn of_prepayment(
    store: &Store,
    client_id: ClientId,
    receiver: Receiver,
    prepayment_id: Uuid,
) -> Result<Vec<PaymentBatch>, StoreError> {
    let args = args! { client_id, receiver: key_of(receiver), prepayment_id };
    store.rows(&PAYMENT_BATCHES_OF_PREPAYMENT, args).await?.iter().map(from_row).collect()
}

/// What is on its way to a receiver, in minor units.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn on_its_way(
    store: &Store,
    client_id: ClientId,
    (receiver, currency): (Receiver, Currency),
) -> Result<i64, StoreError> {
    let args = args! { client_id, receiver: key_of(receiver), currency: currency.code() };
    store.row(&SUM_PENDING_PAYMENT_BATCHES, args).await?.map_or(Ok(0), |row| row.get("n"))
}

pub(super) fn from_row(row: &Row) -> Result<PaymentBatch, StoreError> {
    let payout_date: Option<i64> = row.get("payout_date")?;
    let payout_date = payout_date.map(|number| day_of(number).ok_or_else(|| corrupt("payout_date")));
    Ok(PaymentBatch {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        group: Group { owner: Owner::of(row)?, method: method(row)?, arrangement: arrangement(row)? },
        feature: Feature::parse(row.get("feature")?).ok_or_else(|| corrupt("feature"))?,
        status: BatchStatus::parse(row.get("status")?).ok_or_else(|| corrupt("status"))?,
        prepayment_id: row.get("prepayment_id")?,
        orders: row.get("orders")?,
        figures: Figures {
            amount: row.get("amount")?,
            fee: row.get("fee")?,
            total_fee: row.get("total_fee")?,
            balance: row.get("balance")?,
            credit: row.get("credit")?,
            refund: row.get("refund")?,
            debit_adjustment: row.get("debit_adjustment")?,
            credit_adjustment: row.get("credit_adjustment")?,
            withdrawal_fee: row.get("withdrawal_fee")?,
        },
        payment_date: day(row, "payment_date")?,
        payout_date: payout_date.transpose()?,
        transfer: Sending::parse(row.get("transfer")?).ok_or_else(|| corrupt("transfer"))?,
        looks: row.get("looks")?,
        error: row.get("error")?,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
