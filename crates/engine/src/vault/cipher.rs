//! AES-256-GCM and HMAC-SHA-256 on bytes. A ciphertext consists of nonce, ciphertext and tag.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

/// Bytes of every key of the vault.
pub(super) const KEY_BYTES: usize = 32;
/// Bytes of a nonce. Random nonces are safe because every row has its own key.
pub(super) const NONCE_BYTES: usize = NONCE_LEN;
/// Bytes of an authentication tag.
const TAG_BYTES: usize = 16;

/// A key, wiped when dropped.
pub(super) type KeyBytes = Zeroizing<[u8; KEY_BYTES]>;

/// Encrypts `plain`; also authenticates `associated`.
pub(super) fn encrypt(key: &KeyBytes, nonce: [u8; NONCE_BYTES], associated: &[u8], plain: &[u8]) -> Vec<u8> {
    // Allocate the whole capacity at once: growing would leave a copy of the plain text in memory.
    let mut bytes = Vec::with_capacity(NONCE_BYTES + plain.len() + TAG_BYTES);
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(plain);
    let tag = aes(key)
        .seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(associated),
            &mut bytes[NONCE_BYTES..],
        )
        .expect("AES-GCM refuses only texts of more than 64 GiB");
    bytes.extend_from_slice(tag.as_ref());
    bytes
}

/// Decrypts a result of [`encrypt`] with the same key and associated data; `None` for anything else.
pub(super) fn decrypt(key: &KeyBytes, associated: &[u8], bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE_BYTES>()?;
    let mut plain = Zeroizing::new(ciphertext.to_vec());
    let length = aes(key)
        .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(associated), &mut plain)
        .ok()?
        .len();
    plain.truncate(length);
    Some(plain)
}

/// Derives a key from another one, for this `message` only.
pub(super) fn derive(key: &hmac::Key, message: &[u8]) -> KeyBytes {
    let mut derived = Zeroizing::new([0; KEY_BYTES]);
    hmac::sign_to_buffer(key, message, derived.as_mut()).expect("the tag of HMAC-SHA-256 has 32 bytes");
    derived
}

fn aes(key: &KeyBytes) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_ref()).expect("a key of AES-256 has 32 bytes"))
}
