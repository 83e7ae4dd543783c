//! Stores the transfers of the simulated bank. It stands for another system: what the product writes about a payment is never in one
//! batch with them. A bank account is known by the last digit of its number alone.

use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::row::Row;
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "id, amount, currency, last_digit, at, sent"
    };
}

sql! {
    /// Adds a transfer; the key refuses a second one of the same name.
    pub INSERT_SIMULATED_TRANSFER = "
        INSERT INTO simulated_transfers (client_id, id, amount, currency, last_digit, at, sent)
        VALUES (:client_id, :id, :amount, :currency, :last_digit, :at, :sent)";
    /// Counts that a transfer was sent again.
    pub SEND_SIMULATED_TRANSFER_AGAIN =
        "UPDATE simulated_transfers SET sent = sent + 1 WHERE client_id = :client_id AND id = :id";
    /// One transfer.
    pub FIND_SIMULATED_TRANSFER = concat!("SELECT ", columns!(), " FROM simulated_transfers
        WHERE client_id = :client_id AND id = :id");
    /// Those of a client, by name.
    pub LIST_SIMULATED_TRANSFERS = concat!("SELECT ", columns!(), " FROM simulated_transfers
        WHERE client_id = :client_id ORDER BY id");
}

/// A transfer that the simulated bank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedTransfer {
    /// Its name, that of its batch.
    pub id: PaymentBatchId,
    /// How much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// The last digit of the account number, which decides what becomes of it; some numbers have none.
    pub last_digit: Option<char>,
    /// When it came first, by the account's time.
    pub at: Timestamp,
    /// How often it was sent.
    pub sent: i64,
}

/// Adds a transfer; the batch is refused when there is one of this name.
pub fn insert(batch: &mut Batch, transfer: &SimulatedTransfer) {
    let SimulatedTransfer { id, amount, currency, last_digit, at, sent } = *transfer;
    let client_id = batch.client_id();
    batch.push(
        &INSERT_SIMULATED_TRANSFER,
        args! {
            client_id, id, amount: amount.minor_units(), currency: currency.code(),
            last_digit: last_digit.map(String::from).unwrap_or_default(), at, sent,
        },
    );
}

/// Counts that a transfer was sent again.
pub fn send_again(batch: &mut Batch, id: PaymentBatchId) {
    let client_id = batch.client_id();
    batch.push(&SEND_SIMULATED_TRANSFER_AGAIN, args! { client_id, id });
}

/// The transfer of this name.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when it cannot be read.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: PaymentBatchId,
) -> Result<Option<SimulatedTransfer>, StoreError> {
    store.row(&FIND_SIMULATED_TRANSFER, args! { client_id, id }).await?.as_ref().map(from_row).transpose()
}

/// All transfers of a client, by name.
///
/// # Errors
/// As [`find`].
pub async fn list(store: &Store, client_id: ClientId) -> Result<Vec<SimulatedTransfer>, StoreError> {
    store.rows(&LIST_SIMULATED_TRANSFERS, args! { client_id }).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<SimulatedTransfer, StoreError> {
    let corrupt = || StoreError::Corrupt("a transfer of the simulated bank".to_owned());
    Ok(SimulatedTransfer {
        id: row.get("id")?,
        amount: Amount::new(row.get("amount")?).ok_or_else(corrupt)?,
        currency: Currency::parse(row.get("currency")?).ok_or_else(corrupt)?,
        last_digit: row.get::<&str>("last_digit")?.chars().next(),
        at: row.get("at")?,
        sent: row.get("sent")?,
    })
}
