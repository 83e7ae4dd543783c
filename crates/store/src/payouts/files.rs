//! The files of payments that were written for banks, by their numbers.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds a file; the key refuses a second one of the same number.
    pub INSERT_PAYOUT_FILE = "
        INSERT INTO payout_files (client_id, bank, number, payments, amount, made_at)
        VALUES (:client_id, :bank, :number, :payments, :amount, :made_at)";
    /// The number of the last file for a bank.
    pub LAST_PAYOUT_FILE = "
        SELECT number FROM payout_files WHERE client_id = :client_id AND bank = :bank ORDER BY number DESC LIMIT 1";
}

/// A file of payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayoutFile<'a> {
    /// The COMPE code of the bank that it is for.
    pub bank: &'a str,
    /// Its number.
    pub number: i64,
    /// Number of its payments.
    pub payments: i64,
    /// Their sum, in minor units.
    pub amount: i64,
    /// When it was made.
    pub made_at: Timestamp,
}

/// Adds a file. The change is refused when there is one of this number by then.
pub fn insert(batch: &mut Batch, file: &PayoutFile<'_>) {
    let client_id = batch.client_id();
    let PayoutFile { bank, number, payments, amount, made_at } = *file;
    batch.push(
        &INSERT_PAYOUT_FILE,
        args! { client_id, bank: bank.to_owned(), number, payments, amount, made_at },
    );
}

/// The number of the last file for a bank; 0 before there is one.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn last(store: &Store, client_id: ClientId, bank: &str) -> Result<i64, StoreError> {
    let row = store.row(&LAST_PAYOUT_FILE, args! { client_id, bank: bank.to_owned() }).await?;
    row.map_or(Ok(0), |row| row.get("number"))
}
