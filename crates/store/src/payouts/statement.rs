//! Sums by receiver: what orders say, what batches have paid, what is owed.

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::payout::Receiver;

use super::{currency, number_of, receiver};
use crate::row::Row;
use crate::{Store, StoreError, args, sql};

sql! {
    /// What orders say, by receiver.
    PAYOUT_ORDERS_BY_RECEIVER = "
        SELECT receiver, currency, COUNT(*) AS n,
            CAST(SUM(CASE WHEN order_type = 'authorization' THEN gross ELSE 0 END) AS BIGINT) AS authorized,
            CAST(SUM(CASE WHEN order_type = 'void' THEN -gross ELSE 0 END) AS BIGINT) AS voided,
            CAST(SUM(CASE WHEN order_type = 'charge_back' THEN -gross ELSE 0 END) AS BIGINT) AS charged_back,
            CAST(SUM(fee) AS BIGINT) AS fee,
            CAST(SUM(CASE WHEN batch_id IS NULL AND scheduled_at <= :today THEN gross - fee ELSE 0 END) AS BIGINT) AS due,
            CAST(SUM(CASE WHEN batch_id IS NULL AND scheduled_at > :today THEN gross - fee ELSE 0 END) AS BIGINT) AS later
        FROM payout_orders WHERE client_id = :client_id GROUP BY receiver, currency ORDER BY receiver, currency";
    /// What batches have paid or are about to, by receiver.
    PAYMENT_BATCHES_BY_RECEIVER = "
        SELECT receiver, currency,
            CAST(SUM(CASE WHEN status = 'paid' THEN final_balance ELSE 0 END) AS BIGINT) AS paid,
            CAST(SUM(CASE WHEN status = 'pending' THEN final_balance ELSE 0 END) AS BIGINT) AS on_its_way,
            CAST(SUM(CASE WHEN status <> 'failed' THEN total_fee - fee ELSE 0 END) AS BIGINT) AS discount
        FROM payment_batches WHERE client_id = :client_id GROUP BY receiver, currency";
    /// What is owed, by receiver.
    PAYOUT_DEBTS_BY_RECEIVER = "
        SELECT receiver, currency, CAST(SUM(amount) AS BIGINT) AS debt
        FROM payout_debts WHERE client_id = :client_id GROUP BY receiver, currency";
}

/// Everything about one receiver in one currency, in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Who.
    pub receiver: Receiver,
    /// In which currency.
    pub currency: Currency,
    /// Number of orders.
    pub orders: u64,
    /// What charges have brought.
    pub authorized: i64,
    /// What payers were given back.
    pub voided: i64,
    /// What payers' banks have taken back.
    pub charged_back: i64,
    /// What the provider keeps.
    pub fee: i64,
    /// What it has cost to be paid early.
    pub discount: i64,
    /// What was paid.
    pub paid: i64,
    /// What is on its way.
    pub on_its_way: i64,
    /// What is due and in no batch.
    pub due: i64,
    /// What is due on later days.
    pub later: i64,
    /// What the receiver owes.
    pub debt: i64,
}

/// Everything about each receiver of an account.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn statement(store: &Store, client_id: ClientId, today: Date) -> Result<Vec<Sums>, StoreError> {
    let orders = store.rows(&PAYOUT_ORDERS_BY_RECEIVER, args! { client_id, today: number_of(today) }).await?;
    let mut sums = orders.iter().map(of_orders).collect::<Result<Vec<Sums>, StoreError>>()?;
    for row in store.rows(&PAYMENT_BATCHES_BY_RECEIVER, args! { client_id }).await? {
        if let Some(of) = of_same(&mut sums, &row)? {
            (of.paid, of.on_its_way) = (row.get("paid")?, row.get("on_its_way")?);
            of.discount = row.get("discount")?;
        }
    }
    for row in store.rows(&PAYOUT_DEBTS_BY_RECEIVER, args! { client_id }).await? {
        if let Some(of) = of_same(&mut sums, &row)? {
            of.debt = row.get("debt")?;
        }
    }
    Ok(sums)
}

fn of_same<'a>(sums: &'a mut [Sums], row: &Row) -> Result<Option<&'a mut Sums>, StoreError> {
    let (receiver, currency) = (receiver(row)?, currency(row)?);
    Ok(sums.iter_mut().find(|sums| sums.receiver == receiver && sums.currency == currency))
}

fn of_orders(row: &Row) -> Result<Sums, StoreError> {
    Ok(Sums {
        receiver: receiver(row)?,
        currency: currency(row)?,
        orders: row.get("n")?,
        authorized: row.get("authorized")?,
        voided: row.get("voided")?,
        charged_back: row.get("charged_back")?,
        fee: row.get("fee")?,
        due: row.get("due")?,
        later: row.get("later")?,
        discount: 0,
        paid: 0,
        on_its_way: 0,
        debt: 0,
    })
}
