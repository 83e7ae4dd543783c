//! The digest by which every key of a caller is found. The server checks keys and caches them.

use regente_store::credentials::CredentialDigest;

use crate::vault::sha256;

/// The SHA-256 by which a key is found. Keys are long and random, so a slower hash would add no protection.
pub fn digest(key: &str) -> CredentialDigest {
    sha256(&[key.as_bytes()])
}
