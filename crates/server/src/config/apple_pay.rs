//! The settings of Apple Pay, and how its keys are read.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regente_domain::id::ClientId;
use regente_engine::apple_pay::{ApplePayKeys, LONGEST_TOKEN_AGE};
use regente_wallets::apple_pay::{MerchantKey, TrustedRoots};
use serde::{Deserialize, Serialize};

use super::Config;
use super::layers::ConfigError;
use super::secret::SecretFile;

/// `apple_pay.…`: whose payments are opened. Read when the process starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApplePayConfig {
    /// The root certificate of those who sign payment tokens, in PEM: Apple Root CA - G3. Default none.
    pub root_certificate_file: Option<PathBuf>,
    /// The folder of the merchants' keys. It has a folder for each account, named by its client id, with a file for each
    /// payment processing certificate: the certificate and its private key, in PEM, readable by their owner alone.
    /// Default none.
    pub merchants_dir: Option<PathBuf>,
    /// How long ago a device may have signed a token. Default 300.
    pub token_age_seconds_max: u64,
}

/// The line that marks a certificate made by `regente dev apple-pay keys`; production refuses such a root.
pub const TEST_ROOT_MARK: &str = "# Made by `regente dev apple-pay keys` for a sandbox.";

impl Default for ApplePayConfig {
    fn default() -> Self {
        Self {
            root_certificate_file: None,
            merchants_dir: None,
            token_age_seconds_max: LONGEST_TOKEN_AGE.as_secs(),
        }
    }
}

impl ApplePayConfig {
    /// These settings, or where none are set, the keys that `regente dev apple-pay keys` has made in this folder.
    #[must_use]
    pub fn or_test_keys(self, data_dir: &Path) -> Self {
        let test = TestKeyFiles::of(data_dir);
        if self.root_certificate_file.is_some() || !test.root.exists() {
            return self;
        }
        Self { root_certificate_file: Some(test.root), merchants_dir: Some(test.merchants), ..self }
    }
}

/// Where `regente dev apple-pay keys` keeps what it makes.
pub struct TestKeyFiles {
    /// The root certificate.
    pub root: PathBuf,
    /// What a device signs with.
    pub device: PathBuf,
    /// The folder of the merchants' keys.
    pub merchants: PathBuf,
}

impl TestKeyFiles {
    /// The files in a data folder.
    pub fn of(data_dir: &Path) -> Self {
        let folder = data_dir.join("apple-pay");
        Self {
            root: folder.join("root.pem"),
            device: folder.join("device.pem"),
            merchants: folder.join("merchants"),
        }
    }

    /// The key of an account.
    pub fn merchant(&self, client_id: ClientId) -> PathBuf {
        self.merchants.join(client_id.to_string()).join("test.pem")
    }
}

impl Config {
    /// Reads the keys of Apple Pay, if they are set.
    ///
    /// # Errors
    /// A file or folder cannot be read, or holds something else, or two accounts have the same key. No key is repeated.
    pub fn apple_pay_keys(&self) -> Result<Option<ApplePayKeys>, ConfigError> {
        let ApplePayConfig { root_certificate_file, merchants_dir, token_age_seconds_max } = &self.apple_pay;
        let (Some(root), Some(folder)) = (root_certificate_file, merchants_dir) else { return Ok(None) };
        let roots = read(ROOT, root, TrustedRoots::from_pem)?;
        let mut merchants: BTreeMap<ClientId, Vec<MerchantKey>> = BTreeMap::new();
        for (client_id, file) in merchant_files(folder)? {
            merchants.entry(client_id).or_default().push(read(MERCHANTS, &file, MerchantKey::from_pem)?);
        }
        let keys = ApplePayKeys::new(roots, merchants, Duration::from_secs(*token_age_seconds_max));
        keys.map(Some).map_err(|error| wrong(MERCHANTS, folder, error))
    }

    /// The files with the merchants' keys, as far as they can be listed.
    pub(super) fn apple_pay_key_files(&self) -> Vec<(&'static str, PathBuf)> {
        let files = self.apple_pay.merchants_dir.as_deref().map(merchant_files);
        let files = files.and_then(Result::ok).unwrap_or_default();
        files.into_iter().map(|(_, file)| (MERCHANTS, file)).collect()
    }

    /// Whether the root was made for a sandbox.
    pub(super) fn trusts_test_tokens(&self) -> bool {
        let text =
            self.apple_pay.root_certificate_file.as_deref().and_then(|path| fs::read_to_string(path).ok());
        text.is_some_and(|text| text.lines().any(|line| line == TEST_ROOT_MARK))
    }
}

const ROOT: &str = "apple_pay.root_certificate_file";
const MERCHANTS: &str = "apple_pay.merchants_dir";

/// The files of all accounts. Other files than folders of accounts are refused: a key that nobody uses is a mistake.
fn merchant_files(folder: &Path) -> Result<Vec<(ClientId, PathBuf)>, ConfigError> {
    let mut files = Vec::new();
    for account in list(folder)? {
        let name = account.file_name().and_then(|name| name.to_str());
        let client_id: Option<ClientId> = name.and_then(|name| name.parse().ok());
        let Some(client_id) = client_id else {
            return Err(wrong(MERCHANTS, &account, "must be a folder that is named by a client id"));
        };
        files.extend(list(&account)?.into_iter().map(|file| (client_id, file)));
    }
    Ok(files)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let unreadable = |error: io::Error| wrong(MERCHANTS, folder, error);
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths =
        entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

fn read<T, E: std::fmt::Display>(
    key: &'static str,
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, ConfigError> {
    let file = SecretFile { key, path };
    parse(&file.text()?).map_err(|error| file.wrong(error))
}

fn wrong(key: &str, path: &Path, what: impl std::fmt::Display) -> ConfigError {
    ConfigError::one(format!("`{key}` {}: {what}", path.display()))
}
