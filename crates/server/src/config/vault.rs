//! The settings of the vault, and how its key-encryption key is read.

use std::path::PathBuf;

use regente_engine::vault::Kek;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::layers::ConfigError;
use super::secret::SecretFile;
use super::{Config, Secret};

/// `vault.…`: the key-encryption key, 32 random bytes as 64 hexadecimal digits or in base64.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VaultConfig {
    /// The key itself.
    pub kek: Option<Secret>,
    /// The file that holds it, readable by its owner alone. Default `<data_dir>/kek` in sandbox mode, none in
    /// production.
    pub kek_file: Option<PathBuf>,
}

/// The line that marks a key file made by `regente dev`; production refuses such a file.
pub const DEV_KEK_MARK: &str = "# Made by `regente dev` for a sandbox.";

/// Where the key-encryption key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KekSource {
    /// The setting `vault.kek`.
    Value,
    /// The file of `vault.kek_file`.
    File {
        /// Which one.
        path: PathBuf,
        /// Whether it carries [`DEV_KEK_MARK`].
        made_by_dev: bool,
    },
}

impl Config {
    /// Reads the key-encryption key. Lines of its file that begin with `#` are comments.
    ///
    /// # Errors
    /// It is not set, its file cannot be read, or it is no key. The content is not repeated.
    pub fn kek(&self) -> Result<(Kek, KekSource), ConfigError> {
        if let Some(text) = &self.vault.kek {
            let kek = Kek::parse(text.expose())
                .map_err(|error| ConfigError::one(format!("`vault.kek`: {error}")))?;
            return Ok((kek, KekSource::Value));
        }
        let Some(file) = SecretFile::of("vault.kek_file", self.vault.kek_file.as_deref()) else {
            return Err(ConfigError::one(
                "there is no key-encryption key: `vault.kek_file` must name the file of the key under which the data is \
                 sealed",
            ));
        };
        // A new key is not advised: it opens nothing of what is there.
        if matches!(file.path.try_exists(), Ok(false)) {
            return Err(file.wrong(format_args!("there is no such file{}", self.looked_in(file.path))));
        }
        let text = file.text()?;
        let made_by_dev = text.lines().any(|line| line == DEV_KEK_MARK);
        let key = text.lines().map(str::trim).filter(|line| !line.starts_with('#') && !line.is_empty());
        let key = Zeroizing::new(key.collect::<Vec<_>>().concat());
        let kek = Kek::parse(&key).map_err(|error| file.wrong(error))?;
        Ok((kek, KekSource::File { path: file.path.to_owned(), made_by_dev }))
    }
}
