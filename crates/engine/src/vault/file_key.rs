//! The key of files of one record that are too large for a row. The key itself is sealed in the row, so a file is readable as long as
//! its row is, through all rotations, and no longer.

use std::fmt;

use zeroize::Zeroizing;

use super::cipher::{self, KEY_BYTES, KeyBytes};
use crate::chance::Chance;

/// A key for the parts of files. A part opens only at its own place.
#[derive(Clone)]
pub struct FileKey(KeyBytes);

impl FileKey {
    /// A new key.
    pub fn random(chance: &Chance) -> Self {
        Self(Zeroizing::new(chance.bytes()))
    }

    /// Reads the text of a key; `None` for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(hex::decode(text).ok()?);
        let bytes: [u8; KEY_BYTES] = bytes.as_slice().try_into().ok()?;
        Some(Self(Zeroizing::new(bytes)))
    }

    /// The key as text, to be sealed.
    pub fn expose_text(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0.as_ref()))
    }

    /// Seals a part. `place` tells it from every other part under this key; the nonce is random, since a part may be written again.
    pub fn seal(&self, chance: &Chance, place: &[u8], plain: &[u8]) -> Vec<u8> {
        cipher::encrypt(&self.0, chance.bytes(), place, plain)
    }

    /// Opens a part; `None` when it was sealed for another place, or changed.
    pub fn open(&self, place: &[u8], bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        cipher::decrypt(&self.0, place, bytes)
    }
}

impl fmt::Debug for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileKey(…)")
    }
}
