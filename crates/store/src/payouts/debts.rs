//! What receivers owe.

use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::payout::Receiver;
use regente_domain::time::Timestamp;

use super::{Owner, key_of};
use crate::batch::Batch;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds a debt; the key refuses a second one of the same owner.
    pub INSERT_PAYOUT_DEBT = "
        INSERT INTO payout_debts (client_id, receiver, merchant_id, currency, amount, version, updated_at)
        VALUES (:client_id, :receiver, :merchant_id, :currency, :amount, 1, :updated_at)";
    /// Changes a debt; guarded by the version.
    pub UPDATE_PAYOUT_DEBT = "
        UPDATE payout_debts SET amount = :amount, version = version + 1, updated_at = :updated_at
        WHERE client_id = :client_id AND receiver = :receiver AND merchant_id = :merchant_id AND currency = :currency
          AND version = :version";
    /// The debt of an owner.
    pub FIND_PAYOUT_DEBT = "
        SELECT amount, version FROM payout_debts
        WHERE client_id = :client_id AND receiver = :receiver AND merchant_id = :merchant_id AND currency = :currency";
    /// What a receiver owes.
    pub SUM_PAYOUT_DEBTS = "
        SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS n FROM payout_debts
        WHERE client_id = :client_id AND receiver = :receiver AND currency = :currency";
}

/// What an owner owes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Debt {
    /// Minor units, 0 or more.
    pub amount: i64,
    /// Of the row; 0 before there is one.
    pub version: i64,
}

/// What an owner owes.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn find(store: &Store, client_id: ClientId, owner: &Owner) -> Result<Debt, StoreError> {
    let args = args! {
        client_id, receiver: key_of(owner.receiver), merchant_id: owner.merchant_id,
        currency: owner.currency.code(),
    };
    let row = store.row(&FIND_PAYOUT_DEBT, args).await?;
    row.map_or(Ok(Debt::default()), |row| {
        Ok(Debt { amount: row.get("amount")?, version: row.get("version")? })
    })
}

/// Writes that an owner owes `amount` from now on; the batch is refused when it owes something else than `before` by then. An
/// unchanged debt is written too, also one of nothing: two batches of one owner never set off the same, and whoever has counted
/// orders before another batch took them does not take as many others for them.
pub fn set(batch: &mut Batch, owner: &Owner, before: Debt, amount: i64, now: Timestamp) {
    let args = args! {
        client_id: batch.client_id(), receiver: key_of(owner.receiver), merchant_id: owner.merchant_id,
        currency: owner.currency.code(), amount, updated_at: now,
    };
    match before.version {
        0 => {
            batch.push(&INSERT_PAYOUT_DEBT, args);
        }
        version => {
            batch.guard(&UPDATE_PAYOUT_DEBT, args.with("version", version));
        }
    }
}

/// What a receiver owes, in minor units.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_receiver(
    store: &Store,
    client_id: ClientId,
    (receiver, currency): (Receiver, Currency),
) -> Result<i64, StoreError> {
    let args = args! { client_id, receiver: key_of(receiver), currency: currency.code() };
    store.row(&SUM_PAYOUT_DEBTS, args).await?.map_or(Ok(0), |row| row.get("n"))
}
