//! The bank account of an account of the product, to which its own part is paid. It is sealed.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Sets the bank account.
    pub SET_PAYOUT_ACCOUNT = "
        INSERT INTO payout_accounts (id, client_id, private, key_id, version, updated_at)
        VALUES (:id, :client_id, :private, :key_id, 1, :updated_at)
        ON CONFLICT (id, client_id) DO UPDATE SET private = excluded.private, key_id = excluded.key_id,
            version = payout_accounts.version + 1, updated_at = excluded.updated_at";
    /// The bank account.
    pub FIND_PAYOUT_ACCOUNT = "
        SELECT private, key_id FROM payout_accounts WHERE id = :id AND client_id = :client_id";
}

/// Sets the bank account.
pub fn set(batch: &mut Batch, private: &Sealed, now: Timestamp) {
    let client_id = batch.client_id();
    batch.push(
        &SET_PAYOUT_ACCOUNT,
        args! {
            id: client_id.uuid(), client_id, private: private.bytes.as_slice(), key_id: private.key_id,
            updated_at: now,
        },
    );
}

/// The bank account, if it is set.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn find(store: &Store, client_id: ClientId) -> Result<Option<Sealed>, StoreError> {
    let row = store.row(&FIND_PAYOUT_ACCOUNT, args! { id: client_id.uuid(), client_id }).await?;
    row.map(|row| Ok(Sealed { key_id: row.get("key_id")?, bytes: row.get("private")? })).transpose()
}
