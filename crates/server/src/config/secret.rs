//! Wraps a value so that it is never printed, and tells where it was written.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use super::layers::ConfigError;

/// The text printed instead of a secret.
pub(super) const HIDDEN: &str = "(hidden)";

/// A secret of the configuration. Wiped when dropped; printed and serialized as `(hidden)`.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The secret's text. Never print it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// A setting whose value is a secret, and where it was written.
#[derive(Clone, Debug)]
pub struct WrittenSecret {
    /// The setting.
    pub key: &'static str,
    /// Its place.
    pub place: WrittenIn,
}

/// Where the value of a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenIn {
    /// The configuration file.
    File(PathBuf),
    /// The environment, which only the owner of the process can read.
    Environment,
    /// The command line, which everybody on the machine can read.
    CommandLine,
}

/// The secret in a file, without white space around it.
///
/// # Errors
/// The file cannot be read, or holds nothing. The content is not repeated.
pub(super) fn read(key: &str, path: &Path) -> Result<Zeroizing<String>, ConfigError> {
    let wrong = |what: &dyn fmt::Display| ConfigError::one(format!("`{key}` {}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map(Zeroizing::new).map_err(|error| wrong(&error))?;
    match text.trim() {
        "" => Err(wrong(&"must hold a secret")),
        secret => Ok(Zeroizing::new(secret.to_owned())),
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
