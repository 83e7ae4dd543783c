//! The data keys of a backup: checks before a restore that they open, and afterwards drops all other keys.

use std::sync::{Arc, PoisonError};

use regente_store::data_keys::{self, StoredDataKey};

use super::Vault;
use super::error::VaultError;
use super::kek::Kek;
use super::key_ring::KeyRing;
use crate::clock::MachineTime;

/// Checks that a key-encryption key opens these data keys. A database that was never started has none, which is
/// accepted.
///
/// # Errors
/// [`VaultError::OtherKek`], [`VaultError::BrokenKey`], [`VaultError::NoCurrentKey`].
pub fn opens(kek: &Kek, rows: &[StoredDataKey], asked_at: MachineTime) -> Result<(), VaultError> {
    KeyRing::build(rows, kek, None, asked_at).map(drop)
}

impl Vault {
    /// Checks that a backup with these data keys may replace the database in use.
    ///
    /// # Errors
    /// As [`opens`]; [`VaultError::OtherDeployment`].
    pub fn accepts(&self, rows: &[StoredDataKey]) -> Result<(), VaultError> {
        let Some(restored) = KeyRing::build(rows, &self.0.kek, None, self.0.clock.machine())? else {
            return Ok(());
        };
        match self.ring().clash_with(&restored) {
            None => Ok(()),
            Some(id) => Err(VaultError::OtherDeployment(id)),
        }
    }

    /// Forgets all keys and reads those of the restored database.
    ///
    /// # Errors
    /// As [`Vault::refresh`]; the keys known before then stay.
    pub async fn begin_anew(&self) -> Result<(), VaultError> {
        let _one_at_a_time = self.0.refreshing.lock().await;
        let asked_at = self.0.clock.machine();
        let rows = data_keys::all(&self.0.store).await?;
        let ring = KeyRing::build(&rows, &self.0.kek, None, asked_at)?.ok_or(VaultError::NoCurrentKey)?;
        *self.0.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        self.0.client_keys.invalidate_all();
        *self.0.reseal_pass.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}
