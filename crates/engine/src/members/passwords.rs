//! Hashes passwords with Argon2id (RFC 9106), away from the threads that answer requests.

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::app::App;
use crate::error::Error;

/// What a hash costs now; hashes say what they cost when they were made.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

/// The hash of a password with its salt and costs.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PasswordHash {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    #[serde(with = "hex::serde")]
    salt: [u8; SALT_BYTES],
    #[serde(with = "hex::serde")]
    hash: [u8; HASH_BYTES],
}

/// Hashes a new password.
pub(super) async fn hash(app: &App, password: &str) -> Result<PasswordHash, Error> {
    let salt = app.chance.bytes();
    let empty =
        PasswordHash { memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES, salt, hash: [0; HASH_BYTES] };
    let hash = computed(&empty, password).await?;
    Ok(PasswordHash { hash, ..empty })
}

/// Whether the password is that of the hash. Where there is no hash, the same work is done for nothing, so that the time says
/// nothing about who is known.
pub(super) async fn is_right(known: Option<&PasswordHash>, password: &str) -> Result<bool, Error> {
    let nobody = PasswordHash {
        memory_kib: MEMORY_KIB,
        passes: PASSES,
        lanes: LANES,
        salt: [0; SALT_BYTES],
        hash: [0; HASH_BYTES],
    };
    let asked = known.unwrap_or(&nobody);
    let hash = computed(asked, password).await?;
    Ok(verify_slices_are_equal(&hash, &asked.hash).is_ok() && known.is_some())
}

async fn computed(of: &PasswordHash, password: &str) -> Result<[u8; HASH_BYTES], Error> {
    let params =
        Params::new(of.memory_kib, of.passes, of.lanes, Some(HASH_BYTES)).map_err(Error::internal)?;
    let (salt, password) = (of.salt, Zeroizing::new(password.to_owned()));
    let hashing = tokio::task::spawn_blocking(move || {
        let mut hash = [0; HASH_BYTES];
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon.hash_password_into(password.as_bytes(), &salt, &mut hash).map(|()| hash)
    });
    hashing.await.map_err(Error::internal)?.map_err(Error::internal)
}
