//! The data keys that a node knows, and how it reads them from the database.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::hmac;
use regente_domain::time::Timestamp;
use regente_store::data_keys::{KeyState, StoredDataKey};
use uuid::Uuid;

use super::binding::Binding;
use super::cipher::{self, KeyBytes};
use super::error::VaultError;
use super::kek::Kek;
use crate::clock::MachineTime;

/// The message whose derived keys are compared to tell whether two data keys are equal. Bindings are longer.
const PROOF: &[u8] = b"same";

/// A data key. It encrypts nothing itself: every row has a key derived from it.
pub(super) struct DataKey {
    pub(super) id: Uuid,
    mac: hmac::Key,
}

impl DataKey {
    fn new(id: Uuid, bytes: &KeyBytes) -> Self {
        Self { id, mac: hmac::Key::new(hmac::HMAC_SHA256, bytes.as_ref()) }
    }

    /// The key of one row.
    pub(super) fn row_key(&self, binding: &[u8]) -> KeyBytes {
        cipher::derive(&self.mac, &[b"regente row key".as_slice(), binding].concat())
    }

    /// The associated data of a row: its binding and its key.
    pub(super) fn associated(&self, binding: &[u8]) -> Vec<u8> {
        [binding, self.id.as_bytes()].concat()
    }

    /// Encrypts `plain` for this binding.
    pub(super) fn encrypt(
        &self,
        binding: Binding,
        nonce: [u8; cipher::NONCE_BYTES],
        plain: &[u8],
    ) -> Vec<u8> {
        let binding = binding.to_bytes();
        cipher::encrypt(&self.row_key(&binding), nonce, &self.associated(&binding), plain)
    }

    /// Opens a result of [`DataKey::encrypt`] for the same binding.
    pub(super) fn decrypt(&self, binding: Binding, bytes: &[u8]) -> Option<zeroize::Zeroizing<Vec<u8>>> {
        let binding = binding.to_bytes();
        cipher::decrypt(&self.row_key(&binding), &self.associated(&binding), bytes)
    }
}

/// All data keys that still open something. Immutable: a refresh replaces the whole ring.
pub(super) struct KeyRing {
    pub(super) current: Arc<DataKey>,
    keys: HashMap<Uuid, Arc<DataKey>>,
    /// Retiring keys, each with the time of its retirement.
    pub(super) retiring: Vec<(Uuid, Timestamp)>,
    /// When the table was read.
    pub(super) asked_at: MachineTime,
}

impl KeyRing {
    /// Builds a ring from the rows of the table. Keys in `known` are reused, so that a node continues when its
    /// key-encryption key was replaced. `None` when there are no keys yet.
    pub(super) fn build(
        rows: &[StoredDataKey],
        kek: &Kek,
        known: Option<&Self>,
        asked_at: MachineTime,
    ) -> Result<Option<Self>, VaultError> {
        let mut keys = HashMap::new();
        let mut current = None;
        let mut retiring = Vec::new();
        for row in rows {
            match row.state {
                KeyState::Current => current = Some(row.id),
                KeyState::Retiring => retiring.push((row.id, row.updated_at)),
                KeyState::Destroyed => continue,
            }
            let key = match known.and_then(|ring| ring.get(row.id)) {
                Some(key) => key,
                None => Arc::new(unwrap(row, kek)?),
            };
            keys.insert(row.id, key);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let current = current.and_then(|id| keys.get(&id)).cloned().ok_or(VaultError::NoCurrentKey)?;
        Ok(Some(Self { current, keys, retiring, asked_at }))
    }

    /// A key with the same id but different bytes in both rings: they belong to different deployments.
    pub(super) fn clash_with(&self, other: &Self) -> Option<Uuid> {
        let differs = |id: &&Uuid| match (self.keys.get(id), other.keys.get(id)) {
            (Some(one), Some(another)) => *one.row_key(PROOF) != *another.row_key(PROOF),
            (None, _) | (_, None) => false,
        };
        self.keys.keys().find(differs).copied()
    }

    pub(super) fn get(&self, id: Uuid) -> Option<Arc<DataKey>> {
        self.keys.get(&id).cloned()
    }
}

fn unwrap(row: &StoredDataKey, kek: &Kek) -> Result<DataKey, VaultError> {
    if row.kek_id != kek.id() {
        return Err(VaultError::OtherKek {
            key_id: row.id,
            wrapped_by: row.kek_id.clone(),
            given: kek.id().to_owned(),
        });
    }
    let bytes = kek.unwrap(row.id, &row.wrapped).ok_or(VaultError::BrokenKey(row.id))?;
    Ok(DataKey::new(row.id, &bytes))
}
