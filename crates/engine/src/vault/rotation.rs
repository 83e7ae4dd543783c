//! Creates new data keys and replaces the key-encryption key. `reseal` reseals the data under a former data key.

use regente_domain::actor::Actor;
use regente_domain::time::Timestamp;
use regente_store::data_keys::{self, DEPLOYMENT, FIRST_DATA_KEY_ID, KeyState};
use regente_store::{Batch, Commit, Store, audit};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::Vault;
use super::cipher::KeyBytes;
use super::error::VaultError;
use super::kek::Kek;
use super::key_ring::KeyRing;
use crate::chance::Chance;
use crate::clock::Clock;

/// How often to look again after a commit that was refused or is unknown.
const ATTEMPTS_MAX: usize = 5;

/// Reads the data keys, and creates the first one if there are none. Nodes that start at once end up with the same
/// first key.
pub(super) async fn first_ring(
    store: &Store,
    kek: &Kek,
    chance: &Chance,
    clock: &Clock,
) -> Result<KeyRing, VaultError> {
    for _ in 0..ATTEMPTS_MAX {
        let asked_at = clock.machine();
        let rows = data_keys::all(store).await?;
        if let Some(ring) = KeyRing::build(&rows, kek, None, asked_at)? {
            return Ok(ring);
        }
        let now = clock.deployment();
        let mut batch = Batch::new(DEPLOYMENT);
        insert_key(&mut batch, FIRST_DATA_KEY_ID, kek, chance, now);
        record(&mut batch, chance, now, Actor::Operator, "data_key.created", FIRST_DATA_KEY_ID);
        match store.apply(batch).await? {
            // In each case the table has the result.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(VaultError::NoCurrentKey)
}

impl Vault {
    /// Creates a new data key and seals under it from now on. Other nodes follow within seconds; the job that calls
    /// [`Vault::reseal`] does the rest. Returns the id of the new key.
    ///
    /// # Errors
    /// [`VaultError::RotatedMeanwhile`] when another rotation, or a change of the key-encryption key, came first,
    /// [`VaultError::RotationUnknown`], [`VaultError::Store`].
    pub async fn rotate(&self, actor: Actor) -> Result<Uuid, VaultError> {
        self.refresh().await?;
        let inner = &self.0;
        let now = inner.clock.deployment();
        let (former, new) = (self.ring().current.id, inner.chance.id::<()>(now).uuid());
        let mut batch = Batch::new(DEPLOYMENT);
        data_keys::retire(&mut batch, former, inner.kek.id(), now);
        insert_key(&mut batch, new, &inner.kek, &inner.chance, now);
        record(&mut batch, &inner.chance, now, actor, "data_key.retired", former);
        record(&mut batch, &inner.chance, now, actor, "data_key.created", new);
        let commit = inner.store.apply(batch).await?;
        self.refresh().await?;
        match commit {
            Commit::Applied => Ok(new),
            Commit::Unknown if self.ring().get(new).is_some() => Ok(new),
            Commit::Unknown => Err(VaultError::RotationUnknown),
            Commit::Refused(_) => Err(VaultError::RotatedMeanwhile),
        }
    }
}

/// Wraps all data keys with another key-encryption key, in one commit, and returns how many they were. Running nodes
/// continue with the keys that they know; they need the new key-encryption key at their next start and before the next
/// rotation.
///
/// # Errors
/// [`VaultError::OtherKek`] when a data key is under neither of the two, [`VaultError::BrokenKey`],
/// [`VaultError::RotatedMeanwhile`] when rotations keep coming in between, [`VaultError::Store`].
pub async fn rewrap(
    store: &Store,
    former: &Kek,
    new: &Kek,
    chance: &Chance,
    now: Timestamp,
    actor: Actor,
) -> Result<usize, VaultError> {
    let mut rewrapped = 0;
    for _ in 0..ATTEMPTS_MAX {
        let mut batch = Batch::new(DEPLOYMENT);
        let mut waiting = 0;
        for row in data_keys::all(store).await? {
            if row.state == KeyState::Destroyed || row.kek_id == new.id() {
                continue;
            }
            if row.kek_id != former.id() {
                let given = former.id().to_owned();
                return Err(VaultError::OtherKek { key_id: row.id, wrapped_by: row.kek_id, given });
            }
            let key = former.unwrap(row.id, &row.wrapped).ok_or(VaultError::BrokenKey(row.id))?;
            data_keys::rewrap(&mut batch, row.id, former.id(), new.id(), new.wrap(chance, row.id, &key));
            record(&mut batch, chance, now, actor, "data_key.rewrapped", row.id);
            waiting += 1;
        }
        // The next look finds a key that a rotation added meanwhile. Once the current key is wrapped by the new
        // key-encryption key, a rotation under the former one is refused.
        if waiting == 0 {
            return Ok(rewrapped);
        }
        match store.apply(batch).await? {
            Commit::Applied => rewrapped += waiting,
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(VaultError::RotatedMeanwhile)
}

fn insert_key(batch: &mut Batch, id: Uuid, kek: &Kek, chance: &Chance, now: Timestamp) {
    let key: KeyBytes = Zeroizing::new(chance.bytes());
    data_keys::insert(batch, id, kek.id(), kek.wrap(chance, id, &key), now);
}

pub(super) fn record(
    batch: &mut Batch,
    chance: &Chance,
    now: Timestamp,
    actor: Actor,
    action: &'static str,
    key_id: Uuid,
) {
    audit::record(
        batch,
        audit::AuditEntry {
            id: chance.id(now),
            actor,
            action,
            object_kind: "data_key",
            object_id: key_id,
            request_id: None,
        },
    );
}
