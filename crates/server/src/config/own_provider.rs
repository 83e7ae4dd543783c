//! The settings of `PLATFORM`, the operator's own processor (`docs/own-provider.md`).

use std::path::PathBuf;
use std::time::Duration;

use regente_domain::provider_type::ProviderType;
use regente_providers::own_provider::OwnProviderOptions;
use regente_providers::request::Mode;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Config;
use super::layers::ConfigError;
use super::providers::ProvidersConfig;
use super::secret::{self, SecretFile};
use super::this_machine::is_in_the_clear;

/// `own_provider.…`: the operator's own processor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OwnProviderConfig {
    /// The code that the interface shows instead of `PLATFORM`, and reads besides it: upper-case letters, digits and `_`.
    /// Default none.
    pub code: Option<String>,
    /// Its address, `https://host` or `https://host/path`. Default none: in the sandbox the simulator stands in for it, in
    /// production nobody does.
    pub url: Option<String>,
    /// A file with the secret that it shares with this service. Default none.
    pub key_file: Option<PathBuf>,
    /// How long a caller waits for it. Default 25 000.
    pub deadline_ms: u64,
}

impl Default for OwnProviderConfig {
    fn default() -> Self {
        Self { code: None, url: None, key_file: None, deadline_ms: 25_000 }
    }
}

/// Who answers as `PLATFORM`.
#[derive(Clone)]
pub enum OwnProvider {
    /// The processor of the operator.
    Processor(OwnProviderOptions),
    /// The simulator.
    Simulator,
    /// Nobody.
    Nobody,
}

const KEY_FILE: &str = "own_provider.key_file";

impl OwnProviderConfig {
    /// Whether the code is none of another type.
    pub(super) fn has_good_code(&self) -> bool {
        self.code.as_deref().is_none_or(ProviderType::is_good_own_code)
    }

    /// Whether card numbers would cross a network in the clear. A proxy reads whatever is sent by plain HTTP, so with one
    /// no address without TLS is good enough.
    pub(super) fn is_in_the_clear(&self, providers: &ProvidersConfig) -> bool {
        let url = self.url.as_deref().and_then(|url| Url::parse(url).ok());
        let is_by_proxy = |url: &Url| url.scheme() != "https" && providers.proxy.is_some();
        url.is_some_and(|url| is_in_the_clear(&url) || is_by_proxy(&url))
    }
}

impl Config {
    /// Who answers as `PLATFORM`.
    ///
    /// # Errors
    /// The secret cannot be read, or is empty or not printable ASCII. The content is not repeated.
    pub fn own_provider(&self) -> Result<OwnProvider, ConfigError> {
        let OwnProviderConfig { code: _, url, key_file, deadline_ms } = &self.own_provider;
        let Some(url) = url else {
            return Ok(match self.mode {
                Mode::Sandbox => OwnProvider::Simulator,
                Mode::Production => OwnProvider::Nobody,
            });
        };
        let url = Url::parse(url)
            .map_err(|error| ConfigError::one(format!("`own_provider.url` cannot be read: {error}")))?;
        let key = secret::of_header((KEY_FILE, None), SecretFile::of(KEY_FILE, key_file.as_deref()))?;
        let deadline = Duration::from_millis(*deadline_ms);
        Ok(OwnProvider::Processor(OwnProviderOptions { url, key, deadline }))
    }
}
