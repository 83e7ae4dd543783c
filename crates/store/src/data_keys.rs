//! Data keys, each wrapped by the key-encryption key, and what stands under them. Nothing here can open anything.
//!
//! A key is `current`, then `retiring` while its rows are sealed again, then `destroyed`: the row stays, emptied, so
//! that its id is never given to another key.

mod sealed_rows;

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::{Batch, Row, Store, StoreError, args, sql};

pub use sealed_rows::{Position, SealedRow, SealedTable, page, reseal};

/// What belongs to no client, such as the data keys, is written and audited under the nil id.
pub const DEPLOYMENT: ClientId = ClientId::new(Uuid::nil());

/// The id of the first data key of every database: nodes that start at once on an empty one clash on it, and one of
/// them makes it.
pub const FIRST_DATA_KEY_ID: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001);

sql! {
    /// Every data key, oldest first.
    pub ALL_DATA_KEYS = "SELECT id, kek_id, wrapped, state, updated_at FROM data_keys ORDER BY id";
    /// Adds a data key that is current from now on.
    pub INSERT_DATA_KEY = "
        INSERT INTO data_keys (id, kek_id, wrapped, state, updated_at)
        VALUES (:id, :kek_id, :wrapped, 'current', :updated_at)";
    /// Ends the use of the current key for sealing. Of two rotations at once one loses here, and so does one that knows
    /// only a former key-encryption key.
    pub RETIRE_DATA_KEY = "
        UPDATE data_keys SET state = 'retiring', updated_at = :updated_at
        WHERE id = :id AND kek_id = :kek_id AND state = 'current'";
    /// Puts a data key under another key-encryption key. It keeps the time of its retirement.
    pub REWRAP_DATA_KEY = "
        UPDATE data_keys SET kek_id = :kek_id, wrapped = :wrapped
        WHERE id = :id AND kek_id = :kek_id_before AND state <> 'destroyed'";
    /// Adds a data key to a backup that is about to be restored and does not have it.
    pub(crate) KEEP_DATA_KEY = "
        INSERT INTO data_keys (id, kek_id, wrapped, state, updated_at)
        VALUES (:id, :kek_id, :wrapped, :state, :updated_at)";
    /// Destroys a key under which nothing stands any more.
    pub DESTROY_DATA_KEY = "
        UPDATE data_keys SET state = 'destroyed', wrapped = :wrapped, updated_at = :updated_at
        WHERE id = :id AND state = 'retiring'";
    /// A token that lives and stands under a key: it cannot be sealed again, since its id is not known.
    pub TOKEN_UNDER_DATA_KEY = "
        SELECT client_id FROM tokens WHERE key_id = :key_id AND expires_at > :now LIMIT 1";
}

/// Where a data key is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// New ciphertexts are sealed under it.
    Current,
    /// It opens what it sealed, until all of that is sealed again.
    Retiring,
    /// It opens nothing any more.
    Destroyed,
}

impl KeyState {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Retiring => "retiring",
            Self::Destroyed => "destroyed",
        }
    }

    fn parse(word: &str) -> Result<Self, StoreError> {
        match word {
            "current" => Ok(Self::Current),
            "retiring" => Ok(Self::Retiring),
            "destroyed" => Ok(Self::Destroyed),
            _ => Err(StoreError::Corrupt("data_keys.state".to_owned())),
        }
    }
}

/// A data key as stored.
#[derive(Clone, Debug)]
pub struct StoredDataKey {
    /// What rows name it by.
    pub id: Uuid,
    /// The key-encryption key that wraps it.
    pub kek_id: String,
    /// The wrapped key; empty when destroyed.
    pub wrapped: Vec<u8>,
    /// Where it is in its life.
    pub state: KeyState,
    /// When its state changed.
    pub updated_at: Timestamp,
}

/// Every data key, destroyed ones among them.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn all(store: &Store) -> Result<Vec<StoredDataKey>, StoreError> {
    store.rows(&ALL_DATA_KEYS, args! {}).await?.iter().map(from_row).collect()
}

/// Adds a wrapped data key that is current from now on.
pub fn insert(batch: &mut Batch, id: Uuid, kek_id: &str, wrapped: Vec<u8>, now: Timestamp) {
    batch.push(&INSERT_DATA_KEY, args! { id, kek_id, wrapped, updated_at: now });
}

/// Ends the use of the current key for sealing; refused when `id` is not the current key under this key-encryption
/// key.
pub fn retire(batch: &mut Batch, id: Uuid, kek_id: &str, now: Timestamp) {
    batch.guard(&RETIRE_DATA_KEY, args! { id, kek_id, updated_at: now });
}

/// Puts a data key under another key-encryption key; refused when it is not under `kek_id_before`.
pub fn rewrap(batch: &mut Batch, id: Uuid, kek_id_before: &str, kek_id: &str, wrapped: Vec<u8>) {
    batch.guard(&REWRAP_DATA_KEY, args! { id, kek_id_before, kek_id, wrapped });
}

/// Destroys a retiring key; refused when it is not retiring.
pub fn destroy(batch: &mut Batch, id: Uuid, now: Timestamp) {
    batch.guard(&DESTROY_DATA_KEY, args! { id, wrapped: Vec::<u8>::new(), updated_at: now });
}

/// Whether a token that has not expired stands under a key.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn has_live_token(store: &Store, key_id: Uuid, now: Timestamp) -> Result<bool, StoreError> {
    Ok(store.row(&TOKEN_UNDER_DATA_KEY, args! { key_id, now }).await?.is_some())
}

pub(crate) fn from_row(row: &Row) -> Result<StoredDataKey, StoreError> {
    Ok(StoredDataKey {
        id: row.get("id")?,
        kek_id: row.get("kek_id")?,
        wrapped: row.get("wrapped")?,
        state: KeyState::parse(row.get("state")?)?,
        updated_at: row.get("updated_at")?,
    })
}
