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

/// The file whose content is a secret, named by a setting.
#[derive(Clone, Debug)]
pub(super) struct SecretFile<'a> {
    /// The setting.
    pub(super) key: &'static str,
    /// Its path.
    pub(super) path: &'a Path,
}

impl<'a> SecretFile<'a> {
    /// The file that a setting names, if it does.
    pub(super) fn of(key: &'static str, path: Option<&'a Path>) -> Option<Self> {
        path.map(|path| Self { key, path })
    }

    /// What is wrong with it. The content is not repeated.
    pub(super) fn wrong(&self, what: impl fmt::Display) -> ConfigError {
        ConfigError::one(format!("`{}` {}: {what}", self.key, self.path.display()))
    }

    /// Its content as it is.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn text(&self) -> Result<Zeroizing<String>, ConfigError> {
        std::fs::read_to_string(self.path).map(Zeroizing::new).map_err(|error| self.wrong(error))
    }

    /// The secret in it, without white space around.
    ///
    /// # Errors
    /// It cannot be read, or holds nothing.
    pub(super) fn secret(&self) -> Result<Zeroizing<String>, ConfigError> {
        match self.text()?.trim() {
            "" => Err(self.wrong("must hold a secret")),
            secret => Ok(Zeroizing::new(secret.to_owned())),
        }
    }
}

/// The secret of two settings, of which one has it and the other names a file with it. Where both are set, the layers have chosen.
///
/// # Errors
/// The file cannot be read, or holds nothing.
pub(super) fn either(
    value: Option<&Secret>,
    file: Option<SecretFile<'_>>,
) -> Result<Option<Zeroizing<String>>, ConfigError> {
    match (value, file) {
        (Some(value), _) => Ok(Some(Zeroizing::new(value.expose().to_owned()))),
        (None, file) => file.map(|file| file.secret()).transpose(),
    }
}

/// The same, of a secret that stands in a header: `Authorization: Bearer` and the secret. `key` is the setting that has it.
///
/// # Errors
/// As [`either`]; or it is empty or not printable ASCII.
pub(super) fn of_header(
    (key, value): (&str, Option<&Secret>),
    file: Option<SecretFile<'_>>,
) -> Result<Option<Zeroizing<String>>, ConfigError> {
    const RULE: &str = "must be printable ASCII without spaces";
    let Some(text) = either(value, file.clone())? else { return Ok(None) };
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(Some(text));
    }
    Err(match (value, file) {
        (None, Some(file)) => file.wrong(RULE),
        (Some(_), _) | (None, None) => ConfigError::one(format!("`{key}`: {RULE}")),
    })
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
