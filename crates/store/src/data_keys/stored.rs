//! A data key as stored. A backup that is restored reads and keeps the keys of two files by this.

use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::Row;
use crate::sql;

sql! {
    /// Every data key, oldest first.
    pub(crate) ALL_DATA_KEYS = "SELECT id, kek_id, wrapped, state, updated_at FROM data_keys ORDER BY id";
    /// Adds a missing data key to a backup that is about to be restored.
    pub(crate) KEEP_DATA_KEY = "
        INSERT INTO data_keys (id, kek_id, wrapped, state, updated_at)
        VALUES (:id, :kek_id, :wrapped, :state, :updated_at)";
}

/// The state of a data key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// New values are sealed under it.
    Current,
    /// It opens what it sealed, until everything is sealed again.
    Retiring,
    /// It opens nothing.
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
    /// The id that rows name.
    pub id: Uuid,
    /// The key-encryption key that wraps it.
    pub kek_id: String,
    /// The wrapped key; empty when destroyed.
    pub wrapped: Vec<u8>,
    /// Its state.
    pub state: KeyState,
    /// When its state changed.
    pub updated_at: Timestamp,
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
