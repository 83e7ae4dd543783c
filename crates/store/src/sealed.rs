//! What the vault gives the store to keep: bytes that only the vault can open.

use uuid::Uuid;

/// A ciphertext and the id of the data key it stands under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The data key; rotation finds what it must re-seal by it.
    pub key_id: Uuid,
    /// Nonce, ciphertext and tag.
    pub bytes: Vec<u8>,
}
