//! Stores payouts (`docs/payouts.md`): orders, which stay as they are but for where they are paid, the batches in which receivers
//! are paid, and what receivers owe.

pub mod accounts;
pub mod batches;
pub mod debts;
pub mod files;
mod list;
pub mod orders;
pub mod prepaid;
pub mod statement;
mod taking;

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::id::{MerchantId, SellerId};
use regente_domain::payout::Receiver;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::method::PayoutMethod;

pub use self::list::{BatchFilter, OrderFilter, count_batches, count_orders, list_batches, list_orders};
pub use self::taking::{Group, Taking, due_receivers, groups, sums, take};
use crate::StoreError;
use crate::row::Row;
use crate::sums::NOBODY;

/// A receiver as a key has it.
fn key_of(receiver: Receiver) -> SellerId {
    receiver.unwrap_or(NOBODY)
}

fn receiver(row: &Row) -> Result<Receiver, StoreError> {
    let key: SellerId = row.get("receiver")?;
    Ok(Some(key).filter(|key| *key != NOBODY))
}

/// A day as a number such as 20260422.
fn number_of(day: Date) -> i64 {
    (i64::from(day.year()) * 100 + i64::from(day.month())) * 100 + i64::from(day.day())
}

fn day_of(number: i64) -> Option<Date> {
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn day(row: &Row, column: &str) -> Result<Date, StoreError> {
    day_of(row.get(column)?).ok_or_else(|| corrupt(column))
}

fn currency(row: &Row) -> Result<Currency, StoreError> {
    Currency::parse(row.get("currency")?).ok_or_else(|| corrupt("currency"))
}

fn method(row: &Row) -> Result<PayoutMethod, StoreError> {
    PayoutMethod::parse(row.get("method")?).ok_or_else(|| corrupt("method"))
}

fn arrangement(row: &Row) -> Result<Option<Arrangement>, StoreError> {
    match row.get::<&str>("arrangement")? {
        "" => Ok(None),
        code => Arrangement::parse(code).map(Some).ok_or_else(|| corrupt("arrangement")),
    }
}

const fn code_of(arrangement: Option<Arrangement>) -> &'static str {
    match arrangement {
        Some(arrangement) => arrangement.word(),
        None => "",
    }
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(format!("{what} of payouts"))
}

/// Whose money of which merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// Who is paid.
    pub receiver: Receiver,
    /// The merchant whose charges it is from.
    pub merchant_id: MerchantId,
    /// In which currency.
    pub currency: Currency,
}

impl Owner {
    fn of(row: &Row) -> Result<Self, StoreError> {
        Ok(Self { receiver: receiver(row)?, merchant_id: row.get("merchant_id")?, currency: currency(row)? })
    }
}
