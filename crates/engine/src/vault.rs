//! The vault seals and opens data that must not be stored in the clear.
//!
//! A key-encryption key outside the database wraps the data keys. A data key encrypts nothing itself: each row has a
//! key derived from it by purpose, client and id. So random nonces never run out, and a ciphertext that was moved to
//! another row does not open. A token row is found by the digest of the token's id, and its key is derived from the id:
//! the database alone opens no token.
//!
//! The vault does not know what the sealed data means or who may see it, and contains no SQL.

mod binding;
mod cipher;
mod client_keys;
mod error;
mod file_key;
mod kek;
mod key_ring;
mod reseal;
mod restored;
mod rotation;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use aws_lc_rs::digest;
use regente_domain::id::{ClientId, TokenId};
use regente_store::sealed::Sealed;
use regente_store::{Store, clients, data_keys};
use uuid::Uuid;
use zeroize::Zeroizing;

pub use binding::{Binding, Purpose};
pub use client_keys::{ClientKeys, Lookup};
pub use error::VaultError;
pub use file_key::FileKey;
pub use kek::{Kek, NotAKek};
pub use reseal::{RETIREMENT_GRACE, ResealProgress};
pub use restored::opens;
pub use rotation::rewrap;

use crate::chance::Chance;
use crate::clock::Clock;
use key_ring::{DataKey, KeyRing};

/// How recent a node's knowledge of the data keys must be. It is much shorter than [`RETIREMENT_GRACE`], so nothing is
/// sealed under a destroyed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// The age at which the keys are read again.
    pub refreshed_after: Duration,
    /// The age at which a node that cannot read the keys stops sealing.
    pub age_max: Duration,
}

impl Default for Freshness {
    /// Read again after five seconds, valid for one minute.
    fn default() -> Self {
        Self { refreshed_after: Duration::from_secs(5), age_max: Duration::from_secs(60) }
    }
}

/// Most clients with cached keys; each takes about 1 KiB.
const CLIENT_KEYS_CACHED_MAX: u64 = 10_000;

/// The vault of a deployment. Clones share it.
#[derive(Clone)]
pub struct Vault(Arc<Inner>);

struct Inner {
    freshness: Freshness,
    store: Store,
    kek: Kek,
    chance: Chance,
    clock: Clock,
    ring: RwLock<Arc<KeyRing>>,
    refreshing: tokio::sync::Mutex<()>,
    client_keys: moka::sync::Cache<ClientId, Arc<ClientKeys>>,
    reseal_pass: Mutex<Option<reseal::Pass>>,
}

impl Vault {
    /// Reads the data keys, and creates the first one in an empty database.
    ///
    /// # Errors
    /// [`VaultError::OtherKek`] when the data keys are wrapped by another key-encryption key,
    /// [`VaultError::BrokenKey`] and [`VaultError::NoCurrentKey`] when the table was tampered with,
    /// [`VaultError::Store`].
    pub async fn unlock(store: Store, kek: Kek, chance: Chance, clock: Clock) -> Result<Self, VaultError> {
        Self::unlock_with(Freshness::default(), store, kek, chance, clock).await
    }

    /// Like [`Vault::unlock`], with another freshness.
    ///
    /// # Errors
    /// As [`Vault::unlock`].
    pub async fn unlock_with(
        freshness: Freshness,
        store: Store,
        kek: Kek,
        chance: Chance,
        clock: Clock,
    ) -> Result<Self, VaultError> {
        let ring = rotation::first_ring(&store, &kek, &chance, &clock).await?;
        Ok(Self(Arc::new(Inner {
            freshness,
            store,
            kek,
            chance,
            clock,
            ring: RwLock::new(Arc::new(ring)),
            refreshing: tokio::sync::Mutex::new(()),
            client_keys: moka::sync::Cache::new(CLIENT_KEYS_CACHED_MAX),
            reseal_pass: Mutex::new(None),
        })))
    }

    /// Seals `plain` for one place under the current data key. Ciphertexts that share a `key_id` column must use one
    /// [`Sealer`].
    pub fn seal(&self, binding: Binding, plain: &[u8]) -> Sealed {
        self.sealer().seal(binding, plain)
    }

    /// A sealer for several ciphertexts under one data key, even if a rotation happens in between: for rows with two
    /// ciphertexts and one `key_id`, such as cards.
    pub fn sealer(&self) -> Sealer {
        Sealer { key: Arc::clone(&self.ring().current), chance: self.0.chance.clone() }
    }

