//! Stores data keys, each wrapped by the key-encryption key. Only the vault can open them.
//!
//! A key is `current`, then `retiring` while its rows are sealed again, then `destroyed`. The emptied row stays, so
//! that its id is never reused.

mod sealed_rows;
pub(crate) mod stored;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use self::stored::{ALL_DATA_KEYS, from_row};
pub use self::stored::{KeyState, StoredDataKey};
use crate::{Batch, Store, StoreError, args, sql};

pub use sealed_rows::{Position, SealedRow, SealedTable, page, reseal};

/// The nil id: rows without a client, such as data keys, are written and audited under it.
pub const DEPLOYMENT: ClientId = ClientId::new(Uuid::nil());

/// The id of the first data key of every database: when several nodes start on an empty one, their inserts clash and
/// one creates it.
pub const FIRST_DATA_KEY_ID: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001);

sql! {
    /// Adds a new current data key.
    pub INSERT_DATA_KEY = "
        INSERT INTO data_keys (id, kek_id, wrapped, state, updated_at)
        VALUES (:id, :kek_id, :wrapped, 'current', :updated_at)";
    /// Retires the current key. Of two concurrent rotations one loses here, and so does a node that has only a former
    /// key-encryption key.
    pub RETIRE_DATA_KEY = "
        UPDATE data_keys SET state = 'retiring', updated_at = :updated_at
        WHERE id = :id AND kek_id = :kek_id AND state = 'current'";
    /// Wraps a data key with another key-encryption key. The time of its retirement stays.
    pub REWRAP_DATA_KEY = "
        UPDATE data_keys SET kek_id = :kek_id, wrapped = :wrapped
        WHERE id = :id AND kek_id = :kek_id_before AND state <> 'destroyed'";
    /// Destroys a key that no row uses.
    pub DESTROY_DATA_KEY = "
        UPDATE data_keys SET state = 'destroyed', wrapped = :wrapped, updated_at = :updated_at
        WHERE id = :id AND state = 'retiring'";
    /// A live token sealed under a key: it cannot be sealed again, since its id is unknown.
    pub TOKEN_UNDER_DATA_KEY = "
        SELECT client_id FROM tokens WHERE key_id = :key_id AND expires_at > :now LIMIT 1";
}

/// Every data key, also destroyed ones.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn all(store: &Store) -> Result<Vec<StoredDataKey>, StoreError> {
    store.rows(&ALL_DATA_KEYS, args! {}).await?.iter().map(from_row).collect()
}

/// Adds a wrapped data key as the current one.
pub fn insert(batch: &mut Batch, id: Uuid, kek_id: &str, wrapped: Vec<u8>, now: Timestamp) {
    batch.push(&INSERT_DATA_KEY, args! { id, kek_id: kek_id.to_owned(), wrapped, updated_at: now });
}

/// Retires the current key; refused when `id` is not the current key under this key-encryption key.
pub fn retire(batch: &mut Batch, id: Uuid, kek_id: &str, now: Timestamp) {
    batch.guard(&RETIRE_DATA_KEY, args! { id, kek_id: kek_id.to_owned(), updated_at: now });
}

/// Wraps a data key with another key-encryption key; refused when it is not under `kek_id_before`.
pub fn rewrap(batch: &mut Batch, id: Uuid, kek_id_before: &str, kek_id: &str, wrapped: Vec<u8>) {
    let (kek_id_before, kek_id) = (kek_id_before.to_owned(), kek_id.to_owned());
    batch.guard(&REWRAP_DATA_KEY, args! { id, kek_id_before, kek_id, wrapped });
}

/// Destroys a retiring key; refused when it is not retiring.
pub fn destroy(batch: &mut Batch, id: Uuid, now: Timestamp) {
    batch.guard(&DESTROY_DATA_KEY, args! { id, wrapped: Vec::<u8>::new(), updated_at: now });
}

/// Whether a live token is sealed under a key.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn has_live_token(store: &Store, key_id: Uuid, now: Timestamp) -> Result<bool, StoreError> {
    Ok(store.row(&TOKEN_UNDER_DATA_KEY, args! { key_id, now }).await?.is_some())
}
