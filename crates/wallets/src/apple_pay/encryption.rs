//! AES-256-GCM as devices use it: an initialization vector of 16 zero bytes, since each key encrypts one payment. The
//! product's other cryptography takes vectors of 12 bytes alone.

use aes_gcm::aead::consts::U16;
use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::aes::Aes256;
use aes_gcm::{AesGcm, Nonce};
use aws_lc_rs::agreement::PrivateKey;
use zeroize::Zeroizing;

use super::error::TokenError;
use super::key_agreement::agreed_key;
use super::merchant::MerchantKey;
use super::payment::Digest;

/// The initialization vector of every token.
const ZERO_VECTOR: [u8; 16] = [0; 16];

/// Decrypts a payment for the merchant.
pub(super) fn decrypt(
    merchant: &MerchantKey,
    ephemeral_public_key: &[u8],
    data: &[u8],
) -> Result<Zeroizing<Vec<u8>>, TokenError> {
    let key = agreed_key(merchant.private_key(), ephemeral_public_key, merchant.identifier_hash())
        .ok_or(TokenError::EphemeralPublicKey)?;
    let plain = cipher(&key).decrypt(&Nonce::from(ZERO_VECTOR), data);
    plain.map(Zeroizing::new).map_err(|_| TokenError::Undecipherable)
}

/// Encrypts a payment as a device does; `None` when the merchant's public key is none of P-256.
pub(super) fn encrypt(
    ephemeral: &PrivateKey,
    merchant_public_key: &[u8],
    merchant_identifier_hash: &Digest,
    plain: &[u8],
) -> Option<Vec<u8>> {
    let key = agreed_key(ephemeral, merchant_public_key, merchant_identifier_hash)?;
    cipher(&key).encrypt(&Nonce::from(ZERO_VECTOR), plain).ok()
}

fn cipher(key: &[u8; 32]) -> AesGcm<Aes256, U16> {
    AesGcm::new(key.into())
}
