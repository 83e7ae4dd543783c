//! Bank accounts that operators have set, sealed: that of an account of the product, to which its own part is paid, and those of sellers
//! that are deleted and still due something. The key of a row is the id of the account, or of the seller.

use regente_domain::id::{ClientId, SellerId};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Sets a bank account.
    pub SET_PAYOUT_ACCOUNT = "
        INSERT INTO payout_accounts (id, client_id, private, key_id, version, updated_at)
        VALUES (:id, :client_id, :private, :key_id, 1, :updated_at)
        ON CONFLICT (id, client_id) DO UPDATE SET private = excluded.private, key_id = excluded.key_id,
            version = payout_accounts.version + 1, updated_at = excluded.updated_at";
    /// A bank account.
    pub FIND_PAYOUT_ACCOUNT = "
        SELECT private, key_id FROM payout_accounts WHERE id = :id AND client_id = :client_id";
    /// Which of these have a bank account.
    PAYOUT_ACCOUNTS_OF = "
        SELECT id FROM payout_accounts WHERE client_id = :client_id AND id IN EACH_UUID(:ids)";
}

/// Sets a bank account.
pub fn set(batch: &mut Batch, id: Uuid, private: &Sealed, now: Timestamp) {
    let (client_id, key_id) = (batch.client_id(), private.key_id);
    let args = args! { id, client_id, private: private.bytes.as_slice(), key_id, updated_at: now };
    batch.push(&SET_PAYOUT_ACCOUNT, args);
}

/// A bank account, if it is set.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn find(store: &Store, client_id: ClientId, id: Uuid) -> Result<Option<Sealed>, StoreError> {
    let row = store.row(&FIND_PAYOUT_ACCOUNT, args! { id, client_id }).await?;
    row.map(|row| Ok(Sealed { key_id: row.get("key_id")?, bytes: row.get("private")? })).transpose()
}

/// Those of these sellers for whom a bank account is set, in no order.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_sellers(
    store: &Store,
    client_id: ClientId,
    ids: &[SellerId],
) -> Result<Vec<SellerId>, StoreError> {
    let ids = Json::list(Some(ids), ToString::to_string);
    store.rows(&PAYOUT_ACCOUNTS_OF, args! { client_id, ids }).await?.iter().map(|row| row.get("id")).collect()
}
