//! Signs deliveries with Ed25519, in two header formats that use the same key
//! (`docs/interface/webhooks.md#signatures`).

use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_domain::time::Timestamp;
use regente_store::webhooks::PUBLIC_KEY_BYTES;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::chance::Chance;

/// Bytes of a private key.
pub const SEED_BYTES: usize = 32;

/// `SubjectPublicKeyInfo` of Ed25519 up to the key itself (RFC 8410 §4).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The private key of a webhook, wiped when dropped.
pub struct SigningKey {
    seed: Zeroizing<[u8; SEED_BYTES]>,
    pair: Ed25519KeyPair,
}

/// The bytes are not a private key.
#[derive(Debug, thiserror::Error)]
#[error("this is no private key of a webhook")]
pub struct NotAKey;

impl SigningKey {
    /// Generates a key.
    ///
    /// # Errors
    /// [`NotAKey`]; no generated seed causes it.
    pub fn generate(chance: &Chance) -> Result<Self, NotAKey> {
        Self::from_seed(&chance.bytes::<SEED_BYTES>())
    }

    /// Restores a key from its [`Self::seed`].
    ///
    /// # Errors
    /// [`NotAKey`] when the seed has another length.
    pub fn from_seed(seed: &[u8]) -> Result<Self, NotAKey> {
        let seed: [u8; SEED_BYTES] = seed.try_into().map_err(|_| NotAKey)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| NotAKey)?;
        Ok(Self { seed: Zeroizing::new(seed), pair })
    }

    /// The seed of the key, to be sealed.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        &self.seed
    }

    /// The public key.
    pub fn public(&self) -> [u8; PUBLIC_KEY_BYTES] {
        let mut public = [0; PUBLIC_KEY_BYTES];
        public.copy_from_slice(self.pair.public_key().as_ref());
        public
    }

    /// The value of `X-Plug-Signature` for a time in milliseconds and the body as sent.
    pub fn sign_dated(&self, at: Timestamp, body: &[u8]) -> String {
        let mut message = dated(at).into_bytes();
        message.push(b'\n');
        message.extend_from_slice(body);
        hex::encode(self.pair.sign(&message))
    }

    /// One entry of `webhook-signature` for an id, a time in whole seconds and the body as sent.
    pub fn sign_standard(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        let mut message = format!("{id}.{}.", seconds(at)).into_bytes();
        message.extend_from_slice(body);
        format!("v1a,{}", STANDARD.encode(self.pair.sign(&message)))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(hidden)")
    }
}

/// The headers of one attempt. While a key is being replaced, the Standard Webhooks header contains both signatures;
/// the other header has room for one, that of the current key (`docs/interface/webhooks.md#signatures`).
pub fn headers(
    event_id: Uuid,
    at: Timestamp,
    body: &[u8],
    key: &SigningKey,
    next: Option<&SigningKey>,
) -> Vec<(&'static str, String)> {
    let id = event_id.to_string();
    let standard: Vec<String> =
        [Some(key), next].into_iter().flatten().map(|key| key.sign_standard(&id, at, body)).collect();
    vec![
        ("x-plug-date", dated(at)),
        ("x-plug-signature", key.sign_dated(at, body)),
        ("webhook-id", id),
        ("webhook-timestamp", seconds(at)),
        ("webhook-signature", standard.join(" ")),
    ]
}

fn dated(at: Timestamp) -> String {
    at.as_millis().to_string()
}

fn seconds(at: Timestamp) -> String {
    at.as_millis().div_euclid(1000).to_string()
}

/// A public key in PEM, as `publicKey` shows it.
pub fn to_pem(public: &[u8; PUBLIC_KEY_BYTES]) -> String {
    let spki = [SPKI_PREFIX.as_slice(), public].concat();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(spki))
}
