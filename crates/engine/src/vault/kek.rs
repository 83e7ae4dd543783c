//! The key-encryption key: it is kept outside the database and only wraps data keys.

use std::fmt;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::cipher::{self, KEY_BYTES, KeyBytes};
use crate::chance::Chance;

/// A key with fewer different bytes is not random: fewer than one in 10^20 random keys has so few.
const DISTINCT_BYTES_MIN: usize = 16;

/// A key-encryption key of 32 bytes, never printed.
#[derive(Clone)]
pub struct Kek {
    key: KeyBytes,
    id: String,
}

/// The text is not a key-encryption key. The error does not repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key-encryption key is 32 random bytes, written as 64 hexadecimal digits or in base64")]
pub struct NotAKek;

impl Kek {
    /// Parses 64 hexadecimal digits, or base64 of 32 bytes (either alphabet, with or without padding). Surrounding
    /// white space is ignored.
    ///
    /// # Errors
    /// [`NotAKek`] for anything else.
    pub fn parse(text: &str) -> Result<Self, NotAKek> {
        let text = text.trim();
        let bytes = if text.len() == 2 * KEY_BYTES { from_hex(text) } else { from_base64(text) };
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let bytes = bytes.filter(|bytes| bytes.len() == KEY_BYTES).ok_or(NotAKek)?;
        key.copy_from_slice(&bytes);
        Ok(Self::new(key))
    }

    /// A new random key.
    pub fn generate(chance: &Chance) -> Self {
        Self::new(Zeroizing::new(chance.bytes()))
    }

    fn new(key: KeyBytes) -> Self {
        let name = cipher::derive(
            &hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()),
            b"regente key-encryption key id",
        );
        Self { id: to_hex(&name[..8]).to_string(), key }
    }

    /// The id of the key, which is stored with the data keys that it wraps: 16 hexadecimal digits that reveal nothing
    /// about it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key as 64 hexadecimal digits, for the file that [`Kek::parse`] reads.
    pub fn expose_text(&self) -> Zeroizing<String> {
        to_hex(self.key.as_ref())
    }

    /// Whether the key was typed rather than generated: too few different bytes, or ascending bytes. Production refuses
    /// such a key.
    pub fn looks_like_a_sample(&self) -> bool {
        let mut sorted = self.key.clone();
        sorted.sort_unstable();
        let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let counts_up = self.key.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
        let is_text = self.key.iter().all(u8::is_ascii_graphic);
        distinct < DISTINCT_BYTES_MIN || counts_up || is_text
    }

    /// Wraps a data key; the result opens only for this id and this key.
    pub(super) fn wrap(&self, chance: &Chance, data_key_id: Uuid, data_key: &KeyBytes) -> Vec<u8> {
        cipher::encrypt(&self.key, chance.bytes(), &self.associated(data_key_id), data_key.as_ref())
    }

    /// Unwraps a data key.
    pub(super) fn unwrap(&self, data_key_id: Uuid, wrapped: &[u8]) -> Option<KeyBytes> {
        let plain = cipher::decrypt(&self.key, &self.associated(data_key_id), wrapped)?;
        let mut data_key = Zeroizing::new([0; KEY_BYTES]);
        (plain.len() == KEY_BYTES).then(|| data_key.copy_from_slice(&plain))?;
        Some(data_key)
    }

    fn associated(&self, data_key_id: Uuid) -> Vec<u8> {
        [b"regente data key".as_slice(), data_key_id.as_bytes(), self.id.as_bytes()].concat()
    }
}

impl fmt::Debug for Kek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kek({})", self.id)
    }
}

fn to_hex(bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(2 * bytes.len()));
    for byte in bytes {
        for nibble in [byte >> 4, byte & 0x0f] {
            text.extend(char::from_digit(u32::from(nibble), 16));
        }
    }
    text
}

fn from_hex(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_BYTES));
    for pair in text.as_bytes().chunks_exact(2) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(bytes)
}

fn from_base64(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let standard = Zeroizing::new(text.trim_end_matches('=').replace('-', "+").replace('_', "/"));
    let mut bytes = Zeroizing::new(vec![0; KEY_BYTES + 1]);
    let length = STANDARD_NO_PAD.decode_slice(standard.as_bytes(), &mut bytes).ok()?;
    bytes.truncate(length);
    Some(bytes)
}
