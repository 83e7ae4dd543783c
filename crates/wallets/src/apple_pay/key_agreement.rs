//! The key of one payment: ECDH on P-256, and the derivation of NIST SP 800-56A with SHA-256.

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::kdf::{SskdfDigestAlgorithmId, get_sskdf_digest_algorithm, sskdf_digest};
use zeroize::Zeroizing;

use super::payment::Digest;

/// Bytes of a key of AES-256.
const KEY_BYTES: usize = 32;
/// The algorithm for which the key is derived, with its length before it.
const ALGORITHM: &[u8] = b"\x0Did-aes256-GCM";
/// The party that encrypts.
const SENDER: &[u8] = b"Apple";

/// The key upon which the holder of `own` and of `other` agree for the merchant; `None` when `other` is no key of P-256.
pub(super) fn agreed_key(
    own: &PrivateKey,
    other: &[u8],
    merchant_identifier_hash: &Digest,
) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let other = UnparsedPublicKey::new(own.algorithm(), other);
    let algorithm = get_sskdf_digest_algorithm(SskdfDigestAlgorithmId::Sha256)?;
    let parties = [ALGORITHM, SENDER, merchant_identifier_hash].concat();
    agree(own, other, (), |secret| {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        sskdf_digest(algorithm, secret, &parties, key.as_mut()).map_err(drop)?;
        Ok(key)
    })
    .ok()
}
