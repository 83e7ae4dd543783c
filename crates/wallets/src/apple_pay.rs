//! Apple Pay's payment tokens of version `EC_v1`, as the public "Payment token format reference" describes them.
//!
//! A device encrypts a payment for the merchant's key and signs the encrypted payment with a certificate of Apple's.
//! [`MerchantKeys::open`] checks the version, the signature with its certificates and its time, and decrypts.
//! Whether amount and currency are those of a charge, and whether the payment was made before, is the caller's to check:
//! [`DevicePayment`] has what such a caller needs.

mod ber;
mod device_signature;
mod encryption;
mod error;
mod key_agreement;
mod merchant;
mod payment;

pub mod test_keys;
mod token;
mod trust;

use std::time::Duration;

pub use error::{KeyError, TokenError};
pub use merchant::MerchantKey;
pub use payment::{DevicePayment, Digest};

pub use token::{Header, Token};
pub use trust::TrustedRoots;

/// The payment keys of one merchant, and the roots of those who sign tokens.
pub struct MerchantKeys<'a> {
    /// The roots to which a signature's certificates must lead.
    pub roots: &'a TrustedRoots,
    /// The keys for which a device may have encrypted.
    pub keys: &'a [MerchantKey],
    /// How long ago a device may have signed.
    pub longest_age: Duration,
}

impl MerchantKeys<'_> {
    /// Checks a token and decrypts its payment. `now` is the time since the Unix epoch.
    ///
    /// # Errors
    /// The first rule that the token breaks; [`TokenError::member`] says which of its members.
    pub fn open(&self, token: &Token, now: Duration) -> Result<DevicePayment, TokenError> {
        let content = token.signed_content()?;
        self.roots.verify(&token.signature, &content, now, self.longest_age)?;
        let named = token.header.public_key_hash()?;
        let mut candidates =
            self.keys.iter().filter(|key| named.as_ref().is_none_or(|hash| *hash == key.public_key_hash()));
        // A token that names no key was encrypted for one of a few: only the right one decrypts it.
        let mut result = Err(TokenError::OtherMerchant);
        candidates.any(|key| {
            result = encryption::decrypt(key, &content.ephemeral_public_key, &content.data);
            result.is_ok()
        });
        DevicePayment::parse(&result?, content.digest())
    }
}
