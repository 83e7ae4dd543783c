//! Sealed bytes, which only the vault can open.

use uuid::Uuid;

/// A ciphertext and the id of its data key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The data key; rotation finds rows to seal again by it.
    pub key_id: Uuid,
    /// Nonce, ciphertext and tag.
    pub bytes: Vec<u8>,
}