    /// Opens data that was sealed for the same binding. The result is wiped when dropped.
    ///
    /// # Errors
    /// [`VaultError::DoesNotOpen`] when it was sealed for another place or changed, [`VaultError::UnknownKey`] when its
    /// data key was destroyed, [`VaultError::Store`] when the key had to be read and could not be.
    pub async fn open(&self, binding: Binding, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let known = self.ring().get(sealed.key_id);
        let key = match known {
            Some(key) => key,
            None => {
                // Another node may have just rotated.
                self.refresh().await?;
                self.ring().get(sealed.key_id).ok_or(VaultError::UnknownKey(sealed.key_id))?
            }
        };
        key.decrypt(binding, &sealed.bytes).ok_or(VaultError::DoesNotOpen)
    }

    /// The keyed hashes of a client.
    ///
    /// # Errors
    /// [`VaultError::UnknownClient`], or as [`Vault::open`].
    pub async fn client_keys(&self, client_id: ClientId) -> Result<Arc<ClientKeys>, VaultError> {
        if let Some(keys) = self.0.client_keys.get(&client_id) {
            return Ok(keys);
        }
        let sealed = clients::secret(&self.0.store, client_id).await?;
        let sealed = sealed.ok_or(VaultError::UnknownClient(client_id))?;
        let secret = self.open(secret_binding(client_id), &sealed).await?;
        let keys = Arc::new(ClientKeys::derive(&secret));
        self.0.client_keys.insert(client_id, Arc::clone(&keys));
        Ok(keys)
    }

    /// A new secret for a client that is being created, sealed for its row.
    pub fn new_client_secret(&self, client_id: ClientId) -> Sealed {
        let secret: Zeroizing<[u8; cipher::KEY_BYTES]> = Zeroizing::new(self.0.chance.bytes());
        self.seal(secret_binding(client_id), secret.as_ref())
    }

    /// Reads the data keys again.
    ///
    /// # Errors
    /// As [`Vault::unlock`]; the keys known before stay usable.
    pub async fn refresh(&self) -> Result<(), VaultError> {
        let _one_at_a_time = self.0.refreshing.lock().await;
        self.reload().await
    }

    /// Ensures that the data keys are recent enough for sealing. Requests and jobs call it before they begin; mostly it
    /// does nothing.
    ///
    /// # Errors
    /// As [`Vault::refresh`], but only after the keys could not be read for [`Freshness::age_max`].
    pub async fn keep_current(&self) -> Result<(), VaultError> {
        let Freshness { refreshed_after, age_max } = self.0.freshness;
        let age = self.key_ring_age();
        if age < refreshed_after {
            return Ok(());
        }
        if age < age_max {
            // One caller reads the keys, the others continue with the known ones.
            let Ok(_one_at_a_time) = self.0.refreshing.try_lock() else { return Ok(()) };
            if let Err(error) = self.reload().await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the data keys could not be read again"
                );
            }
            return Ok(());
        }
        let _one_at_a_time = self.0.refreshing.lock().await;
        if self.key_ring_age() < refreshed_after { Ok(()) } else { self.reload().await }
    }

    async fn reload(&self) -> Result<(), VaultError> {
        let asked_at = self.0.clock.machine();
        let rows = data_keys::all(&self.0.store).await?;
        let known = self.ring();
        let ring =
            KeyRing::build(&rows, &self.0.kek, Some(&known), asked_at)?.ok_or(VaultError::NoCurrentKey)?;
        *self.0.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        Ok(())
    }

    fn key_ring_age(&self) -> Duration {
        self.0.clock.machine().since(self.ring().asked_at)
    }

    fn ring(&self) -> Arc<KeyRing> {
        Arc::clone(&self.0.ring.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vault({:?}, data key {})", self.0.kek, self.ring().current.id)
    }
}

/// Seals under one data key, even if a rotation happens meanwhile. Use it for one batch only: a later use could seal
/// under a destroyed key.
pub struct Sealer {
    key: Arc<DataKey>,
    chance: Chance,
}

impl Sealer {
    /// Seals `plain` for one place.
    pub fn seal(&self, binding: Binding, plain: &[u8]) -> Sealed {
        Sealed { key_id: self.key.id, bytes: self.key.encrypt(binding, self.chance.bytes(), plain) }
    }

    /// The data key of this sealer.
    pub fn key_id(&self) -> Uuid {
        self.key.id
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer(data key {})", self.key.id)
    }
}

/// The digest by which a token's row is found. The row does not contain the id, from which its key is derived.
pub fn token_digest(token_id: TokenId) -> [u8; 32] {
    sha256(&[b"regente token", token_id.uuid().as_bytes()])
}

/// SHA-256 of the concatenated parts.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// The first half of a hash: 128 bits are enough to avoid collisions.
pub fn half_of(hash: &[u8; 32]) -> Uuid {
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    Uuid::from_bytes(half)
}

fn secret_binding(client_id: ClientId) -> Binding {
    Binding::new(Purpose::ClientSecret, client_id, client_id.uuid())
}
